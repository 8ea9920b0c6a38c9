"""Details that users of PyTorch and JAX type from memory: the answer or the refusal is PyTorch's, or names what to write."""

import math

import numpy as np
import pytest

import gradspec as gs
from gradspec import nn
from gradspec.nn.modules import module as of_all
from tests.asked import each

torch = pytest.importorskip("torch", reason="compares with PyTorch, which is not installed")
RNG = np.random.default_rng(0)


def both(program, *arrays):
    """A program's answer here and in PyTorch: an array, or the error."""
    found = []
    for library, tensor in ((gs, gs.asarray), (torch, torch.from_numpy)):
        try:
            found.append(np.asarray(program(library, *[tensor(array.copy()) for array in arrays]).detach()))
        except Exception as error:
            found.append(error)
    return found


def agree(program, *arrays):
    """The same numbers, or an error in both; errors of shapes and values, none of NumPy's insides."""
    mine, theirs = both(program, *arrays)
    if isinstance(theirs, Exception):
        assert isinstance(mine, (ValueError, IndexError, TypeError)), mine
    else:
        assert isinstance(mine, np.ndarray), mine
        np.testing.assert_allclose(mine, theirs, rtol=1e-12, atol=1e-12)
        assert mine.shape == theirs.shape


def number(*values):
    return np.array(values[0] if len(values) == 1 else values)


class TestIndexing:
    """`index_add`, `index_copy` and `index_fill` of a number, and with one index."""

    CASES = [((), (), ()), ((), (1,), ()), ((3,), (), (1,)), ((3,), (1,), (1,)), ((2, 3), (), (1, 3)), ((2, 3), (2,), (2, 3))]

    @each("name", ["index_add", "index_copy"])
    @each("x, places, source", CASES)
    @each("axis", [0, -1, 1])
    def test_numbers_and_single_indices(self, name, x, places, source, axis):
        if axis and len(x) == 2:
            source = source[::-1] if places == () else (2, 2)
        arrays = RNG.normal(size=x), np.arange(math.prod(places)).reshape(places), RNG.normal(size=source)
        agree(lambda t, x, i, s: getattr(x, name)(axis, i, s), *arrays)
        agree(lambda t, x, i, s: getattr(x.clone(), name + "_")(axis, i, s), *arrays)
        if not isinstance(both(lambda t, x, i, s: getattr(x, name)(axis, i, s), *arrays)[1], Exception):
            for wanted in (0, 2):
                agree(lambda t, *a, k=wanted: self.gradient(t, name, axis, a, k), *arrays)

    @staticmethod
    def gradient(library, name, axis, arrays, wanted):
        for array in (arrays[0], arrays[2]):
            array.requires_grad_()
        (getattr(arrays[0] * 2, name)(axis, arrays[1], arrays[2] * 3) ** 2).sum().backward()
        return arrays[wanted].grad

    @each("axis", [0, -1, 1])
    @each("places", [(), (1,)])
    def test_fill(self, axis, places):
        agree(lambda t, x, i: x.index_fill(axis, i, 5.0), RNG.normal(size=()), np.zeros(places, np.int64))
        agree(lambda t, x, i: x.clone().index_fill_(axis, i, 5.0), RNG.normal(size=()), np.zeros(places, np.int64))

    @each("name", ["index_add", "index_copy", "index_fill"])
    def test_an_index_that_a_number_has_not_is_refused(self, name):
        value = 5.0 if name == "index_fill" else gs.tensor(2.0)
        with pytest.raises(IndexError, match="index 1 is out of bounds for axis 0 with size 1"):
            getattr(gs, name)(gs.tensor(1.0), 0, 1, value)

    def test_rows_of_numbers(self):
        x, s = gs.tensor([1.0, 2.0, 3.0]), gs.tensor([4.0, 5.0, 6.0])
        assert gs.vmap(lambda x, s: gs.index_add(x, 0, 0, s))(x, s).tolist() == [5.0, 7.0, 9.0]
        assert gs.vmap(lambda x, s: gs.index_copy(x, 0, [0], s))(x, s).tolist() == s.tolist()


