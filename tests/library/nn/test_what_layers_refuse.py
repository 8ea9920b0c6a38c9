"""What layers, losses and pruning refuse, each one step beyond what they take, and the ways of layers that no training takes."""

import numpy as np
import pytest

import gradspec as gs
from gradspec import nn
from tests.asked import each

ones = gs.ones
utils = nn.utils
LINEAR = nn.Linear(2, 3)


def attention(query=(4, 1, 2), heads=1, size=2, **given):
    q = ones(query)
    return nn.multi_head_attention_forward(q, q, q, size, heads, ones((6, 2)), None, None, None, False, 0.0, ones((2, 2)), None, **given)


REFUSED = [
    (lambda: attention((4,)), ValueError, "must all be of shape .time, batch, components."),
    (lambda: attention(heads=2, size=3), ValueError, "2 components are not 3, in 2 heads"),
    (lambda: attention(is_causal=True), ValueError, "is_causal wants the causal attn_mask as well"),
    (lambda: nn.embedding_bag([[0]], ones((2, 2)), mode="least"), ValueError, "mode must be 'mean', 'sum' or 'max', got 'least'"),
    (lambda: nn.embedding_bag([[0]], ones((2, 2)), per_sample_weights=[[1.0]]), ValueError, "per_sample_weights are for mode='sum'"),
    (lambda: nn.embedding_bag([[0.5]], ones((2, 2))), TypeError, "indices must be integers in rows, or a vector of them"),
    (lambda: nn.embedding_bag([[[0]]], ones((2, 2))), TypeError, "indices must be integers in rows, or a vector of them"),
    (lambda: nn.embedding_bag([0], ones((2, 2))), ValueError, "offsets are for a vector of indices"),
    (lambda: nn.embedding_bag([[0]], ones((2, 2)), [0]), ValueError, "offsets are for a vector of indices"),
    (lambda: nn.embedding_bag([0, 1], ones((2, 2)), [0, 2, 1]), ValueError, "offsets must be integers from 0 that do not fall"),
    (lambda: nn.embedding_bag([0, 1], ones((2, 2)), [1]), ValueError, "offsets must be integers from 0 that do not fall"),
    (lambda: nn.linear_cross_entropy(ones((1, 1, 2)), ones((3, 2)), [0]), RuntimeError, "dimensionality 1 or 2, got 3"),
    (lambda: nn.linear_cross_entropy(ones((1, 2)), ones((3, 3)), [0]), RuntimeError, "expected equal input and linear_weight last"),
    (lambda: nn.linear_cross_entropy(ones((1, 2)), ones((3, 2)), [0], linear_bias=ones(2)), RuntimeError, r"expected linear_bias shape \(3,\), got \(2,\)"),
    (lambda: nn.linear_cross_entropy(ones(2), ones((3, 2, 2)), [0, 0]), RuntimeError, "requires batched input"),
    (lambda: nn.linear_cross_entropy(ones((1, 2)), ones((3, 2)), ones((1, 3)) / 3, ignore_index=1), RuntimeError, "ignore_index cannot be"),
    (lambda: nn.softshrink(ones(2), -1e-9), ValueError, "lambd must be a number from 0 to inf, got -1e-09"),
    (lambda: nn.avg_pool2d(ones((1, 2, 2)), 2, divisor_override=0), ValueError, "divisor_override must be a number from -inf to inf other than 0"),
    (lambda: nn.avg_pool3d(ones((1, 2, 2, 2)), 2, divisor_override=0), ValueError, "divisor_override must be a number .* other than 0, got 0"),
    (lambda: nn.cross_entropy(ones((1, 2)), [0], label_smoothing=1.5), ValueError, "label_smoothing must be a number from 0 to 1, got 1.5"),
    (lambda: nn.cross_entropy(ones((1, 2)), [0], label_smoothing=-0.5), ValueError, "label_smoothing must be a number from 0 to 1"),
    (lambda: nn.huber_loss(ones(2), ones(2), delta=0.0), ValueError, "delta must be a number from 0 to inf other than 0, got 0.0"),
    (lambda: nn.huber_loss(ones(2), ones(2), delta=-1.0), ValueError, "delta must be a number from 0 to inf other than 0, got -1.0"),
    (lambda: nn.smooth_l1_loss(ones(2), ones(2), beta=-1.0), ValueError, "beta must be a number from 0 to inf, got -1.0"),
    (lambda: nn.Softmax2d()(ones((2, 2))), ValueError, "expected input to be 3D or 4D .got 2D instead."),
    (lambda: nn.MultiheadAttention(0, 1), ValueError, "embed_dim and num_heads must be greater than 0, got embed_dim=0"),
    (lambda: nn.MultiheadAttention(4, 3), AssertionError, "embed_dim must be divisible by num_heads"),
    (lambda: nn.ModuleList([LINEAR]).extend(3), TypeError, "extend should be called with an iterable, but got int"),
    (lambda: nn.ModuleList([LINEAR]).insert(2, LINEAR), IndexError, "Index out of range: 2|index 2 is out of range"),
    (lambda: nn.Sequential(LINEAR).insert(0, 3), AssertionError, "module should be of type"),
    (lambda: nn.Sequential(LINEAR).insert(2, LINEAR), IndexError, "Index out of range: 2"),
    (lambda: nn.Sequential(LINEAR) * 0, ValueError, "repeated a positive number of times, not 0"),
    (lambda: nn.ModuleDict(3), TypeError, "should be called with an iterable of key/value pairs, but got int"),
    (lambda: nn.ParameterDict(3), TypeError, "should be called with an iterable of key/value pairs, but got int"),
    (lambda: nn.ParameterDict({3: ones(1)}), TypeError, "it is not a string .type is 'int'."),
    (lambda: nn.ParameterDict()["a"], KeyError, "a"),
    (lambda: nn.ParameterList().extend(3), TypeError, "extend should be called with an iterable, but got int"),
    (lambda: nn.Conv1d(2, 2, 1, groups=0), ValueError, "groups must be a positive integer"),
    (lambda: nn.Conv1d(2, 2, 1, padding_mode="wrap"), ValueError, "padding_mode must be one of .*, but got padding_mode='wrap'"),
    (lambda: nn.Conv1d(2, 2, 1, padding="full"), ValueError, "Invalid padding string 'full'"),
    (lambda: nn.Conv1d(2, 2, 1, 2, padding="same"), ValueError, "'same' is not supported for strided convolutions"),
    (lambda: nn.ConvTranspose1d(2, 2, 1, padding_mode="reflect"), ValueError, 'Only "zeros" padding mode is supported'),
    (lambda: nn.ConvTranspose1d(1, 1, 2)(ones((1, 1, 3)), [1, 2]), ValueError, "must have 1 or 3 elements .got 2."),
    (lambda: nn.ConvTranspose1d(1, 1, 2, 3)(ones((1, 1, 3)), [11]), ValueError, r"valid sizes range from \[8\] to \[10\]"),
    (lambda: nn.ConvTranspose1d(1, 1, 2, 3)(ones((1, 1, 3)), [7]), ValueError, r"valid sizes range from \[8\] to \[10\]"),
    (lambda: nn.Embedding(3, 2, 3), AssertionError, "Padding_idx must be within num_embeddings"),
    (lambda: nn.Embedding(3, 2, -4), AssertionError, "Padding_idx must be within num_embeddings"),
    (lambda: nn.Embedding(3, 2, _weight=ones((3, 3))), AssertionError, "Shape of weight does not match"),
    (lambda: nn.Embedding.from_pretrained(ones(3)), AssertionError, "expected to be 2-dimensional"),
    (lambda: nn.EmbeddingBag.from_pretrained(ones(3)), AssertionError, "expected to be 2-dimensional"),
    (lambda: nn.Bilinear(0, 1, 1), ValueError, "in1_features must be > 0, but got 0"),
    (lambda: nn.SyncBatchNorm(2, process_group=3), TypeError, "write gs.distributed.SyncBatchNorm for many"),
    (lambda: nn.SyncBatchNorm(2)(ones(2)), ValueError, "expected at least 2D input .got 1D input."),
    (lambda: nn.InstanceNorm1d(3, affine=True)(ones((2, 2, 4))), ValueError, "size at dim=1 to match num_features .3., but got: 2"),
    (lambda: nn.GroupNorm(2, 3), ValueError, r"num_channels \(3\) must be divisible by num_groups \(2\)"),
    (lambda: nn.GRU(2, 2, dropout=1.01), ValueError, "dropout should be a number in range"),
    (lambda: nn.GRU(2, 2, dropout=True), ValueError, "dropout should be a number in range"),
    (lambda: nn.RNNBase("SRU", 2, 2), ValueError, "Unrecognized RNN mode: SRU"),
    (lambda: nn.GRU(2, 0), ValueError, "hidden_size must be greater than zero"),
    (lambda: nn.GRU(2, 2, 0), ValueError, "num_layers must be greater than zero"),
    (lambda: nn.LSTM(2, 2, proj_size=2), ValueError, "smaller than hidden_size, or zero"),
    (lambda: nn.RNNBase("GRU", 2, 2, proj_size=1), ValueError, "proj_size is only supported for LSTM"),
    (lambda: nn.GRU(2, 2)(ones(2)), ValueError, "Expected input to be 2D or 3D, got 1D instead"),
    (lambda: nn.GRU(2, 2)(ones((4, 3))), RuntimeError, "Expected 2, got 3"),
    (lambda: nn.RNN(2, 2, nonlinearity="sin"), ValueError, "Unknown nonlinearity 'sin'. Select from 'tanh' or 'relu'"),
    (lambda: nn.RNNCell(2, 2, nonlinearity="sin")(ones((1, 2))), ValueError, "Unknown nonlinearity: sin"),
    (lambda: nn.GRUCell(2, 2)(ones((1, 1, 2))), ValueError, "Expected input to be 1D or 2D, got 3D instead"),
    (lambda: nn.Unflatten("channels", (1, 2)), TypeError, "unflattened dim must be an int, got str"),
    (lambda: nn.TransformerEncoderLayer(2, 1, activation="swish"), RuntimeError, "activation should be relu/gelu, not swish"),
    (lambda: nn.Transformer(2, 1)(ones((3, 2, 2)), ones((3, 1, 2))), RuntimeError, "the batch number of src and tgt must be equal"),
    (lambda: nn.Transformer(2, 1)(ones((3, 1, 3)), ones((3, 1, 3))), RuntimeError, "feature number of src and tgt must be equal to d_model"),
    (lambda: nn.Module().get_extra_state(), RuntimeError, "should never be called"),
    (lambda: nn.Module().set_extra_state(3), RuntimeError, "should never be called"),
    (lambda: nn.Sequential(LINEAR).set_submodule("", LINEAR), ValueError, "Cannot set the submodule without a target name"),
    (lambda: nn.Sequential(LINEAR).set_submodule("1.a", LINEAR), AttributeError, "Sequential has no attribute `1`"),
    (lambda: nn.Sequential(LINEAR).set_submodule("0.weight.a", LINEAR), AttributeError, "`weight` is not an nn.Module"),
    (lambda: nn.Sequential(LINEAR).get_parameter("0.scale"), AttributeError, "Linear has no attribute `scale`"),
    (lambda: utils.rnn.pack_padded_sequence(ones(3), [1]), ValueError, "has a time and a batch, got shape"),
    (lambda: utils.rnn.pack_padded_sequence(ones((3, 2)), [1]), ValueError, "lengths must be 2 integers"),
    (lambda: utils.rnn.pack_padded_sequence(ones((3, 2)), [4, 1]), ValueError, r"lengths must be from 1 to 3, got \[4, 1\]"),
    (lambda: utils.rnn.pack_padded_sequence(ones((3, 2)), [1, 0]), ValueError, "lengths must be from 1 to 3"),
    (lambda: utils.rnn.pad_packed_sequence(utils.rnn.pack_padded_sequence(ones((3, 1)), [3]), total_length=2), ValueError,
     "total_length 2 is less than 3, the longest length"),
    (lambda: utils.fuse_conv_bn_eval(nn.Conv1d(1, 1, 1).eval(), nn.BatchNorm1d(1, track_running_stats=False).eval()), ValueError,
     "a batch norm without running statistics"),
    (lambda: utils.fuse_linear_bn_eval(LINEAR.eval(), nn.BatchNorm1d(2).eval()), AssertionError, "To fuse, linear.out_features == bn"),
    (lambda: utils.parametrizations.spectral_norm(LINEAR, "scale"), ValueError, "has no parameter or buffer with name 'scale'"),
    (lambda: utils.parametrizations.spectral_norm(nn.Linear(2, 2), dim=2), IndexError, r"expected to be in range of \[-2, 1\] but got"),
    (lambda: utils.prune.custom_from_mask(nn.Linear(2, 2), "scale", ones((2, 2))), (AttributeError, ValueError), "scale"),
    (lambda: utils.prune.l1_unstructured(nn.Linear(2, 2), "weight", 1, ones(3)), (AssertionError, ValueError), "importance_scores should have the shape"),
    (lambda: utils.prune.remove(nn.Linear(2, 2), "weight"), ValueError, "has to be pruned before|Parameter 'weight'"),
]  # fmt: skip


