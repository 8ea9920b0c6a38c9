"""The training loops of the examples and of docs/five_minutes.md, their steps compiled as they stand: the same losses, to the bit; and calls
without number take no more memory than some."""

import ast
import gc
import re
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

import gradspec as gs

ROOT = Path(__file__).parents[3]
EXAMPLES = ROOT / "examples"
STEP = "step_of_the_loop"


class Steps(ast.NodeTransformer):
    """Puts the statements of a loop that trains into a function, up to those that print or collect."""

    found = 0

    def visit_For(self, node):
        self.generic_visit(node)
        first = next((n for n, one in enumerate(node.body) if isinstance(one, ast.If) or is_call(one, ("print", "append"))), None)
        body = node.body[:first]
        if not any(is_call(one, ("backward",)) for one in body):
            return node
        self.found += 1
        read = {name.id for one in body for name in ast.walk(one) if isinstance(name, ast.Name)}
        given = [name.id for name in ast.walk(node.target) if isinstance(name, ast.Name) and name.id in read]
        head = ast.parse(f"@{STEP}\ndef step_({', '.join(given)}): return loss").body[0]
        head.body = [*body, *head.body]
        node.body = [*ast.parse(f"loss = step_({', '.join(given)})").body, *node.body[len(body) :]]
        return [head, node]


def is_call(statement, names):
    call = statement.value if isinstance(statement, ast.Expr) else None
    return isinstance(call, ast.Call) and (getattr(call.func, "attr", None) or getattr(call.func, "id", None)) in names


def losses_of(text, wrap, work=lambda names: None):
    """The losses of a program whose steps are wrapped so, bit by bit."""
    losses, steps = [], []

    def step(function):
        wrapped = wrap(function)
        steps.append(wrapped)

        def call(*given):
            loss = wrapped(*given)
            losses.append(loss.detach().numpy().tobytes())
            return loss

        return call

    rewriter = Steps()
    tree = ast.fix_missing_locations(rewriter.visit(ast.parse(text)))
    assert rewriter.found == 1
    names = {"__name__": "__main__", STEP: step}
    exec(compile(tree, "<example>", "exec"), names)
    work(names)
    return losses, steps


def same_losses(text, least, work=lambda names: None):
    eager, _ = losses_of(text, lambda function: function, work)
    compiled, steps = losses_of(text, gs.compile, work)
    assert len(eager) >= least and compiled == eager
    assert all(step.program is not None for step in steps)


@pytest.mark.slow
@pytest.mark.parametrize("name, least", [("linear_regression", 201), ("decay", 80)])
def test_the_loop_of_an_example(name, least):
    same_losses((EXAMPLES / f"{name}.py").read_text(), least)


def test_the_loop_of_five_minutes():
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "docs/five_minutes.md").read_text(), re.DOTALL)
    (text,) = (block for block in blocks if re.search(r"^for .*:\n(    .*\n)*    .*backward", block, re.MULTILINE))
    same_losses("import numpy as np\nimport gradspec as gs\n" + text, 100)


def test_the_loop_of_the_digits():
    """The data in tensors: an ndarray that is indexed by a batch would be a number that Python computes."""
    pytest.importorskip("sklearn", reason="the digits come with scikit-learn")
    text = (EXAMPLES / "digits.py").read_text().replace('if __name__ == "__main__"', "if False")

    def work(names):
        rng = np.random.default_rng(0)
        names["trange"] = range
        images, labels = gs.asarray(rng.random((400, 64), np.float32)), gs.asarray(rng.integers(0, 10, 400))
        names["train"](names["initial_model"](rng), images, labels, 4, rng)

    same_losses(text, 24, work)


def test_the_likelihood_of_the_gaussian_process():
    pytest.importorskip("scipy", reason="scipy.optimize does the fit")
    names = {"__name__": "example"}
    exec(compile((EXAMPLES / "gaussian_process.py").read_text().partition("\nstart = ")[0], "<example>", "exec"), names)
    rng = np.random.default_rng(0)
    given = [np.log([0.3, 0.5, 0.5]) + 0.3 * rng.normal(size=3) for _ in range(6)]
    eager = [names["value_and_gradient"](theta) for theta in given]
    compiled = names["negative_log_likelihood"] = gs.compile(names["negative_log_likelihood"], strict=True)
    for theta, (value, gradient) in zip(given, eager):
        found = names["value_and_gradient"](theta)
        assert found[0] == value and found[1].tobytes() == gradient.tobytes()
    assert compiled.program is not None


def test_ten_thousand_calls_take_no_more_memory_than_some():
    """A training step, results that are differentiated, a branch, and a number that is another one at each call."""
    w = gs.tensor(np.linspace(-1, 1, 12).reshape(4, 3), requires_grad=True)

    @gs.compile
    def train(x):
        w.grad = None
        loss = (gs.nn.softmax(gs.nn.relu(x @ w)) ** 2).mean()
        loss.backward()
        with gs.no_grad():
            w.sub_(0.01 * w.grad)
        return loss

    @gs.compile
    def branches(x):
        return gs.sum(x * x) if gs.sum(x) > 0 else gs.sum(gs.exp(x))

    scaled = gs.compile(lambda x, rate: gs.cumsum(x * rate), dynamic="rate")
    x = gs.tensor(np.linspace(-0.5, 1, 8).reshape(2, 4), requires_grad=True)
    plain, other = x.detach(), -x.detach()

    def calls(count):
        for number in range(count):
            train(plain)
            gs.autograd.grad(branches(x), x)
            branches(other)
            scaled(plain, 0.1 * number)

    calls(2000)  # what is kept for later nodes is full
    tracemalloc.start()
    try:
        calls(500)
        gc.collect()
        before = tracemalloc.get_traced_memory()[0]
        calls(2500)
        gc.collect()
        after = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert after - before < 20_000, after - before
    assert len(train.signatures) == 2 and len(scaled.signatures) == 1 and len(branches.signatures) == 2
