# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Branches and loops of functions that are mapped over examples, which may take other ones."""

import metaops as mo
import numpy as np
import pytest
from random_loops import PROGRAMS, RandomLoops
from util import close

pytestmark = pytest.mark.filterwarnings("error")

RNG = np.random.default_rng(5)
X = RNG.standard_normal((4, 3))
ROWS = RNG.standard_normal((4, 5, 3))
W = mo.array(RNG.standard_normal((3, 3)))
FLAG = mo.array(True)


def cond(test, one, other):
    return lambda x: [mo.cond(test(x), one, other, x)]


def grow(most=None):
    """Return a loop whose trips depend on the example."""

    def call(x):
        return list(
            mo.while_loop(
                lambda c: mo.abs(c[0]).sum() < 10,
                lambda c: (c[0] * mo.exp(0.2 * mo.abs(c[0])) + mo.sin(c[0]), c[1] + 1),
                (x, 0),
                max_trips=most,
            )
        )

    return call


def scanned(body, **options):
    return lambda x, rows: list(mo.scan(body, x, rows, **options))


#: Functions of an example, and what they are mapped over.
FUNCTIONS = {
    "a branch that all take": (cond(lambda x: FLAG, mo.sin, lambda x: x * 2), X),
    "a branch": (cond(lambda x: x.sum() > 0, lambda x: mo.sin(x @ W), lambda x: x * 2), X),
    "a branch that none takes": (cond(lambda x: x.sum() > 99, mo.log, lambda x: x * 2), X),
    "a logarithm where it is one": (
        cond(lambda x: x.sum() > 0, lambda x: mo.log(x.sum()) * W, lambda x: x.sum() + W),
        X,
    ),
    "one of several": (
        lambda x, k: [mo.switch(k, [mo.sin, lambda x: x * x, lambda x: x + 1], x)],
        X,
        np.array([0, 1, 2, 1]),
    ),
    "a scan": (scanned(lambda c, r: (mo.tanh(c @ W + r), c * 2)), X, ROWS),
    "a scan of shared rows": (
        lambda x: list(mo.scan(lambda c, r: (mo.tanh(c @ W + r), c * 2), x, W)),
        X,
    ),
    "a scan of a shared carry": (
        lambda rows: list(mo.scan(lambda c, r: (mo.tanh(c) * 2, c @ r), W, rows)),
        ROWS,
    ),
    "a scan of parts": (
        scanned(lambda c, r: (mo.tanh(c * r[0] + r), (c[1], r)), reverse=True),
        X,
        ROWS,
    ),
    "a loop that counts": (
        lambda x: [mo.fori_loop(0, 5, lambda i, c: mo.tanh(c @ W) + i, x)],
        X,
    ),
    "as many trips as the example says": (
        lambda x, n: [mo.fori_loop(0, n, lambda i, c: mo.tanh(c @ W) + i, x, max_trips=9)],
        X,
        np.array([3, 0, 5, 1]),
    ),
    "until it is large": (grow(20), X),
    "a branch in a scan": (
        scanned(
            lambda c, r: (
                mo.cond(r.sum() > 0, lambda c: c * r, lambda c: mo.sin(c) + r, c),
                c * 2,
            )
        ),
        X,
        ROWS,
    ),
    # It would not end for those that are not in the branch.
    "a loop in a branch": (
        cond(
            lambda x: x.sum() > 0,
            lambda x: mo.while_loop(lambda c: c.sum() < 10, lambda c: c * 2, x, max_trips=50),
            lambda x: x * 2,
        ),
        X,
    ),
    "a scan in a loop": (
        lambda x: [
            mo.while_loop(
                lambda c: mo.abs(c).sum() < 9,
                lambda c: mo.scan(lambda h, r: (h * 1.2 + r * 0.1, None), c, W)[0] * 1.1,
                x,
                max_trips=30,
            )
        ],
        X,
    ),
}


def looped(function, *args):
    """Return what a loop over the first dimensions of the arguments makes."""
    made = [function(*row) for row in zip(*args, strict=True)]
    return [mo.stack(list(several)) for several in zip(*made, strict=True)]


def gradients_of(function, by):
    """Return the function of gradients by the arguments of floats, and by W."""

    def call(*args):
        loss = sum((y * y).sum() for y in flat(function(*args)) if "float" in y.dtype)
        return mo.grad(loss, [*(args[k] for k in by), W], allow_unused=True)

    return call


