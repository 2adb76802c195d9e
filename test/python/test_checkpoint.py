# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checkpoints: values and gradients are those of the function, and what is kept is not."""

import dataclasses
import re

import metaops as mo
import numpy as np
import pytest
from metaops import nn
from util import bytes_in_use


def leaf(rng, *shape):
    return mo.array(rng.standard_normal(shape))


def values(vars):
    return [var.numpy() for var in vars]


def both(function):
    """Return what a function of a wrapper of functions gives without and with checkpoints."""
    mo.seed(3)
    plain = function(lambda fn: fn)
    mo.seed(3)
    return plain, function(mo.checkpoint)


def assert_same(function, exactly=False):
    plain, checked = both(function)
    for one, other in zip(values(plain), values(checked), strict=True):
        if exactly:
            np.testing.assert_array_equal(one, other)
        else:
            np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-12)


def differences(function, x, step=1e-6):
    """Return the gradient of a function of an array by differences."""
    result = np.zeros_like(x)
    for place in np.ndindex(*x.shape):
        moved = [x.copy(), x.copy()]
        moved[0][place] += step
        moved[1][place] -= step
        result[place] = (function(moved[0]) - function(moved[1])) / (2 * step)
    return result


# --- Values and gradients


def test_python_runs_once_and_gradients_are_the_functions(rng):
    x, w = leaf(rng, 3, 4), leaf(rng, 4, 4)
    calls = []

    def run(wrap):
        def layer(h):
            calls.append(1)
            return mo.tanh(h @ w) * mo.exp(-h)

        y = wrap(layer)(x)
        loss = (y * y).sum()
        return [loss, *mo.grad(loss, [x, w])]

    assert_same(run)
    assert len(calls) == 2


def test_structures_keywords_and_what_is_no_tensor(rng):
    x, y = leaf(rng, 3), leaf(rng, 3)

    def layer(pair, *, scale, name):
        return {"sum": (pair["x"] + pair["y"]) * scale, "rest": [pair["x"], name, None, 2]}

    result = mo.checkpoint(layer)({"x": x, "y": y}, scale=y, name="a")
    assert result["rest"][0] is x
    assert result["rest"][1:] == ["a", None, 2]
    gradient = mo.grad(result["sum"].sum(), y)
    np.testing.assert_allclose(gradient.numpy(), x.numpy() + 2 * y.numpy())


def test_results_that_are_one_value_and_none(rng):
    x = leaf(rng, 3)

    def layer(x):
        y = mo.exp(x)
        return y, y, x

    first, second, third = mo.checkpoint(layer)(x)
    assert first is second
    assert third is x
    assert mo.checkpoint(lambda: None)() is None
    np.testing.assert_allclose(
        mo.grad((first * second).sum(), x).numpy(), 2 * np.exp(2 * x.numpy())
    )


@dataclasses.dataclass
class Pair:
    value: mo.Var
    name: str


def test_results_in_data_classes(rng):
    x = leaf(rng, 3)
    pair = mo.checkpoint(lambda x: Pair(mo.exp(x), "a"))(x)
    assert pair.name == "a"
    np.testing.assert_allclose(mo.grad(pair.value.sum(), x).numpy(), np.exp(x.numpy()))


def test_results_of_which_some_have_no_gradient(rng):
    x = leaf(rng, 4, 3)

    def run(wrap):
        largest, place, scaled = wrap(lambda x: (x.max(dim=1), x.argmax(dim=1)[0], x * x))(x)
        return [largest, place, mo.grad((largest * largest).sum(), x), mo.grad(scaled.sum(), x)]

    assert_same(run)


@pytest.mark.parametrize("looked", [False, True])
def test_chains_nested_and_looked_at_first(rng, looked):
    x = leaf(rng, 5, 4)
    weights = [leaf(rng, 4, 4) for _ in range(6)]

    def run(wrap):
        def layer(w):
            return wrap(lambda h: h + mo.tanh(h @ w))

        h = x
        for first, second in zip(weights[::2], weights[1::2], strict=True):
            h = wrap(lambda h, first=first, second=second: layer(second)(layer(first)(h)))(h)
        loss = mo.log(1 + (h * h).sum())
        if looked:
            loss.item()
        return [loss, *mo.grad(loss, [x, *weights])]

    assert_same(run)