class TestShapedLayers:
    @each("mode, ndim", [("nearest", 4), ("nearest-exact", 4), ("area", 4), ("linear", 3), ("bilinear", 4), ("trilinear", 5), ("bicubic", 4)])
    @each("corners", [None, False, True])
    def test_align_corners(self, mode, ndim, corners):
        agree(lambda t, x: t.nn.functional.interpolate(x, scale_factor=2, mode=mode, align_corners=corners), RNG.normal(size=(1, 2, 3, 3, 3)[:ndim]))

    @each("size", [(5, 6), (6, 6), (6,), (1, 1, 5, 6), (7, 7), (4, 5), 6])
    def test_output_size(self, size):
        weight = RNG.normal(size=(2, 1, 3, 3))

        def program(t, x, w):
            layer = t.nn.ConvTranspose2d(2, 1, 3, stride=2, padding=1, bias=False)
            layer.weight = t.nn.Parameter(w)
            return layer(x, output_size=size if isinstance(size, int) else list(size))

        agree(program, RNG.normal(size=(1, 2, 3, 3)), weight)

    @each("n, stride, dilation, padding", [(n, s, d, p) for n in (1, 2, 3) for s, d, p in ((2, 1, 1), (2, 1, 2), (1, 3, 2), (2, 1, -1), (3, 2, (2,)))])
    def test_output_padding(self, n, stride, dilation, padding):
        padding = padding * n if isinstance(padding, tuple) else padding
        agree(lambda t, x, w: getattr(t.nn.functional, f"conv_transpose{n}d")(x, w, stride=stride, dilation=dilation, output_padding=padding),
              RNG.normal(size=(1, 2, *[3] * n)), RNG.normal(size=(2, 1, *[2] * n)))  # fmt: skip

    @each("affine", [True, False])
    @each("shape", [(1, 4, 2, 2), (4, 2, 2)])
    def test_instance_norm_of_another_number_of_channels(self, affine, shape):
        x = RNG.normal(size=shape)
        if affine:
            for library, tensor in ((gs, gs.asarray), (torch, torch.from_numpy)):
                with pytest.raises(ValueError, match=rf"expected input's size at dim={len(shape) - 3} to match num_features \(3\), but got: 4."):
                    library.nn.InstanceNorm2d(3, affine=True)(tensor(x))
            return
        with pytest.warns(UserWarning, match=f"input's size at dim={len(shape) - 3}"):
            agree(lambda t, x: t.nn.InstanceNorm2d(3)(x), x)


class TestSpectra:
    SIGNAL = RNG.normal(size=(2, 40))

    @each("keywords", [{"return_complex": True}, {"return_complex": True, "onesided": False}, {"return_complex": True, "normalized": True},
                       {"return_complex": True, "center": False}, {"return_complex": True, "center": False, "align_to_window": True},
                       {"return_complex": True, "center": False, "align_to_window": False},
                       {"return_complex": True, "align_to_window": True}])  # fmt: skip
    @each("length", [10, 6, 5])
    def test_stft(self, keywords, length):
        agree(lambda t, x, w: t.stft(x, 10, 3, length, w, **keywords), self.SIGNAL, RNG.uniform(size=length))

    @pytest.mark.filterwarnings("ignore:stft with return_complex=False")
    def test_pairs_of_numbers(self):
        agree(lambda t, x, w: t.stft(x, 8, window=w, return_complex=False), self.SIGNAL, RNG.uniform(size=8))
        spectrum = both(lambda t, x, w: t.stft(x, 8, window=w, return_complex=False), self.SIGNAL, np.ones(8))[1]
        agree(lambda t, y, w: t.istft(y, 8, window=w), spectrum, np.ones(8))
        agree(lambda t, y, w: t.istft(t.view_as_complex(y), 8, window=w), spectrum, np.ones(8))
        with pytest.raises(ValueError, match=r"istft\(view_as_complex\(x\), ...\)"):
            gs.istft(spectrum, 8)

    @each("keywords", [{}, {"length": 33}, {"onesided": False}, {"onesided": False, "return_complex": True}])
    def test_istft(self, keywords):
        onesided = keywords.get("onesided")
        spectrum = torch.stft(torch.from_numpy(self.SIGNAL), 8, 2, window=torch.ones(8).double(), onesided=onesided, return_complex=True).numpy()
        agree(lambda t, y, w: t.istft(y, 8, 2, window=w, **keywords), spectrum, np.ones(8))


