# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Cumulative functions beside NumPy's, and the order in which they round."""

import math
import os
import subprocess
import sys

import metaops as mo
import numpy as np
import pytest
from util import check_gradient, close, floats, same

ACCUMULATE = {
    "cumsum": np.add.accumulate,
    "cumprod": np.multiply.accumulate,
    "cummax": np.maximum.accumulate,
    "cummin": np.minimum.accumulate,
    "logcumsumexp": np.logaddexp.accumulate,
}
FIRST = {"cumsum": 0, "cumprod": 1, "cummax": -math.inf, "cummin": math.inf}
FIRST["logcumsumexp"] = -math.inf
#: Lines of one block and of several, of which the last is shorter, alone and beside
#: each other.
SHAPES = [(0,), (1,), (7,), (1008,), (1009,), (40_000,), (3, 5), (2, 2100, 3), (5, 300), (2, 0, 3)]


def reference(name, x, axis, reverse, exclusive):
    x = np.flip(x, axis) if reverse else x
    result = ACCUMULATE[name](x, axis)
    if exclusive and x.shape[axis]:
        first = np.full_like(np.take(x, [0], axis), FIRST[name])
        kept = np.take(result, range(x.shape[axis] - 1), axis)
        result = np.concatenate([first, kept], axis)
    return np.flip(result, axis) if reverse else result


@pytest.mark.parametrize("name", ACCUMULATE)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_floats(rng, name, shape):
    low, high = (0.99, 1.01) if name == "cumprod" else (-2, 2)
    x = floats(rng, shape, "float64", low, high)
    for axis in range(len(shape)):
        for reverse, exclusive in [(False, False), (True, False), (False, True), (True, True)]:
            y = getattr(mo, name)(x, axis, reverse=reverse, exclusive=exclusive)
            expected = reference(name, x, axis, reverse, exclusive)
            close(y, expected, rtol=1e-11, atol=1e-10)
    close(getattr(mo, name)(x.astype("float32")), ACCUMULATE[name](x.ravel()), 1e-4, 1e-3)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "uint64", "int64", "bool"])
def test_integers(rng, dtype):
    x = (rng.integers(0, 100, (3, 1500)) % (2 if dtype == "bool" else 100)).astype(dtype)
    wide = "uint64" if dtype.startswith("u") else "int64"
    with np.errstate(over="ignore"):
        same(mo.cumsum(x, 1), np.cumsum(x, 1, dtype=wide))
        same(mo.cumprod(x, 1), np.cumprod(x, 1, dtype=wide))
        if dtype != "bool":
            same(mo.cumsum(x, 1, dtype), np.cumsum(x, 1, dtype=dtype))
    same(mo.cummax(x, 0), np.maximum.accumulate(x, 0))
    same(mo.cummin(x, 1), np.minimum.accumulate(x, 1))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_halves_are_added_in_float32(rng, dtype):
    x = mo.array(floats(rng, (3000,), "float32", 0, 1)).cast(dtype)
    exact = np.cumsum(x.cast("float64").numpy())
    rounded = mo.array(exact).cast(dtype).cast("float64").numpy()
    error = np.abs(mo.cumsum(x).cast("float64").numpy() - rounded)
    assert (error <= np.abs(rounded) * (2.0**-7 if dtype == "bfloat16" else 2.0**-10)).all()


@pytest.mark.parametrize("kind", ["add", "mul", "max", "min", "linear"])
@pytest.mark.parametrize("shape, dim", [((5000,), 0), ((3, 2100), 1), ((2500, 5), 0)])
def test_bits_are_those_of_the_interpreter(rng, kind, shape, dim):
    """The order in which numbers are rounded is part of what an operator means."""
    for dtype in ("float32", "float16", "float64"):
        x = mo.array(floats(rng, shape, dtype, 0.5, 1.5))
        factors = mo.array(floats(rng, shape, dtype, -1, 1)) if kind == "linear" else None

        def compute(x=x, factors=factors):
            return mo._core.prefix(kind, x, factors, dim, False, False).numpy()

        threads = mo.get_num_threads()
        try:
            results = []
            for count in (1, 2, 3):
                mo.set_num_threads(count)
                results.append(compute())
        finally:
            mo.set_num_threads(threads)
        with mo.flag_scope(backend="interpreter"):
            results.append(compute())
        assert len({result.tobytes() for result in results}) == 1


