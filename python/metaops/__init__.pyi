# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Written by test/python/public_names.py.
"""The names of the package, for type checkers."""

import builtins as _builtins
from collections.abc import Callable as _Callable
from collections.abc import Mapping as _Mapping
from collections.abc import Sequence as _Sequence
from typing import Any as _Any
from typing import overload as _overload

from . import amp as amp
from . import cache as cache
from . import compat as compat
from . import complex_numbers as complex_numbers
from . import control_flow as control_flow
from . import data as data
from . import execute as execute
from . import extern as extern
from . import fft as fft
from . import func as func
from . import linalg as linalg
from . import models as models
from . import nn as nn
from . import ops as ops
from . import optim as optim
from . import tools as tools
from . import tracing as tracing
from . import transforms as transforms
from ._core import Var as Var
from ._core import Var as _Var
from ._core import _DTypeLike as _core_DTypeLike
from ._core import _VarLike as _core_VarLike
from ._core import bfloat16 as bfloat16
from ._core import bool as bool
from ._core import dtype as dtype
from ._core import dump as dump
from ._core import fetch_sync as fetch_sync
from ._core import float16 as float16
from ._core import float32 as float32
from ._core import float64 as float64
from ._core import get_num_threads as get_num_threads
from ._core import int8 as int8
from ._core import int16 as int16
from ._core import int32 as int32
from ._core import int64 as int64
from ._core import matmul as matmul
from ._core import reset_peak as reset_peak
from ._core import stats as stats
from ._core import stop_fuse as stop_fuse
from ._core import stop_grad as stop_grad
from ._core import sync as sync
from ._core import sync_all as sync_all
from ._core import uint8 as uint8
from ._core import uint16 as uint16
from ._core import uint32 as uint32
from ._core import uint64 as uint64
from ._defaults import default_dtype as default_dtype
from ._defaults import get_default_dtype as get_default_dtype
from ._defaults import set_default_dtype as set_default_dtype
from ._devices import device as device
from ._devices import devices as devices
from ._flags import flag_scope as flag_scope
from ._flags import flags as flags
from ._typing import Axes as _Axes
from ._typing import DType as _DType
from ._typing import Shape as _Shape
from ._typing import VarLike as _VarLike
from .compat.array_api import __array_api_version__ as __array_api_version__
from .compat.array_api import __array_namespace_info__ as __array_namespace_info__
from .compat.array_api import astype as astype
from .compat.array_api import can_cast as can_cast
from .compat.array_api import conj as conj
from .compat.array_api import e as e
from .compat.array_api import imag as imag
from .compat.array_api import inf as inf
from .compat.array_api import isdtype as isdtype
from .compat.array_api import nan as nan
from .compat.array_api import newaxis as newaxis
from .compat.array_api import pi as pi
from .compat.array_api import real as real
from .compat.array_api import result_type as result_type
from .compat.exchange import asarray as asarray
from .compat.exchange import from_dlpack as from_dlpack
from .complex_numbers.dtypes import complex64 as complex64
from .complex_numbers.dtypes import complex128 as complex128
from .complex_numbers.pair import Complex as Complex
from .complex_numbers.parts import angle as angle
from .complex_numbers.parts import iscomplex as iscomplex
from .complex_numbers.parts import iscomplexobj as iscomplexobj
from .complex_numbers.parts import isreal as isreal
from .complex_numbers.parts import isrealobj as isrealobj
from .complex_numbers.parts import polar as polar
from .complex_numbers.parts import view_as_complex as view_as_complex
from .complex_numbers.parts import view_as_real as view_as_real
from .control_flow.branches import cond as cond
from .control_flow.branches import switch as switch
from .control_flow.loops import fori_loop as fori_loop
from .control_flow.loops import while_loop as while_loop
from .control_flow.scans import map as map
from .control_flow.scans import scan as scan
from .exporting import export as export
from .extern.calls import code as code
from .extern.host import host_call as host_call
from .extern.routines import load_routines as load_routines
from .fetching import fetch as fetch
from .files.background import Saving as _Saving
from .func.checkpoints import checkpoint as checkpoint
from .func.checkpoints import checkpoint_name as checkpoint_name
from .func.contexts import ContextFunction as ContextFunction
from .func.derivatives import Function as Function
from .func.jacobians import hessian as hessian
from .func.jacobians import jacobian as jacobian
from .func.linear import linearize as linearize
from .func.modules import functional_call as functional_call
from .func.rules import custom_jvp as custom_jvp
from .func.rules import custom_vjp as custom_vjp
from .func.vectorizing import vmap as vmap
from .gradients import enable_grad as enable_grad
from .gradients import grad as grad
from .gradients import is_grad_enabled as is_grad_enabled
from .gradients import jvp as jvp
from .gradients import no_grad as no_grad
from .gradients import vjp as vjp
from .io import Path as _Path
from .io import load as load
from .loading import load_program as load_program
from .nn import Module as Module
from .nn import Sequential as Sequential
from .ops.create.creation import array as array
from .ops.create.creation import empty as empty
from .ops.create.creation import empty_like as empty_like
from .ops.create.creation import geomspace as geomspace
from .ops.create.creation import indices as indices
from .ops.create.creation import logspace as logspace
from .ops.create.creation import meshgrid as meshgrid
from .ops.create.creation import one_hot as one_hot
from .ops.create.creation import ones as ones
from .ops.create.creation import ones_like as ones_like
from .ops.create.creation import tensor as tensor
from .ops.create.creation import zeros as zeros
from .ops.create.creation import zeros_like as zeros_like
from .ops.create.limits import finfo as finfo
from .ops.create.limits import iinfo as iinfo
from .ops.elementwise.activations import celu as celu
from .ops.elementwise.activations import elu as elu
from .ops.elementwise.activations import gelu as gelu
from .ops.elementwise.activations import hardshrink as hardshrink
from .ops.elementwise.activations import hardsigmoid as hardsigmoid
from .ops.elementwise.activations import hardswish as hardswish
from .ops.elementwise.activations import hardtanh as hardtanh
from .ops.elementwise.activations import log_sigmoid as log_sigmoid
from .ops.elementwise.activations import mish as mish
from .ops.elementwise.activations import prelu as prelu
from .ops.elementwise.activations import relu as relu
from .ops.elementwise.activations import relu6 as relu6
from .ops.elementwise.activations import selu as selu
from .ops.elementwise.activations import sigmoid as sigmoid
from .ops.elementwise.activations import silu as silu
from .ops.elementwise.activations import softplus as softplus
from .ops.elementwise.activations import softshrink as softshrink
from .ops.elementwise.activations import softsign as softsign
from .ops.elementwise.activations import tanhshrink as tanhshrink
from .ops.elementwise.bessels import i0 as i0
from .ops.elementwise.bessels import i0e as i0e
from .ops.elementwise.bessels import i1 as i1
from .ops.elementwise.bessels import i1e as i1e
from .ops.elementwise.bits import bitcast as bitcast
from .ops.elementwise.bits import bitwise_and as bitwise_and
from .ops.elementwise.bits import bitwise_count as bitwise_count
from .ops.elementwise.bits import bitwise_invert as bitwise_invert
from .ops.elementwise.bits import bitwise_left_shift as bitwise_left_shift
from .ops.elementwise.bits import bitwise_not as bitwise_not
from .ops.elementwise.bits import bitwise_or as bitwise_or
from .ops.elementwise.bits import bitwise_right_shift as bitwise_right_shift
from .ops.elementwise.bits import bitwise_xor as bitwise_xor
from .ops.elementwise.bits import gcd as gcd
from .ops.elementwise.bits import invert as invert
from .ops.elementwise.bits import lcm as lcm
from .ops.elementwise.bits import left_shift as left_shift
from .ops.elementwise.bits import right_shift as right_shift
from .ops.elementwise.closeness import allclose as allclose
from .ops.elementwise.closeness import array_equal as array_equal
from .ops.elementwise.closeness import array_equiv as array_equiv
from .ops.elementwise.closeness import isclose as isclose
from .ops.elementwise.elementwise import abs as abs
from .ops.elementwise.elementwise import absolute as absolute
from .ops.elementwise.elementwise import add as add
from .ops.elementwise.elementwise import cast as cast
from .ops.elementwise.elementwise import clamp as clamp
from .ops.elementwise.elementwise import copysign as copysign
from .ops.elementwise.elementwise import divide as divide
from .ops.elementwise.elementwise import divmod as divmod
from .ops.elementwise.elementwise import equal as equal
from .ops.elementwise.elementwise import float_power as float_power
from .ops.elementwise.elementwise import floor_divide as floor_divide
from .ops.elementwise.elementwise import fma as fma
from .ops.elementwise.elementwise import fmax as fmax
from .ops.elementwise.elementwise import fmin as fmin
from .ops.elementwise.elementwise import fmod as fmod
from .ops.elementwise.elementwise import greater as greater
from .ops.elementwise.elementwise import greater_equal as greater_equal
from .ops.elementwise.elementwise import heaviside as heaviside
from .ops.elementwise.elementwise import isfinite as isfinite
from .ops.elementwise.elementwise import isinf as isinf
from .ops.elementwise.elementwise import isnan as isnan
from .ops.elementwise.elementwise import isneginf as isneginf
from .ops.elementwise.elementwise import isposinf as isposinf
from .ops.elementwise.elementwise import lerp as lerp
from .ops.elementwise.elementwise import less as less
from .ops.elementwise.elementwise import less_equal as less_equal
from .ops.elementwise.elementwise import logical_and as logical_and
from .ops.elementwise.elementwise import logical_not as logical_not
from .ops.elementwise.elementwise import logical_or as logical_or
from .ops.elementwise.elementwise import logical_xor as logical_xor
from .ops.elementwise.elementwise import maximum as maximum
from .ops.elementwise.elementwise import minimum as minimum
from .ops.elementwise.elementwise import mod as mod
from .ops.elementwise.elementwise import multiply as multiply
from .ops.elementwise.elementwise import nan_to_num as nan_to_num
from .ops.elementwise.elementwise import negative as negative
from .ops.elementwise.elementwise import nextafter as nextafter
from .ops.elementwise.elementwise import not_equal as not_equal
from .ops.elementwise.elementwise import positive as positive
from .ops.elementwise.elementwise import pow as pow
from .ops.elementwise.elementwise import reciprocal as reciprocal
from .ops.elementwise.elementwise import remainder as remainder
from .ops.elementwise.elementwise import sign as sign
from .ops.elementwise.elementwise import signbit as signbit
from .ops.elementwise.elementwise import square as square
from .ops.elementwise.elementwise import subtract as subtract
from .ops.elementwise.elementwise import true_divide as true_divide
from .ops.elementwise.elementwise import where as where
from .ops.elementwise.floats import frexp as frexp
from .ops.elementwise.floats import modf as modf
from .ops.elementwise.floats import sinc as sinc
from .ops.elementwise.functions import acos as acos
from .ops.elementwise.functions import acosh as acosh
from .ops.elementwise.functions import arccos as arccos
from .ops.elementwise.functions import arccosh as arccosh
from .ops.elementwise.functions import arcsin as arcsin
from .ops.elementwise.functions import arcsinh as arcsinh
from .ops.elementwise.functions import arctan as arctan
from .ops.elementwise.functions import arctan2 as arctan2
from .ops.elementwise.functions import arctanh as arctanh
from .ops.elementwise.functions import asin as asin
from .ops.elementwise.functions import asinh as asinh
from .ops.elementwise.functions import atan as atan
from .ops.elementwise.functions import atan2 as atan2
from .ops.elementwise.functions import atanh as atanh
from .ops.elementwise.functions import cbrt as cbrt
from .ops.elementwise.functions import cos as cos
from .ops.elementwise.functions import cosh as cosh
from .ops.elementwise.functions import deg2rad as deg2rad
from .ops.elementwise.functions import degrees as degrees
from .ops.elementwise.functions import digamma as digamma
from .ops.elementwise.functions import erf as erf
from .ops.elementwise.functions import erfc as erfc
from .ops.elementwise.functions import erfinv as erfinv
from .ops.elementwise.functions import exp as exp
from .ops.elementwise.functions import exp2 as exp2
from .ops.elementwise.functions import expm1 as expm1
from .ops.elementwise.functions import gammaln as gammaln
from .ops.elementwise.functions import hypot as hypot
from .ops.elementwise.functions import lgamma as lgamma
from .ops.elementwise.functions import log as log
from .ops.elementwise.functions import log1p as log1p
from .ops.elementwise.functions import log2 as log2
from .ops.elementwise.functions import log10 as log10
from .ops.elementwise.functions import logaddexp as logaddexp
from .ops.elementwise.functions import logaddexp2 as logaddexp2
from .ops.elementwise.functions import multigammaln as multigammaln
from .ops.elementwise.functions import rad2deg as rad2deg
from .ops.elementwise.functions import radians as radians
from .ops.elementwise.functions import rsqrt as rsqrt
from .ops.elementwise.functions import sin as sin
from .ops.elementwise.functions import sinh as sinh
from .ops.elementwise.functions import sqrt as sqrt
from .ops.elementwise.functions import tan as tan
from .ops.elementwise.functions import tanh as tanh
from .ops.elementwise.incomplete import betainc as betainc
from .ops.elementwise.incomplete import gammainc as gammainc
from .ops.elementwise.incomplete import gammaincc as gammaincc
from .ops.elementwise.probabilities import entr as entr
from .ops.elementwise.probabilities import expit as expit
from .ops.elementwise.probabilities import log_ndtr as log_ndtr
from .ops.elementwise.probabilities import ndtr as ndtr
from .ops.elementwise.probabilities import ndtri as ndtri
from .ops.elementwise.probabilities import xlog1py as xlog1py
from .ops.elementwise.probabilities import xlogy as xlogy
from .ops.elementwise.rounding import ceil as ceil
from .ops.elementwise.rounding import floor as floor
from .ops.elementwise.rounding import round as round
from .ops.elementwise.rounding import trunc as trunc
from .ops.elementwise.zetas import zeta as zeta
from .ops.index.choices import choose as choose
from .ops.index.choices import extract as extract
from .ops.index.choices import piecewise as piecewise
from .ops.index.choices import select as select
from .ops.index.places import diag_indices_from as diag_indices_from
from .ops.index.places import fill_diagonal as fill_diagonal
from .ops.index.places import ix_ as ix_
from .ops.products.contraction import einsum as einsum
from .ops.products.contraction import einsum_path as einsum_path
from .ops.products.products import dot as dot
from .ops.products.products import inner as inner
from .ops.products.products import kron as kron
from .ops.products.products import matrix_transpose as matrix_transpose
from .ops.products.products import matvec as matvec
from .ops.products.products import multi_dot as multi_dot
from .ops.products.products import outer as outer
from .ops.products.products import vdot as vdot
from .ops.products.products import vecmat as vecmat
from .ops.reduce.segments import segment_logsumexp as segment_logsumexp
from .ops.reduce.segments import segment_max as segment_max
from .ops.reduce.segments import segment_mean as segment_mean
from .ops.reduce.segments import segment_min as segment_min
from .ops.reduce.segments import segment_prod as segment_prod
from .ops.reduce.segments import segment_sum as segment_sum
from .ops.shape.blocks import block as block
from .ops.shape.blocks import block_diag as block_diag
from .ops.shape.blocks import cartesian_prod as cartesian_prod
from .ops.shape.blocks import combinations as combinations
from .ops.shape.blocks import trim_zeros as trim_zeros
from .ops.shape.diagonals import identity as identity
from .ops.shape.diagonals import tri as tri
from .ops.shape.diagonals import tril_indices as tril_indices
from .ops.shape.diagonals import triu_indices as triu_indices
from .ops.shape.padding import Widths as _Widths
from .ops.shape.repeating import repeat_interleave as repeat_interleave
from .ops.shape.shaping import atleast_1d as atleast_1d
from .ops.shape.shaping import atleast_2d as atleast_2d
from .ops.shape.shaping import atleast_3d as atleast_3d
from .ops.shape.shaping import broadcast_arrays as broadcast_arrays
from .ops.shape.shaping import broadcast_shapes as broadcast_shapes
from .ops.shape.shaping import expand_dims as expand_dims
from .ops.shape.shaping import flatten as flatten
from .ops.shape.shaping import fliplr as fliplr
from .ops.shape.shaping import flipud as flipud
from .ops.shape.shaping import permute as permute
from .ops.shape.shaping import permute_dims as permute_dims
from .ops.shape.shaping import ravel as ravel
from .ops.shape.stacking import cat as cat
from .ops.shape.stacking import column_stack as column_stack
from .ops.shape.stacking import concatenate as concatenate
from .ops.shape.stacking import dstack as dstack
from .ops.shape.stacking import hstack as hstack
from .ops.shape.stacking import unbind as unbind
from .ops.shape.stacking import vstack as vstack
from .ops.signal.differences import ediff1d as ediff1d
from .ops.signal.differences import interp as interp
from .ops.signal.filters import convolve as convolve
from .ops.signal.filters import correlate as correlate
from .ops.signal.polynomials import polyadd as polyadd
from .ops.signal.polynomials import polymul as polymul
from .ops.signal.polynomials import polysub as polysub
from .ops.signal.polynomials import polyval as polyval
from .ops.signal.tapers import bartlett as bartlett
from .ops.signal.tapers import blackman as blackman
from .ops.signal.tapers import hamming as hamming
from .ops.signal.tapers import hanning as hanning
from .ops.signal.tapers import kaiser as kaiser
from .ops.sort.distinct import unique as unique
from .ops.sort.distinct import unique_all as unique_all
from .ops.sort.distinct import unique_counts as unique_counts
from .ops.sort.distinct import unique_inverse as unique_inverse
from .ops.sort.distinct import unique_values as unique_values
from .ops.sort.searching import argwhere as argwhere
from .ops.sort.searching import flatnonzero as flatnonzero
from .ops.sort.searching import isin as isin
from .ops.sort.searching import nonzero as nonzero
from .ops.sort.searching import searchsorted as searchsorted
from .ops.sort.sets import intersect1d as intersect1d
from .ops.sort.sets import setdiff1d as setdiff1d
from .ops.sort.sets import setxor1d as setxor1d
from .ops.sort.sets import union1d as union1d
from .ops.sort.sets import unique_consecutive as unique_consecutive
from .ops.sort.sorting import Sorted as _Sorted
from .ops.statistics.grids import histogram2d as histogram2d
from .ops.statistics.grids import histogramdd as histogramdd
from .ops.statistics.histograms import bincount as bincount
from .ops.statistics.histograms import digitize as digitize
from .ops.statistics.histograms import histogram as histogram
from .ops.statistics.histograms import histogram_bin_edges as histogram_bin_edges
from .ops.statistics.statistics import corrcoef as corrcoef
from .random.categories import categorical as _random_categorical
from .random.categories import choice as _random_choice
from .random.categories import choice as choice
from .random.categories import multinomial as _random_multinomial
from .random.categories import multinomial as multinomial
from .random.categories import permutation as _random_permutation
from .random.categories import permutation as permutation
from .random.counts import binomial as _random_binomial
from .random.counts import binomial as binomial
from .random.counts import geometric as _random_geometric
from .random.counts import geometric as geometric
from .random.counts import negative_binomial as _random_negative_binomial
from .random.counts import negative_binomial as negative_binomial
from .random.counts import poisson as _random_poisson
from .random.counts import poisson as poisson
from .random.distributions import cauchy as _random_cauchy
from .random.distributions import cauchy as cauchy
from .random.distributions import exponential as _random_exponential
from .random.distributions import exponential as exponential
from .random.distributions import gumbel as _random_gumbel
from .random.distributions import gumbel as gumbel
from .random.distributions import laplace as _random_laplace
from .random.distributions import laplace as laplace
from .random.distributions import logistic as _random_logistic
from .random.distributions import logistic as logistic
from .random.distributions import lognormal as _random_lognormal
from .random.distributions import lognormal as lognormal
from .random.distributions import pareto as _random_pareto
from .random.distributions import pareto as pareto
from .random.distributions import rayleigh as _random_rayleigh
from .random.distributions import rayleigh as rayleigh
from .random.distributions import triangular as _random_triangular
from .random.distributions import triangular as triangular
from .random.distributions import truncated_normal as _random_truncated_normal
from .random.distributions import truncated_normal as truncated_normal
from .random.distributions import weibull as _random_weibull
from .random.distributions import weibull as weibull
from .random.gammas import beta as _random_beta
from .random.gammas import beta as beta
from .random.gammas import chisquare as _random_chisquare
from .random.gammas import chisquare as chisquare
from .random.gammas import dirichlet as _random_dirichlet
from .random.gammas import dirichlet as dirichlet
from .random.gammas import gamma as _random_gamma
from .random.gammas import gamma as gamma
from .random.gammas import student_t as _random_student_t
from .random.gammas import student_t as student_t
from .random.keys import Key as Key
from .random.keys import Key as _Key
from .random.keys import Key as _random_Key
from .random.sampling import bernoulli as _random_bernoulli
from .random.sampling import bernoulli as bernoulli
from .random.sampling import normal as _random_normal
from .random.sampling import normal as normal
from .random.sampling import rand as _random_rand
from .random.sampling import rand as rand
from .random.sampling import rand_like as _random_rand_like
from .random.sampling import rand_like as rand_like
from .random.sampling import randint as _random_randint
from .random.sampling import randint as randint
from .random.sampling import randn as _random_randn
from .random.sampling import randn as randn
from .random.sampling import randn_like as _random_randn_like
from .random.sampling import randn_like as randn_like
from .random.sampling import random as _random_random
from .random.sampling import uniform as _random_uniform
from .random.sampling import uniform as uniform
from .random.states import get_rng_state as _random_get_rng_state
from .random.states import get_rng_state as get_rng_state
from .random.states import set_rng_state as _random_set_rng_state
from .random.states import set_rng_state as set_rng_state
from .tools.explaining import Explanation as Explanation
from .tools.explaining import KernelExplanation as KernelExplanation
from .tools.explaining import explain as explain
from .tools.info import LastProgram as LastProgram
from .tools.info import last_program as last_program
from .tools.memory import MemoryHolder as MemoryHolder
from .tools.memory import estimate as estimate
from .tools.memory import memory_holders as memory_holders
from .tools.memory import memory_stats as memory_stats
from .tools.memory import memory_summary as memory_summary
from .tools.profiler import KernelProfile as KernelProfile
from .tools.profiler import ProfileReport as ProfileReport
from .tools.profiler import ProgramProfile as ProgramProfile
from .tools.profiler import profile_scope as profile_scope
from .tools.summaries import summary as summary
from .tools.tuning import TunedKernel as TunedKernel
from .tools.tuning import Tuning as Tuning
from .tools.tuning import tune as tune
from .tools.tuning import tuned_schedules as tuned_schedules
from .tracing.functions import jit as jit
from .tracing.reports import jit_info as jit_info
from .trees import tree_leaves as tree_leaves
from .trees import tree_map as tree_map

