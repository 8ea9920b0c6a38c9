"""Hooks around a node, as the engine runs them."""

from .graph_task cimport GraphTask
from ..core.node cimport Node

cdef object as_user(object grad)
cdef int capture_gradient(GraphTask task, Node node, object grads) except -1
cdef object run_tensor_hooks(GraphTask task, Node node, object grads)
cdef object run_pre_hooks(GraphTask task, Node node, object grads)
cdef object run_post_hooks(GraphTask task, Node node, object results, object grads)
