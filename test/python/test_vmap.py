# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions of one example, for all examples at once: `vmap`."""

import re

import metaops as mo
import numpy as np
import pytest
from metaops import nn
from util import close

HERE = re.escape(__file__)


def leaf(rng, *shape):
    return mo.array(rng.standard_normal(shape))


def looped(function, *args):
    """Return what a loop over the first dimensions of the arguments makes."""
    return mo.stack([function(*row) for row in zip(*args, strict=True)])


# Arguments and results


def test_dimensions_of_arguments_and_results(rng):
    x, y = leaf(rng, 4, 3, 2), leaf(rng, 2, 4)
    mapped = mo.vmap(lambda x, y: (x @ y, y), in_dims=(1, None), out_dims=(-1, None))
    products, same = mapped(x, y)
    close(products, np.einsum("ank,km->amn", x.numpy(), y.numpy()))
    close(same, y.numpy())
    close(mo.vmap(mo.sum, in_dims=-1)(x), x.numpy().sum((0, 1)))


def test_containers_and_what_is_no_tensor(rng):
    params = {"w": leaf(rng, 3, 2), "more": [leaf(rng, 5, 2), None]}
    xs = leaf(rng, 5, 3)

    def call(params, x, scale, name, *, shift):
        assert name == "name"
        return {"y": (x @ params["w"] + params["more"][0]) * scale + shift, "n": 2.5}

    dims = ({"w": None, "more": 0}, 0, None, None)
    made = mo.vmap(call, dims, out_dims={"y": 1, "n": 0})(params, xs, 2, "name", shift=leaf(rng))
    shift = made["y"].numpy()[0, 0] - 2 * (
        xs.numpy()[0] @ params["w"].numpy()[:, 0] + params["more"][0].numpy()[0, 0]
    )
    expected = 2 * (xs.numpy() @ params["w"].numpy() + params["more"][0].numpy()) + shift
    close(made["y"], expected.T)
    np.testing.assert_array_equal(made["n"].numpy(), np.full(5, 2.5, "float32"))


def test_arrays_decorators_and_no_results():
    @mo.vmap
    def twice(x):
        """Twice x."""
        return 2 * x

    assert twice.__name__ == "twice" and twice.__doc__ == "Twice x."
    np.testing.assert_array_equal(twice(np.arange(3.0)).numpy(), [0, 2, 4])
    assert mo.vmap(lambda x: None)(mo.ones(3)) is None
    assert mo.vmap(lambda x: {"none": (None, [])})(mo.ones(3)) == {"none": (None, [])}


@pytest.mark.compiled
def test_a_product_with_what_all_read_is_one_product(rng):
    x, w = leaf(rng, 64, 8, 32), leaf(rng, 32, 16)
    by_map = mo.vmap(lambda x: x @ w)(x)
    mo.sync(by_map)
    kernels = len(mo.last_program().kernels)
    close(by_map, x.numpy() @ w.numpy())
    assert kernels <= 2
    # Values that differ for no example are computed once.
    y = mo.vmap(lambda x: x * (w @ w.transpose()).sum())(leaf(rng, 64))
    assert "tensor<64x32x16" not in mo.dump()
    assert y.shape == (64,)


# Derivatives


def test_gradients_of_each_example_by_what_all_read(rng):
    x, w = leaf(rng, 5, 3), leaf(rng, 3, 4)

    def loss(w, x):
        return (mo.tanh(x @ w) ** 2).sum()

    expected = np.stack([mo.grad(loss(w, x[k]), w).numpy() for k in range(5)])
    close(mo.vmap(lambda x: mo.grad(loss(w, x), w))(x), expected)
    close(mo.vmap(lambda w, x: mo.grad(loss(w, x), w), (None, 0))(w, x), expected)
    layers = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1)).double()
    parameters = layers.parameters()
    made = mo.vmap(lambda x: mo.grad((layers(x) ** 2).sum(), parameters))(x)
    for each, parameter in zip(made, parameters, strict=True):
        one = [mo.grad((layers(x[k]) ** 2).sum(), parameter).numpy() for k in range(5)]
        close(each, np.stack(one))


