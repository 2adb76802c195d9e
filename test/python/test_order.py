# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Long lines, which threads share, parts of the order, and the memory that both take."""

import metaops as mo
import numpy as np
import pytest
from metaops.ops.sort.quantiles import METHODS
from test_sorting import DTYPES, descending, values
from util import check_gradient, close, same

LONG = 150_000


@pytest.fixture
def threads():
    before = mo.get_num_threads()
    yield mo.set_num_threads
    mo.set_num_threads(before)


@pytest.fixture
def memory_limit():
    yield lambda limit: setattr(mo.flags, "memory_limit", limit)
    mo.flags.memory_limit = 0


def of_kind(rng, kind, count):
    """Return float64 numbers that are hard to tell apart in some way."""
    if kind == "normal":
        return rng.standard_normal(count)
    if kind == "few":
        return rng.integers(0, 3, count).astype(float)
    if kind == "rising":
        return np.arange(count, dtype=float)
    if kind == "falling":
        return -np.arange(count, dtype=float)
    if kind == "close":  # They differ in their lowest bits.
        return 1 + rng.integers(0, 99, count) * np.finfo(float).eps
    # So that keys of both ends do not fit into an item beside a number.
    assert kind == "close and far"
    far = rng.standard_normal(count) * 1e300
    return np.where(rng.random(count) < 0.01, far, of_kind(rng, "close", count))


