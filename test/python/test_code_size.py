# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What there is to compile is bounded per kernel, and grows as programs do."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import metaops as mo
import numpy as np
import pytest
from metaops import nn

pytestmark = pytest.mark.processor

#: Operations of a kernel's loops. The largest of the workloads of bench/, a tile of
#: a transpose, is a third of it.
LARGEST_KERNEL = 12_000

Step = Callable[[mo.Var], mo.Var]


def measure(results: Sequence[mo.Var]) -> tuple[int, int, int]:
    """Return the kernels that are called, and the operations of all and the largest."""
    mo.sync(list(results))
    sizes = [kernel.loop_operations for kernel in mo.last_program().kernels]
    return len(sizes), sum(sizes), max(sizes, default=0)


def leaf(*shape: int, seed: int = 0) -> mo.Var:
    """Return a leaf of numbers between 0.1 and 0.9."""
    return mo.array(np.random.default_rng(seed).uniform(0.1, 0.9, shape).astype("float32"))


def assert_linear(make: Callable[[int], Sequence[mo.Var]], small: int = 8) -> None:
    """Check that four times the operators are at most about four times the work.

    Of programs that just fit one kernel, the longer may have one for each repetition.
    """
    kernels, operations, _ = measure(make(small))
    more_kernels, more_operations, largest = measure(make(4 * small))
    assert more_kernels <= 5 * max(kernels, small)
    assert more_operations <= 5 * operations + 500
    assert largest <= LARGEST_KERNEL


# Every operator, again and again on its own result


def names(text: str) -> list[str]:
    """Return the words of a text."""
    return text.split()


def pairwise(name: str) -> Step:
    """Return a step of an operator on two tensors."""
    return lambda x: getattr(mo, name)(x, x * 0.5 + 0.25).cast("float32")


def alone(name: str) -> Step:
    """Return a step of an operator on one tensor, whose results stay in range."""
    return lambda x: getattr(mo, name)(x * 0.5 + 0.25).cast("float32")


def bits(name: str) -> Step:
    """Return a step of an operator on integers."""
    return lambda x: getattr(mo, name)((x * 8).cast("int32"), 3).cast("float32") * 0.125


def reduced(name: str) -> Step:
    """Return a step that takes a reduction of rows off the rows."""
    return lambda x: x - 0.1 * getattr(mo, name)(x, 1).cast("float32").reshape(-1, 1)


def segmented(name: str) -> Step:
    """Return a step that takes a reduction by segments of rows off the rows."""
    return lambda x: x - 0.1 * getattr(mo, name)(x, mo.arange(8), 8)


def tapered(name: str) -> Step:
    """Return a step that multiplies rows by a window."""
    more = (0.5,) if name == "kaiser" else ()
    return lambda x: x * (0.5 + 0.5 * getattr(mo, name)(12, *more))


def placed(name: str) -> Step:
    """Return a step that takes an index along rows off the rows."""
    return lambda x: x - 0.01 * getattr(mo, name)(x, 1, keepdims=True).cast("float32")


def squared(x: mo.Var) -> mo.Var:
    """Return a small square matrix that depends on all of x."""
    return mo.tanh(x[:, :8])


def grown(x: mo.Var) -> mo.Var:
    """Return what has the shape of x again."""
    return mo.concat([x, x[:, :4]], 1)


def halves(x: mo.Var) -> list[mo.Var]:
    """Return the left and the right half."""
    return [x[:, :6], x[:, 6:]]