def test_gradients_through_a_map(rng):
    x, w = leaf(rng, 5, 3), leaf(rng, 3, 4)
    make = lambda x: mo.exp(mo.tanh(x @ w)).max()  # noqa: E731
    weights = mo.arange(5).cast("float64")
    mapped, other = mo.vmap(make)(x), looped(make, x)
    for one, two in zip(
        mo.grad((mapped * weights).sum(), [x, w]),
        mo.grad((other * weights).sum(), [x, w]),
        strict=True,
    ):
        close(one, two.numpy())
    direction = leaf(rng, 3, 4)
    close(mo.jvp([mapped], [w], [direction])[0], mo.jvp([other], [w], [direction])[0].numpy())


def test_no_gradient_flows_where_the_function_stops_it(rng):
    x = leaf(rng, 4)

    def make(x):
        with mo.no_grad():
            y = x * x
        return y * x + x.detach()

    close(mo.grad(mo.vmap(make)(x), x), x.numpy() ** 2)
    with mo.no_grad():
        z = mo.vmap(make)(x) * 1
    with pytest.raises(ValueError, match="grad"):
        mo.grad(z, x)


# Maps in maps, and in other functions


def test_maps_of_maps(rng):
    x, y = leaf(rng, 3, 5), leaf(rng, 4, 5)
    close(mo.vmap(mo.vmap(mo.dot, (None, 0)), (0, None))(x, y), x.numpy() @ y.numpy().T)
    w = leaf(rng, 5)
    inner = mo.vmap(lambda a, b: mo.grad(mo.tanh((a * b * w).sum()), w), (None, 0))
    made = mo.vmap(inner, (0, None))(x, y)
    for i in range(3):
        for j in range(4):
            expected = mo.grad(mo.tanh((x[i] * y[j] * w).sum()), w)
            close(made[i, j], expected.numpy())


def test_recorded_functions_in_maps_and_maps_in_recorded_functions(rng):
    x, w = leaf(rng, 4, 3), leaf(rng, 3)
    recorded = mo.jit(lambda x: mo.tanh(x * w).sum())
    expected = np.tanh(x.numpy() * w.numpy()).sum(1)
    for _ in range(3):
        close(mo.vmap(recorded)(x), expected)
    step = mo.jit(lambda x: mo.vmap(lambda x: mo.grad(recorded(x), w))(x))
    for _ in range(4):
        close(step(x), x.numpy() / np.cosh(x.numpy() * w.numpy()) ** 2)
    assert mo.jit_info(step).keys == 1


def test_maps_in_bodies_of_loops(rng):
    xs, w = leaf(rng, 6, 4, 3), leaf(rng, 3)

    def trip(total, x):
        each = mo.vmap(lambda x: (x * w).sum())(x)
        return total + each, each

    total, rows = mo.scan(trip, mo.zeros(4, dtype="float64"), xs)
    close(total, (xs.numpy() @ w.numpy()).sum(0))
    close(rows, xs.numpy() @ w.numpy())
    close(mo.grad(total.sum(), w), xs.numpy().sum((0, 1)))


@pytest.mark.parametrize("size", [1, 2, 3, 7, 8])
def test_chunks(rng, size):
    x, w = leaf(rng, 7, 3), leaf(rng, 3)

    def call(x, w):
        return {"y": mo.tanh(x * w), "same": w * 2, "all": w + 1}

    out_dims = {"y": 1, "same": None, "all": 0}
    made = mo.vmap(call, (0, None), out_dims, chunk_size=size)(x, w)
    close(made["y"], np.tanh(x.numpy() * w.numpy()).T)
    close(made["same"], 2 * w.numpy())
    close(made["all"], np.tile(w.numpy() + 1, (7, 1)))
    close(mo.grad(made["y"].sum(), w), (x.numpy() / np.cosh(x.numpy() * w.numpy()) ** 2).sum(0))