@each("number", range(len(REFUSED)))
def test_what_is_refused(number):
    call, error, words = REFUSED[number]
    with pytest.raises(error, match=words):
        call()


def test_rows_that_are_given():
    rows = np.arange(6.0).reshape(3, 2)
    for kind in (nn.Embedding, nn.EmbeddingBag):
        for freeze in (True, False):
            layer = kind.from_pretrained(gs.asarray(rows), freeze, padding_idx=-1)
            assert layer.weight.requires_grad == (not freeze) and layer.padding_idx == 2
            np.testing.assert_array_equal(layer.weight.detach(), rows)
    np.testing.assert_array_equal(nn.Embedding.from_pretrained(gs.asarray(rows))(gs.asarray([2, 0])), rows[[2, 0]])
    np.testing.assert_array_equal(nn.EmbeddingBag.from_pretrained(gs.asarray(rows), mode="sum")(gs.asarray([[1, 0]])), rows[:2].sum(0)[None])


@each("axes", [1, 2, 3])
def test_a_transposed_convolution_of_the_size_that_is_wanted(axes):
    """Every size between is that of the convolution's input, for one of them."""
    layer = getattr(nn, f"ConvTranspose{axes}d")(2, 3, 3, 2, padding=1, dilation=(2, 1, 1)[:axes])
    x = gs.asarray(np.random.default_rng(0).normal(size=(1, 2, *(3, 4, 2)[:axes])))
    least = layer(x).shape[2:]
    for further in (0, 1):
        wanted = [n + further for n in least]
        for size in (wanted, [1, 3, *wanted]):
            y = layer(x, size)
            expected = getattr(nn, f"conv_transpose{axes}d")(x, layer.weight, layer.bias, 2, 1, further, 1, layer.dilation)
            assert y.shape[2:] == tuple(wanted)
            np.testing.assert_array_equal(y.detach(), expected.detach())