def test_sums_of_what_is_not_negative_never_fall(rng):
    for _ in range(20):
        x = floats(rng, (20_000,), "float32", 0, 1) ** 8
        assert (np.diff(mo.cumsum(x).numpy()) >= 0).all()


def test_producers_and_readers_are_in_one_kernel(rng, compiled):
    x, w = floats(rng, (33, 70), "float32"), floats(rng, (33, 70), "float32")
    for axis in (0, 1):
        y = mo.cumsum(mo.exp(mo.array(x)), axis) * w
        close(y, np.cumsum(np.exp(x), axis) * w, 1e-5, 1e-5)
        assert len(mo.last_program().kernels) == 1


def test_a_product_is_as_large_as_its_line(rng):
    """The product of a part of a line may overflow where that of the line does not."""
    x = np.full(3000, 2.0, "float32")
    x[0] = 0
    same(mo.cumprod(x), np.zeros(3000, "float32"))
    x = np.concatenate([np.full(1008, 0.9), np.full(1008, 1.1)]).astype("float32")
    same(mo.cumprod(x), np.cumprod(x))
    (gradient,) = mo.grad(mo.cumprod(v := mo.array(x))[:3].sum(), [v])
    close(gradient, np.r_[1 + 0.9 + 0.81, 0.9 + 0.81, 0.81, np.zeros(2013)], 1e-5)
    close(mo.linear_recurrence(np.full(3000, 2.0), np.zeros(3000)), np.zeros(3000))


def test_the_first_element_is_taken(rng):
    for name, first in (("cummax", -np.inf), ("cummin", np.inf)):
        for reverse in (False, True):
            x = np.array([first, first, 1.0])
            x = x[::-1].copy() if reverse else x
            (gradient,) = mo.grad(getattr(mo, name)(v := mo.array(x), reverse=reverse).sum(), [v])
            same(gradient, np.array([1.0, 0, 2] if reverse else [2.0, 0, 1]))


def test_special_values():
    x = np.array([1, np.nan, 2, np.inf, -np.inf], "float32")
    for name in ("cumsum", "cumprod", "cummax", "cummin"):
        with np.errstate(invalid="ignore"):
            close(getattr(mo, name)(x), ACCUMULATE[name](x))
    y = np.array([-np.inf, -np.inf, 1.0, np.inf, np.inf])
    close(mo.logcumsumexp(y), np.logaddexp.accumulate(y))


def test_linear_recurrence(rng):
    for shape, axis in [((7,), 0), ((3, 2100), 1), ((1030, 4), 0)]:
        a, b = floats(rng, shape, "float64", -1, 1), floats(rng, shape, "float64")
        expected = np.moveaxis(b, axis, 0).copy()
        factors = np.moveaxis(a, axis, 0)
        for k in range(1, shape[axis]):
            expected[k] += factors[k] * expected[k - 1]
        close(mo.linear_recurrence(a, b, axis), np.moveaxis(expected, 0, axis), 1e-12, 1e-12)
    with pytest.raises(ValueError, match=r"the source has shape \(3,\), the factors \(2,\)"):
        mo.linear_recurrence(mo.ones(2), mo.ones(3))


@pytest.mark.parametrize("name", ACCUMULATE)
@pytest.mark.parametrize("options", [{}, {"reverse": True}, {"exclusive": True}], ids=str)
def test_gradients(rng, name, options):
    x = floats(rng, (2, 5), "float64", 0.4, 1.6)
    # An exclusive maximum of nothing is infinite.
    part = (slice(None), slice(1, None)) if "exclusive" in options else ...
    check_gradient(lambda x: getattr(mo, name)(x, 1, **options)[part], x, rtol=1e-5)


