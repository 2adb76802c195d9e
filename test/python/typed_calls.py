# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A call of each function that computes something of tensors, whatever type these have.

docs/Types.md says of each in which type it computes, and test_types.py makes these calls
with tensors of all types. Functions of `metaops.nn` are in typed_nn_calls.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import metaops as mo
import numpy as np

#: The tensors that a call takes, and the call. Each tensor is a letter for its shape and,
#: behind it, one for its numbers: anything; `+`, none below 0; `p`, within [0, 1].
Call = tuple[str, Callable[..., Any]]

SHAPES = {
    "s": (),
    "v": (10,),
    "m": (4, 6),
    "q": (4, 4),
    "t": (6, 3),
    "c": (5, 3),
    "b": (2, 4, 8),
    "i": (2, 4, 6, 6),
    "d": (1, 2, 4, 4, 4),
}

ROWS = np.array([0, 2, 1, 3, 3])
COLUMNS = np.array([[0, 1, 2, 3, 2, 1]] * 4)
MASK = np.array([True, False] * 12).reshape(4, 6)
SEGMENTS = np.array([0, 1, 1, 0])


def plain(tensors: str, names: str, module: Any = mo) -> dict[str, Call]:
    """Return calls of functions that are given these tensors and nothing else."""
    return {name: (tensors, getattr(module, name)) for name in names.split()}


MOVING: dict[str, Call] = {
    **plain("m", "atleast_1d atleast_2d atleast_3d flip fliplr flipud flatten ravel transpose"),
    **plain("m", "iscomplex isreal"),
    **plain("m", "positive real conj imag rot90 stop_grad stop_fuse squeeze matrix_transpose"),
    **plain("m", "isfinite isinf isnan isneginf isposinf logical_not signbit argmax argmin"),
    **plain("m", "all any max min nanmax nanmin nanargmax nanargmin count_nonzero"),
    **plain("m", "floor ceil trunc round sort argsort mode argwhere flatnonzero nonzero"),
    **plain("m", "unique unique_all unique_counts unique_inverse unique_values relu relu6"),
    **plain("m", "tril triu nan_to_num"),
    **plain("v", "cummax cummin diag diagflat diag_embed unique_consecutive trim_zeros"),
    **plain("q", "diagonal"),
    **plain("m m", "equal not_equal greater greater_equal less less_equal isin union1d"),
    **plain("m m", "logical_and logical_or logical_xor maximum minimum fmax fmin heaviside"),
    **plain("m m", "intersect1d setdiff1d setxor1d array_equal array_equiv broadcast_var"),
    **plain("v v", "block_diag cartesian_prod"),
    "append": ("m m", mo.append),
    "argpartition": ("m", lambda x: mo.sort(mo.take_along_axis(x, mo.argpartition(x, 2), -1))[0]),
    "array_split": ("v", lambda x: mo.array_split(x, 3)),
    "astype": ("m", lambda x: mo.astype(x, x.dtype)),
    "block": ("m m", lambda x, y: mo.block([[x, y], [y, x]])),
    "broadcast": ("v", lambda x: mo.broadcast(x, (3, 10), (0,))),
    "broadcast_arrays": ("s m", mo.broadcast_arrays),
    "broadcast_to": ("v", lambda x: mo.broadcast_to(x, (3, 10))),
    "cast": ("m", lambda x: mo.cast(x, x.dtype)),
    "cat": ("m m", lambda x, y: mo.cat([x, y])),
    "choose": ("m m", lambda x, y: mo.choose(MASK.astype(int), [x, y])),
    "clamp": ("m", lambda x: mo.clamp(x, 1, 5)),
    "clip": ("m s s", mo.clip),
    "column_stack": ("v v", lambda x, y: mo.column_stack([x, y])),
    "combinations": ("v", mo.combinations),
    "compress": ("m", lambda x: mo.compress(MASK[0], x, 1)),
    "concat": ("m m", lambda x, y: mo.concat([x, y])),
    "concatenate": ("m m", lambda x, y: mo.concatenate([x, y], 1)),
    "delete": ("m", lambda x: mo.delete(x, 1, 0)),
    "digitize": ("m v", lambda x, bins: mo.digitize(x, mo.sort(bins))),
    "dsplit": ("i", lambda x: mo.dsplit(x, 2)),
    "dstack": ("m m", lambda x, y: mo.dstack([x, y])),
    "expand_dims": ("m", lambda x: mo.expand_dims(x, 1)),
    "extract": ("m", lambda x: mo.extract(MASK, x)),
    "fill_diagonal": ("m s", mo.fill_diagonal),
    "gather": ("m", lambda x: mo.gather(x, 0, COLUMNS)),
    "hardshrink": ("m", lambda x: mo.hardshrink(x, 2)),
    "hardtanh": ("m", lambda x: mo.hardtanh(x, 1, 5)),
    "hsplit": ("m", lambda x: mo.hsplit(x, 2)),
    "hstack": ("m m", lambda x, y: mo.hstack([x, y])),
    "insert": ("m s", lambda x, y: mo.insert(x, 1, y, 0)),
    "kthvalue": ("m", lambda x: mo.kthvalue(x, 2)[0]),
    "lexsort": ("v v", lambda x, y: mo.lexsort([x, y])),
    "meshgrid": ("v v", mo.meshgrid),
    "moveaxis": ("i", lambda x: mo.moveaxis(x, 0, 2)),
    "pad": ("m", lambda x: mo.pad(x, [(1, 2), (0, 1)])),
    "partition": ("m", lambda x: mo.partition(x, 2)[..., 2]),
    "permute": ("i", lambda x: mo.permute(x, (0, 2, 3, 1))),
    "permute_dims": ("i", lambda x: mo.permute_dims(x, (0, 2, 3, 1))),
    "piecewise": ("m m", lambda x, y: mo.piecewise(x, [MASK], [y, 1])),
    "put_along_axis": ("m m", lambda x, y: mo.put_along_axis(x, COLUMNS[:1], y[:1], 0)),
    "reindex": ("m", lambda x: mo.reindex(x, (4,), ("i0", "i0"))),
    "repeat": ("m", lambda x: mo.repeat(x, 2, 1)),
    "repeat_interleave": ("m", lambda x: mo.repeat_interleave(x, 2, 1)),
    "reshape": ("m", lambda x: mo.reshape(x, (3, 8))),
    "resize": ("m", lambda x: mo.resize(x, (5, 7))),
    "roll": ("m", lambda x: mo.roll(x, 2, 1)),
    "searchsorted": ("v v", lambda x, y: mo.searchsorted(mo.sort(x), y)),
    "segment_max": ("m", lambda x: mo.segment_max(x, SEGMENTS, 2)),
    "segment_min": ("m", lambda x: mo.segment_min(x, SEGMENTS, 2)),
    "select": ("m m", lambda x, y: mo.select([MASK, ~MASK], [x, y])),
    "sliding_window_view": ("v", lambda x: mo.sliding_window_view(x, 3)),
    "split": ("v", lambda x: mo.split(x, 2)),
    "stack": ("m m", lambda x, y: mo.stack([x, y])),
    "swapaxes": ("m", lambda x: mo.swapaxes(x, 0, 1)),
    "take": ("m", lambda x: mo.take(x, ROWS, 0)),
    "take_along_axis": ("m", lambda x: mo.take_along_axis(x, COLUMNS, 0)),
    "threshold": ("m", lambda x: mo.threshold(x, 2, 1)),
    "tile": ("m", lambda x: mo.tile(x, (2, 1))),
    "topk": ("m", lambda x: mo.topk(x, 2)[0]),
    "unbind": ("m", mo.unbind),
    "unflatten": ("m", lambda x: mo.unflatten(x, 1, (2, 3))),
    "unsqueeze": ("m", lambda x: mo.unsqueeze(x, 0)),
    "unstack": ("m", mo.unstack),
    "vsplit": ("m", lambda x: mo.vsplit(x, 2)),
    "vstack": ("m m", lambda x, y: mo.vstack([x, y])),
    "where": ("m m", lambda x, y: mo.where(MASK, x, y)),
}