def test_valid_padding_is_none():
    x = gs.asarray(np.random.default_rng(0).normal(size=(1, 2, 7)))
    for mode in ("zeros", "reflect", "circular"):
        layer, plain = nn.Conv1d(2, 3, 3, padding="valid", padding_mode=mode), nn.Conv1d(2, 3, 3)
        plain.load_state_dict(layer.state_dict())
        np.testing.assert_array_equal(layer(x).detach(), plain(x).detach())


def test_dictionaries_of_parameters_are_dictionaries():
    held = nn.ParameterDict({"a": ones(1), "b": ones(2)})
    assert "a" in held and "c" not in held and list(held) == ["a", "b"] == list(held.keys()) and list(reversed(held)) == ["b", "a"]
    assert held.get("c") is None and held.get("a") is held["a"] and [value.shape for value in held.values()] == [(1,), (2,)]
    assert held.setdefault("a", ones(5)) is held["a"] and held.setdefault("c", ones(3)).shape == (3,) and len(held) == 3
    other = held.copy()
    held |= {"d": ones(4)}
    assert other["a"] is held["a"] and len(other) == 3 and len(held) == 4 and type(held) is nn.ParameterDict
    assert held.popitem()[0] == "d" and held.pop("c").shape == (3,) and list(dict(held.named_parameters())) == ["a", "b"]
    assert {**(held | other).fromkeys(["x", "y"], ones(1))}.keys() == {"x", "y"} and list(held | other) == ["a", "b", "c"]
    assert "(a): Parameter containing: [float64 of shape (1,)]" in repr(held)
    held.clear()
    assert len(held) == 0 and not list(held.parameters())
    listed = nn.ParameterList([ones(1)])
    listed += [ones(2)]
    assert len(listed) == 2 and type(listed) is nn.ParameterList