__all__ = [
    "Complex",
    "ContextFunction",
    "Explanation",
    "Function",
    "KernelExplanation",
    "KernelProfile",
    "Key",
    "LastProgram",
    "MemoryHolder",
    "Module",
    "ProfileReport",
    "ProgramProfile",
    "Sequential",
    "TunedKernel",
    "Tuning",
    "Var",
    "abs",
    "absolute",
    "acos",
    "acosh",
    "add",
    "all",
    "allclose",
    "angle",
    "any",
    "append",
    "arange",
    "arccos",
    "arccosh",
    "arcsin",
    "arcsinh",
    "arctan",
    "arctan2",
    "arctanh",
    "argmax",
    "argmin",
    "argpartition",
    "argsort",
    "argwhere",
    "array",
    "array_equal",
    "array_equiv",
    "array_split",
    "asarray",
    "asin",
    "asinh",
    "associative_scan",
    "astype",
    "atan",
    "atan2",
    "atanh",
    "atleast_1d",
    "atleast_2d",
    "atleast_3d",
    "average",
    "bartlett",
    "bernoulli",
    "beta",
    "betainc",
    "bfloat16",
    "bincount",
    "binomial",
    "bitcast",
    "bitwise_and",
    "bitwise_count",
    "bitwise_invert",
    "bitwise_left_shift",
    "bitwise_not",
    "bitwise_or",
    "bitwise_right_shift",
    "bitwise_xor",
    "blackman",
    "block",
    "block_diag",
    "broadcast",
    "broadcast_arrays",
    "broadcast_shapes",
    "broadcast_to",
    "broadcast_var",
    "can_cast",
    "cartesian_prod",
    "cast",
    "cat",
    "categorical",
    "cauchy",
    "cbrt",
    "cdist",
    "ceil",
    "celu",
    "checkpoint",
    "checkpoint_name",
    "chisquare",
    "choice",
    "choose",
    "clamp",
    "clip",
    "code",
    "column_stack",
    "combinations",
    "complex128",
    "complex64",
    "compress",
    "concat",
    "concatenate",
    "cond",
    "conj",
    "convolve",
    "copysign",
    "corrcoef",
    "correlate",
    "cos",
    "cosh",
    "count_nonzero",
    "cov",
    "cross",
    "cummax",
    "cummin",
    "cumprod",
    "cumsum",
    "cumulative_prod",
    "cumulative_sum",
    "cumulative_trapezoid",
    "custom_jvp",
    "custom_vjp",
    "default_dtype",
    "deg2rad",
    "degrees",
    "delete",
    "device",
    "devices",
    "diag",
    "diag_embed",
    "diag_indices",
    "diag_indices_from",
    "diagflat",
    "diagonal",
    "diff",
    "digamma",
    "digitize",
    "dirichlet",
    "divide",
    "divmod",
    "dot",
    "dsplit",
    "dstack",
    "dtype",
    "dump",
    "ediff1d",
    "einsum",
    "einsum_path",
    "elu",
    "empty",
    "empty_like",
    "enable_grad",
    "entr",
    "equal",
    "erf",
    "erfc",
    "erfinv",
    "estimate",
    "exp",
    "exp2",
    "expand_dims",
    "expit",
    "explain",
    "expm1",
    "exponential",
    "export",
    "extract",
    "eye",
    "fetch",
    "fetch_sync",
    "fill_diagonal",
    "finfo",
    "flag_scope",
    "flags",
    "flatnonzero",
    "flatten",
    "flip",
    "fliplr",
    "flipud",
    "float16",
    "float32",
    "float64",
    "float_power",
    "floor",
    "floor_divide",
    "fma",
    "fmax",
    "fmin",
    "fmod",
    "fori_loop",
    "frexp",
    "from_dlpack",
    "full",
    "full_like",
    "functional_call",
    "gamma",
    "gammainc",
    "gammaincc",
    "gammaln",
    "gather",
    "gcd",
    "gelu",
    "geometric",
    "geomspace",
    "get_default_dtype",
    "get_num_threads",
    "get_rng_state",
    "glu",
    "grad",
    "gradient",
    "greater",
    "greater_equal",
    "gumbel",
    "hamming",
    "hanning",
    "hardshrink",
    "hardsigmoid",
    "hardswish",
    "hardtanh",
    "heaviside",
    "hessian",
    "hessian_vector_product",
    "histogram",
    "histogram2d",
    "histogram_bin_edges",
    "histogramdd",
    "host_call",
    "hsplit",
    "hstack",
    "hypot",
    "i0",
    "i0e",
    "i1",
    "i1e",
    "identity",
    "iinfo",
    "imag",
    "indices",
    "inner",
    "insert",
    "int16",
    "int32",
    "int64",
    "int8",
    "interp",
    "intersect1d",
    "invert",
    "iota",
    "is_grad_enabled",
    "isclose",
    "iscomplex",
    "iscomplexobj",
    "isdtype",
    "isfinite",
    "isin",
    "isinf",
    "isnan",
    "isneginf",
    "isposinf",
    "isreal",
    "isrealobj",
    "ix_",
    "jacobian",
    "jit",
    "jit_info",
    "jvp",
    "kaiser",
    "kron",
    "kthvalue",
    "laplace",
    "last_program",
    "lcm",
    "ldexp",
    "leaky_relu",
    "left_shift",
    "lerp",
    "less",
    "less_equal",
    "lexsort",
    "lgamma",
    "linear_recurrence",
    "linearize",
    "linspace",
    "load",
    "load_program",
    "load_routines",
    "log",
    "log10",
    "log1p",
    "log2",
    "log_ndtr",
    "log_sigmoid",
    "log_softmax",
    "logaddexp",
    "logaddexp2",
    "logcumsumexp",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "logistic",
    "logit",
    "lognormal",
    "logspace",
    "logsumexp",
    "map",
    "matmul",
    "matrix_norm",
    "matrix_power",
    "matrix_transpose",
    "matvec",
    "max",
    "maximum",
    "mean",
    "median",
    "memory_holders",
    "memory_stats",
    "memory_summary",
    "meshgrid",
    "min",
    "minimum",
    "mish",
    "mod",
    "mode",
    "modf",
    "moveaxis",
    "multi_dot",
    "multigammaln",
    "multinomial",
    "multiply",
    "nan_to_num",
    "nanargmax",
    "nanargmin",
    "nancumprod",
    "nancumsum",
    "nanmax",
    "nanmean",
    "nanmedian",
    "nanmin",
    "nanpercentile",
    "nanprod",
    "nanquantile",
    "nanstd",
    "nansum",
    "nanvar",
    "ndtr",
    "ndtri",
    "negative",
    "negative_binomial",
    "nextafter",
    "nn",
    "no_grad",
    "nonzero",
    "norm",
    "normal",
    "not_equal",
    "one_hot",
    "ones",
    "ones_like",
    "optim",
    "outer",
    "packbits",
    "pad",
    "pareto",
    "partition",
    "pdist",
    "percentile",
    "permutation",
    "permute",
    "permute_dims",
    "piecewise",
    "poisson",
    "polar",
    "polyadd",
    "polyder",
    "polygamma",
    "polyint",
    "polymul",
    "polysub",
    "polyval",
    "positive",
    "pow",
    "prelu",
    "prod",
    "profile_scope",
    "ptp",
    "put_along_axis",
    "quantile",
    "rad2deg",
    "radians",
    "rand",
    "rand_like",
    "randint",
    "randn",
    "randn_like",
    "random",
    "ravel",
    "ravel_multi_index",
    "rayleigh",
    "real",
    "reciprocal",
    "reindex",
    "reindex_reduce",
    "relu",
    "relu6",
    "remainder",
    "renorm",
    "repeat",
    "repeat_interleave",
    "reset_peak",
    "reshape",
    "resize",
    "result_type",
    "right_shift",
    "roll",
    "rot90",
    "round",
    "routine",
    "rsqrt",
    "save",
    "scan",
    "scatter_add",
    "searchsorted",
    "seed",
    "segment_logsumexp",
    "segment_max",
    "segment_mean",
    "segment_min",
    "segment_prod",
    "segment_sum",
    "select",
    "selu",
    "set_default_dtype",
    "set_num_threads",
    "set_rng_state",
    "setdiff1d",
    "setxor1d",
    "sigmoid",
    "sign",
    "signbit",
    "silu",
    "sin",
    "sinc",
    "sinh",
    "sliding_window_view",
    "softmax",
    "softmin",
    "softplus",
    "softshrink",
    "softsign",
    "sort",
    "split",
    "sqrt",
    "square",
    "squeeze",
    "stack",
    "stats",
    "std",
    "stop_fuse",
    "stop_grad",
    "student_t",
    "subtract",
    "sum",
    "summary",
    "swapaxes",
    "switch",
    "sync",
    "sync_all",
    "take",
    "take_along_axis",
    "tan",
    "tanh",
    "tanhshrink",
    "tensor",
    "tensordot",
    "threshold",
    "tile",
    "topk",
    "trace",
    "transpose",
    "trapezoid",
    "tree_leaves",
    "tree_map",
    "tri",
    "triangular",
    "tril",
    "tril_indices",
    "tril_indices_from",
    "trim_zeros",
    "triu",
    "triu_indices",
    "triu_indices_from",
    "true_divide",
    "trunc",
    "truncated_normal",
    "tune",
    "tuned_schedules",
    "uint16",
    "uint32",
    "uint64",
    "uint8",
    "unbind",
    "unflatten",
    "uniform",
    "union1d",
    "unique",
    "unique_all",
    "unique_consecutive",
    "unique_counts",
    "unique_inverse",
    "unique_values",
    "unpackbits",
    "unravel_index",
    "unsqueeze",
    "unstack",
    "unwrap",
    "vander",
    "var",
    "vdot",
    "vecdot",
    "vecmat",
    "view_as_complex",
    "view_as_real",
    "vjp",
    "vmap",
    "vsplit",
    "vstack",
    "weibull",
    "where",
    "while_loop",
    "xlog1py",
    "xlogy",
    "zeros",
    "zeros_like",
    "zeta",
]
__version__: str

