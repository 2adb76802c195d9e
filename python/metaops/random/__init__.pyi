# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Written by test/python/public_names.py.
"""The names of the package, for type checkers."""

from .. import Key as Key
from .. import bernoulli as bernoulli
from .. import beta as beta
from .. import binomial as binomial
from .. import categorical as categorical
from .. import cauchy as cauchy
from .. import chisquare as chisquare
from .. import choice as choice
from .. import dirichlet as dirichlet
from .. import exponential as exponential
from .. import gamma as gamma
from .. import geometric as geometric
from .. import get_rng_state as get_rng_state
from .. import gumbel as gumbel
from .. import laplace as laplace
from .. import logistic as logistic
from .. import lognormal as lognormal
from .. import multinomial as multinomial
from .. import negative_binomial as negative_binomial
from .. import normal as normal
from .. import pareto as pareto
from .. import permutation as permutation
from .. import poisson as poisson
from .. import rand as rand
from .. import rand_like as rand_like
from .. import randint as randint
from .. import randn as randn
from .. import randn_like as randn_like
from .. import rayleigh as rayleigh
from .. import set_rng_state as set_rng_state
from .. import student_t as student_t
from .. import triangular as triangular
from .. import truncated_normal as truncated_normal
from .. import uniform as uniform
from .. import weibull as weibull
from .sampling import random as random

__all__ = [
    "Key",
    "bernoulli",
    "beta",
    "binomial",
    "categorical",
    "cauchy",
    "chisquare",
    "choice",
    "dirichlet",
    "exponential",
    "gamma",
    "geometric",
    "get_rng_state",
    "gumbel",
    "laplace",
    "logistic",
    "lognormal",
    "multinomial",
    "negative_binomial",
    "normal",
    "pareto",
    "permutation",
    "poisson",
    "rand",
    "rand_like",
    "randint",
    "randn",
    "randn_like",
    "random",
    "rayleigh",
    "set_rng_state",
    "student_t",
    "triangular",
    "truncated_normal",
    "uniform",
    "weibull",
]
