"""Calls that `python -m benchmarks sweep` measures: gradspec's, PyTorch's and NumPy's, family by family.
The names of their operands are defined in `benchmarks/operands.py`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

# gradspec's | PyTorch's | NumPy's.  In an empty column PyTorch's function has the same name, and NumPy's the name in the
# operator's entry; `-` means that the library has no such function.
TABLE = """
absolute(x)                                 | torch.abs(x)
acos(u)
acosh(g)
asin(u)
asinh(x)
atan(x)
atanh(u)
cbrt(p)                                     | torch.pow(p, 1 / 3)
ceil(x)
cos(x)
cosh(x)
digamma(p)
erf(x)
erfc(x)
erfinv(u)
exp(x)
exp2(x)
expm1(x)
floor(x)
lgamma(p)
log(p)
log10(p)
log1p(p)
log2(p)
logit(r)
negative(x)
reciprocal(p)
round(x)
rsqrt(p)                                    |                                       | 1 / np.sqrt(p)
sigmoid(x)                                  |                                       | 1 / (1 + np.exp(-x))
sign(x)
sin(x)
sinc(x)
sinh(x)
sqrt(p)
square(x)
tan(u)
tanh(x)
trunc(x)

add(x, a)
add(x, row)
atan2(x, a)
clip(x, -1, 1)                              | torch.clamp(x, -1, 1)
copysign(x, a)
divide(x, p)
fmax(x, a)
hypot(x, a)
lerp(x, a, r)                               |                                       | x + r * (a - x)
logaddexp(x, a)
maximum(x, a)
minimum(x, a)
multiply(x, a)
multiply(x, col)
pow(x, 3)                                   | torch.pow(x, 3)                       | np.power(x, 3)
pow(p, a)                                   | torch.pow(p, a)                       | np.power(p, a)
remainder(x, p)
subtract(x, a)
where(mask, x, a)
xlogy(p, r)

sum(x)
sum(x, axis=0)
sum(x, axis=-1)
mean(x)
mean(x, axis=-1)
max(d, axis=-1)                             | torch.amax(d, -1)
min(d, axis=0)                              | torch.amin(d, 0)
prod(g, axis=-1)                            | torch.prod(g, -1)
std(x, axis=-1)                             | torch.std(x, -1, correction=0)
var(x, axis=0)                              | torch.var(x, 0, correction=0)
logsumexp(x, axis=-1)                       | torch.logsumexp(x, -1)                | -
linalg.vector_norm(x, axis=-1)              | torch.linalg.vector_norm(x, dim=-1)   | np.linalg.norm(x, axis=-1)
linalg.vector_norm(x)                       |                                       | np.linalg.norm(x)
nansum(x, axis=-1)                          | torch.nansum(x, -1)
quantile(d, 0.3, axis=-1)                   | torch.quantile(d, 0.3, -1)

cumsum(x, axis=-1)                          | torch.cumsum(x, -1)
cumsum(x, axis=0)                           | torch.cumsum(x, 0)
cumprod(near, axis=-1)                      | torch.cumprod(near, -1)
cummax(d, axis=-1)[0]                       | torch.cummax(d, -1)[0]                | np.maximum.accumulate(d, axis=-1)
logcumsumexp(x, axis=-1)                    | torch.logcumsumexp(x, -1)             | np.logaddexp.accumulate(x, axis=-1)
diff(x)
trapezoid(x)

sort(d)                                     | torch.sort(d)[0]
topk(d, 2)[0]                               | torch.topk(d, 2)[0]                   | np.partition(d, -2)[:, -2:]
kthvalue(d, 2)[0]                           | torch.kthvalue(d, 2)[0]               | np.partition(d, 1)[:, 1]

x[1:, 0]                                    | x[1:, 0]                              | x[1:, 0]
x[rows]                                     | x[rows]                               | x[rows]
x[mask]                                     | x[mask]                               | x[mask]
take(x, rows, axis=0)                       | torch.index_select(x, 0, rows)
take_along_axis(x, places, axis=0)          | torch.gather(x, 0, places)
index_add(x, 0, rows, a)                    |                                       | -
scatter_add(x, 0, places, a)                |                                       | -
masked_fill(x, mask, 0.0)                   |                                       | np.where(mask, 0, x)
nn.embedding(rows, x)                       | F.embedding(rows, x)                  | x[rows]

concat([x, a])                              | torch.cat([x, a])
stack([x, a])
pad(x, 1)                                   | F.pad(x, (1, 1, 1, 1))
tile(x, (2, 2))
roll(x, 1, axis=0)                          | torch.roll(x, 1, 0)
repeat(x, 2, axis=0)                        | torch.repeat_interleave(x, 2, 0)
flip(x)                                     | torch.flip(x, (0, 1))
tril(x)
reshape(x, (-1,))
permute_dims(x, (1, 0))                     | torch.permute(x, (1, 0))
broadcast_to(row, x.shape)
diagonal(x)