class _Random:
    """The package `metaops.random`, which is a function, too."""

    Key = _random_Key
    __call__ = staticmethod(_random_random)
    bernoulli = staticmethod(_random_bernoulli)
    beta = staticmethod(_random_beta)
    binomial = staticmethod(_random_binomial)
    categorical = staticmethod(_random_categorical)
    cauchy = staticmethod(_random_cauchy)
    chisquare = staticmethod(_random_chisquare)
    choice = staticmethod(_random_choice)
    dirichlet = staticmethod(_random_dirichlet)
    exponential = staticmethod(_random_exponential)
    gamma = staticmethod(_random_gamma)
    geometric = staticmethod(_random_geometric)
    get_rng_state = staticmethod(_random_get_rng_state)
    gumbel = staticmethod(_random_gumbel)
    laplace = staticmethod(_random_laplace)
    logistic = staticmethod(_random_logistic)
    lognormal = staticmethod(_random_lognormal)
    multinomial = staticmethod(_random_multinomial)
    negative_binomial = staticmethod(_random_negative_binomial)
    normal = staticmethod(_random_normal)
    pareto = staticmethod(_random_pareto)
    permutation = staticmethod(_random_permutation)
    poisson = staticmethod(_random_poisson)
    rand = staticmethod(_random_rand)
    rand_like = staticmethod(_random_rand_like)
    randint = staticmethod(_random_randint)
    randn = staticmethod(_random_randn)
    randn_like = staticmethod(_random_randn_like)
    random = staticmethod(_random_random)
    rayleigh = staticmethod(_random_rayleigh)
    set_rng_state = staticmethod(_random_set_rng_state)
    student_t = staticmethod(_random_student_t)
    triangular = staticmethod(_random_triangular)
    truncated_normal = staticmethod(_random_truncated_normal)
    uniform = staticmethod(_random_uniform)
    weibull = staticmethod(_random_weibull)

