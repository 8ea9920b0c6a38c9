"""Engine: run a backward graph."""

cdef list run_backward(tuple roots, tuple grads, bint keep_graph, bint create_graph, list inputs, bint capture,
                       Py_ssize_t batch=*)