dot(v, w)
outer(row, row)
matmul(x, other)
matmul(x, row)
nn.linear(x, a, side)                       | F.linear(x, a, side)                  | x @ a.T + side
addmm(square, square, lower)                |                                       | square + square @ lower
einsum('bij,bjk->bik', general, definite)
cdist(x, a)                                 |                                       | -
linalg.cholesky(positive)
linalg.det(square)
linalg.inv(square)
linalg.solve(square, full)
linalg.solve_triangular(lower, full, lower=True) | torch.linalg.solve_triangular(lower, full, upper=False)
linalg.slogdet(square)[1]
linalg.qr(general)[1]
linalg.eigvalsh(definite)
linalg.svdvals(general)
linalg.matrix_exp(general)

nn.elu(x)                                   | F.elu(x)
nn.gelu(x)                                  | F.gelu(x)
nn.hardswish(x)                             | F.hardswish(x)
nn.leaky_relu(x)                            | F.leaky_relu(x)                       | np.where(x > 0, x, 0.01 * x)
nn.log_sigmoid(x)                           | F.logsigmoid(x)                       | -np.logaddexp(0, -x)
nn.mish(x)                                  | F.mish(x)
nn.relu(x)                                  | torch.relu(x)                         | np.maximum(x, 0)
nn.silu(x)                                  | F.silu(x)                             | x / (1 + np.exp(-x))
nn.softplus(x)                              | F.softplus(x)                         | np.logaddexp(0, x)

nn.softmax(x)                               | torch.softmax(x, -1)
nn.log_softmax(x)                           | torch.log_softmax(x, -1)
nn.softmax(x, axis=0)                       | torch.softmax(x, 0)
nn.layer_norm(x, x.shape[1:], row, row)     | F.layer_norm(x, x.shape[1:], row, row)
nn.rms_norm(x, x.shape[1:], row)            | F.rms_norm(x, x.shape[1:], row)
nn.group_norm(image, 2, scale, scale)       | F.group_norm(image, 2, scale, scale)
nn.batch_norm(image, None, None, scale, scale, True) | F.batch_norm(image, None, None, scale, scale, True)
nn.normalize(x)                             | F.normalize(x)
nn.scaled_dot_product_attention(query, key, value) | F.scaled_dot_product_attention(query, key, value)

nn.conv1d(signal, weight1, padding=1)       | torch.conv1d(signal, weight1, padding=1)
nn.conv2d(image, weight2, padding=1)        | torch.conv2d(image, weight2, padding=1)
nn.conv3d(volume, weight3, padding=1)       | torch.conv3d(volume, weight3, padding=1)
nn.conv_transpose2d(image, weight2)         | torch.conv_transpose2d(image, weight2)
nn.max_pool2d(image, 2)                     | F.max_pool2d(image, 2)
nn.avg_pool2d(image, 2)                     | F.avg_pool2d(image, 2)
nn.adaptive_avg_pool2d(image, 2)            | F.adaptive_avg_pool2d(image, 2)
nn.unfold(image, 2)                         | F.unfold(image, 2)

nn.mse_loss(x, target)                      | F.mse_loss(x, target)                 | np.mean((x - target) ** 2)
nn.l1_loss(x, target)                       | F.l1_loss(x, target)                  | np.mean(np.abs(x - target))
nn.huber_loss(x, target)                    | F.huber_loss(x, target)
nn.binary_cross_entropy_with_logits(x, shares) | F.binary_cross_entropy_with_logits(x, shares)
nn.kl_div(x, shares, 'sum')                 | F.kl_div(x, shares, reduction='sum')
nn.cross_entropy(x, classes)                | F.cross_entropy(x, classes)
nn.nll_loss(x, classes)                     | F.nll_loss(x, classes)
"""


@dataclass(frozen=True)
class Call:
    """One row of the table: `operator` is the name in `gradspec.generated.op_info.OPS`, an expression is text."""

    label: str
    operator: str
    gradspec: str
    torch: str
    numpy: str | None

    @property
    def names(self) -> set[str]:
        """The operands in the expression, among other words, without operands that are only used for their shape."""
        return set(re.findall(r"(?<![\w.])[a-z]\w*(?![\w.(=])", self.gradspec))


def calls() -> list[Call]:
    """The table, with empty columns filled in."""
    from gradspec.generated.op_info import OPS

    operators = {f"{op.namespace}.{op.name}".strip("."): op for op in OPS}
    found = []
    for line in filter(None, TABLE.splitlines()):
        label, torch, numpy = ([cell.strip() for cell in line.split("|")] + ["", ""])[:3]
        name, rest = re.fullmatch(r"([\w.]+)(.*)", label).groups()
        if rest.startswith("["):
            found.append(Call(label, "getitem", label, torch, numpy))
            continue
        operator = operators[name]
        if not numpy and operator.numpy:
            numpy = f"np.{operator.numpy[0]}{rest}"
        found.append(Call(label, operator.name, f"gs.{label}", torch or f"torch.{label}", None if numpy in ("", "-") else numpy))
    return found