random: _Random

@_overload
def broadcast(
    x: _core_VarLike,
    shape: _Sequence[int],
    dims: _Sequence[int] = (),
    *,
    axis: _Sequence[int] = ...,
    dim: _Sequence[int] = ...,
) -> _Var: ...
@_overload
def broadcast(
    x: _core_VarLike,
    *,
    shape: _Sequence[int] = ...,
    size: _Sequence[int] = ...,
    dims: _Sequence[int] = (),
    axis: _Sequence[int] = ...,
    dim: _Sequence[int] = ...,
) -> _Var: ...
def broadcast_var(
    x: _core_VarLike,
    other: _Var,
    dims: _Sequence[int] = (),
    *,
    axis: _Sequence[int] = ...,
    dim: _Sequence[int] = ...,
) -> _Var: ...
@_overload
def iota(shape: _Sequence[int], dim: int, dtype: _core_DTypeLike = "int64") -> _Var: ...
@_overload
def iota(
    shape: _Sequence[int],
    *,
    dim: int = ...,
    axis: int = ...,
    dims: int = ...,
    dtype: _core_DTypeLike = "int64",
) -> _Var: ...
@_overload
def iota(
    *,
    shape: _Sequence[int] = ...,
    size: _Sequence[int] = ...,
    dim: int = ...,
    axis: int = ...,
    dims: int = ...,
    dtype: _core_DTypeLike = "int64",
) -> _Var: ...
@_overload
def reindex(
    x: _core_VarLike,
    shape: _Sequence[int],
    indexes: _Sequence[str],
    overflow_value: float = 0,
    overflow_conditions: _Sequence[str] = (),
    *,
    extras: _Sequence[_Var] = (),
) -> _Var: ...
@_overload
def reindex(
    x: _core_VarLike,
    shape: _Sequence[int],
    *,
    indexes: _Sequence[str] = ...,
    indices: _Sequence[str] = ...,
    overflow_value: float = 0,
    overflow_conditions: _Sequence[str] = (),
    extras: _Sequence[_Var] = (),
) -> _Var: ...
@_overload
def reindex(
    x: _core_VarLike,
    *,
    shape: _Sequence[int] = ...,
    size: _Sequence[int] = ...,
    indexes: _Sequence[str] = ...,
    indices: _Sequence[str] = ...,
    overflow_value: float = 0,
    overflow_conditions: _Sequence[str] = (),
    extras: _Sequence[_Var] = (),
) -> _Var: ...
@_overload
def reindex_reduce(
    x: _core_VarLike,
    op: str,
    shape: _Sequence[int],
    indexes: _Sequence[str],
    overflow_conditions: _Sequence[str] = (),
    *,
    extras: _Sequence[_Var] = (),
) -> _Var: ...
@_overload
def reindex_reduce(
    x: _core_VarLike,
    op: str,
    shape: _Sequence[int],
    *,
    indexes: _Sequence[str] = ...,
    indices: _Sequence[str] = ...,
    overflow_conditions: _Sequence[str] = (),
    extras: _Sequence[_Var] = (),
) -> _Var: ...
@_overload
def reindex_reduce(
    x: _core_VarLike,
    op: str,
    *,
    shape: _Sequence[int] = ...,
    size: _Sequence[int] = ...,
    indexes: _Sequence[str] = ...,
    indices: _Sequence[str] = ...,
    overflow_conditions: _Sequence[str] = (),
    extras: _Sequence[_Var] = (),
) -> _Var: ...
@_overload
def seed(n: int) -> None: ...
@_overload
def seed(*, n: int = ..., N: int = ...) -> None: ...
@_overload
def set_num_threads(n: int) -> None: ...
@_overload
def set_num_threads(*, n: int = ..., N: int = ...) -> None: ...
def routine(
    name: str,
    shapes: _Sequence[_Any],
    dtypes: _DType | _Sequence[_DType],
    *args: _VarLike,
    parameters: _Mapping[str, _Any] | None = None,
    roles: _Sequence[str] = (),
    over: _Sequence[int] = (),
    batched: _builtins.bool = False,
    total: _builtins.bool = False,
    params: _Mapping[str, _Any] | None = ...,
) -> _Any:
    """Return what a routine of a library computes, as a step of a program."""

@_overload
def hessian_vector_product(
    loss: _Var, inputs: _Sequence[_Var], vectors: _Sequence[_Var]
) -> list[_Var]:
    """Return the Hessian of a loss by the inputs, times vectors."""

@_overload
def hessian_vector_product(
    *, loss: _Var = ..., outputs: _Var = ..., inputs: _Sequence[_Var], vectors: _Sequence[_Var]
) -> list[_Var]: ...
@_overload
def save(value: _Any, path: _Path, *, wait: _builtins.bool = True) -> _Saving:
    """Write a value to a file, from which `load` returns its like."""

@_overload
def save(
    *,
    value: _Any = ...,
    constant_values: _Any = ...,
    end_values: _Any = ...,
    fill_value: _Any = ...,
    path: _Path,
    wait: _builtins.bool = True,
) -> _Saving: ...
def arange(
    start: float,
    stop: float | None = None,
    step: float = 1,
    dtype: _DType | None = None,
    *,
    device: str | None = None,
    end: float | None = ...,
) -> _Var:
    """Return evenly spaced numbers ``start, start + step, ...`` before `stop`."""

@_overload
def full(
    shape: _Shape | int, value: _VarLike, dtype: _DType | None = None, *, device: str | None = None
) -> _Var:
    """Return a tensor of a shape filled with a number."""

@_overload
def full(
    shape: _Shape | int,
    *,
    value: _VarLike = ...,
    constant_values: _VarLike = ...,
    end_values: _VarLike = ...,
    fill_value: _VarLike = ...,
    dtype: _DType | None = None,
    device: str | None = None,
) -> _Var: ...
@_overload
def full(
    *,
    shape: _Shape | int = ...,
    size: _Shape | int = ...,
    value: _VarLike = ...,
    constant_values: _VarLike = ...,
    end_values: _VarLike = ...,
    fill_value: _VarLike = ...,
    dtype: _DType | None = None,
    device: str | None = None,
) -> _Var: ...
@_overload
def full_like(
    x: _VarLike, value: float, dtype: _DType | None = None, *, device: str | None = None
) -> _Var:
    """Return a tensor of x's shape, and dtype if none is given, filled with `value`."""

@_overload
def full_like(
    x: _VarLike,
    *,
    value: float = ...,
    constant_values: float = ...,
    end_values: float = ...,
    fill_value: float = ...,
    dtype: _DType | None = None,
    device: str | None = None,
) -> _Var: ...
@_overload
def linspace(
    start: float,
    stop: float,
    num: int = 50,
    dtype: _DType | None = None,
    *,
    endpoint: _builtins.bool = True,
    device: str | None = None,
    steps: int = ...,
) -> _Var:
    """Return `num` evenly spaced numbers from `start` to `stop`, of `default_dtype`."""