def flat(results):
    return mo.tree_leaves(results)


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("backend", ["compiled", "interpreter"])
def test_values_and_gradients(name, backend):
    function, *arrays = FUNCTIONS[name]
    args = [mo.array(array) for array in arrays]
    by = [k for k, x in enumerate(args) if "float" in x.dtype]

    def call(*args):
        return flat(function(*args))

    with mo.flag_scope(backend=backend):
        for each in (call, gradients_of(call, by)):
            for one, other in zip(mo.vmap(each)(*args), looped(each, *args), strict=True):
                assert one.dtype == other.dtype
                np.testing.assert_allclose(one.numpy(), other.numpy(), rtol=1e-9, atol=1e-11)
        one = gradients_of(mo.vmap(call), by)(*args)
        other = gradients_of(lambda *args: looped(call, *args), by)(*args)
        for mine, its in zip(one, other, strict=True):
            np.testing.assert_allclose(mine.numpy(), its.numpy(), rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("name", ["a branch", "a scan", "until it is large", "a loop in a branch"])
def test_maps_of_maps(name):
    function, *arrays = FUNCTIONS[name]
    args = [mo.array(np.stack([array, array * 0.5, -array])) for array in arrays]
    for one, other in zip(
        flat(mo.vmap(mo.vmap(function))(*args)),
        looped(lambda *args: flat(looped(function, *args)), *args),
        strict=True,
    ):
        np.testing.assert_allclose(one.numpy(), other.numpy(), rtol=1e-12)


@pytest.mark.parametrize("outer", [(True, False), (False, True)])
def test_conditions_of_one_of_two_maps(outer):
    """The condition differs among the examples of one map, what is in the branch of the other."""
    flags, x = mo.array([0.5, -0.5, 2.0]), mo.array(X[:3] + 3)

    def call(flag, x):
        return mo.cond(
            flag > 0,
            lambda: mo.log(flag) * x + W[0],
            lambda: mo.while_loop(lambda c: mo.abs(c).sum() < 20, lambda c: c * 2 + flag, x,
                                  max_trips=9),
        )  # fmt: skip

    def gradients(flag, x):
        return mo.grad((call(flag, x) ** 2).sum(), [flag, x, W], allow_unused=True)

    first = [0 if is_outer else None for is_outer in outer]
    second = [None if is_outer else 0 for is_outer in outer]
    made = mo.vmap(mo.vmap(gradients, second), first)(flags, x)
    for i in range(3):
        for j in range(3):
            flag = flags[i] if first[0] == 0 else flags[j]
            expected = gradients(flag, x[i] if first[1] == 0 else x[j])
            for mine, its in zip(made, expected, strict=True):
                np.testing.assert_allclose(mine[i, j].numpy(), its.numpy(), rtol=1e-9)


@pytest.mark.parametrize("name", ["a branch", "a scan", "until it is large", "a loop in a branch"])
def test_directional_derivatives_and_hessians(name):
    function, *arrays = FUNCTIONS[name]
    args = [mo.array(array) for array in arrays]
    direction = mo.array(X[::-1])

    def along(direction, *args):
        return mo.jvp(flat(function(*args))[:1], args[:1], [direction])

    expected = looped(along, direction, *args)[0].numpy()
    np.testing.assert_allclose(mo.vmap(along)(direction, *args)[0].numpy(), expected, rtol=1e-9)
    outside = mo.jvp(flat(mo.vmap(function)(*args))[:1], args[:1], [direction])[0]
    np.testing.assert_allclose(outside.numpy(), expected, rtol=1e-9)
    curved = mo.hessian(lambda *args: mo.tanh(flat(function(*args))[0]).sum())
    one, (other,) = mo.vmap(curved)(*args), looped(lambda *args: [curved(*args)], *args)
    np.testing.assert_allclose(one.numpy(), other.numpy(), rtol=1e-9, atol=1e-12)


def test_trips_that_nobody_bounds():
    for one, other in zip(mo.vmap(grow())(mo.array(X)), looped(grow(), mo.array(X)), strict=True):
        np.testing.assert_allclose(one.numpy(), other.numpy(), rtol=1e-12)


@pytest.mark.parametrize("backend", ["compiled", "interpreter"])
def test_trips_that_a_number_of_the_example_counts(backend):
    def call(x, first, last):
        return [mo.fori_loop(first, last, lambda i, c: mo.tanh(c @ W) + i * mo.rand(1), x)]

    args = [mo.array(X), mo.array([0, 2, 5, 1]), mo.array([3, 6, 1, 1])]
    with mo.flag_scope(backend=backend):
        mo.seed(6)
        expected = looped(call, *args)[0].numpy()
        mo.seed(6)
        np.testing.assert_allclose(
            mo.vmap(call, randomness="different")(*args)[0].numpy(), expected, rtol=1e-12
        )
        # In forward mode alone.
        direction = mo.array(X[::-1])
        (one,) = mo.jvp(mo.vmap(call, randomness="same")(*args), args[:1], [direction])
        mo.seed(6)
    assert one.shape == X.shape


def test_more_trips_than_there_may_be():
    made = mo.vmap(grow(2))(mo.array(X))[0]
    with pytest.raises(IndexError, match="trips"):
        made.sync()


def test_checks_are_for_the_examples_of_a_branch(rng):
    table = mo.array(rng.standard_normal(4))
    read = cond(lambda i: i < 4, lambda i: table[i], lambda i: table[0] * i)
    made = mo.vmap(read)(mo.array([9, 5, 2, 1]))[0]
    close(made, [9 * table.numpy()[0], 5 * table.numpy()[0], table.numpy()[2], table.numpy()[1]])
    # None is in the branch, or one of those that are is out of range.
    close(mo.vmap(read)(mo.array([9, 5]))[0], table.numpy()[0] * np.array([9.0, 5.0]))
    made = mo.vmap(read)(mo.array([3, -6]))[0]
    with pytest.raises(IndexError, match="index -6 is out of range"):
        made.sync()


def test_random_numbers_of_loops():
    def in_scan(x):
        return mo.scan(lambda c, _: (c * 2 + mo.rand(3) + mo.rand(1), mo.rand(2)), x, length=4)

    def in_loop(x):
        return [mo.while_loop(lambda c: c.sum() < 9, lambda c: c * 2 + mo.rand(3), x)]

    def in_branch(x):
        return [mo.cond(x.sum() > 0, lambda: mo.rand(3), lambda: x), mo.rand(2)]

    x = mo.array(X, dtype="float32")
    for function in (in_scan, in_loop, in_branch):
        mo.seed(4)
        expected = looped(function, x)
        behind = mo.rand(2)
        mo.seed(4)
        made = mo.vmap(function, randomness="different")(x)
        for one, other in zip(flat(made), expected, strict=True):
            np.testing.assert_array_equal(one.numpy(), other.numpy())
        np.testing.assert_array_equal(mo.rand(2).numpy(), behind.numpy())


# Random programs


def compare(seed: int) -> None:
    """Compare values and gradients of a random program of loops and branches."""
    program = RandomLoops(seed)
    inputs = program.inputs()
    chosen = [[True, True, True, True], [True, False] * 2, [False, True, False, False]][seed % 3]

    def function(*given):
        loss = program.run(list(given), *PROGRAMS)
        return [loss, *mo.grad(loss, list(given), allow_unused=True)]

    args = [
        mo.stack([x * (0.5 + 0.4 * k) for k in range(3)]).sync() if is_batched else x
        for x, is_batched in zip(inputs, chosen, strict=True)
    ]
    dims = [0 if is_batched else None for is_batched in chosen]

    def rows(k):
        return [x if dim is None else x[k] for x, dim in zip(args, dims, strict=True)]

    mo.seed(seed)
    made = mo.fetch_sync(mo.vmap(function, dims, randomness="different")(*args))
    mo.seed(seed)
    each = [mo.fetch_sync(function(*rows(k))) for k in range(3)]
    for mine, its in zip(made, zip(*each, strict=True), strict=True):
        expected = np.stack(its)
        scale = max(np.abs(expected).max(), 1e-3)
        np.testing.assert_allclose(mine / scale, expected / scale, rtol=0, atol=1e-9)


@pytest.mark.parametrize("first", range(0, 30, 5))
def test_random_loops(first):
    with mo.flag_scope(backend="interpreter"):
        for seed in range(first, first + 5):
            compare(seed)


@pytest.mark.parametrize("seed", range(100, 104))
def test_random_loops_compiled(seed):
    compare(seed)
