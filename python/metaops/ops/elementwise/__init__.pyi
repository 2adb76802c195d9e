# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Written by test/python/public_names.py.
"""The names of the package, for type checkers."""

from ... import abs as abs
from ... import absolute as absolute
from ... import acos as acos
from ... import acosh as acosh
from ... import add as add
from ... import allclose as allclose
from ... import arccos as arccos
from ... import arccosh as arccosh
from ... import arcsin as arcsin
from ... import arcsinh as arcsinh
from ... import arctan as arctan
from ... import arctan2 as arctan2
from ... import arctanh as arctanh
from ... import array_equal as array_equal
from ... import array_equiv as array_equiv
from ... import asin as asin
from ... import asinh as asinh
from ... import atan as atan
from ... import atan2 as atan2
from ... import atanh as atanh
from ... import betainc as betainc
from ... import bitcast as bitcast
from ... import bitwise_and as bitwise_and
from ... import bitwise_count as bitwise_count
from ... import bitwise_invert as bitwise_invert
from ... import bitwise_left_shift as bitwise_left_shift
from ... import bitwise_not as bitwise_not
from ... import bitwise_or as bitwise_or
from ... import bitwise_right_shift as bitwise_right_shift
from ... import bitwise_xor as bitwise_xor
from ... import cast as cast
from ... import cbrt as cbrt
from ... import ceil as ceil
from ... import celu as celu
from ... import clamp as clamp
from ... import clip as clip
from ... import copysign as copysign
from ... import cos as cos
from ... import cosh as cosh
from ... import deg2rad as deg2rad
from ... import degrees as degrees
from ... import digamma as digamma
from ... import divide as divide
from ... import divmod as divmod
from ... import elu as elu
from ... import entr as entr
from ... import equal as equal
from ... import erf as erf
from ... import erfc as erfc
from ... import erfinv as erfinv
from ... import exp as exp
from ... import exp2 as exp2
from ... import expit as expit
from ... import expm1 as expm1
from ... import float_power as float_power
from ... import floor as floor
from ... import floor_divide as floor_divide
from ... import fma as fma
from ... import fmax as fmax
from ... import fmin as fmin
from ... import fmod as fmod
from ... import frexp as frexp
from ... import gammainc as gammainc
from ... import gammaincc as gammaincc
from ... import gammaln as gammaln
from ... import gcd as gcd
from ... import gelu as gelu
from ... import glu as glu
from ... import greater as greater
from ... import greater_equal as greater_equal
from ... import hardshrink as hardshrink
from ... import hardsigmoid as hardsigmoid
from ... import hardswish as hardswish
from ... import hardtanh as hardtanh
from ... import heaviside as heaviside
from ... import hypot as hypot
from ... import i0 as i0
from ... import i0e as i0e
from ... import i1 as i1
from ... import i1e as i1e
from ... import invert as invert
from ... import isclose as isclose
from ... import isfinite as isfinite
from ... import isinf as isinf
from ... import isnan as isnan
from ... import isneginf as isneginf
from ... import isposinf as isposinf
from ... import lcm as lcm
from ... import ldexp as ldexp
from ... import leaky_relu as leaky_relu
from ... import left_shift as left_shift
from ... import lerp as lerp
from ... import less as less
from ... import less_equal as less_equal
from ... import lgamma as lgamma
from ... import log as log
from ... import log1p as log1p
from ... import log2 as log2
from ... import log10 as log10
from ... import log_ndtr as log_ndtr
from ... import log_sigmoid as log_sigmoid
from ... import log_softmax as log_softmax
from ... import logaddexp as logaddexp
from ... import logaddexp2 as logaddexp2
from ... import logical_and as logical_and
from ... import logical_not as logical_not
from ... import logical_or as logical_or
from ... import logical_xor as logical_xor
from ... import logit as logit
from ... import maximum as maximum
from ... import minimum as minimum
from ... import mish as mish
from ... import mod as mod
from ... import modf as modf
from ... import multigammaln as multigammaln
from ... import multiply as multiply
from ... import nan_to_num as nan_to_num
from ... import ndtr as ndtr
from ... import ndtri as ndtri
from ... import negative as negative
from ... import nextafter as nextafter
from ... import not_equal as not_equal
from ... import packbits as packbits
from ... import polygamma as polygamma
from ... import positive as positive
from ... import pow as pow
from ... import prelu as prelu
from ... import rad2deg as rad2deg
from ... import radians as radians
from ... import reciprocal as reciprocal
from ... import relu as relu
from ... import relu6 as relu6
from ... import remainder as remainder
from ... import right_shift as right_shift
from ... import round as round
from ... import rsqrt as rsqrt
from ... import selu as selu
from ... import sigmoid as sigmoid
from ... import sign as sign
from ... import signbit as signbit
from ... import silu as silu
from ... import sin as sin
from ... import sinc as sinc
from ... import sinh as sinh
from ... import softmax as softmax
from ... import softmin as softmin
from ... import softplus as softplus
from ... import softshrink as softshrink
from ... import softsign as softsign
from ... import sqrt as sqrt
from ... import square as square
from ... import subtract as subtract
from ... import tan as tan
from ... import tanh as tanh
from ... import tanhshrink as tanhshrink
from ... import threshold as threshold
from ... import true_divide as true_divide
from ... import trunc as trunc
from ... import unpackbits as unpackbits
from ... import where as where
from ... import xlog1py as xlog1py
from ... import xlogy as xlogy
from ... import zeta as zeta

