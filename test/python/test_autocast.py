# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Products in halves: docs/MixedPrecision.md, and the scopes of `mo.amp.autocast`."""

from __future__ import annotations

import asyncio
import pathlib
import re
import threading
from inspect import signature

import metaops as mo
import numpy as np
import pytest
import typed_calls
import typed_nn_calls
from metaops import _core, _precision, nn
from metaops._precision import RULES, rule_of

pytestmark = pytest.mark.processor

PAGE = pathlib.Path(__file__).parents[2] / "docs" / "MixedPrecision.md"
HALVES = ["bfloat16", "float16"]
#: Calls of all functions with tensors that are computed with, as of docs/Types.md.
CALLS = {
    name: call
    for calls in (typed_calls, typed_nn_calls)
    for table in ("MOVING", "ARITHMETIC", "REAL", "SINGLE", "FLOATS_ALONE", "WITHIN")
    for name, call in getattr(calls, table, {}).items()
}


def operands(call, dtype):
    """Return tensors that a call may have, small and above 0."""
    rng = np.random.default_rng(0)
    shapes = [typed_calls.SHAPES[own[0]] for own in call[0].split()]
    return [mo.array(rng.uniform(0.25, 0.75, shape)).cast(dtype) for shape in shapes]


def types_of(result):
    """Return the types of the floats of a result."""
    if isinstance(result, mo.Var):
        return [str(result.dtype)] if "float" in result.dtype else []
    return [dtype for part in result for dtype in types_of(part)]


# The rules of functions


def test_the_page_has_the_rules_of_all_functions():
    rows = re.findall(r"^\| ((?:low|float32)[^|]*) \| (`.*`) \|$", PAGE.read_text(), re.MULTILINE)
    found = {}
    for rule, names in rows:
        found.setdefault(rule.split(":")[0], []).extend(re.findall(r"`(\w+)`", names))
    public = {*mo.__all__, *nn.__all__}
    for rule in ("low", "float32"):
        assert sorted(found[rule]) == sorted(RULES[rule] & public)
        assert RULES[rule] <= public


@pytest.mark.parametrize("dtype", HALVES)
@pytest.mark.parametrize("name", sorted(RULES["low"] & CALLS.keys()))
def test_products_are_low(name, dtype):
    given = operands(CALLS[name], "float32")
    with mo.amp.autocast(dtype):
        actual = CALLS[name][1](*given)
        doubles = CALLS[name][1](*(x.double() for x in given))
        integers = CALLS[name][1](*(mo.ceil(x).int() for x in given))
    expected = CALLS[name][1](*(x.cast(dtype) for x in given))
    assert {*types_of(actual)} == {dtype}
    assert {*types_of(doubles)} == {"float64"}
    assert not {*types_of(integers)} & {*HALVES}
    np.testing.assert_array_equal(actual.float().numpy(), expected.float().numpy())


@pytest.mark.parametrize("name", sorted(RULES["float32"] & CALLS.keys()))
def test_sums_are_wide(name):
    given = operands(CALLS[name], "bfloat16")
    with mo.amp.autocast("bfloat16"):
        actual = CALLS[name][1](*given)
    expected = CALLS[name][1](*(x.float() for x in given))
    assert {*types_of(actual)} == {"float32"}
    np.testing.assert_array_equal(actual.numpy(), expected.numpy())


@pytest.mark.parametrize(
    "name", sorted(n for n in CALLS if n not in nn.__all__ and rule_of(n) == "given")
)
def test_others_are_as_ever(name):
    if name in ("frexp", "nan_to_num"):
        pytest.skip("has no tensors of these types")
    given = operands(CALLS[name], "float32")
    mixed = [x.cast(("bfloat16", "float32")[k % 2]) for k, x in enumerate(given)]
    expected = types_of(CALLS[name][1](*mixed))
    with mo.amp.autocast("float16"):
        assert types_of(CALLS[name][1](*mixed)) == expected