@pytest.mark.parametrize("nested", [False, True])
def test_second_derivatives_are_differences(rng, nested):
    x = rng.standard_normal((3, 3))
    w = leaf(rng, 3, 3)

    def layer(h):
        return mo.sigmoid(h @ w) * h

    def deep(h):
        return mo.checkpoint(layer)(layer(h))

    checked = mo.checkpoint(deep if nested else layer)

    def gradient_norm(array):
        given = mo.array(array)
        gradient = mo.grad((checked(given) ** 2).sum(), given)
        return given, (gradient * mo.cos(gradient)).sum()

    given, norm = gradient_norm(x)
    expected = differences(lambda array: gradient_norm(array)[1].item(), x)
    np.testing.assert_allclose(mo.grad(norm, given).numpy(), expected, rtol=1e-6, atol=1e-6)


def test_third_derivatives(rng):
    x = leaf(rng, 3)

    def run(wrap):
        y = wrap(lambda x: mo.sin(x) * mo.exp(x))(x)
        results = [y]
        for _ in range(3):
            results.append(mo.grad(results[-1].sum(), x))
        return results

    assert_same(run)


def test_forward_mode_and_products_with_hessians(rng):
    x, v = leaf(rng, 4), leaf(rng, 4)

    def run(wrap):
        y = wrap(lambda x: mo.tanh(x) * x)(x)
        loss = (y * y).sum()
        return [
            *mo.jvp([y], [x], [v]),
            *mo.jvp([mo.grad(loss, x)], [x], [v]),
            *mo.hessian_vector_product(loss, [x], [v]),
            mo.jacobian(wrap(lambda x: mo.exp(x) * x.sum()))(x),
            mo.hessian(wrap(lambda x: (mo.exp(x) * x).sum()))(x),
        ]

    assert_same(run)


def test_gradients_inside_and_functions_with_derivatives_of_their_own(rng):
    x = leaf(rng, 4)

    class Cube(mo.Function):
        def execute(self, x):
            self.x = x
            return x**3

        def grad(self, gradient):
            return 5 * self.x**2 * gradient

    def run(wrap):
        inner = wrap(lambda x: mo.grad((x**4).sum(), x) * x)(x)
        own = wrap(lambda x: Cube.apply(mo.exp(x)) * x)(x)
        return [inner, mo.grad(inner.sum(), x), own, mo.grad(own.sum(), x)]

    assert_same(run)


def test_linear_functions_constants_and_scalars(rng):
    x = leaf(rng, 3, 4)

    def run(wrap):
        y = wrap(lambda x: 2 * x.transpose(0, 1) - x.sum())(x)
        z = wrap(lambda x: x * mo.array([1.0, 2, 3, 4]) + 0.5 * x * x)(x)
        return [y, z, mo.grad(y.sum(), x), mo.grad(z.mean(), x), mo.grad(z[1, 2], x)]

    assert_same(run)


def test_detached_values_and_blocks_without_gradients(rng):
    x = leaf(rng, 4)

    def layer(x):
        with mo.no_grad():
            scale = mo.exp(x)
        return scale * x * x.detach()

    def run(wrap):
        y = wrap(layer)(x)
        return [y, mo.grad(y.sum(), x)]

    assert_same(run)


@pytest.mark.compiled
def test_without_gradients_nothing_is_recorded_to_be_computed_again(rng):
    x = leaf(rng, 4)
    with mo.no_grad():
        y = mo.checkpoint(lambda x: mo.exp(x) + (x.sum().item() > -100))(x)
    np.testing.assert_allclose(y.numpy(), np.exp(x.numpy()) + 1)
    # With gradients, but none asked for, the program has what the function has.
    fused = []
    for wrap in (lambda fn: fn, mo.checkpoint):
        y = wrap(lambda x: mo.exp(x) * 2)(x)
        y.sync()
        fused.append(mo.last_program().ir("fused"))
    assert "barrier" not in fused[1]
    assert fused[0] == fused[1]


# --- Random numbers and updates


@pytest.mark.parametrize("looked", [False, True])
def test_random_numbers_are_those_of_the_run_without_checkpoints(rng, looked):
    x = mo.array(rng.standard_normal((16, 8)), "float32")

    def run(wrap):
        def layer(h):
            mask = nn.dropout(mo.ones((16, 8)), 0.5)
            return h * mask + mo.random.normal(shape=(16, 8)), mask

        h, total = x, mo.zeros(())
        kept = []
        for _ in range(3):
            h, mask = wrap(layer)(h)
            kept.append(mask)
            total = total + (h * h).sum()
        if looked:
            total.item()
        return [*kept, h, mo.grad(total, x), mo.random.normal(shape=(4,))]

    assert_same(run, exactly=True)


