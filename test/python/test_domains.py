# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Numbers out of the domain of a parameter, of every public function that has numbers."""

import inspect
import math
import re

import bad_calls
import bad_calls_of_nn
import bad_calls_of_optim
import bad_calls_of_transforms
import metaops as mo
import numpy as np
import pytest
from metaops import _domains, nn
from public import CALLABLES
from util import close, same

CALLS = bad_calls.CALLS + bad_calls_of_nn.CALLS + bad_calls_of_transforms.CALLS
CALLS += bad_calls_of_optim.CALLS
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


@pytest.mark.parametrize("given", [None, [0.5, None], np.array([None, 0.5]), [[0.5], [None]]])
def test_none_is_no_number(given):
    with pytest.raises(TypeError, match=r"f: p is .*expected it in \[0, 1\]") as caught:
        _domains.SHARE.check("f", p=given)
    assert "nan" not in str(caught.value)
    _domains.SHARE.check("f", p=[0.5, 1])


@pytest.mark.parametrize("given", ["0.5", b"0.5", ["0.5", 0.5], [["1"]], np.array(["0.5"])])
def test_a_text_is_no_number(given):
    with pytest.raises(TypeError, match=r"f: p is .*expected a number \("):
        _domains.SHARE.check("f", p=given)


def test_none_is_no_number_of_functions():
    pixels = np.zeros((9, 9, 3), "uint8")
    with pytest.raises(TypeError, match=r"sigma is \(1.0, None\), expected a positive number"):
        mo.transforms.functional.gaussian_blur(pixels, 3, [1.0, None])
    with pytest.raises(TypeError, match="None"):
        mo.hardshrink(mo.ones(3), None)


#: The packages whose functions are looked at, beside the package's own.
PACKAGES = r"nn\.(init\.|utils\.)?|transforms\.(functional\.)?"
#: Parameters that take every number.
ANY = {"fill_value", "ignore_index", "k", "nan", "neginf", "obj", "offset", "posinf", "seed"}
ANY |= {"shift", "value", "most", "count", "data"}
#: Dimensions, which are an AxisError, and those that are given one by one.
PLACES = {"axes", "destination", "dim", "dim1", "dim2", "dims", "end_dim", "first", "others"}
PLACES |= {"over", "second", "source", "start_dim"}
#: What the package makes, and what reads files or runs for a while.
LEFT_OUT = {"KernelExplanation", "KernelProfile", "MemoryHolder", "ProgramProfile", "TunedKernel"}
LEFT_OUT |= {"Tuning", "load_program", "tune"}
#: Those whose numbers are in a dict.
LEFT_OUT |= {"set_rng_state"}
#: Rows that stand for functions that are the same.
SAME = {"identity": "eye"}


def test_every_parameter_that_is_a_number_is_in_the_table():
    known = {tuple(name.rpartition(".")[2].split()[:2]) for name, _, _ in CALLS}
    missing = []
    for name, value in CALLABLES.items():
        function = name.rpartition(".")[2]
        if not re.fullmatch(rf"metaops\.({PACKAGES})?\w+", name) or function in LEFT_OUT:
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
    shares = mo.array(np.array([-0.5, 0.5, 1.5, math.nan])) * 1
    for f in (mo.quantile, mo.nanquantile):
        for method in ("linear", "nearest", "higher"):
            close(f(x, shares, method=method), np.array([math.nan, 2, math.nan, math.nan]))


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "bfloat16"])
def test_numbers_of_tensors_that_are_given_as_data_are_looked_at(dtype):
    """What is computed may not be there: what is an error does not depend on when it is."""
    x = mo.array([1.0, 2.0, 3.0])
    one = mo.array(1.5, dtype=dtype)
    several = mo.array(np.array([0.5, 1.5, -1.0]), dtype=dtype)
    for q in (one, several):
        with pytest.raises(ValueError, match=r"^quantile: q is 1\.5, expected it in \[0, 1\]"):
            mo.quantile(x, q)
    with pytest.raises(ValueError, match=r"^bernoulli: probability is 1\.5, expected one in"):
        mo.bernoulli(one)
    with pytest.raises(ValueError, match=r"^bernoulli: probability is 1\.5, expected one in"):
        mo.bernoulli(several)
    with pytest.raises(ValueError, match=r"^normal: std is -1\.0, expected 0 or more, and finite"):
        mo.normal((3,), 0.0, mo.array([0.5, -1.0, 2.0], dtype=dtype))
    with pytest.raises(ValueError, match=r"^percentile: q is -3\.0, expected it in \[0, 100\]"):
        mo.percentile(x, mo.array(np.array([5, -3])))
    close(mo.quantile(x, mo.array(np.array([0.0, 1.0]), dtype=dtype)), np.array([1.0, 3.0]))
    assert np.isnan(mo.quantile(x, one * 1).numpy())


def test_a_message_tells_one_of_several_numbers():
    with pytest.raises(ValueError, match=r"^quantile: q is 1\.5, expected it in \[0, 1\]"):
        mo.quantile(mo.ones(3), [0.5, 1.5, -1])
    with pytest.raises(ValueError, match=r"^normal: std is -1, expected 0 or more, and finite"):
        mo.normal((3,), 0, -1)
    with pytest.raises(TypeError, match=r"^normal: std is 'x', expected a number"):
        mo.normal((3,), 0, "x")
