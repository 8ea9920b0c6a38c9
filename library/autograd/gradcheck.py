"""gradcheck and gradgradcheck: compare derivatives with finite differences.

Holds the users' options, and the function of inputs and cotangents whose derivatives are second derivatives.
"""

import numpy as np

import gradspec  # noqa: F401 (waits for it)

from ..core.conversion import asarray, tensor
from ..engine.backward import grad
from ..support.errors import GradcheckError
from ..support.generator import numpy_random
from .differences import as_tuple, is_checked

__all__ = ["GradcheckError", "gradcheck", "gradgradcheck"]
__dir__ = __all__.copy


def gradcheck(func, inputs, *, eps=1e-6, atol=1e-5, rtol=1e-3, raise_exception=True, nondet_tol=0.0,
              check_undefined_grad=True, check_grad_dtypes=False, check_batched_grad=False, check_batched_forward_grad=False,
              check_forward_ad=False, check_backward_ad=True, fast_mode=False):  # fmt: skip
    """Compare the derivatives of a function with central differences.

    Parameters
    ----------
    func : callable
        Takes the inputs, returns a tensor or a tuple of tensors.
    inputs : Tensor, or tuple
        Inputs that require grad are checked; they should have double precision.
    eps : float
        Step of the differences.
    atol, rtol : float
        Tolerances, as in `numpy.allclose`.
    raise_exception : bool
        If False, return False if a derivative is wrong; other errors are still raised.
    nondet_tol : float
        Tolerated difference between two backward passes over one graph.
    check_undefined_grad : bool
        Also check that outputs without a gradient, and inputs without a tangent, count as zeros.  Hooks and backwards receive
        None.
    check_grad_dtypes : bool
        Also check that a gradient has its input's dtype.
    check_batched_grad : bool
        Also check that `grad(..., is_grads_batched=True)` returns the same rows as separate calls.
    check_batched_forward_grad : bool
        Also check that pushing a batch of tangents at once returns the same results as pushing each tangent alone.
    check_forward_ad, check_backward_ad : bool
        Modes to check.  In forward mode the inputs do not require grad, and inputs that are not being checked have zero tangents.
    fast_mode : bool
        Compare along one random direction instead of for each element.

    Returns
    -------
    bool

    Raises
    ------
    GradcheckError
        If a derivative is wrong.
    """
    if not (check_forward_ad or check_backward_ad):
        raise AssertionError("Expected at least one of check_forward_ad or check_backward_ad to be True")
    if check_batched_grad and not check_backward_ad:
        raise AssertionError("Setting check_batched_grad=True requires check_backward_ad to be True")
    if check_batched_forward_grad and not check_forward_ad:
        raise AssertionError("Setting check_batched_forward_grad=True requires check_forward_ad to be True")
    from .agreement import Agreement  # imported only by programs that check derivatives

    check = Agreement(func, inputs, eps, atol, rtol, nondet_tol, check_grad_dtypes)
    try:
        if check_backward_ad:
            check.backward_mode(fast_mode)
        if check_forward_ad:
            check.forward_mode(fast_mode)
            if check_undefined_grad:
                check.undefined_tangents()
            if check_batched_forward_grad:
                check.batched_tangents()
        if check_backward_ad:
            if check_batched_grad:
                check.batched_gradients()
            check.zero_gradients()
            if check_undefined_grad:
                check.undefined_gradients()
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


def gradgradcheck(func, inputs, grad_outputs=None, *, eps=1e-6, atol=1e-5, rtol=1e-3, gen_non_contig_grad_outputs=False,
                  raise_exception=True, nondet_tol=0.0, check_undefined_grad=True, check_grad_dtypes=False,
                  check_batched_grad=False, check_fwd_over_rev=False, check_rev_over_rev=True, fast_mode=False):  # fmt: skip
    """Compare the derivatives of a function's gradients, with respect to its inputs and to `grad_outputs`, with differences.

    Parameters
    ----------
    func, inputs
        As for `gradcheck`.
    grad_outputs : Tensor, or tuple, optional
        Gradients with respect to the outputs; random ones by default.
    eps, atol, rtol : float
        As for `gradcheck`, like all parameters without a text.
    gen_non_contig_grad_outputs : bool
        Create non-contiguous random gradients.
    raise_exception : bool
    nondet_tol : float
    check_undefined_grad, check_grad_dtypes, check_batched_grad : bool
    check_fwd_over_rev, check_rev_over_rev : bool
        Modes that differentiate the gradients.
    fast_mode : bool

    Returns
    -------
    bool

    Raises
    ------
    GradcheckError
        If a derivative is wrong.
    """
    if not (check_fwd_over_rev or check_rev_over_rev):
        raise AssertionError("Expected at least one of check_fwd_over_rev or check_rev_over_rev to be True")
    if check_undefined_grad and not check_rev_over_rev:
        raise AssertionError("Setting check_undefined_grad=True requires check_rev_over_rev to be True")
    if check_batched_grad and not check_rev_over_rev:
        raise AssertionError("Setting check_batched_grad=True requires check_rev_over_rev to be True")
    inputs = as_tuple(inputs)
    if grad_outputs is None:
        random = numpy_random().default_rng(0)
        outputs = _requiring_grad(func(*inputs))
        grad_outputs = tuple(_random_gradient(o, random, gen_non_contig_grad_outputs) for o in outputs)
    grad_outputs = as_tuple(grad_outputs)
    count = len(grad_outputs)
    checked = [is_checked(value) for value in inputs + grad_outputs]

    def gradients(*values):
        values = [v.requires_grad_() if wanted else v for v, wanted in zip(values, checked)]
        arguments, cotangents = values[: len(values) - count], values[len(values) - count :]
        outputs = _requiring_grad(func(*arguments))
        wanted = [v for v, w in zip(arguments, checked) if w]
        found = grad(outputs, wanted, cotangents, create_graph=True, allow_unused=True)
        return tuple(g for g in found if g is not None)

    return gradcheck(gradients, inputs + grad_outputs, eps=eps, atol=atol, rtol=rtol, raise_exception=raise_exception,
                     nondet_tol=nondet_tol, check_undefined_grad=check_undefined_grad, check_grad_dtypes=check_grad_dtypes,
                     check_batched_grad=check_batched_grad, check_forward_ad=check_fwd_over_rev,
                     check_backward_ad=check_rev_over_rev, fast_mode=fast_mode)  # fmt: skip


def _requiring_grad(outputs):
    return [o for o in as_tuple(outputs) if is_checked(o)]


def _random_gradient(output, random, noncontiguous):
    values = random.uniform(-1, 1, (2, *output.shape))
    values = (values[0] + 1j * values[1] if output.dtype.kind == "c" else values[0]).astype(output.dtype)
    if not noncontiguous or values.ndim == 0:
        return tensor(values, requires_grad=True)
    return asarray(np.repeat(values, 2, axis=-1)[..., ::2], requires_grad=True)