def test_keys_are_arguments_and_may_be_captured(rng):
    x, key = leaf(rng, 6), mo.random.Key(5)

    def run(wrap):
        def layer(x, first):
            return (
                x * mo.random.normal(shape=(6,), key=first) * mo.random.uniform(shape=(6,), key=key)
            )

        y = wrap(layer)(x, mo.random.Key(7))
        return [y, mo.grad((y * y).sum(), x)]

    assert_same(run)


@pytest.mark.parametrize("jit", [False, True])
def test_running_statistics_are_updated_once(rng, jit):
    x = mo.array(rng.standard_normal((8, 3, 4, 4)), "float32")

    def run(wrap):
        mo.seed(1)
        model = nn.Sequential(nn.Conv2d(3, 5, 3), nn.BatchNorm2d(5), nn.ReLU())
        forward = wrap(model)

        def step(x):
            loss = (forward(x) ** 2).mean()
            return [loss, *mo.grad(loss, model.parameters())]

        call = mo.jit(step) if jit else step
        results = []
        for _ in range(3):
            results += call(x)
        return [*results, *model.state_dict().values()]

    plain, checked = both(run)
    for one, other in zip(values(plain), values(checked), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)


def test_rebound_tensors_are_what_they_would_be(rng):
    def run(wrap):
        count, total, x = mo.zeros(()), mo.ones(3), mo.array([1.0, 2, 3])

        def layer(x):
            count.update(count + 1)
            total.update(total * 2)
            total.update(total + x)
            y = x * total
            x += y
            return y

        y = wrap(wrap(layer))(x)
        return [y, count, total, x]

    assert_same(run)


def test_gradients_flow_through_what_is_assigned(rng):
    w = leaf(rng, 3)

    def run(wrap):
        state = mo.zeros(3, "float64")

        def layer(x):
            state.assign(x * x)
            return x + 1

        y = wrap(layer)(w)
        return [state, mo.grad((state * y).sum(), w)]

    assert_same(run)


# --- Within others


def test_recorded_functions(rng):
    model = nn.Sequential(*[nn.Checkpoint(nn.Linear(4, 4)) for _ in range(3)])
    optimizer = mo.optim.SGD(model.parameters(), 0.1)
    x = mo.array(rng.standard_normal((5, 4)), "float32")
    start = {name: value.numpy() for name, value in model.state_dict().items()}

    def step(x):
        loss = (mo.tanh(model(x)) ** 2).mean()
        optimizer.step(loss)
        return loss

    plain = [step(x).item() for _ in range(5)]
    model.load_state_dict(start)
    recorded = mo.jit(step)
    np.testing.assert_allclose([recorded(x).item() for _ in range(5)], plain, rtol=1e-6)


def test_results_of_recorded_functions_are_differentiated_outside(rng):
    x, w = leaf(rng, 3, 4), leaf(rng, 4, 4)

    def run(wrap):
        call = mo.jit(wrap(lambda x: mo.tanh(x @ w) @ w))
        results = []
        for _ in range(3):
            y = call(x)
            results += [y, *mo.grad((y * y).sum(), [x, w])]
        inner = wrap(mo.jit(lambda x: mo.tanh(x @ w)))(x)
        return [*results, inner, mo.grad(inner.sum(), w)]

    assert_same(run)


@pytest.mark.parametrize("unroll", [1, True])
def test_loops(rng, unroll):
    xs, w, h = leaf(rng, 7, 2, 3), leaf(rng, 3, 3), leaf(rng, 2, 3)

    def run(wrap):
        def step(h, x):
            h = mo.tanh(h @ w + x) * (1 + 0.1 * mo.random.normal(shape=(2, 3), dtype="float64"))
            return h, h.sum()

        last, sums = mo.scan(wrap(step), h, xs, unroll=unroll)
        whole = wrap(lambda h, xs: mo.scan(step, h, xs, unroll=unroll)[0])(h, xs)
        chosen = mo.cond(sums[0] > 0, wrap(lambda h: h * h @ w), lambda h: mo.exp(h @ w), h)
        whole_choice = wrap(
            lambda h: mo.cond(h[0, 0] > 0, lambda h: h * h @ w, lambda h: mo.exp(h @ w), h)
        )(h)
        loss = (last * last).sum() + sums.sum() + (whole * chosen * whole_choice).sum()
        return [loss, *mo.grad(loss, [xs, w, h])]

    assert_same(run)


