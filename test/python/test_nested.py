# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tensors of nested sequences with tensors in them, and several tensors in one call."""

import metaops as mo
import numpy as np
import pytest
from util import check_gradient


@pytest.fixture
def xs(rng):
    return [mo.array(rng.standard_normal(3), "float32") for _ in range(4)]


@pytest.mark.parametrize("make", [mo.array, mo.asarray, mo.tensor])
def test_values_and_shapes(make, xs):
    a, b, c, d = (x.numpy() for x in xs)
    for given, expected in [
        (xs, [a, b, c, d]),
        ([xs[:2], (xs[2], xs[3])], [[a, b], [c, d]]),
        ([xs[0], b.tolist(), c], [a, b, c]),
        ([[xs[0][1], 2.5], [1, xs[1][0]]], [[a[1], 2.5], [1, b[0]]]),
        ([[[xs[0][2]]]], [[[a[2]]]]),
    ]:
        result = make(given)
        np.testing.assert_array_equal(result.numpy(), np.array(expected, "float32"))
        assert result.dtype == "float32"


def test_nothing_is_computed_for_it():
    x = mo.rand(3) * 2.0
    mo.sync_all()
    runs = mo.stats()["programs_run"]
    result = mo.array([x.sum(), x.max(), 1.0])
    assert mo.stats()["programs_run"] == runs
    assert result.shape == (3,)


def test_gradients_flow(rng):
    x = mo.array(rng.standard_normal(3), "float64")
    scale = rng.standard_normal((2, 2))
    loss = (mo.array([[x[0], x[1] * x[2]], [1.0, x[0] * 3.0]]) * mo.array(scale)).sum()
    value = x.numpy()
    expected = [
        scale[0, 0] + 3.0 * scale[1, 1],
        scale[0, 1] * value[2],
        scale[0, 1] * value[1],
    ]
    np.testing.assert_allclose(mo.grad(loss, x).numpy(), expected, rtol=1e-14)
    assert mo.grad(mo.sum([x, x * 2.0]), x).tolist() == [3.0] * 3


@pytest.mark.parametrize(
    ("types", "numbers", "expected"),
    [
        (["int8", "int8"], [], "int8"),
        (["int8", "uint8"], [2], "int16"),
        (["bfloat16"], [2, 1.5], "bfloat16"),
        (["bfloat16", "float16"], [], "float32"),
        (["int64", "float64"], [True], "float64"),
        (["int32"], [1.5], "float32"),
        (["bool"], [False], "bool"),
        (["bool"], [2], "int64"),
    ],
)
def test_types_are_promoted(types, numbers, expected):
    given = [*(mo.array(1, dtype) for dtype in types), *numbers]
    assert mo.array(given).dtype == mo.array([given[::-1]]).dtype == expected
    assert mo.array(given, "int16").dtype == "int16"


def test_integers_are_exact():
    given = [mo.array(2**53 + 1), 2**53 + 3]
    assert mo.array(given).tolist() == [2**53 + 1, 2**53 + 3]


def test_arrays_and_nothing_beside_tensors():
    assert mo.array([mo.zeros(2), np.ones(2)]).dtype == "float64"
    assert mo.array([mo.zeros((0,)), []]).shape == (2, 0)
    assert mo.array([mo.zeros((2, 0))]).shape == (1, 2, 0)


def test_many():
    parts = [mo.rand(1).sum() for _ in range(300)]
    np.testing.assert_array_equal(mo.array(parts).numpy(), [float(x) for x in parts])


def test_devices():
    with mo.device("cpu:1"):
        x = mo.zeros(2)
    assert mo.array([x, x], device="cpu:0").device == "cpu:0"
    assert mo.array([x, [1.0, 2.0]]).device == "cpu:1"


ERRORS = {
    "shapes": ([mo.zeros(2), mo.zeros((3, 4))], ValueError, r"\(2,\) and \(3, 4\), expected one"),
    "lengths": ([mo.zeros(2), [1.0]], ValueError, r"the shapes \(2,\) and \(1,\)"),
    "depths": ([mo.zeros(()), [1.0]], ValueError, r"the shapes \(\) and \(1,\)"),
    "lists": ([[1, 2], [3]], ValueError, "have several shapes, expected one"),
    "none": ([mo.zeros(()), None], TypeError, "expected numbers"),
    "a string": ([mo.zeros(()), "x"], TypeError, "expected numbers"),
    "types": ([mo.array(1, "uint64"), mo.array(1)], TypeError, "no integer type holds"),
    "a large number": ([mo.array(1), 2**70], OverflowError, "64 bits"),
}


@pytest.mark.parametrize("make", [mo.array, mo.asarray])
@pytest.mark.parametrize("name", ERRORS)
def test_errors(make, name):
    given, kind, message = ERRORS[name]
    with pytest.raises(kind, match=rf"{message}.*test_nested\.py"):
        make(given)


def test_sequences_that_hold_themselves():
    endless = [mo.zeros(())]
    endless.append(endless)
    for dtype in (None, "float32"):
        with pytest.raises(ValueError, match=r"nested 64 deep.*test_nested\.py"):
            mo.array(endless, dtype)
    numbers = [1.0]
    numbers.append(numbers)
    with pytest.raises(ValueError, match="several shapes"):
        mo.array(numbers)


