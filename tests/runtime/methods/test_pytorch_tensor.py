"""PyTorch's methods of a tensor: every statement here holds in both libraries."""

import pytest

import gradspec as gs


@pytest.fixture(params=["gradspec", "torch"])
def library(request):
    return pytest.importorskip(request.param)


@pytest.mark.parametrize("name, dtype", [
    ("float", "float32"), ("double", "float64"), ("half", "float16"), ("int", "int32"), ("long", "int64"), ("bool", "bool"),
])  # fmt: skip
def test_a_conversion_to_its_own_dtype_is_the_tensor(library, name, dtype):
    kind = getattr(library, dtype)
    x, other = library.ones(2, dtype=kind), library.ones(2, dtype=library.float64 if name != "double" else library.float32)
    assert getattr(x, name)() is x and x.type(kind) is x
    changed = getattr(other, name)()
    assert changed is not other and changed.dtype == other.type(kind).dtype == kind


def test_a_write_to_what_was_not_converted_is_a_write_to_the_tensor(library):
    x = library.ones(2, dtype=library.float64)
    x.double().add_(1), x.type(library.float64).add_(1), x.float().add_(1)
    assert x.tolist() == [3, 3]
    leaf = library.ones(2, dtype=library.float64, requires_grad=True)
    (leaf.double() * leaf.type(library.float64)).sum().backward()
    assert leaf.double().grad.tolist() == [2, 2]


def test_every_gradient_is_dense(library):
    x = library.ones((4,), requires_grad=True)
    library.gather(x, 0, library.tensor([1, 1]), sparse_grad=True).sum().backward()
    assert x.grad.to_dense().tolist() == [0, 2, 0, 0]
    assert not x.is_sparse and x.to_dense() is x
    assert x.to_dense(library.float16).dtype == library.float16


@pytest.mark.parametrize("size, sparse", [((10, 10), False), ((), False), ((), True)])
def test_the_gradient_of_gather_by_an_index_without_axes(library, size, sparse):
    x = library.ones(size[:1], requires_grad=True)
    library.gather(x, 0, library.tensor(0), sparse_grad=sparse).backward()
    assert x.grad.to_dense().sum() == 1 and x.grad.shape == x.shape


def test_resize_as(library):
    x = library.arange(4)
    version = x._version
    assert x.resize_as_(library.ones((2, 2))) is x and x.tolist() == [[0, 1], [2, 3]] and x._version == version + 1
    assert x.resize_as_(x, memory_format=library.contiguous_format)._version == version + 1
    with pytest.raises(RuntimeError):
        library.ones(2, requires_grad=True).clone().resize_as_(library.ones(3))


def test_memory_formats_change_no_value(library):
    x = library.arange(24.0).reshape(1, 2, 3, 4).requires_grad_()
    for layout in (library.preserve_format, library.contiguous_format, library.channels_last):
        assert (x.to(memory_format=layout) == x).all() and (x.to(library.float32, memory_format=layout) == x).all()
    for layout in (library.contiguous_format, library.channels_last):
        (x.contiguous(memory_format=layout) ** 2).sum().backward()
        assert (x.grad == 2 * x).all()
        x.grad = None
    assert x.contiguous() is x and x.swapaxes(1, 2).contiguous().is_contiguous()
    layer = library.nn.Conv2d(2, 1, 1)
    assert layer.to(memory_format=library.channels_last) is layer and layer(x.to(layer.weight.dtype)).shape == (1, 1, 3, 4)


def test_an_unknown_memory_format():
    for method in ("contiguous", "to"):
        with pytest.raises(ValueError, match=f"{method}: memory_format is 'mine'; write nothing: a layout is NumPy's to choose"):
            getattr(gs.ones(2), method)(memory_format="mine")
    with pytest.raises(ValueError, match="resize_as_: memory_format is 'mine'"):
        gs.ones(2).resize_as_(gs.ones(3), memory_format="mine")


def test_is_inference(library):
    with library.inference_mode():
        inside = library.ones(2)
        assert library.is_inference(inside) and library.is_inference(inside * 2)
    assert library.is_inference(inside) and not library.is_inference(inside * 2) and not library.is_inference(library.ones(2))


def test_is_inference_of_rows():
    with gs.inference_mode():
        inside = gs.ones((2, 2))
    seen = []
    gs.vmap(lambda row: (seen.append(gs.is_inference(row)), row * 2)[1])(inside)
    assert seen == [True]
