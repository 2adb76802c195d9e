# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Lengths of vectors whose squares are no numbers of their type."""

import math
import re

import metaops as mo
import numpy as np
import pytest
from metaops import nn
from metaops.ops.products import distances
from util import close, floats, same

#: Powers of two by which nothing is rounded, but squares overflow or vanish.
SCALES = {
    "float32": [2.0**66, 2.0**100, 2.0**-98],
    "float64": [2.0**600, 2.0**900, 2.0**-700],
    "bfloat16": [2.0**66, 2.0**-98],
}
CASES = [(dtype, scale) for dtype, scales in SCALES.items() for scale in scales]
MASK = np.array([[True, True, False, True, True]])


def as_of_many(f):
    """Return a function with distances as those of many rows."""

    def call(x):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(distances, "_FEW", 0)
            return f(x)

    return call


#: Functions that grow as their argument does.
LENGTHS = {
    "norm": lambda x: mo.norm(x, 2, 1),
    "norm of all": lambda x: mo.norm(x),
    "norm, kept": lambda x: mo.norm(x, dim=-1, keepdims=True),
    "norm of order 3": lambda x: mo.norm(x, 3, 1),
    "norm of order 1.5": lambda x: mo.norm(x, 1.5, 0),
    "norm of order 6.5": lambda x: mo.norm(x, 6.5, 1),
    "norm of order 10": lambda x: mo.norm(x, 10, (0, 1)),
    "norm of order 0.5": lambda x: mo.norm(x, 0.5, 1, True),
    "matrix_norm": lambda x: mo.matrix_norm(x),
    "std": lambda x: mo.std(x, 1),
    "std of some": lambda x: mo.std(x, 1, correction=1, where=mo.array(MASK)),
    "nanstd": lambda x: mo.nanstd(x, 0, True),
    "cdist": lambda x: mo.cdist(x, x[:2]),
    "cdist of order 3": lambda x: mo.cdist(x, x[:2], 3),
    "pdist": mo.pdist,
    "cdist of many": as_of_many(lambda x: mo.cdist(x, x[:2])),
    "pdist of many": as_of_many(mo.pdist),
    "pairwise_distance": lambda x: nn.pairwise_distance(x, x[::-1], eps=0),
}
#: Functions of directions alone.
DIRECTIONS = {
    "normalize": lambda x: nn.normalize(x, eps=0),
    "normalize by order 3": lambda x: nn.normalize(x, 3, 0, 0),
    "cosine_similarity": lambda x: nn.cosine_similarity(x, x[::-1], eps=0),
    "corrcoef": mo.corrcoef,
    "layer_norm": lambda x: nn.layer_norm(x, 5, eps=0),
    "rms_norm": lambda x: nn.rms_norm(x, 5, eps=0),
    "group_norm": lambda x: nn.group_norm(x, 1, eps=0),
}
#: Those that add a number to squares: beside large ones it is nothing.
LARGE = {
    "normalize": nn.normalize,
    "cosine_similarity": lambda x: nn.cosine_similarity(x, x[::-1]),
    "cosine_embedding_loss": lambda x: nn.cosine_embedding_loss(x, x[::-1], mo.array([1, -1, 1])),
    "layer_norm": lambda x: nn.layer_norm(x, 5),
    "rms_norm": lambda x: nn.rms_norm(x, 5),
    "group_norm": lambda x: nn.group_norm(x, 1),
    "instance_norm": lambda x: nn.instance_norm(x.unsqueeze(0)),
    "batch_norm": lambda x: nn.batch_norm(x, None, None, is_train=True),
}


def given(rng, dtype):
    """Return rows, one of them with a zero."""
    x = floats(rng, (3, 5), "float64", -2, 2)
    x[1, 2] = 0
    return mo.array(x).cast(dtype)


def derivatives(f, x, weights):
    """Return a weighted sum of a function's results, and its first and second derivatives."""
    y = f(x)
    y = y * weights[: y.size].reshape(y.shape)
    slope = mo.grad(y.sum(), x)
    return y, slope, mo.grad((slope * weights[: x.size].reshape(x.shape)).sum(), x)