PAIRWISE = names(
    "add subtract multiply divide pow maximum minimum mod floor_divide equal not_equal "
    "less less_equal greater greater_equal logical_and logical_or logical_xor "
    "atan2 copysign float_power fmax fmin fmod heaviside hypot logaddexp logaddexp2 "
    "nextafter isclose polygamma xlogy xlog1py"
)
ALONE = names(
    "abs ceil cos erf exp floor log logical_not negative round sign sin sqrt square tanh "
    "celu elu gelu hardshrink hardsigmoid hardswish hardtanh leaky_relu log_sigmoid mish relu "
    "relu6 selu sigmoid silu softplus softshrink softsign tanhshrink "
    "acos asin asinh atan atanh cbrt cosh deg2rad digamma erfc erfinv exp2 expm1 i0 lgamma logit "
    "log10 log1p log2 rad2deg reciprocal rsqrt sinc sinh tan trunc isfinite isinf isnan isneginf "
    "isposinf nan_to_num positive signbit i0e i1 i1e entr ndtr log_ndtr ndtri"
)
BITS = names("bitwise_and bitwise_or bitwise_xor bitwise_left_shift bitwise_right_shift gcd lcm")
REDUCED = names(
    "all any argmax argmin average count_nonzero logsumexp max mean min nanmax nanmean nanmin "
    "nanprod nanstd nansum nanvar norm prod ptp std sum var"
)
SEGMENTS = names("segment_logsumexp segment_max segment_mean segment_min segment_prod segment_sum")

TAPERS = names("bartlett blackman hamming hanning kaiser")
PLACES = names("nanargmax nanargmin")