__all__ = [
    "abs",
    "absolute",
    "acos",
    "acosh",
    "add",
    "allclose",
    "arccos",
    "arccosh",
    "arcsin",
    "arcsinh",
    "arctan",
    "arctan2",
    "arctanh",
    "array_equal",
    "array_equiv",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "betainc",
    "bitcast",
    "bitwise_and",
    "bitwise_count",
    "bitwise_invert",
    "bitwise_left_shift",
    "bitwise_not",
    "bitwise_or",
    "bitwise_right_shift",
    "bitwise_xor",
    "cast",
    "cbrt",
    "ceil",
    "celu",
    "clamp",
    "clip",
    "copysign",
    "cos",
    "cosh",
    "deg2rad",
    "degrees",
    "digamma",
    "divide",
    "divmod",
    "elu",
    "entr",
    "equal",
    "erf",
    "erfc",
    "erfinv",
    "exp",
    "exp2",
    "expit",
    "expm1",
    "float_power",
    "floor",
    "floor_divide",
    "fma",
    "fmax",
    "fmin",
    "fmod",
    "frexp",
    "gammainc",
    "gammaincc",
    "gammaln",
    "gcd",
    "gelu",
    "glu",
    "greater",
    "greater_equal",
    "hardshrink",
    "hardsigmoid",
    "hardswish",
    "hardtanh",
    "heaviside",
    "hypot",
    "i0",
    "i0e",
    "i1",
    "i1e",
    "invert",
    "isclose",
    "isfinite",
    "isinf",
    "isnan",
    "isneginf",
    "isposinf",
    "lcm",
    "ldexp",
    "leaky_relu",
    "left_shift",
    "lerp",
    "less",
    "less_equal",
    "lgamma",
    "log",
    "log10",
    "log1p",
    "log2",
    "log_ndtr",
    "log_sigmoid",
    "log_softmax",
    "logaddexp",
    "logaddexp2",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "logit",
    "maximum",
    "minimum",
    "mish",
    "mod",
    "modf",
    "multigammaln",
    "multiply",
    "nan_to_num",
    "ndtr",
    "ndtri",
    "negative",
    "nextafter",
    "not_equal",
    "packbits",
    "polygamma",
    "positive",
    "pow",
    "prelu",
    "rad2deg",
    "radians",
    "reciprocal",
    "relu",
    "relu6",
    "remainder",
    "right_shift",
    "round",
    "rsqrt",
    "selu",
    "sigmoid",
    "sign",
    "signbit",
    "silu",
    "sin",
    "sinc",
    "sinh",
    "softmax",
    "softmin",
    "softplus",
    "softshrink",
    "softsign",
    "sqrt",
    "square",
    "subtract",
    "tan",
    "tanh",
    "tanhshrink",
    "threshold",
    "true_divide",
    "trunc",
    "unpackbits",
    "where",
    "xlog1py",
    "xlogy",
    "zeta",
]
