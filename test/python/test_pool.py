# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Pooling of images of one to three dimensions against NumPy."""

import itertools
import math

import metaops as mo
import numpy as np
import pytest
from metaops import nn
from util import check_gradient, close, floats, same

EXTENTS = {1: (9,), 2: (7, 8), 3: (6, 5, 7)}


def named(name, rank):
    """Return the function, or the layer, for images of `rank` dimensions."""
    return getattr(nn, f"{name}{rank}d")


def bounds(extent, kernel, stride, padding, dilation, ceil_mode):
    """Return the elements of each window, also those outside of the image."""
    end, result, start = extent + padding, [], -padding
    while start + (kernel - 1) * dilation < end:
        result.append([start + k * dilation for k in range(kernel)])
        start += stride
    if ceil_mode and result[-1][-1] < end - 1 and start < extent:
        result.append([start + k * dilation for k in range(kernel)])
    return result


def windows(x, kernel, stride, padding, dilation, ceil_mode):
    """Yield the number of each window, its elements in the image, and their places there."""
    rank = len(kernel)
    numbers = (np.broadcast_to(n, rank) for n in (kernel, stride, padding, dilation))
    along = [
        bounds(extent, *args, ceil_mode)
        for extent, *args in zip(x.shape[-rank:], *numbers, strict=True)
    ]
    flat = np.arange(math.prod(x.shape[-rank:])).reshape(x.shape[-rank:])
    for number in np.ndindex(*map(len, along)):
        places = [places[k] for places, k in zip(along, number, strict=True)]
        inside = [
            [i for i in axis if 0 <= i < n] for axis, n in zip(places, x.shape[-rank:], strict=True)
        ]
        yield number, x[(..., *np.ix_(*inside))], flat[np.ix_(*inside)], places


def pooled(x, reduce, kernel, stride, padding=0, dilation=1, ceil_mode=False):
    """Reduce each window of x by a function of its elements, and of all its places."""
    rank = len(kernel)
    axes = tuple(range(x.ndim - rank, x.ndim))
    results = {}
    for number, part, _, places in windows(x, kernel, stride, padding, dilation, ceil_mode):
        results[number] = reduce(part, axes, places)
    counts = np.array(list(results)).max(0) + 1
    y = np.zeros((*x.shape[:-rank], *counts))
    for number, value in results.items():
        y[(..., *number)] = value
    return y


def first_places(x, kernel, stride, padding, dilation, ceil_mode):
    """Return where in the flattened image the first largest element of each window is."""
    rank = len(kernel)
    found = {}
    for number, part, flat, _ in windows(x, kernel, stride, padding, dilation, ceil_mode):
        rows = part.reshape(*x.shape[:-rank], -1)
        found[number] = flat.reshape(-1)[rows.argmax(-1)]
    counts = np.array(list(found)).max(0) + 1
    y = np.zeros((*x.shape[:-rank], *counts), "int64")
    for number, value in found.items():
        y[(..., *number)] = value
    return y


#: Kernel, stride, padding, dilation, ceil_mode.
CASES = {
    1: [((3,), 2, 1, 1, True), ((2,), 3, 0, 2, False), ((4,), 3, 2, 1, True)],
    2: [
        ((3, 2), 2, 1, 1, False),
        ((3, 3), (2, 3), (1, 0), (1, 2), True),
        ((2, 4), (1, 3), (1, 2), 1, True),
    ],
    3: [((2, 3, 2), 2, (0, 1, 1), 1, True), ((2, 2, 2), (1, 2, 1), 0, (2, 1, 1), False)],
}


@pytest.mark.parametrize("rank, case", [(r, case) for r in CASES for case in CASES[r]])
def test_max_pools(rng, rank, case):
    # Few numbers, so that several are the largest.
    x = rng.integers(-3, 3, (2, 3, *EXTENTS[rank])).astype("float32")
    expected = pooled(x, lambda part, axes, places: part.max(axes), *case).astype("float32")
    places = first_places(x, *case)
    values, indices = named("max_pool", rank)(x, *case, return_indices=True)
    same(values, expected)
    same(indices, places)
    same(named("max_pool", rank)(x[1], *case), expected[1])
    *numbers, ceil_mode = case
    same(named("MaxPool", rank)(*numbers, ceil_mode=ceil_mode)(x), expected)
    layer = named("MaxPool", rank)(*numbers, True, ceil_mode)
    same(layer(x[0])[1], places[0])


