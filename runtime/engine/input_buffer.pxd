"""InputBuffer: validate and accumulate the gradients that arrive at a node."""

from ..support.capi cimport ndarray
from ..core.node cimport InputMetadata, Node
from ..core.tensor cimport TensorBase

cdef object validate(Node node, int output_nr, object grad, bint recording, Node source)
cdef object cast(object grad, int type_num, InputMetadata* metadata, bint recording)
cdef int refuse_shape(Node node, tuple shape, tuple current, Node source) except -1
cdef object plus_array(object total, object term)
cdef object minus_array(object total, object term)
cdef object conj_of(object x)
cdef object defined_array(Node node, object grads, int output_nr)
cdef object defined_tensor(Node node, object grads, int output_nr)
cdef list defined_arrays(Node node, object grads)
cdef list defined_tensors(Node node, object grads)
cdef object flat_gradients(tuple grads, tuple is_list)
cdef object accumulate(object total, object term, bint recording)
cdef ndarray spare(Node node, object grad)
