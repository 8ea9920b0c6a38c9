/* The logistic function, functions like it and its integral, around loops for exp and log1p. */
#ifndef GRADSPEC_LOGISTIC_H
#define GRADSPEC_LOGISTIC_H

#include "../loops/copies.h"
#include "../loops/typed.h"
#include <stdint.h>
#include <string.h>

enum { GRADSPEC_SIGMOID, GRADSPEC_SIGMOID_SLOPE, GRADSPEC_TANH_SLOPE, GRADSPEC_SILU, GRADSPEC_SILU_SLOPE };

#define T float
#define BITS uint32_t
#define SIGN UINT32_C(0x80000000)
#define THOUSAND UINT32_C(0x447a0000)
#define INFINITE UINT32_C(0x7f800000)
#include "logistic_template.h"

#define T double
#define BITS uint64_t
#define SIGN UINT64_C(0x8000000000000000)
#define THOUSAND UINT64_C(0x408f400000000000)
#define INFINITE UINT64_C(0x7ff0000000000000)
#include "logistic_template.h"

#endif