def test_operators_and_methods():
    x = mo.rand(4, 4).bfloat16()
    with mo.amp.autocast("bfloat16"):
        wide = [x.sum(), x.mean(), x.exp(), x.log(), x**2, 2**x, x.softmax(1), x.norm(), x.std()]
        wide += [1 / x, np.exp(x), np.power(x, 2), np.logaddexp(x, x)]
        low = [x @ x.float(), x.float() @ x, np.ones((4, 4), "float32") @ x, x.float().matmul(x)]
        given = [
            np.tanh(x),
            x + x,
            x * 2,
            -x,
            x.relu(),
            x.max(),
            x.reshape(16),
            x[0],
            x.sqrt(),
            x.median(),
        ]
        widest = [x + x.float(), mo.where(x > 0, x, x.float()), mo.cat([x, x.float()])]
        x @= x.float()
    assert {str(y.dtype) for y in wide + widest} == {"float32"}
    assert {str(y.dtype) for y in [*low, *given, x]} == {"bfloat16"}


LAYERS = {
    "Linear": (lambda: nn.Linear(4, 3), (5, 4)),
    "Conv1d": (lambda: nn.Conv1d(4, 3, 2), (2, 4, 6)),
    "Conv2d": (lambda: nn.Conv2d(4, 3, 3, padding_mode="reflect", padding=1), (2, 4, 6, 6)),
    "ConvTranspose2d": (lambda: nn.ConvTranspose2d(4, 3, 2), (2, 4, 6, 6)),
    "LSTM": (lambda: nn.LSTM(4, 3, bidirectional=True, num_layers=2), (5, 2, 4)),
    "GRU": (lambda: nn.GRU(4, 3), (5, 2, 4)),
    "RNNCell": (lambda: nn.RNNCell(4, 3), (2, 4)),
}


@pytest.mark.parametrize("name", LAYERS)
def test_layers_compute_as_those_in_halves(name):
    """Layers give what those that are converted give; gradients are of the parameters."""
    make, shape = LAYERS[name]
    mo.seed(3)
    layer, x = make(), mo.rand(*shape)
    with mo.amp.autocast("bfloat16"):
        actual = layer(x)
        actual = actual[0] if isinstance(actual, tuple) else actual
    assert str(actual.dtype) == "bfloat16"
    gradients = mo.grad((actual.float() ** 2).sum(), layer.parameters())
    assert {str(gradient.dtype) for gradient in gradients} == {"float32"}
    state = {key: value.numpy() for key, value in layer.state_dict().items()}
    other = make().bfloat16()
    other.load_state_dict({key: mo.array(value).bfloat16() for key, value in state.items()})
    expected = other(x.bfloat16())
    expected = expected[0] if isinstance(expected, tuple) else expected
    np.testing.assert_array_equal(actual.float().numpy(), expected.float().numpy())


def test_layers_of_several():
    x = mo.rand(5, 2, 8)
    with mo.amp.autocast("bfloat16"):
        assert nn.MultiheadAttention(8, 2)(x, x, x)[0].dtype == "bfloat16"
        assert nn.Bilinear(8, 8, 3)(x, x).dtype == "bfloat16"
        assert nn.TransformerEncoderLayer(8, 2, 16)(x).dtype == "float32"  # a sum
        assert nn.LayerNorm(8)(x.bfloat16()).dtype == "bfloat16"
        assert nn.MSELoss()(x.bfloat16(), x).dtype == "float32"
        assert nn.Embedding(8, 3)(mo.arange(4)).dtype == "float32"


def test_running_statistics_in_halves_are_updated():
    layer = nn.BatchNorm2d(3).bfloat16()
    mean = mo.zeros(3).bfloat16()
    x = mo.rand(4, 3, 5, 5) + 2
    with mo.amp.autocast("bfloat16"):
        layer(x)
        nn.batch_norm(x.bfloat16(), mean, mo.ones(3).bfloat16(), is_train=True)
    for running in (layer.running_mean, mean):
        assert str(running.dtype) == "bfloat16"
        np.testing.assert_allclose(running.float().numpy(), 0.25, atol=0.02)


def test_a_parameter_is_cast_once_a_step():
    w, x = mo.rand(8, 8), mo.rand(4, 8)
    mo.sync([w, x])
    with mo.amp.autocast("bfloat16"):
        h = x
        for _ in range(4):
            h = h @ w
    mo.sync([h.sum(), mo.grad(h.sum(), w)])
    kernels = [line for line in mo.last_program().ir("fused").splitlines() if ".kernel(" in line]
    assert sum("= %arg1 : tensor<8x8xf32>" in line for line in kernels) == 1


# Scopes