def check(f, rng, dtype, scale, degree, orders, tolerance=None):
    """Compare a function of degree 0 or 1 at numbers of two sizes."""
    usual = given(rng, dtype)
    weights = mo.array(floats(rng, 20)).cast(dtype)
    expected = derivatives(f, usual, weights)
    actual = derivatives(f, usual * scale, weights)
    rtol = tolerance or {"float32": 1e-5, "float64": 1e-13, "bfloat16": 2e-2}[dtype]
    for order in range(orders):
        # Brought back by two factors: one alone may be none.
        back = scale ** ((order - degree) / 2)
        found = actual[order].cast("float64") * back * back
        wanted = expected[order].cast("float64").numpy()
        close(found, wanted, rtol=rtol, atol=rtol * abs(wanted).max())


@pytest.mark.parametrize(("dtype", "scale"), CASES, ids=str)
@pytest.mark.parametrize("name", LENGTHS)
def test_lengths(rng, name, dtype, scale):
    orders = 2 if dtype == "bfloat16" or "of order" in name else 3
    check(LENGTHS[name], rng, dtype, scale, 1, orders)


@pytest.mark.parametrize(("dtype", "scale"), CASES, ids=str)
@pytest.mark.parametrize("name", DIRECTIONS)
def test_directions(rng, name, dtype, scale):
    check(DIRECTIONS[name], rng, dtype, scale, 0, 1 if dtype == "bfloat16" else 2)


@pytest.mark.parametrize(("dtype", "scale"), [c for c in CASES if c[0] != "bfloat16"], ids=str)
@pytest.mark.parametrize("name", LENGTHS)
def test_tangents_of_gradients(rng, name, dtype, scale):
    """A gradient's tangent is the same where elements and their tangents are scaled alike."""
    usual = given(rng, dtype)
    usual = mo.where(usual == 0, 0.5, usual)
    weights, moved = (mo.array(floats(rng, shape)).cast(dtype) for shape in (20, (3, 5)))
    found = []
    for factor in (1, scale):
        x = usual * factor
        slope = derivatives(LENGTHS[name], x, weights)[1]
        found += mo.jvp([slope], [x], [moved * factor])
    rtol = {"float32": 1e-5, "float64": 1e-13}[dtype]
    close(found[1], found[0], rtol=rtol, atol=rtol * abs(found[0].numpy()).max())


@pytest.mark.parametrize("dtype", SCALES)
@pytest.mark.parametrize("name", LARGE)
def test_large_beside_an_epsilon(rng, name, dtype):
    usual, large = given(rng, dtype), SCALES[dtype][0]
    f = LARGE[name]
    # So large already that what is added to squares does not count.
    expected = f(usual * 2.0**30).cast("float64").numpy()
    rtol = {"float32": 1e-5, "float64": 1e-13, "bfloat16": 2e-2}[dtype]
    close(f(usual * large).cast("float64"), expected, rtol=rtol, atol=rtol)
    weights = floats(rng, expected.shape, "float64")
    slopes = []
    for scale in (2.0**30, large):
        x = usual * scale
        (slope,) = mo.grad((f(x) * mo.array(weights).cast(dtype)).sum(), [x])
        slopes.append((slope.cast("float64") * scale).numpy())
    limit = 10 * rtol * max(abs(slopes[0]).max(), 1e-3)
    close(slopes[1], slopes[0], rtol=10 * rtol, atol=limit)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_ends_of_the_range(dtype):
    info = np.finfo(dtype)
    ends = [info.max / 2, -info.max / 2, info.tiny, info.smallest_subnormal, 0.0, math.inf]
    x = mo.array(np.array([[end, 0, 0] for end in ends], dtype))
    for order in (2, 3, 1, math.inf):
        close(mo.norm(x, order, 1), np.abs(ends).astype(dtype), rtol=2e-6, atol=0)
    same(mo.norm(mo.zeros((3, 0), dtype), 2, 1), np.zeros(3, dtype))
    z = mo.zeros(3, dtype)
    same(mo.grad(mo.norm(z), z), np.zeros(3, dtype))
    hole = mo.array(np.array([math.nan, 1], dtype))
    assert math.isnan(mo.norm(hole).item()) and math.isnan(mo.std(hole).item())


@pytest.mark.parametrize("order", [5.7, 6.3, 7, 10])
@pytest.mark.parametrize(("dtype", "scale"), [("float32", 1e-38), ("float64", 2e-308)], ids=str)
def test_high_orders_of_the_least_normal_numbers(order, dtype, scale):
    x = (np.array([1.5, 2, -3]) * scale).astype(dtype)
    size = np.abs(x / scale).astype("float64")
    length = (size**order).sum() ** (1 / order)
    v = mo.array(x)
    y = mo.norm(v, order)
    close(y.item() / scale, length, rtol=1e-5)
    expected = (np.sign(x) * (size / length) ** (order - 1)).astype(dtype)
    close(mo.grad(y, v), expected, rtol=1e-4, atol=1e-5)
    (moved,) = mo.jvp([y], [v], [v])
    close(moved.item() / scale, length, rtol=1e-4)


