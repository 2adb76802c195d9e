# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The names of the array API standard, version 2024.12, with their parameters."""

import inspect

_UNARY = """
abs acos acosh asin asinh atan atanh bitwise_invert ceil conj cos cosh exp expm1 floor imag
isfinite isinf isnan log log10 log1p log2 logical_not negative positive real reciprocal round
sign signbit sin sinh sqrt square tan tanh trunc
matrix_transpose nonzero unique_all unique_counts unique_inverse unique_values
"""
_BINARY = """
add atan2 bitwise_and bitwise_left_shift bitwise_or bitwise_right_shift bitwise_xor copysign
divide equal floor_divide greater greater_equal hypot less less_equal logaddexp logical_and
logical_or logical_xor maximum minimum multiply nextafter not_equal pow remainder subtract
matmul
"""
_OTHERS = """
arange(start, /, stop=None, step=1, *, dtype=None, device=None)
asarray(obj, /, *, dtype=None, device=None, copy=None)
empty(shape, *, dtype=None, device=None)
empty_like(x, /, *, dtype=None, device=None)
eye(n_rows, n_cols=None, /, *, k=0, dtype=None, device=None)
from_dlpack(x, /, *, device=None, copy=None)
full(shape, fill_value, *, dtype=None, device=None)
full_like(x, /, fill_value, *, dtype=None, device=None)
linspace(start, stop, /, num, *, dtype=None, device=None, endpoint=True)
meshgrid(*arrays, indexing="xy")
ones(shape, *, dtype=None, device=None)
ones_like(x, /, *, dtype=None, device=None)
tril(x, /, *, k=0)
triu(x, /, *, k=0)
zeros(shape, *, dtype=None, device=None)
zeros_like(x, /, *, dtype=None, device=None)
astype(x, dtype, /, *, copy=True, device=None)
can_cast(from_, to, /)
finfo(type, /)
iinfo(type, /)
isdtype(dtype, kind)
result_type(*arrays_and_dtypes)
clip(x, /, min=None, max=None)
take(x, indices, /, *, axis=None)
take_along_axis(x, indices, /, *, axis=-1)
tensordot(x1, x2, /, *, axes=2)
vecdot(x1, x2, /, *, axis=-1)
broadcast_arrays(*arrays)
broadcast_to(x, /, shape)
concat(arrays, /, *, axis=0)
expand_dims(x, /, axis)
flip(x, /, *, axis=None)
moveaxis(x, source, destination, /)
permute_dims(x, /, axes)
repeat(x, repeats, /, *, axis=None)
reshape(x, /, shape, *, copy=None)
roll(x, /, shift, *, axis=None)
squeeze(x, /, axis)
stack(arrays, /, *, axis=0)
tile(x, repetitions, /)
unstack(x, /, *, axis=0)
argmax(x, /, *, axis=None, keepdims=False)
argmin(x, /, *, axis=None, keepdims=False)
count_nonzero(x, /, *, axis=None, keepdims=False)
searchsorted(x1, x2, /, *, side="left", sorter=None)
where(condition, x1, x2, /)
argsort(x, /, *, axis=-1, descending=False, stable=True)
sort(x, /, *, axis=-1, descending=False, stable=True)
cumulative_prod(x, /, *, axis=None, dtype=None, include_initial=False)
cumulative_sum(x, /, *, axis=None, dtype=None, include_initial=False)
max(x, /, *, axis=None, keepdims=False)
mean(x, /, *, axis=None, keepdims=False)
min(x, /, *, axis=None, keepdims=False)
prod(x, /, *, axis=None, dtype=None, keepdims=False)
std(x, /, *, axis=None, correction=0.0, keepdims=False)
sum(x, /, *, axis=None, dtype=None, keepdims=False)
var(x, /, *, axis=None, correction=0.0, keepdims=False)
all(x, /, *, axis=None, keepdims=False)
any(x, /, *, axis=None, keepdims=False)
diff(x, /, *, axis=-1, n=1, prepend=None, append=None)
__array_namespace_info__()
"""
_METHODS = """
__array_namespace__(self, /, *, api_version=None)
__dlpack__(self, /, *, stream=None, max_version=None, dl_device=None, copy=None)
to_device(self, device, /, *, stream=None)
"""
_INFO = """
capabilities(self)
default_device(self)
default_dtypes(self, *, device=None)
devices(self)
dtypes(self, *, device=None, kind=None)
"""


def _signatures(text):
    found = {}
    for line in text.strip().splitlines():
        namespace = {}
        exec(f"def {line}: ...", namespace)
        name = line.partition("(")[0]
        found[name] = inspect.signature(namespace[name])
    return found


FUNCTIONS = _signatures(
    "\n".join(f"{name}(x, /)" for name in _UNARY.split())
    + "\n"
    + "\n".join(f"{name}(x1, x2, /)" for name in _BINARY.split())
    + _OTHERS
)
METHODS = _signatures(_METHODS)
INFO = _signatures(_INFO)
CONSTANTS = ["e", "inf", "nan", "newaxis", "pi"]
DTYPES = [
    "bool",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "float32",
    "float64",
    "complex64",
    "complex128",
]
ATTRIBUTES = ["dtype", "device", "mT", "ndim", "shape", "size", "T"]
_OPERATORS = [
    "add",
    "and",
    "floordiv",
    "lshift",
    "matmul",
    "mod",
    "mul",
    "or",
    "pow",
    "rshift",
    "sub",
    "truediv",
    "xor",
]
SPECIAL_METHODS = [
    *(
        f"__{name}__"
        for name in ["abs", "bool", "complex", "dlpack_device", "float", "index", "int", "invert"]
    ),
    *(
        f"__{name}__"
        for name in ["eq", "ge", "gt", "le", "lt", "ne", "neg", "pos", "getitem", "setitem"]
    ),
    *(f"__{kind}{name}__" for name in _OPERATORS for kind in ("", "r", "i")),
]
#: The functions of each extension.
EXTENSIONS = {
    "linalg": "cholesky cross det diagonal eigh eigvalsh inv matmul matrix_norm matrix_power"
    " matrix_rank matrix_transpose outer pinv qr slogdet solve svd svdvals tensordot trace vecdot"
    " vector_norm",
    "fft": "fft fftfreq fftn fftshift hfft ifft ifftn ifftshift ihfft irfft irfftn rfft rfftfreq"
    " rfftn",
}