def product():
    return str((mo.ones((2, 2)) @ mo.ones((2, 2))).dtype)


def test_nested_scopes():
    with mo.amp.autocast("bfloat16"):
        assert mo.amp.autocast.current() == "bfloat16"
        with mo.amp.autocast("float16"):
            assert product() == "float16"
            with mo.amp.autocast(enabled=False):
                assert product() == "float32"
                assert mo.amp.autocast.current() is None
            assert product() == "float16"
        assert product() == "bfloat16"
    assert product() == "float32"


def test_scopes_that_end_out_of_order():
    first, second = mo.amp.autocast("bfloat16"), mo.amp.autocast("float16")
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert product() == "float16"
    second.__exit__(None, None, None)
    assert product() == "float32"
    with pytest.raises(RuntimeError, match=r"a scope is left that .* \(.*test_autocast"):
        second.__exit__(None, None, None)


def test_a_scope_within_itself():
    scope = mo.amp.autocast("bfloat16")
    with scope, scope:
        assert product() == "bfloat16"
    assert product() == "float32"


def test_scopes_belong_to_a_thread():
    seen = []
    with mo.amp.autocast("bfloat16"):
        thread = threading.Thread(target=lambda: seen.append(product()))
        thread.start()
        thread.join()
        assert product() == "bfloat16"
    assert seen == ["float32"]


def test_scopes_of_threads_at_once():
    barrier, seen = threading.Barrier(4), {}

    def run(number):
        dtype = [*HALVES, None, "float16"][number]
        barrier.wait()
        for _ in range(50):
            with mo.amp.autocast(dtype or "float16", enabled=dtype is not None):
                seen.setdefault(dtype or "float32", set()).add(product())

    threads = [threading.Thread(target=run, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == {"bfloat16": {"bfloat16"}, "float16": {"float16"}, "float32": {"float32"}}
    assert product() == "float32"


def test_scopes_belong_to_a_task():
    async def low(dtype):
        with mo.amp.autocast(dtype):
            for _ in range(3):
                await asyncio.sleep(0)
                assert product() == dtype

    async def plain():
        for _ in range(3):
            await asyncio.sleep(0)
            assert product() == "float32"

    async def run():
        await asyncio.gather(low("bfloat16"), plain(), low("float16"))

    asyncio.run(run())


def test_a_decorator():
    @mo.amp.autocast("float16")
    def inside():
        return product()

    assert inside() == "float16"
    assert product() == "float32"


def test_exceptions_end_a_scope():
    with pytest.raises(ValueError, match=r"\(2, 3\)"), mo.amp.autocast("bfloat16"):
        mo.ones((2, 3)) @ mo.ones((2, 3))
    assert product() == "float32"


@pytest.mark.parametrize("given", ["cuda", "float32", "int8", 3, None])
def test_other_types_are_refused(given):
    with pytest.raises(TypeError, match=r"autocast: dtype is .*, expected bfloat16 or float16 \("):
        mo.amp.autocast(given)


# Functions that are recorded


def test_recorded_functions_have_a_recording_for_each_type():
    double = mo.jit(lambda x: x @ x)

    x = mo.ones((3, 3))
    for dtype in ("bfloat16", None, "float16", "bfloat16", None, "float16"):
        for _ in range(3):
            with mo.amp.autocast(dtype or "float16", enabled=dtype is not None):
                assert str(double(x).dtype) == (dtype or "float32")
    told = str(mo.jit_info(double))
    assert "3 recordings kept" in told
    assert "the type of autocast was bfloat16, and is None" in told


def test_a_scope_in_a_recorded_function():
    @mo.jit
    def run(x):
        with mo.amp.autocast("bfloat16"):
            low = x @ x
        return low, x @ x

    for _ in range(4):
        low, wide = run(mo.ones((3, 3)))
        assert (str(low.dtype), str(wide.dtype)) == ("bfloat16", "float32")


def test_bodies_are_recorded_under_the_scope_of_their_call():
    w = mo.rand(3, 3)
    point = mo.checkpoint(lambda x: x @ w)
    x = mo.rand(3, 3)
    with mo.amp.autocast("bfloat16"):
        made = point(x)
        chosen = mo.cond(mo.array(True), lambda: x @ w, lambda: w @ x)
        _, rows = mo.scan(lambda c, row: (c, row @ w), mo.zeros(2), mo.rand(20, 3))
        looped = mo.fori_loop(0, 200, lambda i, c: (c @ w).float(), x)
        mapped = mo.vmap(lambda row: row @ w)(x)
    assert {str(y.dtype) for y in (made, chosen, rows, mapped)} == {"bfloat16"}
    assert str(looped.dtype) == "float32"
    assert "bf16" in mo.dump()
    low = (x.bfloat16() @ w.bfloat16()).float().numpy()
    np.testing.assert_array_equal(made.float().numpy(), low)
    # Its gradient computes it again, as it was.
    gradient = mo.grad(made.float().sum(), w)
    expected = mo.grad((x.bfloat16() @ w.bfloat16()).float().sum(), w)
    np.testing.assert_array_equal(gradient.numpy(), expected.numpy())
    assert str(point(x).dtype) == "float32"


@pytest.mark.parametrize("is_recorded", [False, True])
def test_derivatives_of_ones_own_are_computed_as_written(is_recorded):
    class Double(mo.Function):
        def execute(self, x):
            self.x = x
            return x @ x

        def grad(self, derivative):
            product = derivative.float() @ self.x.transpose(1, 0)
            assert str(product.dtype) == "float32"
            return product

    def run(x):
        with mo.amp.autocast("bfloat16"):
            y = Double()(x)
            assert str(y.dtype) == "bfloat16"
            return mo.grad(y.float().sum(), x)

    gradient = (mo.jit(run) if is_recorded else run)(mo.ones((3, 3)) / 3)
    np.testing.assert_array_equal(
        gradient.numpy(), (mo.ones((3, 3)) @ (mo.ones((3, 3)) / 3)).numpy()
    )


def test_parameters_stay_wide_in_training():
    mo.seed(0)
    model = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 1))
    optimizer = mo.optim.Adam(model.parameters(), 1e-2)

    @mo.jit
    def step(x, y):
        with mo.amp.autocast("bfloat16"):
            loss = nn.mse_loss(model(x), y)
        optimizer.step(loss)
        return loss

    x = mo.rand(32, 4)
    losses = [step(x, x.sum(1, keepdims=True)).item() for _ in range(100)]
    assert losses[-1] < 0.05 * losses[0]
    assert {str(p.dtype) for p in model.parameters()} == {"float32"}