@pytest.mark.parametrize("rank, case", [(r, case) for r in CASES for case in CASES[r]])
def test_avg_pools(rng, rank, case):
    kernel, stride, padding, _, ceil_mode = case
    x = floats(rng, (2, 3, *EXTENTS[rank]))
    paddings = np.broadcast_to(padding, rank)

    def with_padding(part, axes, places):
        limits = zip(places, x.shape[-rank:], paddings, strict=True)
        count = math.prod(sum(i < n + p for i in axis) for axis, n, p in limits)
        return part.sum(axes) / count

    def mean(part, axes, places):
        return part.mean(axes)

    for include, reduce in [(True, with_padding), (False, mean)]:
        expected = pooled(x, reduce, kernel, stride, padding, 1, ceil_mode)
        numbers = (kernel, stride, padding, ceil_mode, include)
        y = named("avg_pool", rank)(x, *numbers)
        close(y, expected, rtol=1e-5)
        close(named("AvgPool", rank)(*numbers)(x[0]), expected[0], rtol=1e-5)
    if rank > 1:
        total = pooled(x, lambda part, axes, places: part.sum(axes), *case[:3], 1, ceil_mode)
        layer = named("AvgPool", rank)(*numbers, divisor_override=-3)
        close(layer(x), total / -3, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("order", [1, 2, 3, 1.5, 0.5])
@pytest.mark.parametrize("rank", [1, 2, 3])
def test_lp_pools(rng, rank, order):
    x = floats(rng, (2, 3, *EXTENTS[rank]), low=0.0 if order != 1 else -2.0)
    kernel, stride = (3, 2, 2)[:rank], 2
    count = math.prod(kernel)

    def root(part, axes, places):
        mean = (part.astype("float64") ** order).mean(axes)
        return (mean * count) ** (1 / order) if order != 1 else mean * count

    expected = pooled(x, root, kernel, stride, ceil_mode=True)
    close(named("lp_pool", rank)(x, order, kernel, stride, True), expected, rtol=2e-5, atol=1e-5)
    expected = pooled(x, root, kernel, kernel)
    close(named("LPPool", rank)(order, kernel)(x[0]), expected[0], rtol=2e-5, atol=1e-5)


def test_lp_pool_at_zero():
    """The gradient is 0 where the result is, not inf * 0."""
    for order in (1.5, 2, 3):
        x = mo.array(np.array([[0.0, 0, 3, 4]]))
        g = mo.grad(nn.lp_pool1d(x, order, 2), x)
        total = 3.0**order + 4.0**order
        slopes = np.array([3.0, 4.0]) ** (order - 1) * total ** (1 / order - 1)
        close(g, [[0, 0, *slopes]], rtol=1e-6)


@pytest.mark.parametrize("order", [1, 1.5, 2, 3, 4])
@pytest.mark.parametrize("dtype, far", [("float32", 1e30), ("float64", 1e250)])
def test_lp_pool_is_right_where_powers_are_none(order, dtype, far):
    """Powers neither overflow nor vanish, one window beside the other."""
    x = np.array([[[3, 4, 3 / far, 4 / far, 3 * far, 4 * far, 0, 0]]], dtype)
    scale = np.array([1, 1 / far, far, 0])
    root = (3.0**order + 4.0**order) ** (1 / order)
    given = mo.array(x)
    close(nn.lp_pool1d(given, order, 2), [[root * scale]], rtol=1e-5, atol=0)
    slopes = [3.0 ** (order - 1), 4.0 ** (order - 1)] * np.sign(scale).repeat(2).reshape(4, 2)
    slopes = slopes * root ** (1 - order)
    if order == 1:
        slopes[:] = 1
    close(mo.grad(nn.lp_pool1d(given, order, 2), given), [[slopes.ravel()]], rtol=1e-5, atol=0)


def adaptive(x, rank, counts, reduce):
    """Reduce windows from floor(i L / n) to ceil((i + 1) L / n)."""
    y = None
    for number in np.ndindex(*counts):
        key = tuple(
            slice(i * n // m, -(-(i + 1) * n // m))
            for i, n, m in zip(number, x.shape[-rank:], counts, strict=True)
        )
        value = reduce(x[(..., *key)], tuple(range(x.ndim - rank, x.ndim)))
        y = np.zeros((*value.shape, *counts)) if y is None else y
        y[(..., *number)] = value
    return y


@pytest.mark.parametrize(
    "rank, counts",
    [(1, (4,)), (1, (11,)), (2, (3, 8)), (2, (1, 1)), (2, (7, 5)), (3, (4, 3, 2)), (3, (1, 1, 1))],
)
def test_adaptive_pools(rng, rank, counts):
    x = floats(rng, (2, 3, *EXTENTS[rank]))
    given = tuple(None if n == m else m for n, m in zip(EXTENTS[rank], counts, strict=True))
    mean = adaptive(x, rank, counts, np.mean)
    close(named("adaptive_avg_pool", rank)(x, counts), mean, rtol=1e-5)
    close(named("AdaptiveAvgPool", rank)(given)(x[0]), mean[0], rtol=1e-5)
    largest = adaptive(x, rank, counts, np.max).astype("float32")
    values, indices = named("adaptive_max_pool", rank)(x, counts, return_indices=True)
    same(values, largest)
    flat = x.reshape(2, 3, -1)
    places = indices.numpy().reshape(2, 3, -1)
    same(np.take_along_axis(flat, places, 2).reshape(largest.shape), largest)
    same(named("AdaptiveMaxPool", rank)(given)(x[0]), largest[0])
    same(named("AdaptiveMaxPool", rank)(given, True)(x)[1], indices.numpy())


@pytest.mark.parametrize("rank", [1, 2, 3])
def test_unpooling_undoes_pooling(rng, rank):
    x = floats(rng, (2, 3, *EXTENTS[rank]))
    pool = named("MaxPool", rank)(3, 2, 1, return_indices=True)
    unpool = named("MaxUnpool", rank)(3, 2, 1)
    values, indices = pool(x)
    expected = np.zeros((2, 3, math.prod(EXTENTS[rank])), "float32")
    np.put_along_axis(
        expected, indices.numpy().reshape(2, 3, -1), values.numpy().reshape(2, 3, -1), 2
    )
    expected = expected.reshape(x.shape)
    same(unpool(values, indices, EXTENTS[rank]), expected)
    same(unpool(values[0], indices[0], expected[0].shape), expected[0])
    usual = tuple((n - 1) * 2 - 2 + 3 for n in values.shape[2:])
    assert unpool(values, indices % math.prod(usual)).shape == (2, 3, *usual)


def test_unpooling_keeps_the_last_of_several():
    x = mo.array([[1.0, 2.0, 3.0]])
    same(nn.max_unpool1d(x, [[1, 1, 4]], 2), np.float32([[0, 2, 0, 0, 3, 0]]))
    g = mo.grad((nn.max_unpool1d(x, [[1, 1, 4]], 2) ** 2).sum(), x)
    same(g, np.float32([[0, 4, 6]]))
    assert nn.max_unpool1d(mo.zeros((2, 0, 3)), mo.zeros((2, 0, 3), "int64"), 2).shape == (2, 0, 6)


@pytest.mark.parametrize("place", [-1, 6])
def test_unpooling_to_where_nothing_is(place):
    y = nn.max_unpool1d(mo.array([[1.0, 2.0, 3.0]]), mo.array([[0, place, 1]]), 2)
    with pytest.raises(IndexError):
        y.sync()
        mo.sync_all()


def fractional(x, kernel, counts, samples):
    """Reduce windows that begin where Graham's sequences do."""
    rank = len(kernel)
    y = np.zeros((*x.shape[:2], *counts))
    for n, c in np.ndindex(*x.shape[:2]):
        # Of images, the first number is that of the width.
        u = samples[n, c][::-1] if rank == 2 else samples[n, c]
        starts = []
        for extent, k, count, number in zip(x.shape[2:], kernel, counts, u, strict=True):
            step = np.float32((extent - k) / max(count - 1, 1))
            first = int(np.float32(number) * step)
            along = [int((np.float32(i) + number) * step) - first for i in range(count - 1)]
            starts.append([*along, extent - k])
        for place in np.ndindex(*counts):
            key = tuple(
                slice(along[i], along[i] + k)
                for along, i, k in zip(starts, place, kernel, strict=True)
            )
            y[(n, c, *place)] = x[(n, c, *key)].max()
    return y.astype("float32")


@pytest.mark.parametrize(
    "kernel, counts", [((2, 3), (4, 5)), ((1, 2), (7, 1)), ((2, 2, 1), (3, 4, 5))]
)
def test_fractional_pools(rng, kernel, counts):
    rank = len(kernel)
    x = floats(rng, (2, 3, *EXTENTS[rank]))
    samples = rng.random((2, 3, rank), "float32")
    expected = fractional(x, kernel, counts, samples)
    f = named("fractional_max_pool", rank)
    values, indices = f(x, kernel, counts, None, True, samples)
    same(values, expected)
    flat, places = x.reshape(2, 3, -1), indices.numpy().reshape(2, 3, -1)
    same(np.take_along_axis(flat, places, 2).reshape(expected.shape), expected)
    same(f(x[1], kernel, counts, _random_samples=samples[1:]), expected[1])
    # Other windows each time, of these extents; the last one is always the same.
    ratio = tuple((n + 0.5) / m for n, m in zip(counts, EXTENTS[rank], strict=True))
    if max(ratio) < 1:
        layer = named("FractionalMaxPool", rank)(kernel, output_ratio=ratio)
        first, second = layer(x).numpy(), layer(x).numpy()
        assert first.shape == expected.shape and (first != second).any()
        last = (..., *(-1,) * rank)
        same(first[last], expected[last])


def test_gradients_of_fractional_pools(rng):
    x = rng.permutation(24).astype("float64").reshape(1, 2, 3, 4) / 7
    samples = rng.random((1, 2, 2))
    check_gradient(lambda x: nn.fractional_max_pool2d(x, 2, 2, _random_samples=samples) ** 2, x)


def test_nan_is_the_largest():
    x = np.array([[1.0, np.nan, 3.0, 2.0, 5.0, 4.0]])
    values, indices = nn.max_pool1d(x, 3, return_indices=True)
    close(values, [[np.nan, 5]])
    same(indices, np.array([[1, 4]]))
    close(nn.adaptive_max_pool1d(x, 2), [[np.nan, 5]])


def test_infinite_elements_are_found_in_the_image():
    x = np.full((1, 3), -np.inf)
    values, indices = nn.max_pool1d(x, 3, 1, 1, return_indices=True)
    same(values, x)
    same(indices, np.array([[0, 0, 1]]))


@pytest.mark.parametrize("dtype", ["int64", "int8", "uint8"])
def test_integers(dtype):
    info = np.iinfo(dtype)
    x = np.array([[info.min, info.min + 1, info.max, info.max - 1]], dtype)
    same(nn.max_pool1d(x, 3, 1, 1), x[:, [1, 2, 2, 2]])
    same(nn.adaptive_max_pool1d(x, 3), x[:, [1, 2, 2]])
    small = np.array([[1, 2, 4, 5]], dtype)
    same(nn.avg_pool1d(small, 2), np.float32([[1.5, 4.5]]))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_halves_are_summed_in_float32(dtype):
    """Sums are beyond what float16 holds, and large for bfloat16's digits."""
    x = mo.full((1, 2, 64, 32), 60000, dtype)
    for y in (nn.avg_pool2d(x, 32), nn.adaptive_avg_pool2d(x, (2, 1)), nn.avg_pool2d(x, 31)):
        assert y.dtype == dtype
        close(y.float32(), np.full(y.shape, x[0, 0, 0, 0].float32().item()))
    half = nn.lp_pool1d(mo.full((1, 4), 300, dtype), 2, 4)
    assert half.dtype == dtype
    close(half.float32(), [[600]], rtol=1e-2)


def test_nothing_to_pool():
    assert nn.max_pool2d(mo.zeros((0, 3, 4, 4)), 2).numpy().shape == (0, 3, 2, 2)
    assert nn.avg_pool1d(mo.zeros((2, 0, 5)), 2, ceil_mode=True).numpy().shape == (2, 0, 3)
    assert nn.adaptive_avg_pool1d(mo.zeros((0, 2, 5)), 3).numpy().shape == (0, 2, 3)


def test_gradients(rng):
    # Numbers that stay apart by more than the differences: the largest stays the largest.
    apart = rng.permutation(24).astype("float64").reshape(1, 2, 3, 4) / 7
    cases = [
        lambda x: nn.max_pool2d(x, 2, 1, 1, ceil_mode=True) ** 2,
        lambda x: nn.max_pool2d(x, 2, 1, return_indices=True)[0] ** 2,
        lambda x: nn.adaptive_max_pool2d(x, (2, 3)) ** 2,
        lambda x: nn.avg_pool2d(x, 2, 2, 1, True, False) ** 2,
        lambda x: nn.adaptive_avg_pool2d(x, (2, 3)) ** 2,
        lambda x: nn.lp_pool2d(x + 0.5, 3, 2, 1),
    ]
    for f in cases:
        check_gradient(f, apart, rtol=1e-5, atol=1e-6)


def test_pools_are_one_kernel(rng, compiled):
    x = mo.array(floats(rng, (2, 8, 24, 24))).sync()
    for f in [
        lambda x: nn.max_pool2d(x, 3, 2, 1, ceil_mode=True),
        lambda x: nn.avg_pool2d(x, 3, 2, 1, True, False),
        lambda x: nn.adaptive_max_pool2d(x, 5),
    ]:
        f(x).sync()
        assert len(mo.last_program().kernels) == 1, str(mo.last_program())


def test_layers_show_their_numbers():
    text = repr(nn.MaxPool1d(3, 2, 1, 2, ceil_mode=True))
    assert text == "MaxPool1d(kernel_size=(3,), stride=(2,), padding=(1,), dilation=(2,)," + (
        " ceil_mode=True)"
    )
    assert repr(nn.AvgPool3d(2)).startswith("AvgPool3d(kernel_size=(2, 2, 2), stride=(2, 2, 2)")
    assert repr(nn.LPPool2d(2, 3)).startswith("LPPool2d(norm_type=2, kernel_size=(3, 3)")
    assert repr(nn.AdaptiveAvgPool2d((None, 3))) == "AdaptiveAvgPool2d(output_size=(None, 3))"
    assert repr(nn.AdaptiveMaxPool1d(3)) == "AdaptiveMaxPool1d(output_size=(3,))"
    assert nn.MaxPool2d(2).state_dict() == {}


X = mo.ones((1, 2, 6, 6))
ERRORS = {
    "rank": (lambda: nn.max_pool1d(X, 2), r"max_pool1d: .*expected \(N, C, L\) or \(C, L\)"),
    "padding": (lambda: nn.max_pool2d(X, 2, 1, 2), r"padding \(2, 2\) is more than half"),
    "dilated": (lambda: nn.max_pool2d(X, 2, 1, 2, 2), r"padding \(2, 2\) is more than half"),
    "kernel": (lambda: nn.avg_pool2d(X, 7), "does not fit into an extent of 6"),
    "no kernel": (lambda: nn.avg_pool2d(X, 0), "to be positive"),
    "kernel of three": (lambda: nn.avg_pool2d(X, (1, 2, 3)), "avg_pool2d: kernel_size is"),
    "layer's kernel": (lambda: nn.MaxPool3d((1, 2)), "MaxPool3d: kernel_size.*an integer or three"),
    "divisor": (lambda: nn.avg_pool2d(X, 2, divisor_override=0), "divisor_override is 0"),
    "order": (lambda: nn.lp_pool2d(X, 0, 2), "norm_type is 0, expected a positive"),
    "order of text": (lambda: nn.lp_pool2d(X, "2", 2), "norm_type is '2'"),
    "infinite order": (lambda: nn.lp_pool2d(X, math.inf, 2), "norm_type is inf"),
    "output size": (lambda: nn.adaptive_avg_pool2d(X, 0), "output_size is 0, expected a positive"),
    "output sizes": (lambda: nn.AdaptiveMaxPool2d((1, 2, 3)), "AdaptiveMaxPool2d: output_size is"),
    "no image": (
        lambda: nn.adaptive_avg_pool2d(mo.zeros((1, 2, 0, 3)), 2),
        r"\(1, 2, 0, 3\), expected no images without",
    ),
    "unpooled indices": (
        lambda: nn.max_unpool2d(X, mo.zeros((1, 2, 6, 5), "int64"), 2),
        r"indices \(1, 2, 6, 5\), expected one shape",
    ),
    "unpooled size": (
        lambda: nn.max_unpool2d(X, mo.zeros((1, 2, 6, 6), "int64"), 2, output_size=(14, 12)),
        r"output_size is \(14, 12\), expected less than a stride of \(2, 2\) from \(12, 12\)",
    ),
    "a window beside the image": (
        lambda: nn.max_pool2d(X[:, :, :1], 3, 6, 1, dilation=2, ceil_mode=True),
        "max_pool2d: a window of 3 elements from -1 on, .* has none of an extent of 1",
    ),
    "a window around the image": (
        lambda: nn.MaxPool1d(2, 1, 1, 2, True)(mo.ones((1, 2, 1))),
        "max_pool1d: a window of 2 elements from -1 on, .* has none of an extent of 1",
    ),
    "a window of no image": (
        lambda: nn.avg_pool2d(X[:, :, :0], 2, 1, 1, count_include_pad=False),
        "avg_pool2d: a window of 2 elements from -1 on, .* has none of an extent of 0",
    ),
    "fractions": (lambda: nn.fractional_max_pool2d(X, 2), "one of output_size and output_ratio"),
    "fractional layer": (lambda: nn.FractionalMaxPool3d(2, 3, 0.5), "one of output_size and"),
    "ratio": (lambda: nn.FractionalMaxPool2d(2, output_ratio=1.5), "output_ratio is 1.5, expected"),
    "fractional windows": (
        lambda: nn.fractional_max_pool2d(X, 3, (4, 5)),
        "5 windows of 3 do not fit into an extent of 6",
    ),
    "samples": (
        lambda: nn.fractional_max_pool2d(X, 3, 2, _random_samples=mo.rand(1, 2, 3)),
        r"_random_samples are float32 of shape \(1, 2, 3\), expected floats of \(1, 2, 2\)",
    ),
    "unpooled kernel": (
        lambda: nn.max_unpool2d(X, mo.zeros((1, 2, 6, 6), "int64"), 0),
        "to be positive",
    ),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors(name):
    call, message = ERRORS[name]
    with pytest.raises(ValueError, match=rf"{message}.*test_pool\.py"):
        call()


@pytest.mark.parametrize("rank", EXTENTS)
@pytest.mark.parametrize("name", ["max_pool", "avg_pool", "lp_pool"])
def test_windows_without_elements_are_refused(name, rank):
    """And no others: the largest element of none would be -inf, or the least integer."""
    takes = {"max_pool": (3, 2), "avg_pool": (3, 1), "lp_pool": (0, 1)}
    paddings, dilations = takes[name]
    pool, refused = named(name, rank), 0
    grid = [range(4), range(1, 4), range(1, 7), range(paddings + 1), range(1, dilations + 1)]
    for extent, kernel, stride, padding, dilation in itertools.product(*grid):
        x = mo.zeros(
            (1, 1, *[5] * (rank - 1), extent), "int64" if name == "max_pool" else "float32"
        )
        one = [1] * (rank - 1)
        sizes = [*one, kernel], [*one, stride], [0] * (rank - 1) + [padding]
        options = {"dilation": [*one, dilation]} if name == "max_pool" else {}
        if name == "lp_pool":
            sizes = (2.0, *sizes[:2])
        for ceil_mode in (False, True):
            try:
                y = pool(x, *sizes, ceil_mode=ceil_mode, **options)
            except ValueError as error:
                refused += "has none of an extent" in str(error)
                continue
            starts = range(-padding, y.shape[-1] * stride - padding, stride)
            for start in starts:
                assert any(0 <= start + k * dilation < extent for k in range(kernel))
    assert (refused > 0) == (padding > 0)


def test_indices_are_integers():
    with pytest.raises(TypeError, match="max_unpool2d: indices are float32, expected integers"):
        nn.max_unpool2d(X, X, 2)
