/* The bytes of a thread's state. */
#ifndef GRADSPEC_GRAD_MODE_H
#define GRADSPEC_GRAD_MODE_H

#if defined(_MSC_VER)
#define GRADSPEC_THREAD_LOCAL __declspec(thread)
#else
#define GRADSPEC_THREAD_LOCAL __thread
#endif
/* Zero bytes are the state of a new thread: grad mode on, no level, no task. */
static GRADSPEC_THREAD_LOCAL unsigned long long gradspec_thread_bytes[16];

#endif
