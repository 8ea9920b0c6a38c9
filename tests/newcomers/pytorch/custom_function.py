import gradspec as torch
from gradspec.autograd import Function, gradcheck


class Exp(Function):
    @staticmethod
    def forward(ctx, x):
        result = x.exp()
        ctx.save_for_backward(result)
        return result

    @staticmethod
    def backward(ctx, grad_output):
        (result,) = ctx.saved_tensors
        return grad_output * result


x = torch.randn(4, dtype=torch.float64, requires_grad=True)
assert gradcheck(Exp.apply, (x,))
Exp.apply(x).sum().backward()
assert torch.allclose(x.grad, x.exp())