def test_gradients_of_products_with_zeros():
    x = np.array([2.0, 0.0, 3.0, 0.0, 4.0])
    check_gradient(lambda x: mo.cumprod(x, 0), x, order=2, rtol=1e-5)


def test_gradient_of_a_recurrence(rng):
    a, b = floats(rng, (2, 5), "float64", -1, 1), floats(rng, (2, 5), "float64")
    for options in ({}, {"reverse": True}, {"exclusive": True}):
        check_gradient(lambda a, b, o=options: mo.linear_recurrence(a, b, 1, **o), a, b, rtol=1e-5)


def test_ties_go_to_the_first():
    x = mo.array([1.0, 3.0, 3.0, 2.0])
    assert mo.grad(mo.cummax(x).sum(), x).tolist() == [1, 3, 0, 0]
    y = mo.array([1.0, math.nan, 3.0])
    assert mo.grad(mo.cummax(y).sum(), y).tolist() == [1, 2, 0]


def test_as_the_array_api_has_them():
    x = np.arange(1, 5)
    same(mo.cumulative_sum(x), np.cumsum(x))
    same(mo.cumulative_sum(x, include_initial=True), np.concatenate([[0], np.cumsum(x)]))
    same(mo.cumulative_prod(x, include_initial=True), np.concatenate([[1], np.cumprod(x)]))
    same(mo.cumulative_sum(x.reshape(2, 2), axis=0), np.cumsum(x.reshape(2, 2), 0))
    with pytest.raises(ValueError, match="x has 2 dimensions"):
        mo.cumulative_sum(x.reshape(2, 2))


@pytest.mark.parametrize("extent", [0, 1, 2, 3, 8, 21])
def test_associative_scan(rng, extent):
    x = floats(rng, (2, extent), "float64")
    for reverse in (False, True):
        y = mo.associative_scan(mo.add, x, 1, reverse=reverse)
        close(y, reference("cumsum", x, 1, reverse, False), 1e-12, 1e-12)
    a = floats(rng, (2, extent), "float64", -1, 1)

    def compose(first, second):
        (a0, b0), (a1, b1) = first, second
        return a1 * a0, a1 * b0 + b1

    _, h = mo.associative_scan(compose, [a, x], 1)
    close(h, mo.linear_recurrence(a, x, 1).numpy(), 1e-12, 1e-12)


def test_errors():
    with pytest.raises(ValueError, match="dimension 2 is out of range"):
        mo.cumsum(mo.ones(3), 2)
    with pytest.raises(ValueError, match="extents along the dimension are"):
        mo.associative_scan(lambda x, y: x, [mo.ones(3), mo.ones(4)])
    with pytest.raises(ValueError, match="there is no operator 'sub'"):
        mo._core.prefix("sub", mo.ones(3), None, 0, False, False)


WORK = """
import metaops as mo
import numpy as np

x = mo.array(np.linspace(0.0, 1.0, 3000, dtype="float32"))
y = mo.cumsum(mo.sort(x * 2.5, descending=True)) + mo.linear_recurrence(x, x)
print(y.numpy().tobytes().hex()[:4000], mo.stats()["programs_compiled"])
"""


def test_a_new_process_finds_it_on_disk(tmp_path):
    """Programs with routines are written and read."""
    environment = {**os.environ, "METAOPS_CACHE_DIR": str(tmp_path)}
    command = [sys.executable, "-c", WORK]
    outputs = [
        subprocess.run(command, env=environment, capture_output=True, check=True).stdout.split()
        for _ in range(2)
    ]
    assert outputs[0][0] == outputs[1][0]
    assert [int(output[1]) for output in outputs] == [1, 0]