# Calls of the user's functions, and scopes that end elsewhere


def test_what_is_given_functions_or_models_has_no_rule():
    """What these call has its own rules."""
    #: They call none of them, but for a rate's numbers.
    others = {
        "AveragedModel.__init__",
        "AveragedModel.update_parameters",
        "LambdaLR.__init__",
        "jit_info",
    }
    found = set()
    for owner in (mo, nn, mo.optim, mo.amp, mo.models, mo.optim.lr_scheduler):
        for word in owner.__all__:
            value = getattr(owner, word)
            members = {word: value}
            if isinstance(value, type):
                members = {f"{word}.{name}": member for name, member in vars(value).items()}
            for name, member in members.items():
                if isinstance(member, _core.Function) and member.rule is not None:
                    kinds = [str(p.annotation) for p in signature(member).parameters.values()]
                    if any(re.search("Callable|Module|Jitted", kind) for kind in kinds):
                        found.add(name)
    assert found == others


def test_models_that_are_called_by_functions_are_low():
    seen = []

    class Model(nn.Module):
        def __init__(self):
            self.linear = nn.Linear(4, 4)
            self.norm = nn.BatchNorm1d(4)

        def execute(self, x):
            y = self.linear(x)
            seen.append(str(y.dtype))
            return self.norm(y)

    model, x = Model(), mo.rand(6, 4)
    averaged = mo.optim.AveragedModel(model)

    def critic(x):
        return model(x).sum(1)

    with mo.amp.autocast("bfloat16"):
        averaged(x)
        mo.optim.update_bn([x], model)
        penalty = mo.models.gradient_penalty(critic, x, x + 1)
        loss = mo.models.wasserstein_critic_loss(critic, x, x + 1)
        model.eval()
        mo.linearize(lambda x: model(x), x)
    assert {*seen} == {"bfloat16"}
    assert len(seen) == 7
    assert str(penalty.dtype) == str(loss.dtype) == "float32"


