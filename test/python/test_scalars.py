# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Dimensions 0 and -1 of tensors without dimensions, as PyTorch takes them."""

import math

import metaops as mo
import numpy as np
import pytest

X = -1.75

#: A function of x and a dimension, and its value for a 0-d x; a tuple where it has several.
TAKEN = {
    "all": (mo.all, True),
    "any": (mo.any, True),
    "argmax": (mo.argmax, 0),
    "argmin": (mo.argmin, 0),
    "argsort": (mo.argsort, 0),
    "average": (mo.average, X),
    "count_nonzero": (mo.count_nonzero, 1),
    "cummax": (mo.cummax, X),
    "cummin": (mo.cummin, X),
    "cumprod": (mo.cumprod, X),
    "cumsum": (mo.cumsum, X),
    "cumsum, exclusive": (lambda x, d: mo.cumsum(x, d, exclusive=True), 0.0),
    "flip": (mo.flip, X),
    "gather": (lambda x, d: mo.gather(x, d, 0), X),
    "kthvalue": (lambda x, d: mo.kthvalue(x, 1, d), (X, 0)),
    "linear_recurrence": (lambda x, d: mo.linear_recurrence(0.5, x, d), X),
    "log_softmax": (mo.log_softmax, 0.0),
    "logcumsumexp": (mo.logcumsumexp, X),
    "logsumexp": (mo.logsumexp, X),
    "max": (mo.max, X),
    "mean": (mo.mean, X),
    "mean with a mask": (lambda x, d: mo.mean(x, d, where=True), X),
    "median": (mo.median, X),
    "min": (mo.min, X),
    "mode": (mo.mode, (X, 0)),
    "moveaxis": (lambda x, d: mo.moveaxis(x, 0, d), X),
    "nanargmax": (mo.nanargmax, 0),
    "nancumsum": (mo.nancumsum, X),
    "nanmean": (mo.nanmean, X),
    "nanmedian": (mo.nanmedian, X),
    "nansum": (mo.nansum, X),
    "norm": (lambda x, d: mo.norm(x, dim=d), -X),
    "norm of order 3": (lambda x, d: mo.norm(x, 3, d), -X),
    "normalize": (lambda x, d: mo.nn.normalize(x, dim=d), -1.0),
    "partition": (lambda x, d: mo.partition(x, 0, d), X),
    "prod": (mo.prod, X),
    "ptp": (mo.ptp, 0.0),
    "quantile": (lambda x, d: mo.quantile(x, 0.3, d), X),
    "scatter_add": (lambda x, d: mo.scatter_add(x, d, 0, x), 2 * X),
    "softmax": (mo.softmax, 1.0),
    "softmin": (mo.softmin, 1.0),
    "sort": (mo.sort, X),
    "squeeze": (mo.squeeze, X),
    "std": (mo.std, 0.0),
    "sum": (mo.sum, X),
    "sum of float64": (lambda x, d: mo.sum(x, d, dtype="float64"), X),
    "sum of several": (lambda x, d: mo.sum(x, (d,)), X),
    "swapaxes": (lambda x, d: mo.swapaxes(x, d, 0), X),
    "take": (lambda x, d: mo.take(x, 0, d), X),
    "topk": (lambda x, d: mo.topk(x, 1, d), (X, 0)),
    "var": (mo.var, 0.0),
    "var, unbiased": (lambda x, d: mo.var(x, d, correction=1), math.nan),
    "vecdot": (lambda x, d: mo.vecdot(x, x, d), X * X),
    "Var.argmin": (lambda x, d: x.argmin(d), 0),
    "Var.mean": (lambda x, d: x.mean(d), X),
    "Var.sum": (lambda x, d: x.sum(axis=d), X),
    "Var.sort": (lambda x, d: x.sort(d), X),
    "Softmax": (lambda x, d: mo.nn.Softmax(d)(x), 1.0),
}