def test_containers():
    layers = nn.ModuleDict({"a": nn.Linear(1, 1), "b": nn.ReLU()})
    assert layers["a"] is layers.a and layers["b"] is dict(layers.items())["b"]
    pair = nn.Sequential(nn.Linear(1, 1))
    pair *= 3
    assert len(pair) == 3 and pair[0].weight is pair[2].weight
    first, second = "Linear(in_features=1, out_features=1, bias=True)  # 2 parameters", "ReLU()"
    shown = repr(nn.ModuleList([nn.Linear(1, 1), nn.Linear(1, 1), nn.ReLU(), nn.ReLU(), nn.Linear(1, 1), nn.ReLU()]))
    assert shown.startswith(f"ModuleList(\n  (0-1): 2 x {first}\n  (2-3): 2 x {second}\n  (4): {first}\n  (5): {second}\n)")


def test_what_hooks_and_modules_say():
    class Late(nn.Module):
        def __init__(self, name):
            self.name = name
            setattr(self, name, nn.Parameter(ones(1)) if name == "parameter" else nn.Linear(1, 1))

    for name in ("parameter", "module"):
        with pytest.raises(AttributeError, match=f"cannot assign {name}s? before Module.__init__.. call"):
            Late(name)
    with pytest.raises(AttributeError, match="cannot call Sequential before Module.__init__.. call"):
        nn.Sequential.__new__(nn.Sequential)(1)
    with pytest.raises(ValueError, match="Cannot assign non-leaf Tensor to parameter 'a'"):
        moved = nn.Parameter(ones(1), requires_grad=False)
        moved *= gs.ones(1, requires_grad=True)
        nn.Module().register_parameter("a", moved)
    net = nn.Sequential(nn.Tanh())
    net.register_full_backward_hook(lambda module, before, after: (None, None))
    with pytest.raises(RuntimeError, match="invalid number of .*, got 2, but expected 1"):
        net(gs.ones(1, requires_grad=True)).sum().backward()
    said = []
    net = nn.Sequential(nn.Tanh())
    handles = [nn.modules.module.register_module_full_backward_pre_hook(lambda module, grads: said.append(type(module).__name__)),
               net.register_backward_hook(lambda module, before, after: said.append("after"))]  # fmt: skip
    net(gs.ones(1, requires_grad=True)).sum().backward()
    for handle in handles:
        handle.remove()
    net(gs.ones(1, requires_grad=True)).sum().backward()
    assert said == ["Sequential", "Tanh", "after"]
    net.register_forward_pre_hook(lambda module, args, keywords: ((2 * args[0],), keywords), with_kwargs=True)
    assert net(gs.asarray(0.25)).item() == np.tanh(0.5)
    net.register_full_backward_hook(lambda module, before, after: None)
    assert gs.jvp(net, (gs.asarray(0.25),), (gs.asarray(1.0),))[1].item() == pytest.approx(2 / np.cosh(0.5) ** 2)