@pytest.mark.parametrize("rows", [4, 5])
def test_distances_on_both_sides_of_few(rng, monkeypatch, rows):
    """Some rows are the same, and scaled ones have the same slopes."""
    monkeypatch.setattr(distances, "_FEW", 4 * 5 * 3)
    near, far = floats(rng, (4, 3), "float64"), floats(rng, (rows, 3), "float64")
    far[1] = near[2]
    assert distances._has_few(*(mo.array(x.astype("float32")) for x in (near[:, None], far))) == (
        rows == 4
    )
    weights = floats(rng, (4, rows), "float64")
    for scale in (1, 2.0**70, 2.0**-70):
        x, y = (mo.array((v * scale).astype("float32")) for v in (near, far))
        distance = mo.cdist(x, y)
        difference = (x.numpy()[:, None].astype("float64") - y.numpy()) / scale
        length = np.sqrt((difference**2).sum(-1))
        close(distance.cast("float64") / scale, length, rtol=1e-5)
        unit = difference / np.where(length == 0, 1, length)[..., None] * weights[..., None]
        slopes = mo.grad((distance * mo.array(weights.astype("float32"))).sum(), [x, y])
        close(slopes[0].cast("float64"), unit.sum(1), rtol=1e-4, atol=1e-5)
        close(slopes[1].cast("float64"), -unit.sum(0), rtol=1e-4, atol=1e-5)


def test_distances_of_order_seven_of_small_rows():
    x = (np.array([[1, 2, 3], [2, -1, 0.5]]) * 1e-37).astype("float32")
    wide = np.abs(x.astype("float64") - x[:1]) * 1e37
    expected = (wide**7).sum(1) ** (1 / 7)
    close(mo.cdist(x, x[:1], 7).cast("float64")[:, 0] * 1e37, expected, rtol=1e-5)
    y = nn.lp_pool1d(mo.array(np.abs(x)).unsqueeze(1), 7, 3)[:, 0, 0].cast("float64") * 1e37
    close(y, (np.abs(x * 1e37).astype("float64") ** 7).sum(1) ** (1 / 7), rtol=1e-5)


def test_usual_rows_keep_their_digits():
    """Beside rows of other sizes, and to the bit."""
    x = np.array([[3, 4, 12], [3e20, 4e20, 12e20], [3e-30, 4e-30, 12e-30], [0, 0, 0]], "float32")
    close(mo.norm(x, 2, 1), np.array([13, 13e20, 13e-30, 0], "float32"), rtol=2e-7, atol=0)
    assert mo.norm(x[0]).item() == 13
    far = np.array([[0, 0], [3, 4], [1e30, 0]], "float32")
    close(mo.cdist(far, far[:1]), np.array([[0], [5], [1e30]], "float32"), rtol=2e-7, atol=0)


@pytest.mark.parametrize(("dtype", "large"), [("float32", 1e30), ("float64", 1e200)])
def test_what_rows_share_does_not_hide_what_they_do_not(dtype, large):
    x = np.array([[large, 1, 1], [large, 4, 5]], dtype)
    near = mo.array(x[:1])
    close(mo.cdist(near, x[1:]), np.array([[5]], dtype), rtol=2e-7, atol=0)
    close(mo.pdist(x), np.array([5], dtype), rtol=2e-7, atol=0)
    slope = mo.grad(mo.cdist(near, x[1:]).sum(), near)
    close(slope, np.array([[0, -0.6, -0.8]], dtype), rtol=2e-6, atol=0)


DIFFERENTIATED = ["norm", "norm of all", "norm, kept", "std", "normalize", "cosine_similarity"]


@pytest.mark.parametrize("name", [*DIFFERENTIATED, "norm of order 3", "norm of order 1.5"])
def test_derivatives_are_those_of_wider_numbers(rng, name):
    f = (LENGTHS | DIRECTIONS)[name]
    x = floats(rng, (3, 5), "float64", -2, 2)
    # Of other orders, further slopes at 0 jump.
    x[1, 2] = 0 if "order" not in name else 0.5
    weights = [floats(rng, 20, "float64") for _ in range(3)]
    found = {}
    for dtype in ("float32", "float64"):
        point = mo.array(x).cast(dtype)
        values = [f(point)]
        for each in weights:
            value = values[-1]
            part = mo.array(each).cast(dtype)[: value.size].reshape(value.shape)
            values.append(mo.grad((value * part).sum(), point))
        found[dtype] = [value.cast("float64").numpy() for value in values]
    for actual, expected in zip(found["float32"], found["float64"], strict=True):
        close(actual, expected, rtol=1e-4, atol=1e-5 * abs(expected).max())