# Indices that differ among examples


def test_windows_of_each_example(rng):
    x, starts = leaf(rng, 3, 9), mo.array([4, -2, 0])
    expected = [x.numpy()[k][[4, 7, 0][k]] for k in range(3)]
    close(mo.vmap(lambda x, at: x[at])(x, starts), expected)
    close(mo.vmap(lambda at: x[1, at], 0)(starts), x.numpy()[1][[4, 7, 0]])
    part = leaf(rng, 9)

    def write(x, at):
        x = x.clone()
        x[at] = part[at] * 2
        x[at + 1] += 1.0
        return x

    made = mo.vmap(write)(x, mo.array([4, 6, 0]))
    array = x.numpy()
    for k, at in enumerate([4, 6, 0]):
        array[k, at] = part.numpy()[at] * 2
        array[k, at + 1] += 1
    close(made, array)
    close(mo.grad(made.sum(), part), 2.0 * np.isin(np.arange(9), [0, 4, 6]))


def test_an_index_out_of_range_in_one_example_is_an_error(rng):
    x = leaf(rng, 3, 9)
    made = mo.vmap(lambda x, at: x[at])(x, mo.array([4, 9, 0]))
    with pytest.raises(IndexError, match="index 9 is out of range"):
        made.sync()


# Random numbers


def draws_once(x):
    return mo.rand(3) + x


def draws_often(x):
    y = mo.normal((2, 3))
    return y + mo.rand(3) + mo.uniform((), dtype="float64") + x


@pytest.mark.parametrize("function", [draws_once, draws_often])
@pytest.mark.parametrize("size", [None, 2])
def test_different_random_numbers_are_those_of_a_loop(function, size):
    x = mo.zeros(5)
    mo.seed(3)
    expected, behind = looped(function, x).numpy(), mo.rand(2).numpy()
    mo.seed(3)
    made = mo.vmap(function, randomness="different", chunk_size=size)(x).numpy()
    np.testing.assert_array_equal(made, expected)
    np.testing.assert_array_equal(mo.rand(2).numpy(), behind)


@pytest.mark.parametrize("function", [draws_once, draws_often])
def test_different_random_numbers_of_maps_of_maps(function):
    x = mo.zeros((2, 3))
    mo.seed(3)
    expected = mo.stack([looped(function, row) for row in x]).numpy()
    mo.seed(3)
    inner = mo.vmap(function, randomness="different")
    np.testing.assert_array_equal(mo.vmap(inner, randomness="different")(x).numpy(), expected)


def test_same_random_numbers_are_those_of_the_first():
    mo.seed(3)
    expected, behind = draws_often(0).numpy(), mo.rand(2).numpy()
    mo.seed(3)
    made = mo.vmap(draws_often, randomness="same")(mo.zeros(4)).numpy()
    np.testing.assert_array_equal(made, np.repeat(expected[None], 4, 0))
    np.testing.assert_array_equal(mo.rand(2).numpy(), behind)


def test_keys_of_each_example():
    keys = mo.Key(5).split(4)

    def draw(key, x):
        one, two = key.split()
        return mo.normal((3,), key=one) + mo.uniform((1,), key=two) * x

    x = mo.arange(4).cast("float32")
    expected = np.stack([draw(keys[k], x[k]).numpy() for k in range(4)])
    np.testing.assert_array_equal(mo.vmap(draw)(keys, x).numpy(), expected)
    given = mo.vmap(lambda given, x: draw(given["keys"], x))({"keys": list(keys)}, x)
    np.testing.assert_array_equal(given.numpy(), expected)
    np.testing.assert_array_equal(
        mo.vmap(draw, (None, 0))(keys[0], x).numpy(),
        np.stack([draw(keys[0], x[k]).numpy() for k in range(4)]),
    )
    # Several keys, all of which every example is given.
    pair = mo.vmap(lambda pair, x: draw(pair[1], x), ((None, None), 0))(keys[:2], x)
    np.testing.assert_array_equal(pair.numpy(), mo.vmap(draw, (None, 0))(keys[1], x).numpy())
    # Batches in batches.
    nested = mo.vmap(lambda key, x: mo.vmap(draw)(key.split(2), mo.stack([x, x])))(keys, x)
    expected = np.stack(
        [np.stack([draw(one, x[k]).numpy() for one in keys[k].split(2)]) for k in range(4)]
    )
    np.testing.assert_array_equal(nested.numpy(), expected)