STEPS: dict[str, Step] = {
    **{name: pairwise(name) for name in PAIRWISE},
    **{name: alone(name) for name in ALONE},
    **{name: reduced(name) for name in REDUCED},
    **{name: bits(name) for name in BITS},
    "acosh": lambda x: mo.acosh(x + 1.1),
    "bitcast": lambda x: mo.bitcast(x, "int32").cast("float32") * 1e-9,
    "bitwise_count": lambda x: x - 0.01 * mo.bitwise_count((x * 8).cast("int32")),
    "bitwise_invert": lambda x: mo.bitwise_invert((x * 8).cast("int32")).cast("float32") * 0.1,
    "divmod": lambda x: sum(mo.divmod(x, 0.3)),
    "fma": lambda x: mo.fma(x, 0.5, x * 0.25),
    "cumsum": lambda x: mo.cumsum(x, 1) * 0.1,
    "cumprod": lambda x: mo.cumprod(x, 0) + 0.1,
    "cummax": lambda x: mo.cummax(x, 1) * 0.9,
    "cummin": lambda x: mo.cummin(x, 1) * 1.1,
    "cumulative_sum": lambda x: mo.cumulative_sum(x, dim=0) * 0.1,
    "cumulative_prod": lambda x: mo.cumulative_prod(x, dim=1) + 0.1,
    "logcumsumexp": lambda x: mo.logcumsumexp(x, 1) * 0.2,
    "linear_recurrence": lambda x: mo.linear_recurrence(x * 0.5, x, 0) * 0.5,
    "sort": lambda x: mo.sort(1 - x, 0),
    "argsort": lambda x: mo.argsort(x, 1).cast("float32") * 0.08,
    "topk": lambda x: mo.topk(x, 12, 1).values * 0.9,
    "kthvalue": lambda x: x * 0.5 + mo.kthvalue(x, 3, 1, keepdims=True).values * 0.5,
    "median": lambda x: x * 0.5 + mo.median(x, 1, keepdims=True) * 0.5,
    "quantile": lambda x: x * 0.5 + mo.quantile(x, 0.3, 1, keepdims=True) * 0.5,
    "percentile": lambda x: x * 0.5 + mo.percentile(x, 30, 1, keepdims=True) * 0.5,
    "permutation": lambda x: mo.permutation(x) * 0.9,
    "searchsorted": lambda x: mo.searchsorted(mo.linspace(0, 1, 9), x).cast("float32") * 0.1,
    "isin": lambda x: mo.isin((x * 8).cast("int32"), mo.arange(4)).cast("float32"),
    "flatnonzero": lambda x: x + 1e-3 * mo.flatnonzero(x > 0.5, size=12).cast("float32"),
    "nonzero": lambda x: x + 1e-3 * mo.nonzero(x > 0.5, size=12)[1].cast("float32"),
    "argwhere": lambda x: x + 1e-3 * mo.argwhere(x > 0.5, size=12)[:, 1].cast("float32"),
    "unique": lambda x: x * 0.5 + mo.unique(x, size=12) * 0.5,
    "unique_values": lambda x: x * 0.5 + mo.unique_values(x, size=12) * 0.5,
    "unique_all": lambda x: x * 0.5 + mo.unique_all(x, size=12).values * 0.5,
    "unique_counts": lambda x: x * 0.5 + mo.unique_counts(x, size=12)[0] * 0.5,
    "unique_inverse": lambda x: x * 0.5 + mo.unique_inverse(x, size=12)[0] * 0.5,
    "lerp": lambda x: mo.lerp(x, 0.5, x),
    **{name: segmented(name) for name in SEGMENTS},
    "allclose": lambda x: x - 0.1 * mo.allclose(x, 0.5).cast("float32"),
    "array_equal": lambda x: x - 0.1 * mo.array_equal(x, x * 0.5).cast("float32"),
    "einsum": lambda x: mo.einsum("ij,kj,kl->il", x, mo.tanh(x), x) * 0.1,
    "tensordot": lambda x: mo.tensordot(mo.tanh(mo.tensordot(x, x, (1, 1))), x, 1) * 0.1,
    "inner": lambda x: mo.tanh(mo.inner(x, x)) @ x * 0.1,
    "dot": lambda x: mo.dot(mo.tanh(mo.dot(x, x.transpose())), x) * 0.1,
    "trapezoid": lambda x: x - 0.01 * mo.trapezoid(x, dim=1).reshape(8, 1),
    "vdot": lambda x: x - 0.01 * mo.vdot(x, x),
    "vecdot": lambda x: x - 0.01 * mo.vecdot(x, x).reshape(8, 1),
    "outer": lambda x: x - 0.1 * mo.outer(x[:, 0], x[0]),
    "kron": lambda x: x - 0.1 * mo.kron(x[:2, :3], x[:4, :4]),
    "cross": lambda x: mo.cross(x.reshape(8, 4, 3), x.reshape(8, 4, 3) * 0.5 + 1).reshape(8, 12),
    "multi_dot": lambda x: mo.multi_dot([x, mo.tanh(x.transpose()), x]) * 0.1,
    "matrix_power": lambda x: grown(mo.matrix_power(squared(x), 3) * 0.1),
    "matrix_transpose": lambda x: mo.matrix_transpose(mo.exp(-mo.matrix_transpose(x))),
    "matrix_norm": lambda x: x - 0.01 * mo.matrix_norm(x, 1),
    "cov": lambda x: grown(x[:, :8] - 0.1 * mo.cov(x)),
    "corrcoef": lambda x: grown(x[:, :8] - 0.1 * mo.corrcoef(x)),
    "diff": lambda x: mo.diff(x, append=x[:, :1]),
    "ediff1d": lambda x: mo.ediff1d(x, 0.5).reshape(8, 12),
    "gradient": lambda x: mo.gradient(x, dim=1),
    "interp": lambda x: mo.interp(x, np.arange(9.0) / 9, x[0, :9]),
    "digitize": lambda x: mo.digitize(x, np.arange(9.0) / 9).cast("float32") / 9,
    "bincount": lambda x: x - 0.1 * mo.bincount((x[0] * 9).cast("int64"), length=12),
    "histogram": lambda x: x - 0.01 * mo.histogram(x, 12, (0, 1))[0],
    "histogram_bin_edges": lambda x: x - 0.01 * mo.histogram_bin_edges(x, 11),
    "histogram2d": lambda x: x - 0.01 * mo.histogram2d(x[0], x[1], (8, 12))[0],
    "convolve": lambda x: mo.convolve(x.reshape(-1), x[0, :5], "same").reshape(8, 12) * 0.3,
    "correlate": lambda x: mo.correlate(x.reshape(-1), x[0, :5], "same").reshape(8, 12) * 0.3,
    "softmax": lambda x: mo.softmax(x, 1),
    "softmin": lambda x: mo.softmin(x, 1),
    "log_softmax": lambda x: mo.log_softmax(x, 1),
    "glu": lambda x: mo.glu(mo.concat([x, x], 1), 1),
    "prelu": lambda x: mo.prelu(x - 0.5, x[0, 0]),
    "threshold": lambda x: mo.threshold(x * 0.5, 0.1, 0.2),
    "cast": lambda x: (x * 8).cast("int32").cast("float32"),
    "clip": lambda x: mo.clip(x * 1.25, 0.1, 0.9),
    "where": lambda x: mo.where(x > 0.5, x * 0.5, x + 0.25),
    "matmul": lambda x: mo.tanh(x @ x.transpose()) @ x * 0.1,
    "gather": lambda x: mo.gather(x, 1, mo.iota((8, 12), 1).cast("int64")),
    "take": lambda x: mo.take(x, mo.arange(8), 0),
    "scatter_add": lambda x: mo.scatter_add(x, 0, mo.zeros((8, 12), "int64"), x * 0.1),
    "broadcast": lambda x: x + x[0].broadcast((8, 12), (0,)),
    "broadcast_var": lambda x: x * 0.5 + mo.broadcast_var(x[:1], x),
    "reindex": lambda x: mo.exp(-x.reindex((8, 12), ("i0", "11-i1"))),
    "reindex_reduce": lambda x: x - 0.1 * x.reindex_reduce("add", (8, 12), ("i0", "i1")),
    "concat": lambda x: mo.concat(halves(x)[::-1], 1),
    "concatenate": lambda x: mo.concatenate(halves(x)[::-1], 1),
    "stack": lambda x: mo.stack(halves(x)[::-1], 1).reshape(8, 12),
    "vstack": lambda x: mo.vstack([x[4:], x[:4]]) * 0.5,
    "hstack": lambda x: mo.hstack(halves(x)[::-1]) * 0.5,
    "dstack": lambda x: mo.exp(-mo.dstack([x[:, :6], x[:, 6:]])).reshape(8, 12),
    "column_stack": lambda x: mo.column_stack([x[:, 0], x[:, 1:]]) * 0.5,
    "append": lambda x: mo.append(x[4:], x[:4], 0) * 0.5,
    "delete": lambda x: x * mo.delete(x, 0, 0).sum(0) * 0.1,
    "insert": lambda x: mo.insert(x, 0, 0.5, 0)[:8] * 0.5,
    "unstack": lambda x: mo.stack(mo.unstack(x, 1)[::-1], 1) * 0.5,
    "split": lambda x: mo.concat(x.split(3, 1)[::-1], 1),
    "array_split": lambda x: mo.concat(mo.array_split(x, 5, 1)[::-1], 1),
    "hsplit": lambda x: mo.concat(mo.hsplit(x, 3)[::-1], 1),
    "vsplit": lambda x: mo.concat(mo.vsplit(x, 2)[::-1]),
    "dsplit": lambda x: mo.concat(mo.dsplit(x.reshape(8, 1, 12), 2)[::-1], 2).reshape(8, 12),
    "repeat": lambda x: mo.exp(-mo.repeat(x, 2, 1)[:, :12]),
    "tile": lambda x: mo.exp(-mo.tile(x, (2, 1))[4:12]),
    "roll": lambda x: mo.roll(x, (1, 2), (0, 1)) * 0.5,
    "diag": lambda x: x - 0.1 * mo.diag(x[0]).sum(0),
    "diagflat": lambda x: x - 0.1 * mo.diagflat(x[0]).sum(0),
    "diagonal": lambda x: x - 0.1 * mo.diagonal(x, 1).reshape(-1, 1),
    "trace": lambda x: x - 0.1 * mo.trace(x),
    "tril": lambda x: mo.exp(-mo.tril(x)),
    "triu": lambda x: mo.exp(-mo.triu(x)),
    "take_along_axis": lambda x: mo.take_along_axis(x, mo.iota((8, 12), 1), 1),
    "put_along_axis": lambda x: mo.put_along_axis(x, mo.zeros((8, 1), "int64"), x[:, :1], 1) * 0.5,
    "moveaxis": lambda x: mo.moveaxis(mo.exp(-mo.moveaxis(x, 0, 1)), 0, 1),
    "fliplr": lambda x: mo.exp(-mo.fliplr(x)),
    "flipud": lambda x: mo.exp(-mo.flipud(x)),
    "rot90": lambda x: mo.rot90(mo.exp(-mo.rot90(x)), -1),
    "broadcast_arrays": lambda x: x * 0.5 + mo.broadcast_arrays(x, x[0])[1] * 0.1,
    "atleast_1d": lambda x: mo.exp(-mo.atleast_1d(x)),
    "atleast_2d": lambda x: mo.exp(-mo.atleast_2d(x)),
    "atleast_3d": lambda x: mo.exp(-mo.atleast_3d(x)).reshape(8, 12),
    "meshgrid": lambda x: x * 0.5 + mo.meshgrid(x[0], x[:, 0])[1] * 0.1,
    "vander": lambda x: x * 0.5 + mo.vander(x[:, 0], 12) * 0.1,
    "eye": lambda x: x + 0.01 * mo.eye(8, 12),
    "tri": lambda x: x + 0.01 * mo.tri(8, 12),
    "indices": lambda x: x + 0.001 * mo.indices((8, 12), "float32")[1],
    "logspace": lambda x: x * mo.logspace(-1, 0, 12),
    "geomspace": lambda x: x * mo.geomspace(0.1, 1, 12),
    "pad": lambda x: mo.exp(-mo.pad(x, ((1, 0), (0, 0)))[:8]),
    "pad by reflections": lambda x: mo.exp(-mo.pad(x, 1, "reflect")[1:9, 1:13]),
    "sliding_window_view": lambda x: (
        mo.sliding_window_view(mo.pad(x, ((0, 0), (0, 2))), 3, 1).sum(-1) * 0.3
    ),
    "flip": lambda x: mo.exp(-mo.flip(x, 1)),
    "transpose": lambda x: mo.transpose(mo.exp(-mo.transpose(x))),
    "permute": lambda x: mo.permute(mo.exp(-mo.permute(x, (1, 0))), (1, 0)),
    "swapaxes": lambda x: mo.swapaxes(mo.exp(-mo.swapaxes(x, 0, 1)), 0, 1),
    "reshape": lambda x: mo.exp(-mo.reshape(x, (12, 8))).reshape(8, 12),
    "flatten": lambda x: mo.exp(-mo.flatten(x)).reshape(8, 12),
    "expand_dims": lambda x: mo.exp(-mo.expand_dims(x, 0)).reshape(8, 12),
    "unsqueeze": lambda x: mo.exp(-mo.unsqueeze(x, 0)).reshape(8, 12),
    "squeeze": lambda x: mo.squeeze(mo.exp(-x.reshape(1, 8, 12)), 0),
    "one_hot": lambda x: mo.one_hot((x * 11).cast("int64")[:, 0], 12) * 0.5 + x * 0.1,
    "stop_grad": lambda x: mo.stop_grad(mo.exp(-x)),
    "stop_fuse": lambda x: mo.stop_fuse(mo.exp(-x)),
    "iota": lambda x: x + 0.01 * mo.iota((8, 12), 1, "float32"),
    "arange": lambda x: x + 0.01 * mo.arange(12).cast("float32"),
    "linspace": lambda x: x + mo.linspace(0.0, 0.1, 12),
    "full_like": lambda x: x * mo.full_like(x, 0.5),
    "zeros_like": lambda x: mo.exp(-x) + mo.zeros_like(x),
    "ones_like": lambda x: mo.exp(-x) * mo.ones_like(x),
    "uniform": lambda x: x * mo.uniform((8, 12)),
    "normal": lambda x: x * mo.normal((8, 12)),
    "bernoulli": lambda x: mo.where(mo.bernoulli(0.5, (8, 12)), x, x * 0.5),
    **{name: tapered(name) for name in TAPERS},
    **{name: placed(name) for name in PLACES},
    "argpartition": lambda x: x - 0.01 * mo.argpartition(x, 3, 1).cast("float32"),
    "array_equiv": lambda x: x - 0.1 * mo.array_equiv(x, x[:1]).cast("float32"),
    "block": lambda x: mo.block([halves(x)[::-1]]) * 0.5,
    "block_diag": lambda x: x - 0.1 * mo.block_diag(x[:4, :6], x[4:, 6:]),
    "cartesian_prod": lambda x: x - 0.1 * mo.cartesian_prod(x[0, :3], x[1, :4])[:, 0],
    "cdist": lambda x: grown(x[:, :8] - 0.1 * mo.cdist(x, x * 0.5)),
    "choose": lambda x: mo.choose((x > 0.5).cast("int64"), [x * 0.5, x + 0.1]),
    "combinations": lambda x: x - 0.1 * mo.combinations(x[0, :4])[:, :1].sum(),
    "cumulative_trapezoid": lambda x: x - 0.1 * mo.cumulative_trapezoid(x, dim=1)[:, -1:],
    "diag_embed": lambda x: x - 0.1 * mo.diag_embed(x)[:, 3],
    "fill_diagonal": lambda x: mo.fill_diagonal(x * 0.5, 0.1),
    "histogramdd": lambda x: x - 0.01 * mo.histogramdd(x[:, :2], (8, 12), [(0, 1)] * 2)[0],
    "ldexp": lambda x: mo.ldexp(x, (x * 2).cast("int32") - 1),
    "frexp": lambda x: mo.frexp(x)[0] * 0.5,
    "lexsort": lambda x: x - 0.01 * mo.lexsort([x, x * 0.5]).cast("float32"),
    "matvec": lambda x: x - 0.1 * mo.matvec(x, x[0]).reshape(8, 1),
    "vecmat": lambda x: x - 0.1 * mo.vecmat(x[:, 0], x),
    "mode": lambda x: x - 0.1 * mo.mode(x, 1, keepdims=True).values,
    "modf": lambda x: mo.modf(x * 1.5)[0],
    "betainc": lambda x: mo.betainc(x + 2.0, x + 0.5, x * 0.5 + 0.25),
    "gammainc": lambda x: mo.gammainc(x + 0.5, x * 2.0 + 0.25),
    "gammaincc": lambda x: mo.gammaincc(x + 0.5, x * 2.0 + 0.25),
    "zeta": lambda x: mo.zeta(x + 1.5, x + 1.0) * 0.2,
    "multigammaln": lambda x: mo.multigammaln(x * 0.1 + 3, 2) * 0.1,
    "nancumsum": lambda x: mo.nancumsum(x, 1) * 0.1,
    "nancumprod": lambda x: mo.nancumprod(x, 1) + 0.1,
    "nanmedian": lambda x: x * 0.5 + mo.nanmedian(x, 1, keepdims=True) * 0.5,
    "nanquantile": lambda x: x * 0.5 + mo.nanquantile(x, 0.3, 1, keepdims=True) * 0.5,
    "nanpercentile": lambda x: x * 0.5 + mo.nanpercentile(x, 30, 1, keepdims=True) * 0.5,
    "packbits": lambda x: x - 0.001 * mo.packbits(x > 0.5, 0).cast("float32"),
    "unpackbits": lambda x: mo.unpackbits((x * 9).cast("uint8"), 0)[:8].cast("float32") * 0.5,
    "partition": lambda x: mo.partition(x, 3, 1) * 0.9,
    "pdist": lambda x: x - 0.01 * mo.pdist(x)[:12],
    "piecewise": lambda x: mo.piecewise(x, [x > 0.5], [lambda y: y * 0.5, 0.3]),
    "polyadd": lambda x: x * 0.5 + mo.polyadd(x[0], x[1, :3]) * 0.1,
    "polysub": lambda x: x * 0.5 + mo.polysub(x[0], x[1, :3]) * 0.1,
    "polymul": lambda x: x * 0.5 + mo.polymul(x[0, :6], x[1, :7]) * 0.1,
    "polyder": lambda x: x[:, :11] @ mo.ones((11, 12)) * 0.01 + mo.polyder(x[0])[0] * 0.01,
    "polyint": lambda x: x - 0.1 * mo.polyint(x[0])[:12],
    "polyval": lambda x: mo.polyval(x[0, :3], x) * 0.3,
    "ravel_multi_index": lambda x: (
        x
        - 0.001 * mo.ravel_multi_index([(x * 3).cast("int64")] * 2, (9, 9), "clip").cast("float32")
    ),
    "unravel_index": lambda x: (
        x - 0.01 * mo.unravel_index((x * 50).cast("int64"), (9, 9))[1].cast("float32")
    ),
    "renorm": lambda x: mo.renorm(x, 2, 0, 1.0) * 0.9,
    "resize": lambda x: mo.resize(mo.exp(-mo.resize(x, (7, 12))), (8, 12)),
    "select": lambda x: mo.select([x > 0.5, x > 0.2], [x * 0.5, x + 0.1]),
    "unflatten": lambda x: mo.exp(-mo.unflatten(x, 1, (3, 4))).reshape(8, 12),
    "unwrap": lambda x: mo.unwrap(x * 2, dim=1) * 0.2,
    "rand_like": lambda x: x * mo.rand_like(x),
    "randn_like": lambda x: x * mo.randn_like(x),
}