@_overload
def linspace(
    start: float,
    *,
    stop: float = ...,
    end: float = ...,
    num: int = 50,
    dtype: _DType | None = None,
    endpoint: _builtins.bool = True,
    device: str | None = None,
    steps: int = ...,
) -> _Var: ...
def vander(
    x: _VarLike, n: int | None = None, increasing: _builtins.bool = False, *, N: int | None = ...
) -> _Var:
    """Return the Vandermonde matrix, whose columns are powers of a vector."""

def glu(x: _VarLike, dim: int = -1, *, axis: int = ..., dims: int = ...) -> _Var:
    """Return the first half along a dimension times the `sigmoid` of the second."""

def leaky_relu(x: _VarLike, slope: float = 0.01, *, negative_slope: float = ...) -> _Var:
    """Return x where it is positive, else ``slope * x``."""

def log_softmax(x: _VarLike, dim: int = -1, *, axis: int = ..., dims: int = ...) -> _Var:
    """Return the logarithm of ``softmax(x, dim)``; NaN where x has NaN or infinity."""

def softmax(x: _VarLike, dim: int = -1, *, axis: int = ..., dims: int = ...) -> _Var:
    """Return ``exp(x) / sum(exp(x))`` along a dimension, computed without overflow."""

def softmin(x: _VarLike, dim: int = -1, *, axis: int = ..., dims: int = ...) -> _Var:
    """Return ``softmax(-x)`` along a dimension."""

@_overload
def threshold(x: _VarLike, threshold: float, value: float) -> _Var:
    """Return x where it is above the threshold, else `value`."""

@_overload
def threshold(
    x: _VarLike,
    threshold: float,
    *,
    value: float = ...,
    constant_values: float = ...,
    end_values: float = ...,
    fill_value: float = ...,
) -> _Var: ...
def clip(
    x: _VarLike,
    low: _VarLike | None = None,
    high: _VarLike | None = None,
    *,
    out: None = None,
    a_min: _VarLike | None = ...,
    min: _VarLike | None = ...,
    a_max: _VarLike | None = ...,
    max: _VarLike | None = ...,
) -> _Var:
    """Return x moved into ``[low, high]``; a bound that is None does nothing."""

@_overload
def ldexp(x: _VarLike, exponent: _VarLike) -> _Var:
    """Return ``x * 2**exponent``, rounded once, a float; integers give float32."""

@_overload
def ldexp(x: _VarLike, *, exponent: _VarLike = ..., n: _VarLike = ...) -> _Var: ...
def logit(x: _VarLike, eps: float | None = None, *, epsilon: float | None = ...) -> _Var:
    """Return ``log(x / (1 - x))``, of which `sigmoid` is the inverse."""

@_overload
def polygamma(n: _VarLike, x: _VarLike) -> _Var:
    """Return the derivative number n of `digamma`."""

@_overload
def polygamma(*, n: _VarLike = ..., N: _VarLike = ..., x: _VarLike) -> _Var: ...
def packbits(
    x: _VarLike,
    dim: int | None = None,
    bitorder: str = "big",
    *,
    axis: int | None = ...,
    dims: int | None = ...,
) -> _Var:
    """Return the elements along a dimension as the bits of bytes."""

def unpackbits(
    x: _VarLike,
    dim: int | None = None,
    count: int | None = None,
    bitorder: str = "big",
    *,
    axis: int | None = ...,
    dims: int | None = ...,
) -> _Var:
    """Return the bits of bytes, as 0 and 1, along a dimension."""

def compress(
    condition: _VarLike,
    x: _VarLike,
    dim: int | None = None,
    *,
    axis: int | None = ...,
    dims: int | None = ...,
) -> _Var:
    """Return the slices of x along a dimension for which a condition holds."""

@_overload
def gather(x: _VarLike, dim: int, index: _VarLike) -> _Var:
    """Return ``result[i, j, k] = x[i, index[i, j, k], k]`` for ``dim=1``."""

@_overload
def gather(x: _VarLike, dim: int, *, index: _VarLike = ..., indices: _VarLike = ...) -> _Var: ...
@_overload
def gather(
    x: _VarLike,
    *,
    dim: int = ...,
    axis: int = ...,
    dims: int = ...,
    index: _VarLike = ...,
    indices: _VarLike = ...,
) -> _Var: ...
@_overload
def put_along_axis(
    x: _VarLike,
    indices: _VarLike,
    values: _VarLike,
    dim: int | None = -1,
    *,
    axis: int | None = ...,
    dims: int | None = ...,
) -> _Var:
    """Return x with ``values[i, j, k]`` at ``[i, indices[i, j, k], k]`` for ``dim=1``."""

@_overload
def put_along_axis(
    x: _VarLike,
    *,
    indices: _VarLike = ...,
    index: _VarLike = ...,
    values: _VarLike,
    dim: int | None = -1,
    axis: int | None = ...,
    dims: int | None = ...,
) -> _Var: ...
@_overload
def scatter_add(x: _VarLike, dim: int, index: _VarLike, src: _VarLike) -> _Var:
    """Return x with ``src[i, j, k]`` added at ``[i, index[i, j, k], k]`` for ``dim=1``."""

@_overload
def scatter_add(
    x: _VarLike, dim: int, *, index: _VarLike = ..., indices: _VarLike = ..., src: _VarLike
) -> _Var: ...
@_overload
def scatter_add(
    x: _VarLike,
    *,
    dim: int = ...,
    axis: int = ...,
    dims: int = ...,
    index: _VarLike = ...,
    indices: _VarLike = ...,
    src: _VarLike,
) -> _Var: ...
@_overload
def take(
    x: _VarLike,
    indices: _VarLike,
    dim: int | None = None,
    mode: str = "raise",
    *,
    out: None = None,
    axis: int | None = ...,
    dims: int | None = ...,
) -> _Var:
    """Return elements of x along a dimension, as ``numpy.take``."""

@_overload
def take(
    x: _VarLike,
    *,
    indices: _VarLike = ...,
    index: _VarLike = ...,
    dim: int | None = None,
    mode: str = "raise",
    out: None = None,
    axis: int | None = ...,
    dims: int | None = ...,
) -> _Var: ...
@_overload
def take_along_axis(
    x: _VarLike,
    indices: _VarLike,
    dim: int | None = -1,
    *,
    axis: int | None = ...,
    dims: int | None = ...,
) -> _Var:
    """Return ``result[i, j, k] = x[i, indices[i, j, k], k]`` for ``dim=1``."""

@_overload
def take_along_axis(
    x: _VarLike,
    *,
    indices: _VarLike = ...,
    index: _VarLike = ...,
    dim: int | None = -1,
    axis: int | None = ...,
    dims: int | None = ...,
) -> _Var: ...
@_overload
def diag_indices(n: int, ndim: int = 2) -> tuple[_Var, ...]:
    """Return the indices of the main diagonal, by each of `ndim` dimensions of extent n."""

@_overload
def diag_indices(*, n: int = ..., N: int = ..., ndim: int = 2) -> tuple[_Var, ...]: ...
@_overload
def ravel_multi_index(
    indices: _Sequence[_VarLike], shape: _Sequence[int], mode: str = "raise"
) -> _Var:
    """Return the flat index for one by each dimension, in row-major order."""

@_overload
def ravel_multi_index(
    indices: _Sequence[_VarLike],
    *,
    shape: _Sequence[int] = ...,
    size: _Sequence[int] = ...,
    mode: str = "raise",
) -> _Var: ...
@_overload
def ravel_multi_index(
    *,
    indices: _Sequence[_VarLike] = ...,
    index: _Sequence[_VarLike] = ...,
    shape: _Sequence[int] = ...,
    size: _Sequence[int] = ...,
    mode: str = "raise",
) -> _Var: ...
def tril_indices_from(
    x: _VarLike, offset: int = 0, *, diagonal: int = ..., k: int = ...
) -> list[_Var]:
    """Return rows and columns of the lower triangle of a matrix, see `tril_indices`."""

def triu_indices_from(
    x: _VarLike, offset: int = 0, *, diagonal: int = ..., k: int = ...
) -> list[_Var]:
    """Return rows and columns of the upper triangle of a matrix, see `triu_indices`."""

@_overload
def unravel_index(indices: _VarLike, shape: _Sequence[int]) -> tuple[_Var, ...]:
    """Return the index by each dimension for flat ones, in row-major order."""

@_overload
def unravel_index(
    indices: _VarLike, *, shape: _Sequence[int] = ..., size: _Sequence[int] = ...
) -> tuple[_Var, ...]: ...
@_overload
def unravel_index(
    *,
    indices: _VarLike = ...,
    index: _VarLike = ...,
    shape: _Sequence[int] = ...,
    size: _Sequence[int] = ...,
) -> tuple[_Var, ...]: ...
def cdist(
    x: _VarLike, y: _VarLike, order: float = 2.0, *, ord: float = ..., p: float = ...
) -> _Var:
    """Return the distance of each row of x from each row of y."""

def pdist(x: _VarLike, order: float = 2.0, *, ord: float = ..., p: float = ...) -> _Var:
    """Return the distance of each row of a matrix from each row after it."""

@_overload
def renorm(x: _VarLike, order: float, dim: int, maxnorm: float) -> _Var:
    """Return x with slices whose norm is too large scaled to have that norm."""

@_overload
def renorm(
    x: _VarLike, order: float, *, dim: int = ..., axis: int = ..., dims: int = ..., maxnorm: float
) -> _Var: ...
@_overload
def renorm(
    x: _VarLike,
    *,
    order: float = ...,
    ord: float = ...,
    p: float = ...,
    dim: int = ...,
    axis: int = ...,
    dims: int = ...,
    maxnorm: float,
) -> _Var: ...
def cross(a: _VarLike, b: _VarLike, dim: int = -1, *, axis: int = ..., dims: int = ...) -> _Var:
    """Return the cross product of vectors of three numbers."""

@_overload
def matrix_power(x: _VarLike, exponent: int) -> _Var:
    """Return square matrices multiplied with themselves, by repeated squaring."""

@_overload
def matrix_power(x: _VarLike, *, exponent: int = ..., n: int = ...) -> _Var: ...
def tensordot(
    a: _VarLike,
    b: _VarLike,
    axes: int | tuple[int | _Sequence[int], int | _Sequence[int]] = 2,
    *,
    dim: int | tuple[int | _Sequence[int], int | _Sequence[int]] = ...,
    dims: int | tuple[int | _Sequence[int], int | _Sequence[int]] = ...,
) -> _Var:
    """Return sums of products over pairs of dimensions, as ``numpy.tensordot``."""