def test_dropout_of_each_example(rng):
    x = leaf(rng, 4, 50)
    layer = nn.Dropout(0.5)
    mo.seed(1)
    expected = looped(layer, x).numpy()
    mo.seed(1)
    close(mo.vmap(layer, randomness="different")(x), expected)


# Refusals


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: mo.vmap(3), TypeError, "vmap: fn is 3, expected a function"),
        (lambda: mo.vmap(mo.sum, 1.5), TypeError, "vmap: in_dims has 1.5, expected integers"),
        (lambda: mo.vmap(mo.sum, 0, "a"), TypeError, "vmap: out_dims has 'a', expected"),
        (lambda: mo.vmap(mo.sum, True), TypeError, "vmap: in_dims has True"),
        (lambda: mo.vmap(mo.sum, randomness=1), ValueError, "vmap: randomness is 1, expected"),
        (lambda: mo.vmap(mo.sum, chunk_size=0), ValueError, "vmap: chunk_size is 0, expected"),
        (
            lambda: mo.vmap(mo.sum, randomness="same", chunk_size=2),
            ValueError,
            "vmap: randomness is 'same' and chunk_size is 2, and each trip of a loop draws other",
        ),
        (
            lambda: mo.vmap(mo.add)(mo.ones(3), mo.ones((4, 2))),
            ValueError,
            "vmap: argument 1 has 4 examples, and argument 0 has 3; expected the same",
        ),
        (
            lambda: mo.vmap(mo.add, (0, None, 0))(mo.ones(3), mo.ones(3)),
            ValueError,
            "vmap: in_dims is for 3 arguments, and 2 are given",
        ),
        (
            lambda: mo.vmap(mo.sum, None)(mo.ones(3)),
            ValueError,
            "vmap: in_dims gives no tensor a dimension",
        ),
        (lambda: mo.vmap(mo.sum)(mo.ones((0, 2))), ValueError, "argument 0 has 0 examples"),
        (
            lambda: mo.vmap(mo.sum, 2)(mo.ones((3, 2))),
            ValueError,
            r"argument 0 has shape \(3, 2\), and no dimension 2",
        ),
        (
            lambda: mo.vmap(lambda t: t["x"])({"x": mo.ones(())}),
            ValueError,
            r"argument 0\['x'\] has shape \(\), and no dimension 0",
        ),
        (lambda: mo.vmap(mo.add)(mo.ones(3), 2), TypeError, "argument 1 is 2, and in_dims says 0"),
        (
            lambda: mo.vmap(mo.sum, ({"a": 0},))({"b": mo.ones(3)}),
            ValueError,
            "vmap: in_dims has the places 'a' for argument 0",
        ),
        (
            lambda: mo.vmap(lambda x: x, out_dims=None)(mo.ones(3)),
            ValueError,
            "out_dims says None for result, which differs among examples",
        ),
        (
            lambda: mo.vmap(lambda x: x, out_dims=1)(mo.ones(3)),
            ValueError,
            "out_dims says 1 for result, which has 1 dimensions",
        ),
        (
            lambda: mo.vmap(lambda x: (x, x), out_dims=(0, 0, 0))(mo.ones(3)),
            ValueError,
            "vmap: out_dims has the places 0, 1, 2 for result",
        ),
        (
            lambda: mo.vmap(lambda x: x, out_dims=(0,))(mo.ones((3, 2))),
            ValueError,
            "vmap: out_dims has the places 0 for result, which is a Var.*; expected an integer",
        ),
        (
            lambda: mo.vmap(lambda key, x: x, ((0, None), 0))(mo.Key(1).split(), mo.ones(3)),
            TypeError,
            r"vmap: argument 0\[0\] is a Key, and in_dims says 0 for it; expected a tensor or",
        ),
        (lambda: mo.vmap(lambda x: "text")(mo.ones(3)), TypeError, "result is 'text', expected"),
    ],
)
def test_bad_calls(call, error, message):
    with pytest.raises(error, match=message + rf"[^\n]*\({HERE}:\d+\)$"):
        call()