#: Repetitions of those whose chains are unrolled from a certain length on only.
REPETITIONS = {name: 40 for name in ("linspace", "logspace", "geomspace", *TAPERS)}

#: Functions of which the shape of the result depends on the elements: they run what is
#: before them.
DATA_DEPENDENT = names(
    "compress extract intersect1d setdiff1d setxor1d trim_zeros union1d unique_consecutive"
)

#: Functions that are no operators of tensors, or another name of one above.
OTHERS = names(
    "Var array asarray from_dlpack full random seed get_rng_state set_rng_state "
    "enable_grad grad hessian_vector_product "
    "is_grad_enabled jit jit_info jvp no_grad vjp Module Sequential nn optim load save export "
    "ContextFunction Function checkpoint checkpoint_name custom_jvp custom_vjp "
    "cond fori_loop map scan switch while_loop functional_call hessian jacobian linearize vmap "
    "code host_call load_routines routine linalg fft "
    "load_program device devices fetch fetch_sync sync "
    "sync_all dump flag_scope flags get_num_threads set_num_threads default_dtype "
    "get_default_dtype set_default_dtype Explanation "
    "KernelExplanation explain LastProgram last_program MemoryHolder estimate memory_holders "
    "TunedKernel Tuning tune tuned_schedules "
    "tree_leaves tree_map "
    "memory_stats memory_summary summary KernelProfile ProfileReport ProgramProfile profile_scope "
    "broadcast_shapes broadcast_to tril_indices triu_indices identity ravel unbind "
    "repeat_interleave "
    "Key einsum_path beta binomial categorical cauchy chisquare choice dirichlet exponential gamma "
    "geometric gumbel laplace logistic lognormal multinomial negative_binomial pareto poisson "
    "rayleigh student_t triangular truncated_normal weibull "
    "reset_peak stats ones zeros rand randint randn empty empty_like tensor cat clamp dtype "
    "bfloat16 float16 float32 float64 int8 int16 int32 int64 uint8 uint16 uint32 uint64 "
    "astype can_cast conj imag isdtype permute_dims real result_type "
    "associative_scan diag_indices diag_indices_from gammaln ix_ tril_indices_from "
    "triu_indices_from finfo iinfo absolute arccos arccosh arcsin arcsinh arctan arctan2 arctanh "
    "bitwise_not Complex complex64 complex128 angle iscomplex iscomplexobj isreal isrealobj polar "
    "view_as_complex view_as_real "
    "degrees expit invert left_shift radians remainder right_shift true_divide"
)