def vecdot(a: _VarLike, b: _VarLike, dim: int = -1, *, axis: int = ..., dims: int = ...) -> _Var:
    """Return the sums of products along one dimension of tensors that broadcast."""

def associative_scan(
    function: _Callable[[_Any, _Any], _Any],
    elements: _VarLike | _Sequence[_VarLike],
    dim: int = 0,
    *,
    reverse: _builtins.bool = False,
    axis: int = ...,
    dims: int = ...,
) -> _Any:
    """Return the elements up to each one, combined by an associative function."""

def cummax(
    x: _VarLike,
    dim: int | None = None,
    *,
    reverse: _builtins.bool = False,
    exclusive: _builtins.bool = False,
    axis: int | None = ...,
    dims: int | None = ...,
) -> _Var:
    """Return the largest of the elements up to each one; NaN from the first NaN on."""

def cummin(
    x: _VarLike,
    dim: int | None = None,
    *,
    reverse: _builtins.bool = False,
    exclusive: _builtins.bool = False,
    axis: int | None = ...,
    dims: int | None = ...,
) -> _Var:
    """Return the smallest of the elements up to each one; see `cummax`."""

def cumprod(
    x: _VarLike,
    dim: int | None = None,
    dtype: _DType | None = None,
    out: None = None,
    *,
    reverse: _builtins.bool = False,
    exclusive: _builtins.bool = False,
    axis: int | None = ...,
    dims: int | None = ...,
) -> _Var:
    """Return the products of the elements up to each one; see `cumsum`."""

def cumsum(
    x: _VarLike,
    dim: int | None = None,
    dtype: _DType | None = None,
    out: None = None,
    *,
    reverse: _builtins.bool = False,
    exclusive: _builtins.bool = False,
    axis: int | None = ...,
    dims: int | None = ...,
) -> _Var:
    """Return the sums of the elements up to each one."""

def cumulative_prod(
    x: _VarLike,
    dim: int | None = None,
    *,
    dtype: _DType | None = None,
    include_initial: _builtins.bool = False,
    axis: int | None = ...,
    dims: int | None = ...,
) -> _Var:
    """Return `cumprod` as the array API has it; see `cumulative_sum`."""

def cumulative_sum(
    x: _VarLike,
    dim: int | None = None,
    *,
    dtype: _DType | None = None,
    include_initial: _builtins.bool = False,
    axis: int | None = ...,
    dims: int | None = ...,
) -> _Var:
    """Return `cumsum` as the array API has it."""

def linear_recurrence(
    factors: _VarLike,
    x: _VarLike,
    dim: int = -1,
    *,
    reverse: _builtins.bool = False,
    exclusive: _builtins.bool = False,
    axis: int = ...,
    dims: int = ...,
) -> _Var:
    """Return h with ``h[k] = factors[k] * h[k - 1] + x[k]`` along a dimension."""

def logcumsumexp(
    x: _VarLike,
    dim: int | None = None,
    *,
    reverse: _builtins.bool = False,
    exclusive: _builtins.bool = False,
    axis: int | None = ...,
    dims: int | None = ...,
) -> _Var:
    """Return the logarithms of the sums of ``exp(x)`` up to each element."""

def nanargmax(
    x: _VarLike,
    dim: int | None = None,
    keepdims: _builtins.bool = False,
    *,
    axis: int | None = ...,
    dims: int | None = ...,
    keepdim: _builtins.bool = ...,
) -> _Var:
    """Return the place of the largest element that is not NaN, -1 where there is none."""

def nanargmin(
    x: _VarLike,
    dim: int | None = None,
    keepdims: _builtins.bool = False,
    *,
    axis: int | None = ...,
    dims: int | None = ...,
    keepdim: _builtins.bool = ...,
) -> _Var:
    """Return the place of the smallest element that is not NaN, -1 where there is none."""

def nancumprod(
    x: _VarLike,
    dim: int | None = None,
    dtype: _DType | None = None,
    *,
    axis: int | None = ...,
    dims: int | None = ...,
) -> _Var:
    """Return the products of `metaops.cumprod` with 1 for NaN."""

def nancumsum(
    x: _VarLike,
    dim: int | None = None,
    dtype: _DType | None = None,
    *,
    axis: int | None = ...,
    dims: int | None = ...,
) -> _Var:
    """Return the sums of `metaops.cumsum` with 0 for NaN."""

def nanmedian(
    x: _VarLike,
    dim: _Axes = None,
    keepdims: _builtins.bool = False,
    *,
    axis: _Axes = ...,
    dims: _Axes = ...,
    keepdim: _builtins.bool = ...,
) -> _Var:
    """Return the element in the middle of what is not NaN, or the mean of both."""

def nanpercentile(
    x: _VarLike,
    q: _VarLike,
    dim: _Axes = None,
    keepdims: _builtins.bool = False,
    method: str = "linear",
    *,
    axis: _Axes = ...,
    dims: _Axes = ...,
    keepdim: _builtins.bool = ...,
) -> _Var:
    """Return the `nanquantile` for q / 100."""

def nanquantile(
    x: _VarLike,
    q: _VarLike,
    dim: _Axes = None,
    keepdims: _builtins.bool = False,
    method: str = "linear",
    *,
    axis: _Axes = ...,
    dims: _Axes = ...,
    keepdim: _builtins.bool = ...,
) -> _Var:
    """Return the `metaops.quantile` of what is not NaN; NaN where there is nothing."""

def matrix_norm(
    x: _VarLike,
    order: str | float = "fro",
    keepdims: _builtins.bool = False,
    *,
    ord: str | float = ...,
    p: str | float = ...,
    keepdim: _builtins.bool = ...,
) -> _Var:
    """Return a norm of matrices, a float. For vectors there is `metaops.norm`."""

def norm(
    x: _VarLike,
    order: float = 2,
    dim: _Axes = None,
    keepdims: _builtins.bool = False,
    *,
    ord: float = ...,
    p: float = ...,
    axis: _Axes = ...,
    dims: _Axes = ...,
    keepdim: _builtins.bool = ...,
) -> _Var:
    """Return the vector norm of the elements along the dimensions, a float."""

def all(
    x: _VarLike,
    dim: _Axes = None,
    keepdims: _builtins.bool = False,
    *,
    where: _VarLike | None = None,
    out: None = None,
    axis: _Axes = ...,
    dims: _Axes = ...,
    keepdim: _builtins.bool = ...,
) -> _Var:
    """Return a boolean: no element is zero."""

def any(
    x: _VarLike,
    dim: _Axes = None,
    keepdims: _builtins.bool = False,
    *,
    where: _VarLike | None = None,
    out: None = None,
    axis: _Axes = ...,
    dims: _Axes = ...,
    keepdim: _builtins.bool = ...,
) -> _Var:
    """Return a boolean: some element is not zero."""

def argmax(
    x: _VarLike,
    dim: int | None = None,
    keepdims: _builtins.bool = False,
    *,
    out: None = None,
    axis: int | None = ...,
    dims: int | None = ...,
    keepdim: _builtins.bool = ...,
) -> _Var:
    """Return the place of the largest element along a dimension, int64."""

def argmin(
    x: _VarLike,
    dim: int | None = None,
    keepdims: _builtins.bool = False,
    *,
    out: None = None,
    axis: int | None = ...,
    dims: int | None = ...,
    keepdim: _builtins.bool = ...,
) -> _Var:
    """Return the place of the smallest element along a dimension, int64."""

def count_nonzero(
    x: _VarLike,
    dim: _Axes = None,
    keepdims: _builtins.bool = False,
    *,
    axis: _Axes = ...,
    dims: _Axes = ...,
    keepdim: _builtins.bool = ...,
) -> _Var:
    """Return how many elements are not zero, int64; NaN is not."""

def logsumexp(
    x: _VarLike,
    dim: _Axes = None,
    keepdims: _builtins.bool = False,
    *,
    weights: _VarLike | None = None,
    axis: _Axes = ...,
    dims: _Axes = ...,
    keepdim: _builtins.bool = ...,
) -> _Var:
    """Return ``log(sum(weights * exp(x)))``, computed without overflow."""

def max(
    x: _VarLike,
    dim: _Axes = None,
    keepdims: _builtins.bool = False,
    *,
    initial: _VarLike | None = None,
    where: _VarLike | None = None,
    out: None = None,
    axis: _Axes = ...,
    dims: _Axes = ...,
    keepdim: _builtins.bool = ...,
) -> _Var:
    """Return the largest element; -inf or the dtype's lowest over nothing."""

def mean(
    x: _VarLike,
    dim: _Axes = None,
    keepdims: _builtins.bool = False,
    *,
    dtype: _DType | None = None,
    where: _VarLike | None = None,
    out: None = None,
    axis: _Axes = ...,
    dims: _Axes = ...,
    keepdim: _builtins.bool = ...,
) -> _Var:
    """Return the arithmetic mean, a float; NaN over nothing."""

def min(
    x: _VarLike,
    dim: _Axes = None,
    keepdims: _builtins.bool = False,
    *,
    initial: _VarLike | None = None,
    where: _VarLike | None = None,
    out: None = None,
    axis: _Axes = ...,
    dims: _Axes = ...,
    keepdim: _builtins.bool = ...,
) -> _Var:
    """Return the smallest element; inf or the dtype's highest over nothing."""

def prod(
    x: _VarLike,
    dim: _Axes = None,
    keepdims: _builtins.bool = False,
    *,
    dtype: _DType | None = None,
    initial: _VarLike | None = None,
    where: _VarLike | None = None,
    out: None = None,
    axis: _Axes = ...,
    dims: _Axes = ...,
    keepdim: _builtins.bool = ...,
) -> _Var:
    """Return the product; 1 over nothing."""

def ptp(
    x: _VarLike,
    dim: _Axes = None,
    keepdims: _builtins.bool = False,
    *,
    axis: _Axes = ...,
    dims: _Axes = ...,
    keepdim: _builtins.bool = ...,
) -> _Var:
    """Return the largest element less the smallest."""

def std(
    x: _VarLike,
    dim: _Axes = None,
    keepdims: _builtins.bool = False,
    *,
    correction: float = 0,
    dtype: _DType | None = None,
    where: _VarLike | None = None,
    out: None = None,
    axis: _Axes = ...,
    dims: _Axes = ...,
    keepdim: _builtins.bool = ...,
    ddof: float = ...,
    unbiased: float = ...,
) -> _Var:
    """Return the standard deviation, the square root of `var`."""