KINDS = ["normal", "few", "rising", "falling", "close", "close and far"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_long_line_is_sorted_by_any_number_of_threads(rng, threads, kind):
    x = of_kind(rng, kind, LONG)
    integers = (np.clip(x, -1e9, 1e9) * 1e6).astype("int64")
    for y in (x, np.clip(x, -1e38, 1e38).astype("float32"), integers):
        places = np.argsort(y, kind="stable")
        falling = descending(y, 0)
        for count in (1, 2, 3, 7):
            threads(count)
            same(mo.sort(y), y[places])
            same(mo.argsort(y), places)
            same(mo.sort(y, descending=True), y[falling])
            same(mo.argsort(y, descending=True), falling)


@pytest.mark.parametrize("dtype", ["int8", "uint16", "float16", "bool"])
def test_long_lines_of_narrow_elements(rng, threads, dtype):
    x = values(rng, (LONG,), dtype)
    for count in (1, 3):
        threads(count)
        # NumPy's other sort of float16 loses some of many equal elements.
        same(mo.sort(x), np.sort(x, kind="stable"))
        same(mo.argsort(x), np.argsort(x, kind="stable"))
        same(mo.topk(x, 9).indices, descending(x, 0)[:9])


@pytest.mark.parametrize("kind", KINDS)
def test_a_part_of_the_order_of_a_long_line(rng, threads, kind):
    x = of_kind(rng, kind, LONG)
    order, falling = np.argsort(x, kind="stable"), descending(x, 0)
    for count in (1, 3):
        threads(count)
        for k in (1, 10, 1000, LONG // 8, LONG // 8 + 1):
            same(mo.topk(x, k).indices, falling[:k])
            same(mo.topk(x, k).values, x[falling[:k]])
            same(mo.topk(x, k, largest=False).indices, order[:k])
        for k in (1, 2, LONG // 3, LONG - 1, LONG):
            value, place = mo.kthvalue(x, k)
            assert (value.item(), place.item()) == (x[order[k - 1]], order[k - 1])
        for share in (0.0, 0.001, 0.25, 0.5, 0.999, 1.0):
            for method in ("lower", "higher"):
                found = mo.quantile(x, share, method=method).item()
                assert found == np.quantile(x, share, method=method)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(4, 700), (700, 3), (2, 600, 5)], ids=str)
def test_parts_of_the_order_of_lines(rng, shape, dtype):
    x = values(rng, shape, dtype)
    axis = int(np.argmax(shape))
    for k in (1, 5, 80, 300):
        expected = np.take(descending(x, axis), range(k), axis)
        top, places = mo.topk(x, k, axis)
        same(places, expected)
        same(top, np.take_along_axis(x, expected, axis))


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("count", [9, 700, LONG])
def test_values_beside_indices_are_the_elements_to_the_bit(rng, threads, dtype, count):
    """Those of zeros and NaN too, which have one key."""
    x = rng.integers(-3, 4, count).astype(dtype)
    x = np.where(rng.random(count) < 0.5, -x, x)
    nan = np.array([np.nan, -np.nan], dtype)
    nan.view(f"u{nan.itemsize}")[1] += 1
    x = np.where(rng.random(count) < 0.2, rng.choice(nan, count), x)
    for number in (1, 3):
        threads(number)
        for largest in (False, True):
            for k in (count, count // 2, 5):
                values, places = mo.topk(x, k, largest=largest)
                expected = x[places.numpy()]
                assert values.numpy().tobytes() == expected.tobytes()
                columns = np.stack([x, x[::-1], x], 1)
                values, places = mo.topk(columns, k, 0, largest=largest)
                expected = np.take_along_axis(columns, places.numpy(), 0)
                assert values.numpy().tobytes() == expected.tobytes()


def test_of_equal_elements_the_first_are_among_the_largest():
    x = np.zeros(LONG, "float32")
    x[[7, 99]] = 1
    assert mo.topk(x, 4).indices.tolist() == [7, 99, 0, 1]
    x[1::2] = -0.0
    assert mo.topk(x, 4).indices.tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("share", [0.0, 0.3, 0.5, 1.0, 1])
@pytest.mark.parametrize("method", METHODS)
def test_a_share_as_a_number_is_one_as_a_tensor(rng, share, method):
    x = values(rng, (3, 41), "float64")
    x[1] = rng.standard_normal(41)
    for dim in (1, None):
        known = mo.quantile(x, share, dim, method=method)
        other = mo.quantile(x, mo.array(share, "float64"), dim, method=method)
        close(known, other.numpy(), 1e-14, 0)


def test_parts_of_the_order_have_derivatives_of_any_order(rng):
    x = rng.permutation(np.arange(24.0)).reshape(3, 8)
    for f in (
        lambda x: mo.topk(x, 3)[0],
        lambda x: mo.topk(x, 2, 0, largest=False)[0],
        lambda x: mo.kthvalue(x, 4)[0],
        lambda x: mo.median(x, 1),
        lambda x: mo.quantile(x, 0.3, 0),
    ):
        check_gradient(lambda x, f=f: f(x) ** 3, x)

        def slope(x, f=f):
            return mo.grad((f(x) ** 3).sum(), x)

        check_gradient(slope, x)


def test_scratch_memory_counts_under_the_limit(compiled, rng, memory_limit):
    x = mo.array(rng.standard_normal(1 << 18))
    mo.sync(x)
    # The result is 2 MB, the scratch memory twice that.
    memory_limit(mo.memory_stats()["in_use"] + (3 << 20))
    with pytest.raises(MemoryError, match="out of memory"):
        mo.argsort(x).numpy()
    memory_limit(0)
    same(mo.argsort(x), np.argsort(x.numpy(), kind="stable"))


def test_true_places_count_under_the_limit(memory_limit):
    mask = mo.array(np.ones(1 << 20, bool))
    mo.sync(mask)
    memory_limit(mo.memory_stats()["in_use"] + (4 << 20))
    with pytest.raises(MemoryError, match="out of memory"):
        mo.flatnonzero(mask)
    memory_limit(0)
    same(mo.flatnonzero(mask), np.arange(1 << 20))


def test_scratch_memory_is_reported(compiled, rng):
    count = 1 << 18
    order = mo.argsort(mo.array(rng.standard_normal(count)))
    mo.sync(order)
    assert mo.last_program().arena_bytes >= 16 * count


def test_what_a_sort_should_take_is_known(compiled, rng):
    def predict(result):
        mo.sync(result)
        return mo.last_program().kernels[-1].predicted_seconds

    x = mo.array(rng.standard_normal(1 << 20))
    mo.sync(x)
    some, elements, places = (
        predict(f(x)) for f in (lambda x: mo.topk(x, 9)[0], mo.sort, mo.argsort)
    )
    # A thread moves 8 MB in less than that.
    assert 1e-4 < some < elements < places < 1e-1


def test_counts_that_vary_leave_nothing_behind(rng):
    """Where booleans are true is found outside of programs."""
    compiled = None
    for count in range(1, 40):
        mask = np.zeros(1000, bool)
        mask[rng.permutation(1000)[:count]] = True
        same(mo.flatnonzero(mo.array(mask)), np.flatnonzero(mask))
        now = mo.stats()["programs_compiled"]
        assert compiled in (None, now)
        compiled = now


@pytest.mark.parametrize("share", [0.0, 0.001, 0.5, 1.0])
def test_true_places_of_long_masks(rng, threads, share):
    mask = rng.random(200_003) < share
    for count in (1, 2, 5):
        threads(count)
        same(mo.flatnonzero(mask), np.flatnonzero(mask))