def test_copies():
    with pytest.raises(ValueError, match="copy"):
        mo.asarray([mo.zeros(2), mo.zeros(2)], copy=False)


# Several tensors


@pytest.mark.parametrize("name", ["atleast_1d", "atleast_2d", "atleast_3d"])
def test_several_tensors(rng, name):
    function, reference = getattr(mo, name), getattr(np, name)
    arrays = [rng.standard_normal(shape) for shape in [(), (2,), (3, 4), (1, 2, 3)]]
    results = function(*map(mo.array, arrays))
    assert isinstance(results, tuple)
    for actual, expected in zip(results, reference(*arrays), strict=True):
        np.testing.assert_array_equal(actual.numpy(), expected)
    assert function(2.0).shape == reference(2.0).shape
    assert function([1, 2]).shape == reference([1, 2]).shape
    with pytest.raises(ValueError, match=rf"{name}: parts .*as in {name}\(a, b\)"):
        function([mo.ones(2), mo.ones((3, 4))])
    with pytest.raises(TypeError):
        function()


def test_shapes_of_random_integers_and_booleans():
    """A shape may come in place of the upper end, and be that of the probabilities."""
    for given in (mo.randint(10, (2, 3)), mo.randint(0, 10, (2, 3)), mo.randint(10, size=(2, 3))):
        assert given.shape == (2, 3)
        assert (given >= 0).all()
        assert (given < 10).all()
    probabilities = np.array([[0.0, 1.0, 0.5], [1.0, 0.0, 0.25]])
    for given in (probabilities, mo.array(probabilities), probabilities.tolist()):
        drawn = mo.bernoulli(given)
        assert drawn.shape == (2, 3)
        assert drawn.dtype == "bool"
        np.testing.assert_array_equal(drawn.numpy()[:, :2], [[False, True], [True, False]])
    assert mo.bernoulli(0.5).shape == ()
    for call in (
        lambda: mo.randint((2, 3)),
        lambda: mo.randint(10, 2.5),
        lambda: mo.bernoulli("x"),
    ):
        with pytest.raises((TypeError, ValueError), match=r"randint|bernoulli|array"):
            call()


# Wherever a tensor may stand


def replaced(x, key, value):
    x = x.clone()
    x[key] = value
    return x


USES = {
    "times": lambda x, part: x * [part[0], part[1] * 2.0, 1.5],
    "subtracted": lambda x, part: (part[0], part[1], 2.0) - x,
    "maximum": lambda x, part: mo.maximum(x, [part[0], part[1], 0.25]),
    "matmul": lambda x, part: x @ [[part[0], 1.0], [part[1], part[0]], [2.0, 3.0]],
    "rmatmul": lambda x, part: [part, part * 2.0] @ x[:2],
    "in place": lambda x, part: x.clone().__iadd__([part[0], 0.0, part[1]]),
    "exp": lambda x, part: mo.exp([x[0], part[0], part[1]]),
    "where": lambda x, part: mo.where(x > 0.0, [part[0], part[1], part[0]], x),
    "Var": lambda x, part: mo.Var([x, [part[0], part[1], 1.0]]),
    "Var of Vars": lambda x, part: mo.Var([[x[0]], [part[1]]], "float64"),
    "set item": lambda x, part: replaced(x, slice(1, None), [part[1], part[0] * 3.0]),
    "set items": lambda x, part: replaced(x, mo.array([2, 0]), [part[1], part[0] * 3.0]),
    "set where": lambda x, part: replaced(x, mo.array([True, False, True]), [part[1], part[0]]),
    "reshape": lambda x, part: mo.reshape([x[:2], part], (4,)),
}


@pytest.mark.parametrize("name", USES)
def test_nested_sequences_are_operands(rng, name):
    """With gradients, and without that anything is computed for them."""
    x = mo.array(rng.uniform(-1, 1, 3), "float64")
    part = mo.array(rng.uniform(-1, 1, 2), "float64")
    mo.sync([x, part])
    runs = mo.stats()["programs_run"]
    result = USES[name](x, part)
    assert mo.stats()["programs_run"] == runs
    check_gradient(USES[name], x.numpy(), part.numpy())
    with mo.flag_scope(lazy_execution=False):
        np.testing.assert_allclose(USES[name](x, part).numpy(), result.numpy(), rtol=1e-14)


def test_types_of_operands_are_promoted():
    small, large = mo.array([1, 2], "int8"), mo.array(3, "int16")
    assert (small * [large, 4]).dtype == "int16"
    assert mo.Var([small, small]).dtype == "int8"
    assert mo.Var([small, small], "float32").dtype == "float32"


def test_operands_of_several_shapes_are_refused():
    x = mo.ones(2)
    with pytest.raises(ValueError, match=r"the shapes \(2,\) and \(3,\)"):
        x * [x, mo.ones(3)]
    itself = [x]
    itself.append(itself)
    with pytest.raises(ValueError, match="nested 64 deep"):
        x * itself