def test_while_loops(rng):
    x, w = leaf(rng, 3), leaf(rng, 3)

    def run(wrap):
        def trip(x):
            return mo.tanh(x * w) + x

        y = mo.while_loop(lambda x: (x * x).sum() < 50, wrap(trip), x, max_trips=40)
        z = wrap(lambda x: mo.while_loop(lambda x: (x * x).sum() < 50, trip, x, max_trips=40))(x)
        return [y, z, *mo.grad((y * z).sum(), [x, w])]

    assert_same(run)


@pytest.mark.parametrize("in_dims", [0, (0, None)])
def test_maps_over_examples(rng, in_dims):
    xs, v, w = leaf(rng, 5, 4), leaf(rng, 5, 4), leaf(rng, 4, 4)
    given = v if in_dims == 0 else v[0]

    def run(wrap):
        def layer(x, v):
            y = wrap(lambda h: mo.tanh(h @ w) * v)(x)
            return y, *mo.grad((y * y).sum(), [x, w])

        inside = mo.vmap(layer, in_dims=in_dims)(xs, given)
        outside = wrap(mo.vmap(lambda x: mo.tanh(x @ w)))(xs)
        mapped = mo.vmap(wrap(lambda x, v: mo.exp(x @ w) * v), in_dims=in_dims)(xs, given)
        return [*inside, *mo.grad((outside * mapped).sum(), [xs, w])]

    assert_same(run)


def test_random_numbers_in_maps_over_examples(rng):
    xs = leaf(rng, 5, 4)

    def run(wrap):
        def layer(x):
            return x * mo.random.normal(shape=(4,), dtype="float64")

        y = mo.vmap(wrap(layer), randomness="different")(xs)
        return [y, mo.grad((y * y).sum(), xs)]

    assert_same(run)


def test_operator_by_operator(rng):
    x, w = leaf(rng, 3, 4), leaf(rng, 4, 4)

    def run(wrap):
        y = wrap(lambda x: mo.tanh(x @ w))(x)
        return [y, *mo.grad((y * y).sum(), [x, w])]

    with mo.flag_scope(lazy_execution=False):
        assert_same(run)


def test_indices_are_checked(rng):
    table = leaf(rng, 6, 3)

    def run(wrap, indices):
        y = wrap(lambda indices: mo.tanh(table[indices]))(indices)
        return [y, mo.grad((y * y).sum(), table)]

    assert_same(lambda wrap: run(wrap, mo.array([1, 5, -1, 1])))
    with pytest.raises(IndexError, match="6"):
        run(mo.checkpoint, mo.array([1, 6]))[1].numpy()


def test_exported_programs(rng, tmp_path):
    w = mo.array(rng.standard_normal((4, 4)), "float32")
    layer = mo.checkpoint(lambda x: mo.tanh(x @ w))

    def function(x):
        return mo.grad((layer(x) ** 2).sum(), x)

    x = rng.standard_normal((3, 4)).astype("float32")
    mo.export(function, [mo.array(x)], tmp_path / "f.metaops")
    got = mo.load_program(tmp_path / "f.metaops")(x)
    np.testing.assert_allclose(got, function(mo.array(x)).numpy(), rtol=1e-5, atol=1e-6)


# --- Segments and modules


@pytest.mark.parametrize("segments", [1, 2, 3, 5])
def test_segments(rng, segments):
    layers = [nn.Linear(4, 4) for _ in range(5)]
    x = mo.array(rng.standard_normal((3, 4)), "float32")
    model = nn.Sequential(*layers)
    parameters = model.parameters()

    def run(call):
        loss = (call(x) ** 2).sum()
        return values([loss, *mo.grad(loss, parameters)])

    for call in (mo.checkpoint(layers, segments), nn.Checkpoint(model, segments)):
        for one, other in zip(run(model), run(call), strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)


def test_a_module_has_the_parameters_of_its_module():
    model = nn.Checkpoint(nn.Sequential(nn.Linear(2, 3), nn.Dropout(0.5)), segments=2)
    assert list(model.state_dict()) == ["module.0.weight", "module.0.bias"]
    assert not model.eval().module[1].is_train


# --- What is kept


def make_layers(rng, count):
    weights = [mo.array(rng.standard_normal((64, 64)) * 0.1, "float32") for _ in range(count)]
    x = mo.array(rng.standard_normal((256, 64)), "float32")
    mo.sync([x, *weights])

    def layer(w):
        return lambda h: h + mo.tanh(mo.tanh(mo.tanh(h @ w) @ w) @ w)

    return x, weights, layer


