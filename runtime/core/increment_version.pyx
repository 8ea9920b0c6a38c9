"""Version counters: change them from Python, for writes that no in-place operator makes."""

from .tensor cimport INFERENCE_TENSOR, TensorBase


def increment_version(tensor):
    """Count an in-place write that gradspec did not see, through NumPy or a pointer, so that backward refuses stale values.

    Parameters
    ----------
    tensor : Tensor, or iterable of them
        The tensors written to; views of them count the write, too.  Inference tensors have no counter and are skipped.
    """
    for one in (tensor,) if isinstance(tensor, TensorBase) else tensor:
        if not isinstance(one, TensorBase):
            raise TypeError(f"increment_version expects a Tensor or an iterable of Tensors, got {type(one).__name__}")
        if not (<TensorBase> one).flags & INFERENCE_TENSOR:
            (<TensorBase> one).bump()


def set_version(TensorBase tensor not None, version):
    """Set the counter that `tensor` shares with its views.

    Parameters
    ----------
    tensor : Tensor
    version : int
    """
    if version < 0:
        raise RuntimeError(f"Cannot set a version counter to a value below 0: {version}")
    if tensor.flags & INFERENCE_TENSOR:
        raise RuntimeError("Inference tensors do not track version counter.")
    tensor.shared_counter().value = version
