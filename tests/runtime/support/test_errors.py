"""Errors: messages name the operator, its arguments and the way out; texts that people search for stay as they are."""

import re

import numpy as np
import pytest

import gradspec as gs
from gradspec.autograd import GradcheckError, grad, saved_tensors_hooks
from gradspec.support.errors import describe, explain
from tests.asked import each


def leaf(*values):
    return gs.tensor(np.array(values, float), requires_grad=True)


def test_gradcheck_errors_are_runtime_errors():
    assert issubclass(GradcheckError, RuntimeError)


def test_explain_keeps_type_traceback_and_cause():
    try:
        try:
            raise ValueError("bad axis") from KeyError("cause")
        except ValueError as error:
            raise explain(error, "sum", x=np.ones((2, 3)), axis=5) from error.__cause__
    except ValueError as error:
        assert str(error) == "sum: bad axis (called with x=float64[2, 3], axis=5)"
        assert isinstance(error.__cause__, KeyError) and error.__traceback__ is not None


def test_explain_copes_with_unusual_exceptions():
    error = explain(UnicodeDecodeError("ascii", b"", 0, 1, "why"), "op")
    assert type(error) is UnicodeError and str(error).startswith("op: ") and "[UnicodeDecodeError]" in str(error)


def test_explain_leaves_an_error_of_a_users_class_alone():
    """AUTOGRAD_BEHAVIOURS, saved-variables: hook exceptions keep their type, and all that they hold."""

    class Own(ValueError):
        pass

    own = Own("why")
    assert explain(own, "op") is own

    def pack(_):
        raise own

    with saved_tensors_hooks(pack, pack), pytest.raises(Own) as caught:
        gs.nn.mse_loss(gs.ones(2).requires_grad_(), gs.zeros(2))  # a composite
    assert caught.value is own


def test_explain_again_keeps_the_reason_and_names_the_inner_operator():
    inner = explain(ValueError("axis 9 is too many"), "sum", x=np.ones(2), axis=9)
    outer = explain(explain(inner, "middle", a=1), "nanmean", x=np.ones(2), axis=9)
    assert str(outer) == "nanmean: axis 9 is too many, in sum (called with x=float64[2], axis=9)"


def test_an_attribute_that_a_number_lacks_is_a_type_error():
    try:
        (1.5).shape  # noqa: B018
    except AttributeError as error:
        found = explain(error, "op", x=1.5)
    assert type(found) is TypeError and "op: an array is needed" in str(found)


def test_an_attribute_that_another_object_lacks_stays_what_it_is():
    class Holder:
        pass

    try:
        Holder().shape  # noqa: B018
    except AttributeError as error:
        found = explain(error, "op", x=1.5)
    assert type(found) is AttributeError and "op: 'Holder' object has no attribute 'shape' (called with x=1.5)" == str(found)


def test_describe():
    assert describe(np.ones((2, 0), "float32")) == "float32[2, 0]"
    assert describe([np.ones(2), gs.tensor(1)]) == "[float64[2], int64[]]"
    assert describe("x" * 100).endswith("...") and len(describe("x" * 100)) == 60
    assert describe(None) == "None" and describe([1, 2]) == "[1, 2]"


@pytest.mark.parametrize(
    "call, error, words",
    [
        (lambda: gs.ones((2, 3)) @ gs.ones((2, 3)), ValueError, ["matmul", "float64[2, 3]"]),
        (lambda: gs.ones((2, 3)) + gs.ones((4,)), ValueError, ["add", "float64[2, 3]", "float64[4]"]),
        (lambda: gs.ones((2, 3)).sum(axis=5), ValueError, ["sum", "axis=(5,)"]),
        (lambda: gs.ones((2, 3)).reshape((7,)), ValueError, ["reshape", "float64[2, 3]"]),
        (lambda: gs.ones((2, 3))[5], IndexError, ["getitem", "out of bounds"]),
        (lambda: gs.exp("text"), TypeError, ["exp", "'x'", "str"]),
        (lambda: gs.concat(3), TypeError, ["concat", "sequence of tensors"]),
    ],
)
def test_operators_name_themselves_and_their_arguments(call, error, words):
    with pytest.raises(error) as raised:
        call()
    for word in words:
        assert word in str(raised.value)


@pytest.mark.parametrize(("call", "says"), [
    (lambda x: gs.transpose(x, (1, 2)), "PyTorch's x.transpose(i, j) is x.swapaxes(i, j)"),
    (lambda x: gs.permute_dims(x, (0, 1)), "PyTorch's x.transpose"),
])  # fmt: skip
def test_what_pytorch_means_by_a_call_that_fails(call, says):
    with pytest.raises(ValueError, match=re.escape(says)):
        call(gs.ones((2, 3, 4)))


def test_in_place_operators_name_themselves():
    with pytest.raises(Exception, match="add"):
        gs.ones((2,)).add_(gs.ones((3,)))
    with pytest.raises(RuntimeError, match="exp_: a leaf Variable that requires grad"):
        leaf(1.0).exp_()


PHRASES = {
    "element 0 of tensors does not require grad and does not have a grad_fn": lambda: gs.ones((1,)).backward(),
    "grad can be implicitly created only for scalar outputs": lambda: (leaf(1.0, 2.0) * 2).backward(),
    "cannot be empty": lambda: (leaf(1.0) * 2).backward(inputs=[]),
    "to not have been used in the graph": lambda: grad(leaf(1.0) * 2, leaf(1.0)),
    "Set allow_unused=True": lambda: grad(leaf(1.0) * 2, leaf(1.0)),
    "a leaf Variable that requires grad is being used in an in-place operation.": lambda: leaf(1.0).add_(1),
    "Specify retain_graph=True": lambda: [y.backward() for y in [leaf(1.0).exp()] * 2],
    "you can only change requires_grad flags of leaf variables": lambda: (leaf(1.0) * 2).requires_grad_(False),
    "Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.": lambda: leaf(1.0).numpy(),
    "cannot register a hook on a tensor that doesn't require gradient": lambda: gs.ones((1,)).register_hook(print),
    "can't retain_grad on Tensor that has requires_grad=False": lambda: gs.ones((1,)).retain_grad(),
}


@each("phrase", PHRASES)
def test_phrases_that_people_search_for(phrase):
    with pytest.raises(RuntimeError) as raised:
        PHRASES[phrase]()
    assert phrase in str(raised.value)