def test_every_operator_is_swept() -> None:
    missing = set(mo.__all__) - {*OTHERS, *DATA_DEPENDENT} - STEPS.keys()
    assert not missing, f"STEPS has no step of {', '.join(sorted(missing))}"


#: Operators in the first tier: they are all made of the same few of the dialect.
IN_FIRST_TIER = set(list(STEPS)[::8])


@pytest.mark.parametrize(
    "name",
    [n if n in IN_FIRST_TIER else pytest.param(n, marks=pytest.mark.rest) for n in STEPS],
)
def test_chain_of_every_operator(name: str) -> None:
    def chain(count: int) -> list[mo.Var]:
        x = leaf(8, 12)
        for _ in range(count):
            x = STEPS[name](x)
        return [x]

    assert_linear(chain, REPETITIONS.get(name, 8))


# Programs of other forms


def wide_sum(count: int) -> list[mo.Var]:
    """Return the sum of many leaves."""
    total = leaf(100)
    for k in range(count):
        total = total + leaf(100, seed=k)
    return [total]


def tree(count: int) -> list[mo.Var]:
    """Return the product of many leaves, by pairs."""
    level = [leaf(100, seed=k) for k in range(count)]
    while len(level) > 1:
        level = [a * b for a, b in zip(level[::2], level[1::2], strict=True)]
    return level