ARITHMETIC: dict[str, Call] = {
    **plain("m m", "add subtract multiply floor_divide mod remainder fmod divmod"),
    **plain("m", "abs absolute negative sign square ptp ediff1d"),
    **plain("m m+", "outer kron"),
    **plain("c c", "cross"),
    **plain("v v", "polyadd polysub polymul convolve correlate vdot inner dot"),
    **plain("m m", "vecdot"),
    **plain("v", "cumsum cumulative_sum cumprod cumulative_prod nancumsum nancumprod"),
    **plain("m", "sum prod nansum nanprod"),
    **plain("v", "vander polyder"),
    **plain("q", "trace"),
    **plain("m t", "matmul"),
    "bincount": ("v", lambda x: mo.bincount(np.arange(10) % 3, x)),
    "diff": ("m", lambda x: mo.diff(x, 2)),
    "einsum": ("m t", lambda x, y: mo.einsum("ij,jk->ik", x, y)),
    "linear_recurrence": ("v v", mo.linear_recurrence),
    "matvec": ("q c", lambda x, y: mo.matvec(x[:, :3], y[0])),
    "polyval": ("c v", lambda p, x: mo.polyval(p[0], x)),
    "pow": ("m", lambda x: mo.pow(x, 3)),
    "reindex_reduce": ("m", lambda x: mo.reindex_reduce(x, "add", (2, 3), ("i0 / 2", "i1 / 2"))),
    "scatter_add": ("m m", lambda x, y: mo.scatter_add(x, 0, COLUMNS, y)),
    "segment_prod": ("m", lambda x: mo.segment_prod(x, SEGMENTS, 2)),
    "segment_sum": ("m", lambda x: mo.segment_sum(x, SEGMENTS, 2)),
    "tensordot": ("m t", lambda x, y: mo.tensordot(x, y, 1)),
    "vecmat": ("v t", lambda x, y: mo.vecmat(x[:6], y)),
}

