"""Straight-through estimator as a custom Function, gradcheck, double backward."""
import gradspec as torch
from gradspec.autograd import Function, gradcheck, gradgradcheck

class Round(Function):
    @staticmethod
    def forward(ctx, input):
        return torch.round(input)
    @staticmethod
    def backward(ctx, grad_output):
        return grad_output.clone()

class Exp(Function):
    @staticmethod
    def forward(ctx, i):
        result = i.exp()
        ctx.save_for_backward(result)
        return result
    @staticmethod
    def backward(ctx, grad_output):
        result, = ctx.saved_tensors
        return grad_output * result

x = torch.randn(5, dtype=torch.double, requires_grad=True)
print(gradcheck(Exp.apply, (x,), eps=1e-6, atol=1e-4), gradgradcheck(Exp.apply, (x,)))
y = (Round.apply(x * 4) / 4 - x.detach()).pow(2).sum()
y.backward()
print(x.grad, ctx_ok := y.grad_fn.next_functions[0][0])