def outputs(count: int) -> list[mo.Var]:
    """Return many results of one leaf."""
    x = leaf(100)
    return [mo.exp(x * float(k)) for k in range(count)]


def slices(count: int) -> list[mo.Var]:
    """Return functions of many slices of one value."""
    x = mo.exp(leaf(10 * count))
    return [mo.tanh(x[10 * k : 10 * k + 10]) for k in range(count)]


def recurrence(count: int) -> list[mo.Var]:
    """Return the gradient of a recurrent network."""
    h, w = leaf(4, 8), leaf(8, 8, seed=1) * 0.1
    for _ in range(count):
        h = mo.tanh(h @ w)
    return mo.grad(h.sum(), [w])


def parameters(count: int) -> list[mo.Var]:
    """Return the step of an optimizer of many parameters."""
    weights = [leaf(16 + k % 5) for k in range(count)]
    return [w - 0.01 * (w * 0.9 + leaf(16 + k % 5)) for k, w in enumerate(weights)]


@pytest.mark.parametrize("form", [wide_sum, tree, outputs, slices, recurrence, parameters])
def test_growing_programs(form: Callable[[int], list[mo.Var]]) -> None:
    assert_linear(form, 32)


# Kernels that would be too large


def selected(parts: Sequence[mo.Var]) -> mo.Var:
    """Stack along axis 1 by a chain of pads and sums."""
    count = len(parts)
    total: Any = 0.0
    for k, part in enumerate(parts):
        total = total + mo.pad(part.reshape(8, 1, -1), ((0, 0), (k, count - 1 - k), (0, 0)))
    return total