def looked_at(wrap, rng):
    x, weights, layer = make_layers(rng, 8)
    h = x
    for w in weights:
        h = wrap(layer(w))(h)
    loss = (h * h).sum()
    loss.item()
    return loss, [x, *weights]


def test_between_arguments_and_results_nothing_is_kept(rng):
    loss, given = looked_at(mo.checkpoint, rng)
    before = bytes_in_use()
    del loss
    one = given[0].nbytes
    # The results of the layers, and the loss.
    assert 8 * one <= before - bytes_in_use() <= 8 * one + 1024


def test_what_a_gradient_computes_again_is_no_second_ask(rng):
    loss, given = looked_at(mo.checkpoint, rng)
    before = mo.stats()["operators_repeated"]
    mo.sync(mo.grad(loss, given))
    assert mo.stats()["operators_repeated"] == before


def arena(wrap, rng, losses):
    x, weights, layer = make_layers(rng, 8)
    h, terms = x, []
    for w in weights:
        h = wrap(layer(w))(h)
        terms.append(h)
    loss = losses(terms)
    mo.sync([loss, *mo.grad(loss, weights)])
    return mo.last_program().arena_bytes


@pytest.mark.compiled
@pytest.mark.parametrize(
    "losses",
    [
        lambda terms: (terms[-1] * terms[-1]).sum(),
        lambda terms: terms[-1].sum(),
        lambda terms: sum((term.sum() for term in terms), mo.zeros(())),
    ],
    ids=["square", "sum", "all sums"],
)
def test_one_program_makes_one_segment_again_at_a_time(rng, losses):
    one = 256 * 64 * 4
    plain = arena(lambda fn: fn, rng, losses)
    checked = arena(mo.checkpoint, rng, losses)
    # Arguments of all, and what one layer's gradient reads.
    assert checked <= 14 * one < 24 * one <= plain


@pytest.mark.compiled
def test_segments_that_a_constant_is_given_to_are_made_again_one_by_one(rng):
    x, weights, layer = make_layers(rng, 8)

    def run(wrap):
        loss = sum((wrap(layer(w))(x).sum() for w in weights), mo.zeros(()))
        mo.sync([loss, *mo.grad(loss, weights)])
        return mo.last_program().arena_bytes

    assert run(mo.checkpoint) <= 10 * 256 * 64 * 4


@pytest.mark.compiled
def test_loops_keep_carries_and_nothing_else(rng):
    weights = [mo.array(rng.standard_normal((8, 64, 64)) * 0.1, "float32") for _ in range(3)]
    x = mo.array(rng.standard_normal((256, 64)), "float32")
    mo.sync([x, *weights])

    def loss_of(wrap):
        def trip(h, rows):
            return wrap(lambda h, a, b, c: h + mo.tanh(mo.tanh(mo.tanh(h @ a) @ b) @ c))(
                h, *rows
            ), None

        last = mo.scan(trip, x, tuple(weights))[0]
        return (last * last).sum()

    def arena_of(wrap):
        loss = loss_of(wrap)
        mo.sync([loss, *mo.grad(loss, weights)])
        return mo.last_program().arena_bytes

    def kept_by(wrap):
        loss = loss_of(wrap)
        loss.item()
        before = bytes_in_use()
        del loss
        return before - bytes_in_use()

    # The carries with which trips begin, the last one, and a trip's own.
    assert kept_by(mo.checkpoint) <= 9 * x.nbytes + 1024 < 24 * x.nbytes <= kept_by(lambda fn: fn)
    assert arena_of(mo.checkpoint) <= 18 * x.nbytes < 24 * x.nbytes <= arena_of(lambda fn: fn)


# --- Errors


def raises(kind, text, function, *args):
    with pytest.raises(kind, match=re.escape(text)):
        function(*args)


