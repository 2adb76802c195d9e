# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Numbers out of the domain of a parameter, of every public function that has numbers."""

import inspect
import math
import re

import bad_calls
import bad_calls_of_nn
import metaops as mo
import numpy as np
import pytest
from metaops import nn
from public import CALLABLES
from util import close, same

CALLS = bad_calls.CALLS + bad_calls_of_nn.CALLS
ERRORS = (ValueError, TypeError, IndexError, OverflowError)


def computed(result):
    """Compute tensors, some of which are checked when they are."""
    if isinstance(result, mo.Var):
        result.sync()
    elif isinstance(result, tuple | list):
        for part in result:
            computed(part)


@pytest.mark.parametrize(("name", "call", "bad"), CALLS, ids=[name for name, _, _ in CALLS])
def test_what_is_out_of_a_domain_is_refused(name, call, bad):
    for number in bad:
        with pytest.raises(ERRORS) as caught:
            computed(call(number))
        message = str(caught.value)
        assert re.search(r"\(\S*test.python.\w+\.py:\d+\)", message), message
        assert len(message) < 400, message


#: Parameters that take every number.
ANY = {"fill_value", "ignore_index", "k", "nan", "neginf", "obj", "offset", "posinf", "seed"}
ANY |= {"shift", "value", "most", "count", "data"}
#: Dimensions, which are an AxisError, and those that are given one by one.
PLACES = {"axes", "destination", "dim", "dim1", "dim2", "dims", "end_dim", "first", "others"}
PLACES |= {"second", "source", "start_dim"}
#: What the package makes, and what reads files or runs for a while.
LEFT_OUT = {"KernelExplanation", "KernelProfile", "MemoryHolder", "ProgramProfile", "TunedKernel"}
LEFT_OUT |= {"Tuning", "load_program", "tune"}
#: Rows that stand for functions that are the same.
SAME = {"identity": "eye"}


def test_every_parameter_that_is_a_number_is_in_the_table():
    known = {tuple(name.rpartition(".")[2].split()[:2]) for name, _, _ in CALLS}
    missing = []
    for name, value in CALLABLES.items():
        function = name.rpartition(".")[2]
        if not re.fullmatch(r"metaops\.(nn\.(init\.|utils\.)?)?\w+", name) or function in LEFT_OUT:
            continue
        for parameter in inspect.signature(value).parameters.values():
            if not re.search(r"\b(float|int)\b", str(parameter.annotation)):
                continue
            told = (SAME.get(function, function), parameter.name)
            if told not in known and parameter.name not in ANY | PLACES:
                missing.append(told)
    assert not missing


def test_the_ends_of_domains_are_in_them():
    x = mo.array(np.arange(6, dtype="f4").reshape(2, 3))
    same(mo.quantile(x, np.array([0.0, 1.0])), np.array([0, 5], "f4"))
    same(mo.percentile(x, 100), np.array(5, "f4"))
    assert mo.isclose(x, x, rtol=0, atol=math.inf).all().item()
    same(mo.normal((3,), 2.0, 0.0), np.full(3, 2, "f4"))
    same(mo.uniform((3,), 1.0, 1.0), np.ones(3, "f4"))
    same(mo.bernoulli(1, (3,)), np.ones(3, bool))
    same(mo.poisson((3,), 0), np.zeros(3, "int64"))
    same(nn.dropout(x, 0), x.numpy())
    same(mo.softshrink(x, 0.0), x.numpy())
    assert nn.BatchNorm1d(3, 0.0, 1.0)(x).shape == (2, 3)
    assert nn.layer_norm(x, 3, eps=0).shape == (2, 3)
    same(mo.hardtanh(x, 1.0, 1.0), np.ones((2, 3), "f4"))
    same(mo.hardtanh(x, -math.inf, math.inf), x.numpy())
    same(mo.threshold(x, -math.inf, 9.0), x.numpy())


def test_numbers_of_tensors_are_left_to_what_computes_them():
    """A parameter may be a tensor where it is used as one, with a gradient."""
    slope = mo.array(0.25)
    result = mo.leaky_relu(mo.array([-4.0, 2.0]), slope)
    same(result, np.array([-1, 2], "f4"))
    same(mo.grad(result.sum(), slope), np.array(-4, "f4"))
    x = mo.array([1.0, 2.0, 3.0])
    shares = mo.array(np.array([-0.5, 0.5, 1.5, math.nan]))
    for f in (mo.quantile, mo.nanquantile):
        for method in ("linear", "nearest", "higher"):
            close(f(x, shares, method=method), np.array([math.nan, 2, math.nan, math.nan]))


def test_a_message_tells_one_of_several_numbers():
    with pytest.raises(ValueError, match=r"^quantile: q is 1\.5, expected it in \[0, 1\]"):
        mo.quantile(mo.ones(3), [0.5, 1.5, -1])
    with pytest.raises(ValueError, match=r"^normal: std is -1, expected 0 or more, and finite"):
        mo.normal((3,), 0, -1)
    with pytest.raises(TypeError, match=r"^normal: std is 'x', expected a number"):
        mo.normal((3,), 0, "x")