def sum(
    x: _VarLike,
    dim: _Axes = None,
    keepdims: _builtins.bool = False,
    *,
    dtype: _DType | None = None,
    initial: _VarLike | None = None,
    where: _VarLike | None = None,
    out: None = None,
    axis: _Axes = ...,
    dims: _Axes = ...,
    keepdim: _builtins.bool = ...,
) -> _Var:
    """Return the sum; 0 over nothing."""

def var(
    x: _VarLike,
    dim: _Axes = None,
    keepdims: _builtins.bool = False,
    *,
    correction: float = 0,
    dtype: _DType | None = None,
    where: _VarLike | None = None,
    out: None = None,
    axis: _Axes = ...,
    dims: _Axes = ...,
    keepdim: _builtins.bool = ...,
    ddof: float = ...,
    unbiased: float = ...,
) -> _Var:
    """Return the variance: the mean square of what differs from the mean."""

def cumulative_trapezoid(
    y: _VarLike,
    x: _VarLike | None = None,
    dx: float = 1.0,
    dim: int = -1,
    *,
    axis: int = ...,
    dims: int = ...,
) -> _Var:
    """Return the areas under samples of a function up to each but the first."""

def unwrap(
    x: _VarLike,
    discont: float | None = None,
    dim: int = -1,
    *,
    period: float = ...,
    axis: int = ...,
    dims: int = ...,
) -> _Var:
    """Return x with multiples of a period added, so that it has no jumps."""

def diag_embed(
    x: _VarLike,
    offset: int = 0,
    dim1: int = -2,
    dim2: int = -1,
    *,
    diagonal: int = ...,
    k: int = ...,
    axis1: int = ...,
    axis2: int = ...,
) -> _Var:
    """Return matrices with x's last dimension on their diagonals, else 0."""

@_overload
def resize(x: _VarLike, shape: _Shape) -> _Var:
    """Return x's elements, repeated as often as needed, in row-major order under a shape."""

@_overload
def resize(x: _VarLike, *, shape: _Shape = ..., size: _Shape = ...) -> _Var: ...
@_overload
def unflatten(x: _VarLike, dim: int, sizes: _Sequence[int]) -> _Var:
    """Return x with one dimension made several; one of their extents may be -1."""

@_overload
def unflatten(
    x: _VarLike, *, dim: int = ..., axis: int = ..., dims: int = ..., sizes: _Sequence[int]
) -> _Var: ...
def diag(x: _VarLike, offset: int = 0, *, diagonal: int = ..., k: int = ...) -> _Var:
    """Return a diagonal of a matrix, or a matrix with a diagonal of a vector and zeros."""

def diagflat(x: _VarLike, offset: int = 0, *, diagonal: int = ..., k: int = ...) -> _Var:
    """Return a matrix with x, flattened, on a diagonal, and zeros elsewhere."""

def diagonal(
    x: _VarLike,
    offset: int = 0,
    dim1: int = 0,
    dim2: int = 1,
    *,
    diagonal: int = ...,
    k: int = ...,
    axis1: int = ...,
    axis2: int = ...,
) -> _Var:
    """Return a diagonal of matrices, as the last dimension."""

@_overload
def eye(
    n: int,
    m: int | None = None,
    offset: int = 0,
    dtype: _DType | None = None,
    *,
    device: str | None = None,
    M: int | None = ...,
    diagonal: int = ...,
    k: int = ...,
) -> _Var:
    """Return an n x m matrix of ones on a diagonal, and zeros elsewhere, of `default_dtype`."""

@_overload
def eye(
    *,
    n: int = ...,
    N: int = ...,
    m: int | None = None,
    offset: int = 0,
    dtype: _DType | None = None,
    device: str | None = None,
    M: int | None = ...,
    diagonal: int = ...,
    k: int = ...,
) -> _Var: ...
def trace(
    x: _VarLike,
    offset: int = 0,
    dim1: int = 0,
    dim2: int = 1,
    *,
    diagonal: int = ...,
    k: int = ...,
    axis1: int = ...,
    axis2: int = ...,
) -> _Var:
    """Return the sum of a diagonal of matrices; see `diagonal`."""

def tril(x: _VarLike, offset: int = 0, *, diagonal: int = ..., k: int = ...) -> _Var:
    """Return x with zeros above a diagonal of its last two dimensions."""

def triu(x: _VarLike, offset: int = 0, *, diagonal: int = ..., k: int = ...) -> _Var:
    """Return x with zeros below a diagonal of its last two dimensions."""

@_overload
def pad(
    x: _VarLike,
    widths: _Widths,
    mode: str = "constant",
    value: float = 0,
    *,
    constant_values: float = ...,
    end_values: float = ...,
    fill_value: float = ...,
) -> _Var:
    """Return x with a border, as ``numpy.pad``."""

@_overload
def pad(
    x: _VarLike,
    *,
    widths: _Widths = ...,
    pad_width: _Widths = ...,
    mode: str = "constant",
    value: float = 0,
    constant_values: float = ...,
    end_values: float = ...,
    fill_value: float = ...,
) -> _Var: ...
def repeat(
    x: _VarLike,
    repeats: _VarLike,
    dim: int | None = None,
    *others: int,
    axis: int | None = ...,
    dims: int | None = ...,
) -> _Var:
    """Return x with each element repeated along a dimension, as ``numpy.repeat``."""

@_overload
def roll(
    x: _VarLike,
    shift: int | _Sequence[int],
    dim: _Axes = None,
    *,
    axis: _Axes = ...,
    dims: _Axes = ...,
) -> _Var:
    """Return x with its elements moved along dimensions, those past the end to the start."""

@_overload
def roll(
    x: _VarLike,
    *,
    shift: int | _Sequence[int] = ...,
    shifts: int | _Sequence[int] = ...,
    dim: _Axes = None,
    axis: _Axes = ...,
    dims: _Axes = ...,
) -> _Var: ...
@_overload
def tile(x: _VarLike, reps: int | _Sequence[int]) -> _Var:
    """Return x repeated as a whole along each dimension, as ``numpy.tile``."""

@_overload
def tile(
    x: _VarLike, *, reps: int | _Sequence[int] = ..., dims: int | _Sequence[int] = ...
) -> _Var: ...
@_overload
def broadcast_to(x: _VarLike, shape: _Shape) -> _Var:
    """Return x repeated to a shape, as operators repeat the smaller of their operands."""

@_overload
def broadcast_to(x: _VarLike, *, shape: _Shape = ..., size: _Shape = ...) -> _Var: ...
def flip(x: _VarLike, dim: _Axes = None, *, axis: _Axes = ..., dims: _Axes = ...) -> _Var:
    """Return x with the order of elements along the dimensions reversed."""

@_overload
def moveaxis(x: _VarLike, source: int | _Sequence[int], destination: int | _Sequence[int]) -> _Var:
    """Return x with dimensions moved to other places; the others keep their order."""

@_overload
def moveaxis(
    x: _VarLike,
    source: int | _Sequence[int],
    *,
    destination: int | _Sequence[int] = ...,
    device: int | _Sequence[int] = ...,
    dtype: int | _Sequence[int] = ...,
    other: int | _Sequence[int] = ...,
) -> _Var: ...
@_overload
def reshape(x: _VarLike, shape: _Shape, *, copy: _builtins.bool | None = None) -> _Var:
    """Return the same elements in row-major order under another shape."""

@_overload
def reshape(
    x: _VarLike, *, shape: _Shape = ..., size: _Shape = ..., copy: _builtins.bool | None = None
) -> _Var: ...
def rot90(
    x: _VarLike,
    k: int = 1,
    axes: _Sequence[int] = (0, 1),
    *,
    dim: _Sequence[int] = ...,
    dims: _Sequence[int] = ...,
) -> _Var:
    """Return x rotated k times by 90 degrees, from the first of two dimensions to the second."""

def squeeze(x: _VarLike, dim: _Axes = None, *, axis: _Axes = ..., dims: _Axes = ...) -> _Var:
    """Return x without the given dimensions of extent 1, or without all of them."""

@_overload
def swapaxes(x: _VarLike, first: int, second: int) -> _Var:
    """Return x with two dimensions exchanged."""

@_overload
def swapaxes(
    x: _VarLike, first: int, *, second: int = ..., axis2: int = ..., dim1: int = ...
) -> _Var: ...
@_overload
def swapaxes(
    x: _VarLike,
    *,
    first: int = ...,
    axis1: int = ...,
    dim0: int = ...,
    second: int = ...,
    axis2: int = ...,
    dim1: int = ...,
) -> _Var: ...
def transpose(
    x: _VarLike,
    axes: _Sequence[int] | None = None,
    *others: int,
    dim: _Sequence[int] | None = ...,
    dims: _Sequence[int] | None = ...,
) -> _Var:
    """Return x with its dimensions permuted, reversed by default."""

@_overload
def unsqueeze(x: _VarLike, dim: int | _Sequence[int]) -> _Var:
    """Return x with new dimensions of extent 1 at the places `dim` of the result."""

@_overload
def unsqueeze(
    x: _VarLike,
    *,
    dim: int | _Sequence[int] = ...,
    axis: int | _Sequence[int] = ...,
    dims: int | _Sequence[int] = ...,
) -> _Var: ...
@_overload
def array_split(
    x: _VarLike, sections: int | _Sequence[int], dim: int = 0, *, axis: int = ..., dims: int = ...
) -> list[_Var]:
    """Return x cut along a dimension, as `split`, into parts that may differ by 1."""

@_overload
def array_split(
    x: _VarLike,
    *,
    sections: int | _Sequence[int] = ...,
    indices_or_sections: int | _Sequence[int] = ...,
    dim: int = 0,
    axis: int = ...,
    dims: int = ...,
) -> list[_Var]: ...
@_overload
def dsplit(x: _VarLike, sections: int | _Sequence[int]) -> list[_Var]:
    """Return x cut along its third dimension; see `split`."""

@_overload
def dsplit(
    x: _VarLike,
    *,
    sections: int | _Sequence[int] = ...,
    indices_or_sections: int | _Sequence[int] = ...,
) -> list[_Var]: ...
@_overload
def hsplit(x: _VarLike, sections: int | _Sequence[int]) -> list[_Var]:
    """Return x cut along its second dimension, a vector along its only one; see `split`."""

