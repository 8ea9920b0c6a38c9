"""Adam and AdamW, with PyTorch's formulas, defaults and state."""

from collections.abc import Iterable
from typing import Any

from ..core.conversion import asarray
from ..generated import ops
from ..generated.tensor import Tensor
from .optimizer import Optimizer, as_given, as_real, begin, decayed


class Adam(Optimizer):
    """Adam: steps scaled by running moments of the gradient (Kingma and Ba, 2015).

    Parameters
    ----------
    params : iterable of Tensor, or of dict
    lr : float
    betas : (float, float)
        Decay of the running mean of the gradient, and of its square.
    eps : float
        Added to the denominator.
    weight_decay : float
        L2 penalty, added to the gradient.
    amsgrad : bool
        Divide by the largest second moment so far.
    maximize : bool
        Climb instead of descending.
    decoupled_weight_decay : bool
        Subtract the penalty from the parameter itself, like `AdamW`.
    """

    elementwise = True

    def __init__(
        self,
        params: Iterable[Tensor] | Iterable[dict[str, Any]],
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
        decoupled_weight_decay: bool = False,
    ) -> None:
        options = {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "amsgrad": amsgrad}
        super().__init__(params, {**options, "maximize": maximize, "decoupled_weight_decay": decoupled_weight_decay})

    def update(self, param: Tensor, grad: Tensor, state: dict[str, Any], group: dict[str, Any]) -> Tensor:
        lr, (beta1, beta2), decay = group["lr"], group["betas"], group["weight_decay"]
        if not state:
            begin(state, param, "exp_avg", "exp_avg_sq", *(("max_exp_avg_sq",) if group["amsgrad"] else ()))
        grad = decayed(param, grad, group)

        count = state["step"]
        count += 1
        mean, square, grad = as_real(state["exp_avg"]), as_real(state["exp_avg_sq"]), as_real(grad)
        mean.lerp_(grad, 1 - beta1)
        square.mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
        if group["amsgrad"]:
            largest = as_real(state["max_exp_avg_sq"])
            square = ops.maximum(largest, square, out=largest)

        rate = asarray(lr / (1 - beta1**count), dtype=mean.dtype)
        root = asarray(ops.sqrt(1 - beta2**count), dtype=mean.dtype)
        scale = ops.sqrt(square)
        scale /= root
        scale += group["eps"]
        step = mean / scale
        step *= rate
        step = as_given(step, param)
        if decay and group["decoupled_weight_decay"]:
            step += lr * decay * param
        return step


class AdamW(Adam):
    """Adam whose weight decay shrinks the parameter itself, without effect on the moments (Loshchilov and Hutter, 2019).

    Parameters
    ----------
    params : iterable of Tensor, or of dict
    lr : float
    betas : (float, float)
        Decay of the running mean of the gradient, and of its square.
    eps : float
        Added to the denominator.
    weight_decay : float
        Fraction of the parameter, times `lr`, that is subtracted at each step.
    amsgrad : bool
        Divide by the largest second moment so far.
    maximize : bool
        Climb instead of descending.
    """

    def __init__(
        self,
        params: Iterable[Tensor] | Iterable[dict[str, Any]],
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 1e-2,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
    ) -> None:
        super().__init__(params, lr, betas, eps, weight_decay, amsgrad, maximize=maximize, decoupled_weight_decay=True)