#: The same, each operation on halves rounded.
STEPWISE: dict[str, Call] = {
    "associative_scan": ("v", lambda x: mo.associative_scan(mo.add, x)),
    "matrix_power": ("q", lambda x: mo.matrix_power(x, 3)),
    "multi_dot": ("m t", lambda x, y: mo.multi_dot([x, y, y[:3]])),
}

#: Of integers alone.
BITS: dict[str, Call] = {
    **plain("m m", "bitwise_and bitwise_or bitwise_xor gcd lcm"),
    **plain("m", "bitwise_invert bitwise_not invert bitwise_count"),
    "bitwise_left_shift": ("m", lambda x: mo.bitwise_left_shift(x, 2)),
    "bitwise_right_shift": ("m", lambda x: mo.bitwise_right_shift(x, 2)),
    "left_shift": ("m", lambda x: mo.left_shift(x, 2)),
    "right_shift": ("m", lambda x: mo.right_shift(x, 2)),
}

#: Of a real argument, one operation each.
SINGLE: dict[str, Call] = {
    **plain("m", "acos acosh asin asinh atan atanh arccos arccosh arcsin arcsinh arctan arctanh"),
    **plain("m", "cbrt cos cosh exp exp2 expm1 log log10 log1p log2 sin sinh sqrt tan tanh"),
    **plain("m", "angle digamma erf erfc erfinv gammaln lgamma reciprocal rsqrt frexp modf"),
    **plain("m m", "arctan2 atan2 copysign divide true_divide hypot"),
    **plain("m m m", "fma"),
    # Which number is the next one depends on the type.
    "nextafter": ("m m", lambda x, y: mo.nextafter(x, y) - x > 0),
    "polygamma": ("m+", lambda x: mo.polygamma(1, x)),
}

#: Of a real argument, several operations.
REAL: dict[str, Call] = {
    **plain("m", "celu elu gelu hardsigmoid hardswish leaky_relu log_sigmoid mish selu"),
    **plain("m", "expit sigmoid silu softplus softsign tanhshrink softmax softmin log_softmax glu"),
    **plain("m", "softshrink logsumexp mean nanmean std nanstd var nanvar median nanmedian"),
    **plain("m", "average norm matrix_norm pdist corrcoef gradient trapezoid sinc"),
    **plain("m", "cumulative_trapezoid deg2rad degrees rad2deg radians unwrap logit cov"),
    **plain("m", "entr i0 i0e i1 i1e"),
    **plain("v", "logcumsumexp polyint"),
    **plain("m m", "logaddexp logaddexp2 cdist"),
    **plain("m m+", "xlogy xlog1py"),
    **plain("m m m", "lerp"),
    "interp": ("v c c", lambda x, p, f: mo.interp(x, mo.sort(p[:, 0]), f[:, 1])),
    "ldexp": ("m", lambda x: mo.ldexp(x, 3)),
    "multigammaln": ("m+", lambda x: mo.multigammaln(x, 2)),
    "nanpercentile": ("m", lambda x: mo.nanpercentile(x, 30, 1)),
    "nanquantile": ("m", lambda x: mo.nanquantile(x, [0.2, 0.7])),
    "percentile": ("m", lambda x: mo.percentile(x, 30, 1)),
    "prelu": ("m v", lambda x, weight: mo.prelu(x, weight[:6])),
    "quantile": ("m", lambda x: mo.quantile(x, [0.2, 0.7])),
    "renorm": ("m", lambda x: mo.renorm(x, 2, 0, 3)),
    "segment_mean": ("m", lambda x: mo.segment_mean(x, SEGMENTS, 2)),
    "segment_logsumexp": ("m", lambda x: mo.segment_logsumexp(x, SEGMENTS, 2)),
}

#: Of a real argument, several operations in float64.
WITHIN: dict[str, Call] = {
    **plain("m", "log_ndtr ndtr"),
    "ndtri": ("mp", mo.ndtri),
    **plain("m+ m+", "gammainc gammaincc zeta"),
    "betainc": ("m+ m+ mp", mo.betainc),
}

#: Of which integers are float64.
EXACT: dict[str, Call] = {
    **plain("m m", "isclose allclose"),
    **plain("m", "histogram histogram_bin_edges histogramdd"),
    **plain("v v", "histogram2d"),
}

#: Of which all are.
FLOAT64: dict[str, Call] = {"float_power": ("m", lambda x: mo.float_power(x, 3))}