class TestModules:
    def test_batch_norms_without_running_statistics(self):
        def program(t, x):
            net = t.nn.Sequential(t.nn.BatchNorm1d(3), t.nn.Sequential(t.nn.BatchNorm1d(3, affine=False))).to(t.float64)
            assert t.func.replace_all_batch_norm_modules_(net) is net and list(net.buffers()) == []
            assert not net[0].track_running_stats and len(list(net.parameters())) == 2
            return t.vmap(net)(x)

        agree(program, RNG.normal(size=(5, 4, 3)))

    def test_hooks_of_every_module(self):
        def log_of(t):
            log, every = [], t.nn.modules.module
            handles = [
                every.register_module_forward_pre_hook(lambda m, args: log.append(("pre", type(m).__name__, len(args)))),
                every.register_module_forward_hook(lambda m, args, y: log.append(("forward", type(m).__name__, tuple(y.shape)))),
                every.register_module_full_backward_pre_hook(lambda m, grads: log.append(("backward pre", type(m).__name__, len(grads)))),
                every.register_module_full_backward_hook(lambda m, x, y: log.append(("backward", type(m).__name__, len(x), len(y)))),
                every.register_module_parameter_registration_hook(lambda m, name, value: log.append(("parameter", type(m).__name__, name))),
                every.register_module_buffer_registration_hook(lambda m, name, value: log.append(("buffer", type(m).__name__, name))),
                every.register_module_module_registration_hook(lambda m, name, value: log.append(("module", type(m).__name__, name))),
            ]
            net = t.nn.Sequential(t.nn.Linear(2, 2), t.nn.BatchNorm1d(2))
            net(t.ones((3, 2)).requires_grad_()).sum().backward()
            for handle in handles:
                handle.remove()
            length = len(log)
            t.nn.Sequential(t.nn.Linear(2, 2))(t.ones((3, 2)))
            assert len(log) == length
            return log

        assert of_all is nn.modules.module and log_of(gs) == log_of(torch)

    def test_hooks_that_change_values(self):
        def program(t, x):
            every = t.nn.modules.module
            handles = [every.register_module_forward_pre_hook(lambda m, args: (args[0] + 1,)),
                       every.register_module_forward_hook(lambda m, args, y: y * 2),
                       every.register_module_full_backward_hook(lambda m, gx, gy: (gx[0] * 10,))]  # fmt: skip
            try:
                y = t.nn.Identity()(x.requires_grad_())
                y.sum().backward()
            finally:
                for handle in handles:
                    handle.remove()
            return t.stack([y, x.grad])

        agree(program, RNG.normal(size=(2, 3)))