def test_states_of_other_forms():
    class Counted(nn.BatchNorm1d):
        def get_extra_state(self):
            return {"seen": 3}

        def set_extra_state(self, state):
            self.seen = state["seen"]

    norm = Counted(2)
    state = norm.state_dict()
    assert Counted(2).load_state_dict(state) and norm.load_state_dict({**state, "num_batches_tracked": gs.asarray([7])})
    assert norm.num_batches_tracked.item() == 7 and norm.seen == 3
    extra = state.pop("_extra_state")
    with pytest.raises(RuntimeError, match="Missing key.s. in state_dict: \"_extra_state\""):
        norm.load_state_dict(state)
    found = nn.Linear(1, 1).load_state_dict({"other": ones(1)}, strict=False)
    assert repr(found) == "IncompatibleKeys(missing_keys=['weight', 'bias'], unexpected_keys=['other'])"
    with pytest.raises(RuntimeError, match="expected a Tensor or an array from checkpoint but received str"):
        norm.load_state_dict({**state, "_extra_state": extra, "weight": "ones"})
    other = Counted(2)
    other.load_state_dict({**state, "_extra_state": extra, "running_mean": gs.asarray([5.0, 6.0])}, assign=True)
    assert other.running_mean.tolist() == [5, 6] and "running_mean" in dict(other.named_buffers())
    linear = nn.Linear(1, 1)
    linear._register_state_dict_hook(lambda module, state, prefix, metadata: {"only": state["weight"]})
    assert list(linear.state_dict()) == ["only"]