def test_what_is_no_function_and_segments_that_are_none():
    raises(TypeError, "checkpoint: fn is 3, expected a function", mo.checkpoint, 3)
    raises(TypeError, "expected a sequence of functions", mo.checkpoint, mo.exp, 2)
    raises(TypeError, "mo.checkpoint(fn)(x)", mo.checkpoint, mo.exp, mo.ones(3))
    raises(TypeError, "checkpoint: fn is 3, expected a sequence", mo.checkpoint, 3, 2)
    raises(ValueError, "checkpoint: segments is a Var", mo.checkpoint, [mo.exp], mo.ones(3))
    raises(TypeError, "checkpoint: fn[1] is None", mo.checkpoint, [mo.exp, None], 2)
    raises(ValueError, "segments is 3, and fn has 2 functions", mo.checkpoint, [mo.exp] * 2, 3)
    raises(TypeError, "expected a module", nn.Checkpoint, mo.exp)
    raises(TypeError, "expected an nn.Sequential for segments", nn.Checkpoint, nn.Linear(2, 2), 2)
    raises(ValueError, "segments is 3", nn.Checkpoint, nn.Sequential(nn.ReLU(), nn.ReLU()), 3)


def test_values_cannot_be_asked_for():
    x = mo.ones(3)
    with pytest.raises(RuntimeError, match="recorded"):
        mo.checkpoint(lambda x: x * float((x * 2).sum()))(x)
    # Nothing is left of it.
    np.testing.assert_array_equal(mo.checkpoint(lambda x: x * 2)(x).numpy(), [2, 2, 2])


def test_a_gradient_inside_by_what_another_captured_value_is_made_of():
    w = mo.array([1.0, 2.0])
    y = w * w
    with pytest.raises(RuntimeError, match="of a checkpoint, or of a function"):
        mo.checkpoint(lambda: mo.grad((y + w).sum(), w))()


def test_tensors_that_are_left_and_generators():
    left, state = [], mo.zeros(3)

    def leave(x):
        state.update(x)
        left.append(x * 2)

    for function in (mo.checkpoint(leave), mo.checkpoint([leave], 1)):
        with pytest.raises(RuntimeError, match=r"py:\d+\) leaves a tensor of .*checkpoint.py:\d+"):
            function(mo.ones(3))
        left.clear()
    np.testing.assert_array_equal(state.numpy(), [0, 0, 0])

    def generator(x):
        yield x

    raises(TypeError, "which runs later; expected tensors", mo.checkpoint(generator), mo.ones(3))


def test_optimisers_and_callbacks_are_refused():
    w = mo.ones(3)
    optimizer = mo.optim.SGD([w], 0.1)

    def step(x):
        optimizer.step((w * x).sum())
        return x

    raises(RuntimeError, "which its gradient could not do again", mo.checkpoint(step), mo.ones(3))

    def fetch(x):
        (x * 2).fetch(print)
        return x

    raises(RuntimeError, "fetches values", mo.checkpoint(fetch), mo.ones(3))


def test_an_error_in_the_function_leaves_all_as_it_was():
    state = mo.zeros(3)

    def layer(x):
        state.update(state + x)
        raise ValueError("mine")

    raises(ValueError, "mine", mo.checkpoint(layer), mo.ones(3))
    np.testing.assert_array_equal(state.numpy(), [0, 0, 0])


@pytest.mark.parametrize("is_looked_at", [False, True])
@pytest.mark.parametrize("is_called_twice", [False, True])
def test_a_module_that_updates_statistics_is_trained(is_looked_at, is_called_twice):
    """The old statistics are read again for the gradient: nothing is written over them."""
    images = np.random.default_rng(0).standard_normal((2, 2, 8, 8)).astype("float32")
    found = []
    for wrap in (lambda module: module, nn.Checkpoint):
        mo.seed(0)
        module = nn.Sequential(nn.Conv2d(2, 4, 3), nn.BatchNorm2d(4), nn.ReLU())
        called, optimizer = wrap(module), mo.optim.SGD(module.parameters(), 0.1)
        for i in range(4):
            loss = called(mo.array(images + i)).mean()
            if is_called_twice:
                loss = loss + (called(mo.array(images - i)) ** 2).mean()
            if is_looked_at:
                loss.item()
            optimizer.step(loss)
        mo.sync_all()
        found.append({name: x.numpy() for name, x in module.state_dict().items()})
    for name, expected in found[0].items():
        np.testing.assert_allclose(found[1][name], expected, rtol=1e-5, atol=1e-6)


def test_statistics_let_go_of_the_steps_before():
    module = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4))
    called = nn.Checkpoint(module)
    x = mo.array(np.random.default_rng(0).standard_normal((5, 3)).astype("float32"))
    counts = []
    for _ in range(30):
        called(x).sum().item()
        mo.sync_all()
        counts.append(mo.stats()["ops_in_block"])
    assert counts[-1] <= counts[5]