def test_tangents_of_norms(rng):
    x = mo.array(floats(rng, (3, 5), "float32", -2, 2) * np.float32(1e25))
    t = mo.array(floats(rng, (3, 5)))
    (slope,) = mo.jvp([mo.norm(x, dim=1)], [x], [t])
    wide = x.cast("float64")
    expected = (wide * t.cast("float64")).sum(1) / mo.norm(wide, dim=1)
    close(slope, expected.numpy(), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("order", [1.5, 2.5, 3, 4, 5, 6.5])
@pytest.mark.parametrize("is_signed", [False, True])
def test_slopes_of_other_orders(rng, order, is_signed):
    """Against the formula in float64, with zeros, and a row of them, among the elements."""
    x = floats(rng, (4, 7), "float64", 0.1 if is_signed else -2, 2)
    x[1, 2], x[3] = 0, 0
    weights = floats(rng, 4, "float64")
    scale = np.array([[1], [2.0**90], [2.0**-90], [1]])
    total = (np.abs(x) ** order).sum(1, keepdims=True)
    length = total ** (1 / order)
    share = np.abs(x) / np.where(length == 0, 1, length)
    expected = np.sign(x) * share ** (order - 1) * weights[:, None]
    v = mo.array((x * scale).astype("float32"))
    y = nn.lp_pool1d(v.unsqueeze(1), order, 7)[:, 0, 0] if is_signed else mo.norm(v, order, 1)
    close(y, (length * scale)[:, 0].astype("float32"), rtol=2e-6, atol=0)
    close(mo.grad((y * mo.array(weights.astype("float32"))).sum(), v), expected, rtol=2e-5)
    (moved,) = mo.jvp([y], [v], [v])
    close(moved, (length * scale)[:, 0].astype("float32"), rtol=2e-5, atol=0)


def test_the_root_of_signed_powers():
    x = mo.array(np.array([[[-1, 2, 1, -2, -1, 1]]], "float32"))
    close(nn.lp_pool1d(x, 3, 2), [[[7 ** (1 / 3), math.nan, 0]]], rtol=1e-6)
    # The gradient is 0 where the result is, also where elements are not.
    same(mo.grad(nn.lp_pool1d(x[..., 4:], 3, 2).sum(), x)[..., 4:], np.zeros((1, 1, 2), "float32"))


@pytest.mark.parametrize("is_signed", [False, True])
@pytest.mark.parametrize("order", [1.5, 2, 2.5, 3, 4, 4.5, 6.5])
def test_powers_of_infinities_and_zeros(order, is_signed):
    """As of C's function, and an infinity leaves finite elements beside it no slope."""
    inf = math.inf
    rows = [[-inf, 1], [inf, 1], [-inf, inf], [-inf, -inf], [-0.0, 0], [-0.0, -0.0], [-0.0, 2]]
    rows += [[-1, inf], [-inf, -1], [-1, 2], [-inf, math.nan]]
    x = np.array(rows, np.float32)
    v = mo.array(x)
    y = nn.lp_pool1d(v.unsqueeze(1), order, 2)[:, 0, 0] if is_signed else mo.norm(v, order, 1)
    with np.errstate(invalid="ignore"):
        total = ((x if is_signed else np.abs(x)).astype("float64") ** order).sum(1)
        close(y, (total ** (1 / order)).astype("float32"), rtol=1e-6, atol=0)
    slopes = mo.grad(y.sum(), v).numpy()
    same(np.abs(slopes[:2, 1]), np.zeros(2, "float32"))
    assert np.isnan(slopes[:2, 0]).all()


@pytest.mark.processor
@pytest.mark.parametrize(
    "call",
    [
        lambda x: mo.norm(x, 3, 1),
        lambda x: mo.norm(x, 1.5, 1),
        lambda x: mo.cdist(x[:64], x[64:128], 3),
        lambda x: nn.lp_pool1d(x.unsqueeze(0), 3, 2),
        lambda x: mo.cdist(x[:64], x[64:128]),
        lambda x: nn.cosine_similarity(x, x + 1),
    ],
)
def test_one_pass_sums_the_powers(rng, call):
    """No element is read for the largest of them, nor is a power computed by a call."""
    x = mo.array(floats(rng, (128, 64)))
    kernels = mo.explain(call(x)).kernels
    stages = [stage for kernel in kernels for stage in kernel.stages]
    reductions = [a.reduction for stage in stages for a in stage.accesses if a.is_write]
    assert "max" not in reductions
    assert not any(kernel.instructions["library_call"] for kernel in kernels)
    assert len({str(loop) for loop in reductions if loop}) == 1
    assert sum(any(a.reduction for a in stage.accesses if a.is_write) for stage in stages) == 1


@pytest.mark.processor
def test_roots_of_other_orders_are_of_vectors(rng, own_kernels):
    mo.norm(mo.array(floats(rng, (4096, 16))), 3, 1).sync()
    assert re.search(r"math.powf .*vector<", ir("loops")) and "@pow" not in ir("llvm")


@pytest.mark.parametrize("divisor", [None, 5.0])
def test_gradients_of_norms_are_computed_in_float32(rng, divisor):
    """Only squares are wider."""
    x = mo.array(floats(rng, (64, 32)))
    y = mo.norm(x, dim=1) if divisor is None else mo.std(x, 1)
    mo.grad((y * mo.array(floats(rng, 64))).sum(), x).sync()
    casts = re.findall(r"cast .*tensor<64x32xf(\d+)> -> tensor<64x32xf(\d+)>", ir("fused"))
    assert casts and set(casts) == {("32", "64")}


@pytest.mark.parametrize("exponent", [-35, -33, 0, 30, 37])
def test_slopes_of_norms_meet_any_cotangent(rng, exponent):
    """Of a small row's norm the logarithm has a large gradient, and each tangent is as small."""
    x = (floats(rng, (5, 7)) * 10.0**exponent).astype(np.float32)
    wide = x.astype(np.float64)
    length = np.sqrt((wide * wide).sum(1, keepdims=True))
    v = mo.array(x)
    close(mo.grad(mo.log(mo.norm(v, dim=1)).sum(), v) * x, wide * wide / length**2, rtol=1e-5)
    tangent = (floats(rng, (5, 7)) * 10.0**exponent).astype(np.float32)
    (moved,) = mo.jvp([mo.norm(v, dim=1)], [v], [mo.array(tangent)])
    expected = (wide * tangent.astype(np.float64)).sum(1) / length[:, 0]
    close(moved.numpy() / length[:, 0], expected / length[:, 0], rtol=1e-4, atol=1e-5)


@pytest.mark.processor
def test_roots_of_many_norms_are_of_vectors(rng, own_kernels):
    mo.norm(mo.array(floats(rng, (4096, 16))), dim=1).sync()
    roots = re.findall(r"math.sqrt .*", ir("loops"))
    assert roots and all("vector<" in root for root in roots)


def ir(phase):
    """Return the text of the last program at a phase."""
    return mo.last_program().ir(phase)


def test_gradients_of_a_norm_that_are_clipped():
    large = [np.array([3e25, 0], "float32"), np.array([4e25], "float32")]
    clipped, norm = mo.optim.clip_grad_norm([mo.array(g) for g in large], 1.0)
    close(norm, np.array(5e25, "float32"), rtol=1e-6)
    close(clipped[0], np.array([0.6, 0]), rtol=1e-6)
    close(clipped[1], np.array([0.8]), rtol=1e-6)


def test_triangular_numbers_whose_mode_is_a_bound():
    low, mode, high = (mo.array(np.float32(x)) for x in (0, 0, 1))
    numbers = mo.triangular((1000,), low, mode, high)
    gradients = mo.grad(numbers.mean(), [low, mode, high])
    assert all(math.isfinite(gradient.item()) for gradient in gradients)
    assert sum(gradient.item() for gradient in gradients) == pytest.approx(1, rel=1e-5)


def test_a_bound_that_is_infinite_moves_nothing():
    mean, std = mo.array(0.0), mo.array(1.0)
    for low, high in ((-math.inf, 1.0), (-2.0, math.inf), (mo.array([-math.inf, 0.0]), 2.0)):
        numbers = mo.truncated_normal((100, 2), low, high, mean, std)
        assert all(math.isfinite(g.item()) for g in mo.grad(numbers.sum(), [mean, std]))