CAPTURED = mo.ones(3)
NORMED = nn.BatchNorm1d(3)
LEAK = []


def update_captured(x):
    CAPTURED.update(CAPTURED * 2)
    return x


def add_to_captured(x):
    global CAPTURED
    CAPTURED += 1
    return x


def write_to_argument(x):
    x[0] = 1
    return x


def update_argument(x):
    x.update(x * 2)
    return x


def leak(x):
    LEAK.append(x * 2)
    return x


def step(x):
    OPTIMIZER.step((CAPTURED * x.sum()).sum())
    return x


OPTIMIZER = mo.optim.SGD([CAPTURED], 0.1)


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda x: float(x.sum()) + x, "needs numbers, which there are none of"),
        (lambda x: x if x.sum() > 0 else -x, "needs numbers, which there are none of"),
        (update_captured, "rebinds a Var from outside, .*functional_call"),
        (add_to_captured, "rebinds a Var from outside"),
        (write_to_argument, r"rebinds its argument, .*x.clone\(\)"),
        (update_argument, "rebinds its argument"),
        (lambda x: mo.rand(3) + x, 'draws random numbers at .*; say randomness="different"'),
        (
            lambda x: mo.scan(lambda c, _: (c + mo.rand(3), None), x, length=70)[0],
            r"draws random numbers at .*test_vmap.py:\d+; say",
        ),
        (leak, "leaves a tensor of .* in something that lives on"),
        (lambda x: NORMED(mo.stack([x, x])), r"BatchNorm, use eval\(\)"),
        (step, "vmap: the function advances .*would be done once for all examples"),
        (lambda x: x.fetch(print), "vmap: the function fetches values"),
    ],
)
def test_what_functions_cannot_do(function, message):
    before = CAPTURED.numpy()
    with pytest.raises(RuntimeError, match=message):
        mo.vmap(function)(mo.ones((4, 3)))
    LEAK.clear()
    np.testing.assert_array_equal(CAPTURED.numpy(), before)
    np.testing.assert_array_equal(mo.vmap(mo.sum)(mo.ones((4, 3))).numpy(), np.full(4, 3.0))


def test_statistics_are_used_and_those_of_each_example_returned(rng):
    layer = nn.BatchNorm1d(3).double()
    x = leaf(rng, 4, 6, 3)
    with_batch = looped(layer, x)
    layer.load_state_dict(nn.BatchNorm1d(3).double().state_dict())

    def call(x):
        state = {name: value.clone() for name, value in layer.state_dict().items()}
        y = mo.functional_call(layer, state, x)
        return y, state["running_mean"]

    y, mean = mo.vmap(call)(x)
    close(y, with_batch.numpy())
    close(mean, 0.1 * x.numpy().mean(1))
    close(layer.running_mean, np.zeros(3))
    layer.eval()
    close(mo.vmap(layer)(x), layer(x.reshape((24, 3))).numpy().reshape(4, 6, 3))


def test_an_exception_leaves_the_session_as_it_was():
    def fail(x):
        raise KeyError("own")

    with pytest.raises(KeyError, match="own"):
        mo.vmap(fail)(mo.ones(3))
    assert mo.vmap(mo.sum)(mo.ones((2, 3))).tolist() == [3, 3]