@pytest.mark.parametrize("count", [16, 64, 128])
def test_a_chain_of_pads_gets_no_tiles(count: int) -> None:
    parts = [leaf(8, 128, seed=k) for k in range(count)]
    result = selected(parts)
    _, _, largest = measure([result])
    assert largest <= LARGEST_KERNEL
    np.testing.assert_array_equal(
        result.numpy(), np.stack([part.numpy() for part in parts], axis=1)
    )


def test_a_transposed_sum_of_functions_is_bounded() -> None:
    terms = [leaf(64, 96, seed=k) for k in range(40)]
    total: Any = 0.0
    for k, term in enumerate(terms):
        total = total + mo.tanh(term.transpose() if k % 2 else term.reshape(96, 64))
    _, _, largest = measure([total])
    assert largest <= LARGEST_KERNEL
    expected = sum(
        np.tanh((t.numpy().T if k % 2 else t.numpy().reshape(96, 64)).astype("float64"))
        for k, t in enumerate(terms)
    )
    np.testing.assert_allclose(total.numpy(), expected, rtol=1e-5, atol=1e-5)


def test_many_functions_are_several_kernels(compiled) -> None:
    x = leaf(1000)
    result = x
    for _ in range(300):
        result = mo.tanh(result)
    kernels, _, largest = measure([result])
    assert 5 <= kernels <= 30
    assert largest <= LARGEST_KERNEL


def test_a_reduction_of_many_terms_is_unrolled_less() -> None:
    x, w = leaf(32, 48), leaf(48, 64, seed=1)
    product: Any = 0.0
    for k in range(60):
        product = product + mo.tanh((x * float(k)).reshape(32, 48, 1) * w.reshape(1, 48, 64))
    _, _, largest = measure([product.sum(1)])
    assert largest <= LARGEST_KERNEL


def test_losses_of_many_batches() -> None:
    """A network's loss over many batches at once: no form of its own, but a usual one."""
    model = nn.Sequential(nn.Linear(12, 16), nn.ReLU(), nn.Linear(16, 4))

    def make(count: int) -> list[mo.Var]:
        losses = [
            nn.cross_entropy_loss(model(leaf(8, 12, seed=k)), mo.zeros((8,), "int32"))
            for k in range(count)
        ]
        return [sum(losses[1:], losses[0])]

    assert_linear(make, 4)