def test_losses_of_models_are_wide():
    scores = mo.rand(4).bfloat16()
    with mo.amp.autocast("bfloat16"):
        losses = [
            mo.models.adversarial_loss(scores, True),
            mo.models.least_squares_loss(scores, False),
            mo.models.wasserstein_loss(scores),
        ]
        layer = nn.AdaptiveLogSoftmaxWithLoss(8, 10, [3, 6])
        x = mo.rand(4, 8).bfloat16()
        losses += [*layer(x, mo.array([0, 1, 4, 9])), layer.log_prob(x)]
    assert {str(loss.dtype) for loss in losses} == {"float32"}


def test_one_thing_has_one_type():
    h = mo.rand(4, 4).bfloat16()
    f = mo.rand(4, 4)
    with mo.amp.autocast("bfloat16"):
        squared = h + 0
        alias = squared
        squared **= 2
        wide = [squared, h**2, 1 / h, mo.reciprocal(h), mo.nancumsum(h, 0), mo.cumsum(h, 0)]
        wide += [mo.average(h), h.mean(), mo.cov(h), mo.corrcoef(h), mo.trace(h), mo.logit(h)]
        wide += [mo.entr(h), mo.asinh(h), mo.atan(h), nn.gumbel_softmax(h)]
        low = [mo.matrix_power(f, 3), f @ f @ f, mo.outer(f[0], f[0]), mo.convolve(f[0], f[0])]
    assert {str(x.dtype) for x in wide} == {"float32"}
    assert {str(x.dtype) for x in low} == {"bfloat16"}
    assert alias is squared
    np.testing.assert_array_equal(squared.numpy(), h.float().numpy() ** 2)


def test_numbers_of_numpy_are_numbers():
    q = mo.rand(1, 2, 4, 8)
    with mo.amp.autocast("bfloat16"):
        for scale in (0.1, np.float64(0.1), np.float32(0.1)):
            assert nn.scaled_dot_product_attention(q, q, q, scale=scale).dtype == "bfloat16"


def test_recordings_within_derivatives_are_their_own():
    """A recording of a derivative, which is computed as ever, is none of the scope's."""
    b = mo.ones((3, 3))
    product = mo.jit(lambda x: x @ b)
    types = []

    class Product(mo.Function):
        def execute(self, x):
            return x * 2

        def grad(self, derivative):
            types.append(mo.amp.autocast.current())
            return product(derivative)

    x = mo.ones((3, 3))
    with mo.amp.autocast("bfloat16"):
        for _ in range(3):
            assert mo.grad(Product.apply(x).sum(), x).dtype == "float32"
            assert product(x).dtype == "bfloat16"
    assert types == [None] * 3


def test_a_task_that_outlives_its_scope():
    x = mo.ones((3, 3))
    double = mo.jit(lambda x: x @ x)

    async def child():
        await asyncio.sleep(0.001)
        return mo.amp.autocast.current(), product(), str(double(x).dtype)

    async def run():
        with mo.amp.autocast("bfloat16"):
            task = asyncio.create_task(child())
        first = await task
        with mo.amp.autocast("float16"):
            task = asyncio.create_task(child())
            await asyncio.sleep(0)
        with mo.amp.autocast("bfloat16"):
            assert str(double(x).dtype) == "bfloat16"
            return first, await task

    plain = (None, "float32", "float32")
    assert asyncio.run(run()) == (plain, plain)


def test_generators_that_are_closed_elsewhere():
    def scopes():
        with mo.amp.autocast("bfloat16"):
            yield

    made = []

    def begin():
        made.append(scopes())
        next(made[0])
        assert product() == "bfloat16"

    thread = threading.Thread(target=begin)
    thread.start()
    thread.join()
    assert product() == "float32"
    made.pop().close()
    assert _precision._open == []


def test_a_scope_that_is_entered_in_a_call_and_left_behind_it():
    """Nothing is left of the call, in which calls were its own matter."""

    def batches(x):
        with mo.amp.autocast("float16"):
            yield x

    class Step(mo.optim.SGD):
        def _update(self, index, parameter, gradient, n):
            next(given)
            return super()._update(index, parameter, gradient, n)

    w = mo.ones((2, 2))
    given = batches(w)
    with mo.amp.autocast("bfloat16"):
        Step([w], 0.1).step((w * 1.0).sum())
        given.close()
        assert product() == "bfloat16"
    assert product() == "float32"