#: Calls that need a dimension that is there.
REFUSED = {
    "array_split": lambda x, d: mo.array_split(x, 1, d),
    "concat": lambda x, d: mo.concat([x, x], d),
    "diff": lambda x, d: mo.diff(x, dim=d),
    "glu": mo.glu,
    "gradient": lambda x, d: mo.gradient(x, dim=d),
    "repeat": lambda x, d: mo.repeat(x, 2, d),
    "roll": lambda x, d: mo.roll(x, 1, d),
    "split": lambda x, d: mo.split(x, 1, d),
    "take_along_axis": lambda x, d: mo.take_along_axis(x, 0, d),
    "trapezoid": lambda x, d: mo.trapezoid(x, dim=d),
    "unbind": mo.unbind,
    "unflatten": lambda x, d: mo.unflatten(x, d, (1, 1)),
}


@pytest.mark.parametrize("dim", [0, -1])
@pytest.mark.parametrize("name", TAKEN)
def test_dimensions_of_a_scalar(name, dim):
    function, expected = TAKEN[name]
    result = function(mo.array(X), dim)
    several = isinstance(expected, tuple)
    pairs = zip(result, expected, strict=True) if several else [(result, expected)]
    for part, value in pairs:
        assert part.shape == ()
        np.testing.assert_allclose(part.numpy(), value, rtol=1e-6)


@pytest.mark.parametrize("dim", [1, -2])
@pytest.mark.parametrize("name", TAKEN)
def test_there_are_no_others(name, dim):
    with pytest.raises(np.exceptions.AxisError, match=f"dimension {dim} .* of 0 dimensions"):
        TAKEN[name][0](mo.array(X), dim)


@pytest.mark.parametrize("dim", [0, -1])
@pytest.mark.parametrize("name", REFUSED)
def test_what_needs_a_dimension(name, dim):
    with pytest.raises(ValueError, match=r"dimension|extent|0-d"):
        REFUSED[name](mo.array(X), dim)


@pytest.mark.parametrize("function", [mo.sum, mo.mean, mo.max, mo.argmax, mo.std, mo.logsumexp])
def test_keepdims_keeps_none(function):
    assert function(mo.array(X), 0, keepdims=True).shape == ()
    assert mo.mode(mo.array(X), 0, keepdims=True).values.shape == ()
    assert mo.kthvalue(mo.array(X), 1, 0, keepdims=True).indices.shape == ()


def test_a_dimension_is_given_once():
    with pytest.raises(ValueError, match="twice"):
        mo.sum(mo.array(X), (0, -1))
    with pytest.raises(ValueError, match="expected 1 of a 0-d tensor"):
        mo.topk(mo.array(X), 0)
    with pytest.raises(ValueError, match="expected 1 to 1"):
        mo.kthvalue(mo.array(X), 2)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: mo.cumsum(x, 0),
        lambda x: mo.sort(x, -1),
        lambda x: mo.sum(x, 0),
        lambda x: mo.gather(x, 0, 0),
        lambda x: mo.logsumexp(x, -1),
        lambda x: mo.topk(x, 1).values,
        lambda x: mo.take(x, 0, 0),
    ],
)
def test_gradients(function):
    x = mo.array(0.5, "float64")
    assert mo.grad(function(x) * 3.0, x).item() == 3.0


def test_several_indices_of_a_scalar():
    np.testing.assert_array_equal(mo.take(mo.array(X), [0, 0, -1], 0).numpy(), [X] * 3)
    np.testing.assert_array_equal(mo.gather(mo.array(X), 0, [0]).numpy(), [X])
    np.testing.assert_array_equal(mo.gather(mo.array([1.0, X]), 0, 1).numpy(), X)
    with pytest.raises(IndexError):
        mo.gather(mo.array(X), 0, 1)


def test_a_sample_of_one_class():
    assert mo.nn.gumbel_softmax(mo.array(X), hard=True, dim=0).numpy() == 1.0


def test_numbers_are_vectors_of_one_element():
    np.testing.assert_allclose(mo.nn.pairwise_distance(1.0, 2.75).numpy(), 1.75, rtol=1e-5)