@_overload
def hsplit(
    x: _VarLike,
    *,
    sections: int | _Sequence[int] = ...,
    indices_or_sections: int | _Sequence[int] = ...,
) -> list[_Var]: ...
@_overload
def split(
    x: _VarLike, sections: int | _Sequence[int], dim: int = 0, *, axis: int = ..., dims: int = ...
) -> list[_Var]:
    """Return x cut along a dimension."""

@_overload
def split(
    x: _VarLike,
    *,
    sections: int | _Sequence[int] = ...,
    indices_or_sections: int | _Sequence[int] = ...,
    dim: int = 0,
    axis: int = ...,
    dims: int = ...,
) -> list[_Var]: ...
@_overload
def vsplit(x: _VarLike, sections: int | _Sequence[int]) -> list[_Var]:
    """Return x cut along its first dimension, of two or more; see `split`."""

@_overload
def vsplit(
    x: _VarLike,
    *,
    sections: int | _Sequence[int] = ...,
    indices_or_sections: int | _Sequence[int] = ...,
) -> list[_Var]: ...
def append(
    x: _VarLike,
    values: _VarLike,
    dim: int | None = None,
    *,
    axis: int | None = ...,
    dims: int | None = ...,
) -> _Var:
    """Return x with values behind its end along a dimension."""

def concat(
    tensors: _Sequence[_VarLike],
    dim: int | None = 0,
    *,
    axis: int | None = ...,
    dims: int | None = ...,
) -> _Var:
    """Return the tensors one after the other along an existing dimension."""

def delete(
    x: _VarLike,
    obj: int | slice | _Sequence[int] | _Var,
    dim: int | None = None,
    *,
    axis: int | None = ...,
    dims: int | None = ...,
) -> _Var:
    """Return x without some slices along a dimension."""

def insert(
    x: _VarLike,
    obj: int | slice | _Sequence[int] | _Var,
    values: _VarLike,
    dim: int | None = None,
    *,
    axis: int | None = ...,
    dims: int | None = ...,
) -> _Var:
    """Return x with values before some of its slices along a dimension."""

def stack(tensors: _Sequence[_VarLike], dim: int = 0, *, axis: int = ..., dims: int = ...) -> _Var:
    """Return tensors of one shape side by side along a new dimension."""

def unstack(x: _VarLike, dim: int = 0, *, axis: int = ..., dims: int = ...) -> tuple[_Var, ...]:
    """Return the slices ``x[0], x[1], ...`` along a dimension, without it."""

def sliding_window_view(
    x: _VarLike,
    window_shape: int | _Sequence[int],
    dim: int | _Sequence[int] | None = None,
    *,
    axis: int | _Sequence[int] | None = ...,
    dims: int | _Sequence[int] | None = ...,
) -> _Var:
    """Return all windows of x, as ``numpy.lib.stride_tricks.sliding_window_view``."""

def diff(
    x: _VarLike,
    n: int = 1,
    dim: int = -1,
    prepend: _VarLike | None = None,
    append: _VarLike | None = None,
    *,
    N: int = ...,
    axis: int = ...,
    dims: int = ...,
) -> _Var:
    """Return the n-th differences of neighbours along a dimension."""

def gradient(
    x: _VarLike,
    *spacing: _VarLike,
    dim: _Axes = None,
    edge_order: int = 1,
    axis: _Axes = ...,
    dims: _Axes = ...,
) -> _Var | list[_Var]:
    """Return the slopes of a function that x samples, as ``numpy.gradient``."""

def trapezoid(
    y: _VarLike,
    x: _VarLike | None = None,
    dx: float = 1.0,
    dim: int = -1,
    *,
    axis: int = ...,
    dims: int = ...,
) -> _Var:
    """Return the area under samples of a function, by the trapezoidal rule."""

def polyder(p: _VarLike, m: int = 1, *, M: int = ...) -> _Var:
    """Return the derivative of order m of a polynomial."""

def polyint(p: _VarLike, m: int = 1, k: _VarLike = 0, *, M: int = ...) -> _Var:
    """Return the integral of order m of a polynomial, floats."""

def argpartition(
    x: _VarLike,
    kth: int | _Sequence[int],
    dim: int | None = -1,
    *,
    axis: int | None = ...,
    dims: int | None = ...,
) -> _Var:
    """Return where the elements of `partition` are in x, int64."""

def lexsort(
    keys: _VarLike | _Sequence[_VarLike], dim: int = -1, *, axis: int = ..., dims: int = ...
) -> _Var:
    """Return the places that order by several keys, the last of which counts most."""

def mode(
    x: _VarLike,
    dim: int = -1,
    keepdims: _builtins.bool = False,
    *,
    axis: int = ...,
    dims: int = ...,
    keepdim: _builtins.bool = ...,
) -> _Sorted:
    """Return the element that is there most often, the smallest of several, and a place."""

def partition(
    x: _VarLike,
    kth: int | _Sequence[int],
    dim: int | None = -1,
    *,
    axis: int | None = ...,
    dims: int | None = ...,
) -> _Var:
    """Return x with element `kth` where it is in order, and none after it smaller."""

def median(
    x: _VarLike,
    dim: _Axes = None,
    keepdims: _builtins.bool = False,
    *,
    axis: _Axes = ...,
    dims: _Axes = ...,
    keepdim: _builtins.bool = ...,
) -> _Var:
    """Return the element in the middle, or the mean of both; see `quantile`."""

def percentile(
    x: _VarLike,
    q: _VarLike,
    dim: _Axes = None,
    keepdims: _builtins.bool = False,
    method: str = "linear",
    *,
    axis: _Axes = ...,
    dims: _Axes = ...,
    keepdim: _builtins.bool = ...,
) -> _Var:
    """Return the `quantile` for q / 100."""

def quantile(
    x: _VarLike,
    q: _VarLike,
    dim: _Axes = None,
    keepdims: _builtins.bool = False,
    method: str = "linear",
    *,
    axis: _Axes = ...,
    dims: _Axes = ...,
    keepdim: _builtins.bool = ...,
) -> _Var:
    """Return what a share q of the elements is not above."""

def argsort(
    x: _VarLike,
    dim: int | None = -1,
    descending: _builtins.bool = False,
    *,
    stable: _builtins.bool = True,
    axis: int | None = ...,
    dims: int | None = ...,
) -> _Var:
    """Return where the elements in the order of `sort` are along the dimension, int64."""

def kthvalue(
    x: _VarLike,
    k: int,
    dim: int = -1,
    keepdims: _builtins.bool = False,
    *,
    axis: int = ...,
    dims: int = ...,
    keepdim: _builtins.bool = ...,
) -> _Sorted:
    """Return the k-th smallest element along a dimension; the first is number 1."""

def sort(
    x: _VarLike,
    dim: int | None = -1,
    descending: _builtins.bool = False,
    *,
    stable: _builtins.bool = True,
    axis: int | None = ...,
    dims: int | None = ...,
) -> _Var:
    """Return the elements along a dimension in rising order."""

def topk(
    x: _VarLike,
    k: int,
    dim: int = -1,
    largest: _builtins.bool = True,
    *,
    axis: int = ...,
    dims: int = ...,
) -> _Sorted:
    """Return the k largest elements along a dimension, from the largest on."""

def average(
    x: _VarLike,
    dim: _Axes = None,
    weights: _VarLike | None = None,
    returned: _builtins.bool = False,
    keepdims: _builtins.bool = False,
    *,
    axis: _Axes = ...,
    dims: _Axes = ...,
    keepdim: _builtins.bool = ...,
) -> _Var | tuple[_Var, _Var]:
    """Return the weighted mean, a float; NaN where the weights sum to 0."""

def cov(
    x: _VarLike,
    y: _VarLike | None = None,
    rowvar: _builtins.bool = True,
    bias: _builtins.bool = False,
    correction: float | None = None,
    fweights: _VarLike | None = None,
    aweights: _VarLike | None = None,
    *,
    ddof: float | None = ...,
    unbiased: float | None = ...,
) -> _Var:
    """Return the covariances of variables, as ``numpy.cov``."""

def nanmax(
    x: _VarLike,
    dim: _Axes = None,
    keepdims: _builtins.bool = False,
    *,
    axis: _Axes = ...,
    dims: _Axes = ...,
    keepdim: _builtins.bool = ...,
) -> _Var:
    """Return the largest element that is not NaN; NaN where there is none."""

def nanmean(
    x: _VarLike,
    dim: _Axes = None,
    keepdims: _builtins.bool = False,
    *,
    axis: _Axes = ...,
    dims: _Axes = ...,
    keepdim: _builtins.bool = ...,
) -> _Var:
    """Return the mean of what is not NaN; NaN over nothing."""

def nanmin(
    x: _VarLike,
    dim: _Axes = None,
    keepdims: _builtins.bool = False,
    *,
    axis: _Axes = ...,
    dims: _Axes = ...,
    keepdim: _builtins.bool = ...,
) -> _Var:
    """Return the smallest element that is not NaN; NaN where there is none."""

def nanprod(
    x: _VarLike,
    dim: _Axes = None,
    keepdims: _builtins.bool = False,
    *,
    axis: _Axes = ...,
    dims: _Axes = ...,
    keepdim: _builtins.bool = ...,
) -> _Var:
    """Return the product of what is not NaN; 1 over nothing."""

def nanstd(
    x: _VarLike,
    dim: _Axes = None,
    keepdims: _builtins.bool = False,
    *,
    correction: float = 0,
    axis: _Axes = ...,
    dims: _Axes = ...,
    keepdim: _builtins.bool = ...,
    ddof: float = ...,
    unbiased: float = ...,
) -> _Var:
    """Return the standard deviation, as `metaops.std`, of what is not NaN."""

def nansum(
    x: _VarLike,
    dim: _Axes = None,
    keepdims: _builtins.bool = False,
    *,
    axis: _Axes = ...,
    dims: _Axes = ...,
    keepdim: _builtins.bool = ...,
) -> _Var:
    """Return the sum of what is not NaN; 0 over nothing."""

def nanvar(
    x: _VarLike,
    dim: _Axes = None,
    keepdims: _builtins.bool = False,
    *,
    correction: float = 0,
    axis: _Axes = ...,
    dims: _Axes = ...,
    keepdim: _builtins.bool = ...,
    ddof: float = ...,
    unbiased: float = ...,
) -> _Var:
    """Return the variance, as `metaops.var`, of what is not NaN."""

def categorical(
    logits: _VarLike, shape: _Shape = (), *, key: _Key | None = None, size: _Shape = ...
) -> _Var:
    """Return categories, int64, by logarithms of their probabilities."""