class TestFunctions:
    @each("in_dims", [(0, None), (1, 0), (None, 0), (-1, -1)])
    @each("nest", [lambda y: y, lambda y: [y, 3], lambda y: {"a": y, "b": (y, None)}, lambda y: ([y], 2.5), lambda y: None])
    def test_in_dims_of_a_functions_vmap(self, in_dims, nest):
        def seen(t):
            calls = []

            class Twice(t.autograd.Function):
                @staticmethod
                def forward(x, rest, number):
                    return x * 2

                @staticmethod
                def setup_context(ctx, inputs, output):
                    pass

                @staticmethod
                def backward(ctx, grad):
                    return grad * 2, None, None

                @staticmethod
                def vmap(info, in_dims, x, rest, number):
                    calls.append((info.batch_size, info.randomness, in_dims, type(rest).__name__, number, tuple(x.shape)))
                    return x * 2, in_dims[0]

            y = t.func.vmap(lambda x, y: Twice.apply(x, nest(y), 2.5), in_dims=in_dims)(t.ones((4, 4)), t.ones((4, 4)))
            return calls, tuple(y.shape)

        assert seen(gs) == seen(torch)

    def test_arguments_of_jvp(self):
        import_jax = pytest.importorskip("jax", reason="compares with JAX's results, and JAX is not installed")
        with pytest.raises(TypeError, match=r"jvp: primals is a list; write a tuple of the arguments, jvp\(f, \(x,\), \(t,\)\)"):
            gs.func.jvp(lambda x: x * 2, [gs.ones(3)], [gs.ones(3)])
        with pytest.raises(RuntimeError, match="Expected primals to be a tuple"):
            torch.func.jvp(lambda x: x * 2, [torch.ones(3)], [torch.ones(3)])
        mine = gs.func.jvp(gs.sin, (np.arange(3.0),), (np.ones(3),))
        theirs = import_jax.jvp(import_jax.numpy.sin, (np.arange(3.0),), (np.ones(3),))
        np.testing.assert_allclose(mine, theirs, rtol=1e-6)

    def test_gelu_of_jax(self):
        for value in (True, False):
            with pytest.raises(TypeError, match="JAX's True, its default, is approximate='tanh', and False is 'none'"):
                nn.gelu(gs.ones(3), approximate=value)
        agree(lambda t, x: t.nn.functional.gelu(x, approximate="tanh"), RNG.normal(size=9))


class TestDLPack:
    @each("keywords", [{}, {"stream": None}, {"stream": -1}, {"max_version": (1, 0)}, {"max_version": None}, {"dl_device": (1, 0)},
                       {"copy": True}, {"copy": None}, {"copy": False}, {"max_version": (1, 0), "dl_device": (1, 0), "copy": True}])  # fmt: skip
    def test_keywords_of_a_capsule(self, keywords):
        x = gs.tensor([1.0, 2.0])
        mine, theirs = x.__dlpack__(**keywords), torch.tensor([1.0, 2.0]).__dlpack__(**keywords)
        assert repr(mine).split(" at ")[0] == repr(theirs).split(" at ")[0]
        there = torch.from_dlpack(mine)
        there[0] = 5.0
        assert there.dtype == torch.float64 and x.tolist() == ([1.0, 2.0] if keywords.get("copy") else [5.0, 2.0])

    def test_refusals(self):
        for given in ({"stream": 1}, {"dl_device": (2, 0)}):
            with pytest.raises(BufferError):
                gs.ones(3).__dlpack__(**given)
        for library in (gs, torch):
            with pytest.raises(BufferError, match=r"Can't export tensors that require gradient, use tensor.detach\(\)"):
                library.ones(3, requires_grad=True).__dlpack__()
        with pytest.raises(TypeError, match=r"a list has no __dlpack__; write gs.asarray\(x\)"):
            gs.from_dlpack([1.0])

    def test_capsules_and_tensors_of_pytorch(self):
        theirs = torch.arange(3.0)
        for x in (gs.from_dlpack(theirs), gs.from_dlpack(theirs.__dlpack__(max_version=(1, 0))), gs.from_dlpack(theirs, device="cpu", copy=False)):
            assert x.dtype == np.float32
            x[0] = 7.0
            assert theirs[0] == 7.0
            theirs[0] = 0.0
        assert gs.from_dlpack(theirs.__dlpack__()).tolist() == [0.0, 1.0, 2.0]  # read-only: its capsule does not say that it may be written
        with pytest.raises(BufferError, match=r"from_dlpack\(capsule\).clone\(\)"):
            gs.from_dlpack(theirs.__dlpack__(), copy=True)