class Doubled(nn.Module):
    def __init__(self, answer=None):
        super().__init__()
        self.answer = answer

    def forward(self, x):
        return 2 * x

    def right_inverse(self, x):
        if self.answer is NotImplementedError:
            raise NotImplementedError
        return x / 2 if self.answer is None else self.answer


def test_right_inverses_of_parametrizations():
    layer = nn.Linear(2, 2)
    weight = layer.weight.detach().numpy().copy()
    utils.parametrize.register_parametrization(layer, "weight", Doubled())
    np.testing.assert_allclose(layer.weight.detach(), weight)
    utils.parametrize.register_parametrization(layer, "weight", Doubled())  # behind the first: the value stays
    np.testing.assert_allclose(layer.weight.detach(), weight)
    np.testing.assert_allclose(layer.parametrizations.weight.original.detach(), weight / 4)
    with pytest.raises(ValueError, match="parametrization.right_inverse must return a tensor. Got: <class 'str'>"):
        utils.parametrize.register_parametrization(layer, "weight", Doubled("x"))
    plain = nn.Linear(2, 2)
    utils.parametrize.register_parametrization(plain, "weight", Doubled(NotImplementedError))
    plain = nn.Linear(2, 2)
    utils.parametrize.register_parametrization(plain, "weight", Doubled())
    for answer, words in ((gs.ones((2, 2), dtype="f4"), "has dtype float32 while `original` has dtype float64"),
                          ([ones((2, 2)), ones((2, 2))], "must return as many tensors as when the parametrization was registered: 1, got 2")):  # fmt: skip
        plain.parametrizations.weight[0].answer = answer
        with pytest.raises(ValueError, match=words):
            plain.weight = ones((2, 2))


def test_methods_of_pruning_that_follow_each_other():
    def method(kind, name="weight", **given):
        found = kind(**given)
        found._tensor_name = name
        return found

    first, second = method(utils.prune.L1Unstructured, amount=1), method(utils.prune.RandomUnstructured, amount=1)
    several = utils.prune.PruningContainer(first, second)
    assert len(several) == 2 and several[1] is second and list(several) == [first, second]
    mask = several.compute_mask(gs.asarray([0.5, 2.0, 3.0]), gs.asarray([0.0, 1.0, 1.0]))
    assert mask[0].item() == 0 and mask.sum().item() == 1  # the last method prunes of what is left
    with pytest.raises(TypeError, match="<class 'int'> is not a BasePruningMethod subclass"):
        several.add_pruning_method(3)
    with pytest.raises(ValueError, match="acting on the parameter named 'weight' to PruningContainer .* Found 'bias'"):
        several.add_pruning_method(method(utils.prune.Identity, "bias"))
    second.PRUNING_TYPE = "other"
    with pytest.raises(ValueError, match="Unrecognized PRUNING_TYPE other"):
        several.compute_mask(ones(3), ones(3))
    second.PRUNING_TYPE = "global"
    assert several.compute_mask(ones(3), ones(3)).sum().item() == 2


def test_a_linear_layer_and_a_batch_norm_as_one():
    linear, norm = nn.Linear(2, 3), nn.BatchNorm1d(3)
    norm(gs.asarray(np.random.default_rng(0).normal(size=(9, 3))) * 2 + 1)
    x = gs.asarray(np.random.default_rng(1).normal(size=(4, 2)))
    weight, bias = utils.fuse_linear_bn_weights(linear.weight, linear.bias, norm.running_mean, norm.running_var, norm.eps, norm.weight, norm.bias)
    np.testing.assert_allclose(nn.linear(x, weight, bias).detach(), norm.eval()(linear(x)).detach(), rtol=1e-12)


def test_an_instance_norm_without_factors_takes_any_number_of_channels():
    x = gs.randn(2, 5, 4)
    with pytest.warns(UserWarning, match="size at dim=1 is 5, num_features 3, which is not used because affine=False") as said:
        y = nn.InstanceNorm1d(3)(x)
    assert said[0].filename == __file__
    np.testing.assert_array_equal(y, nn.InstanceNorm1d(5)(x))
    with pytest.warns(UserWarning, match="size at dim=0 is 5"):
        nn.InstanceNorm1d(3)(x[0])
    with pytest.warns(UserWarning), pytest.raises(ValueError, match="running_mean"):
        nn.InstanceNorm1d(3, track_running_stats=True)(x)
