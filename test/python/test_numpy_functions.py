# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""NumPy's functions of Vars: universal functions, and those that call methods."""

import inspect

import metaops as mo
import numpy as np
import pytest
from metaops.compat.ufuncs import _FUNCTIONS
from util import check_gradient, close, same

A = np.random.default_rng(7).uniform(0.25, 0.75, (2, 3))
B = np.random.default_rng(8).uniform(0.25, 0.75, (2, 3))
INTEGERS = np.random.default_rng(9).integers(1, 7, (2, 3))
#: Universal functions of integers, and those of numbers of at least 1.
OF_INTEGERS = {"bitwise_and", "bitwise_count", "bitwise_or", "bitwise_xor", "gcd", "invert"}
OF_INTEGERS |= {"lcm", "left_shift", "right_shift"}


def operands(ufunc):
    if ufunc.__name__ in OF_INTEGERS:
        return [INTEGERS, INTEGERS[:, ::-1].copy()][: ufunc.nin]
    if ufunc.__name__ == "arccosh":
        return [A + 1]
    if ufunc.__name__ == "matmul":
        return [A, B.T.copy()]
    return [A, B][: ufunc.nin]


def listed(value):
    return value if isinstance(value, tuple) else (value,)


def test_the_table_is_long():
    assert len(_FUNCTIONS) > 70
    assert len(set(_FUNCTIONS)) == len({ufunc.__name__ for ufunc in _FUNCTIONS})


@pytest.mark.parametrize("ufunc", _FUNCTIONS, ids=lambda ufunc: ufunc.__name__)
def test_universal_functions(ufunc):
    """Each records the function of this package that computes the same."""
    arrays = operands(ufunc)
    expected = listed(ufunc(*arrays))
    runs = mo.stats()["programs_run"]
    calls = [[mo.array(arrays[0]), *arrays[1:]]]
    if ufunc.nin == 2:
        calls += [[arrays[0], mo.array(arrays[1])], [mo.array(arrays[0]), mo.array(arrays[1])]]
    results = [listed(ufunc(*given)) for given in calls]
    assert mo.stats()["programs_run"] == runs, "nothing is computed yet"
    for result in results:
        for ours, theirs in zip(result, expected, strict=True):
            assert type(ours) is mo.Var
            close(ours, theirs, rtol=1e-12, atol=1e-12)


def test_universal_functions_of_numbers():
    x = mo.array(np.float32([1, 2, 3]))
    for result, expected in [
        (np.power(2, x), [2, 4, 8]),
        (np.divide(6, x), [6, 3, 2]),
        (np.subtract(x, True), [0, 1, 2]),
        (np.add(x, [1, 0, 1]), [2, 2, 4]),
        (np.float32(3) - x, [2, 1, 0]),
    ]:
        assert type(result) is mo.Var
        same(result, np.float32(expected))
    assert np.power(2, mo.array([1], "int8")).dtype == "int8"
    for number in (np.float64(2), np.float32(2), np.int64(2)):
        assert (number * x).dtype == (x * number).dtype


def test_operators_of_arrays():
    x = mo.array(A)
    for function in (
        lambda a, b: a + b,
        lambda a, b: a - b,
        lambda a, b: a * b,
        lambda a, b: a / b,
        lambda a, b: a**b,
        lambda a, b: a % b,
        lambda a, b: a // b,
        lambda a, b: a < b,
        lambda a, b: a == b,
        lambda a, b: a @ b.T,
    ):
        result = function(B, x)
        assert type(result) is mo.Var
        close(result, function(B, A), rtol=1e-12)
    total = B.copy()
    total += x
    assert type(total) is np.ndarray
    close(total, A + B)


def test_gradients_flow():
    check_gradient(lambda x: np.sin(x) * np.exp(np.negative(x)), A)
    check_gradient(lambda x: np.mean(np.square(x), axis=1) - np.std(x), A)
    check_gradient(lambda x: B / np.hypot(x, 1.0) + np.add.reduce(x), A)


def test_along_dimensions():
    x, n = mo.array(A), mo.array(INTEGERS)
    mask = np.array([[True, False, True], [False, True, True]])
    for ufunc in (np.add, np.multiply, np.maximum, np.minimum):
        for options in (
            {},
            {"axis": 1},
            {"axis": None, "keepdims": True},
            {"axis": (0, 1)},
            {"axis": -1, "initial": 0.5},
            {"axis": 0, "initial": 0.5, "where": mask},
            {"axis": 0, "where": True, "initial": None, "out": None},
        ):
            result = ufunc.reduce(x, **options)
            assert type(result) is mo.Var
            close(result, ufunc.reduce(A, **options), rtol=1e-12)
        result = ufunc.accumulate(n, axis=1)
        assert type(result) is mo.Var
        same(result, ufunc.accumulate(INTEGERS, axis=1))
        result = ufunc.outer(x, INTEGERS)
        assert type(result) is mo.Var
        close(result, ufunc.outer(A, INTEGERS), rtol=1e-12)
    same(np.add.reduce(n, dtype="float32"), np.add.reduce(INTEGERS, dtype="float32"))
    same(np.logical_and.reduce(mo.array(mask), axis=0), mask.all(0))
    same(np.logical_or.reduce(mo.array(mask)), mask.any(0))
    close(np.logaddexp.reduce(x, axis=1), np.logaddexp.reduce(A, axis=1), rtol=1e-12)
    close(np.logaddexp.accumulate(x), np.logaddexp.accumulate(A), rtol=1e-12)


def test_what_numpy_computes():
    """Functions and options that are not in the table give arrays, as NumPy's do."""
    x = mo.array(A)
    out = np.zeros_like(A)
    for result, expected in [
        (np.modf(x)[0], np.modf(A)[0]),
        (np.spacing(x), np.spacing(A)),
        (np.add(x, B, dtype="float32"), np.add(A, B, dtype="float32")),
        (np.add.reduceat(x, [0, 1]), np.add.reduceat(A, [0, 1])),
        (np.hypot.reduce(x), np.hypot.reduce(A)),
        (np.add.accumulate(x, dtype="float32"), np.add.accumulate(A, dtype="float32")),
        (np.sin(x, out=out), np.sin(A)),
        (np.sin(x, where=x > 0.5, out=out.copy()), np.sin(A)),
        (np.ma.array(B, mask=B > 0.5) + x, np.ma.array(B, mask=B > 0.5) + A),
        (np.add(np.ma.array(B, mask=B > 0.5), x), np.ma.array(B, mask=B > 0.5) + A),
        (np.array(["a"]) == x, np.array(["a"]) == A),
    ]:
        assert isinstance(result, np.ndarray)
        assert type(result) is type(expected)
        np.testing.assert_allclose(result, expected, rtol=1e-6)
    np.add.at(out, (0, 1), x[0, 0])
    close(out[0, 1], np.sin(A[0, 1]) + A[0, 0])


def test_vars_are_not_written():
    x = mo.array(A)
    for write in (
        lambda: np.sin(A, out=x),
        lambda: np.add(x, 1, out=(x,)),
        lambda: np.add.at(x, 0, 1),
        lambda: np.add.reduce(A, out=x[0]),
    ):
        with pytest.raises(TypeError, match=r"^np\.\w+: a Var is to be written.*test_numpy_f"):
            write()
    same(x, A)


class Other:
    """Decides by itself what universal functions do, as other libraries' tensors."""

    def __array_ufunc__(self, ufunc, method, *inputs, **options):
        return "other", ufunc.__name__


def test_other_libraries_decide():
    x = mo.array(A)
    assert np.add(x, Other()) == np.add(Other(), x) == ("other", "add")
    with pytest.raises(TypeError):
        np.add(x, object())


#: Functions of NumPy that call a method of what they are given, or universal functions.
CALLS = {
    "all": [{}, {"axis": 1}, {"keepdims": True}, {"where": A > 0.5}],
    "any": [{}, {"axis": (0, 1)}, {"axis": 0, "keepdims": True, "where": A > 0.5}],
    "amax": [{"axis": 0}],
    "amin": [{"axis": 0}],
    "argmax": [{}, {"axis": 1}, {"axis": 0, "keepdims": True}],
    "argmin": [{}, {"axis": -1}],
    "around": [{"decimals": 1}],
    "clip": [{"a_min": 0.3, "a_max": 0.5}, {"a_min": None, "a_max": 0.5}, {"min": 0.4, "max": 1}],
    "cumprod": [{}, {"axis": 0}, {"axis": 1, "dtype": "float32"}],
    "cumsum": [{}, {"axis": 0}, {"axis": 1, "dtype": "float32"}],
    "max": [{}, {"axis": 1}, {"keepdims": True}, {"initial": 0.6},
            {"initial": 0, "where": A > 0.5}],
    "mean": [{}, {"axis": 1}, {"dtype": "float32"}, {"keepdims": True, "where": A > 0.3}],
    "min": [{}, {"axis": (0, 1)}, {"axis": 0, "initial": 0.4, "where": A > 0.5}],
    "prod": [{}, {"axis": 1}, {"dtype": "float32"}, {"initial": 2, "where": A > 0.5}],
    "ptp": [{}, {"axis": 1}, {"axis": 0, "keepdims": True}],
    "repeat": [{"repeats": 2}, {"repeats": [1, 2, 0], "axis": 1}],
    "round": [{}, {"decimals": 1}, {"decimals": -1}],
    "squeeze": [{}],
    "std": [{}, {"axis": 1, "ddof": 1}, {"correction": 1}, {"dtype": "float32", "where": A > 0.3}],
    "sum": [{}, {"axis": 1}, {"dtype": "float32"}, {"keepdims": True}, {"initial": 3},
            {"axis": 0, "where": A > 0.5}, {"axis": (0, 1), "initial": 1, "where": A > 0.5}],
    "swapaxes": [{"axis1": 0, "axis2": 1}],
    "take": [{"indices": [0, 2]}, {"indices": 1, "axis": 1}, {"indices": [9], "mode": "wrap"}],
    "transpose": [{}, {"axes": (1, 0)}],
    "var": [{}, {"axis": 1, "ddof": 1}, {"keepdims": True}, {"where": A > 0.3, "axis": 1}],
}  # fmt: skip


@pytest.mark.parametrize("name", CALLS)
def test_functions_that_call_methods(name):
    function = getattr(np, name)
    has_out = "out" in inspect.signature(function).parameters
    for options in CALLS[name]:
        expected = function(A, **options)
        for more in ({}, {"out": None}) if has_out else ({},):
            result = function(mo.array(A), **options, **more)
            assert type(result) is mo.Var, options
            close(result, expected, rtol=1e-6)
            assert result.dtype == expected.dtype or expected.dtype == "int64"


#: Values as NumPy computes them, whatever methods there are.
CONVERTED = {
    "argpartition": (1,),
    "argsort": (),
    "average": (),
    "compress": None,
    "concatenate": None,
    "diagonal": (),
    "diff": (),
    "dot": (B.T,),
    "einsum": None,
    "flip": (),
    "histogram": (),
    "isclose": (B,),
    "linalg.norm": (),
    "median": (),
    "nan_to_num": (),
    "nansum": (),
    "nonzero": (),
    "outer": (B,),
    "pad": (1,),
    "partition": (1,),
    "percentile": (30,),
    "ravel": (),
    "reshape": ((3, 2),),
    "roll": (1,),
    "searchsorted": None,
    "sort": (),
    "tile": (2,),
    "trace": (),
    "unique": (),
    "where": None,
}


@pytest.mark.parametrize("name", CONVERTED)
def test_functions_that_convert(name):
    x = mo.array(A)
    function = np.linalg.norm if name == "linalg.norm" else getattr(np, name)
    calls = {
        "compress": lambda x: function([True, False], x, 0),
        "concatenate": lambda x: function([x, x]),
        "einsum": lambda x: function("ij,ij->i", x, B),
        "searchsorted": lambda x: function(np.sort(A[0]), x),
        "where": lambda x: function(B > 0.5, x, B),
    }
    call = calls.get(name, lambda x: function(x, *CONVERTED[name]))
    for result, expected in zip(listed(call(x)), listed(call(A)), strict=True):
        np.testing.assert_allclose(np.asarray(result), expected, rtol=1e-12)


def test_methods_have_numpys_parameters():
    x, n = mo.array(A), mo.array(INTEGERS)
    same(n.sum(dtype="float32"), INTEGERS.sum(dtype="float32"))
    same(n.sum(initial=1.5), INTEGERS.sum(initial=1.5))
    same(n.prod(0, initial=2, where=A > 0.5), INTEGERS.prod(0, initial=2, where=A > 0.5))
    same(n.max(initial=9, axis=1), INTEGERS.max(initial=9, axis=1))
    same(n.min(axis=1, initial=2.5), INTEGERS.min(axis=1, initial=2.5))
    close(x.mean(axis=1, where=B > 0.4), A.mean(axis=1, where=B > 0.4), rtol=1e-12)
    close(n.mean(dtype="float64"), INTEGERS.mean(), rtol=1e-12)
    close(x.std(axis=0, ddof=1, dtype="float32"), A.std(0, ddof=1, dtype="float32"))
    close(n.var(dtype="float64"), INTEGERS.var(), rtol=1e-12)
    same(x.any(axis=1, where=A > 0.9), A.any(axis=1, where=A > 0.9))
    large = np.array([2**62 + 1, 2])
    same(mo.array(large).sum(initial=3), large.sum(initial=3))


@pytest.mark.parametrize(
    "name",
    [
        "all",
        "any",
        "argmax",
        "argmin",
        "clip",
        "cumprod",
        "cumsum",
        "max",
        "mean",
        "min",
        "prod",
        "round",
        "std",
        "sum",
        "var",
    ],
)
def test_out_is_refused(name):
    x = mo.array(A)
    arguments = (0, 1) if name == "clip" else ()
    assert getattr(x, name)(*arguments, out=None).shape is not None
    for out in (x, np.zeros(())):
        with pytest.raises(TypeError, match=rf"^{name}: out is an? .*, expected None: a result"):
            getattr(x, name)(*arguments, out=out)
        with pytest.raises(TypeError, match=rf"^{name}: out is"):
            getattr(mo, name)(x, *arguments, out=out)


def test_spellings_of_methods():
    """`axis` is as good as `dim`, other spellings too, and never two of them."""
    x = mo.array(A)
    for name in ("all", "any", "max", "mean", "min", "prod", "sum"):
        method, expected = getattr(x, name), getattr(A, name)(axis=1, keepdims=True)
        for options in (
            {"dim": 1, "keepdims": True},
            {"axis": 1, "keepdims": True},
            {"dims": 1, "keepdim": True},
            {"axis": 1, "keepdim": True},
        ):
            close(method(**options), expected, rtol=1e-12)
        for options in (
            {"dim": 1, "axis": 1},
            {"dim": 1, "dims": 1},
            {"keepdims": True, "keepdim": True},
        ):
            with pytest.raises(TypeError, match=rf"^Var\.{name}: \w+ is given twice"):
                method(**options)
        with pytest.raises(TypeError, match="there is no parameter 'initial_'"):
            method(initial_=1)
    with pytest.raises(TypeError, match="there is no parameter 'dtype'; the parameters are dim"):
        x.any(dtype="int8")
    with pytest.raises(TypeError, match="there is no parameter 'initial'"):
        x.mean(initial=0.0)


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int8", "uint16", "int64"])
def test_round(dtype):
    a = np.random.default_rng(3).uniform(0 if dtype[0] == "u" else -120, 120, 40).astype(dtype)
    half = dtype == "float16"
    if dtype[0] != "f":
        a[:4] = [15, 25, 35, 50]
    for decimals in (-3, -2, -1, 0, 1, 3):
        # Half floats are rounded in single precision.
        wide = a.astype("float32") if half else a
        expected = np.round(wide, decimals).astype(dtype)
        close(mo.round(a, decimals), expected, rtol=1e-6)
        close(mo.array(a).round(decimals=decimals), mo.round(a, decimals).numpy())
    far = mo.round(np.array([1, 1e300, np.inf, -np.inf, np.nan]), 400)
    close(far, np.array([1, 1e300, np.inf, -np.inf, np.nan]))
    near = mo.round(np.float32([1, 3e38, np.inf, np.nan]), -50)
    close(near, np.float32([0, 0, np.inf, np.nan]))
    assert mo.round(mo.array([2**62 + 5]), -1).item() == 2**62 + 6
    with pytest.raises(TypeError, match=r"decimals is 1\.5, expected an integer"):
        mo.round(a, 1.5)


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint8", "int64", "float16", "float32"])
@pytest.mark.parametrize("shape", [(1,), (6,), (2, 3), (0, 3)])
def test_in(dtype, shape):
    """`value in x` is whether any element equals it; Python alone would compare rows."""
    array = np.arange(np.prod(shape, dtype=int)).reshape(shape).astype(dtype)
    x = mo.array(array)
    values = [0, 1, 4, 7, -1, 1.0, 1.5, True, np.int64(3), np.float32(2.5), float("nan")]
    values += [-1.0, None, "1", object(), np.array(5), mo.array(5), array[..., :1]]
    for value in values:
        expected = (value.numpy() if isinstance(value, mo.Var) else value) in array
        assert (value in x) is expected, (value, array)
    with pytest.raises(ValueError, match=r"do not broadcast together.*test_numpy_functions"):
        [1, 2, 3, 4, 5] in mo.ones((2, 3))  # noqa: B015
    assert 3 in mo.array(3) and 4 not in mo.array(3)
    assert 2**70 not in mo.array(3) and 2**70 in mo.array(2.0**70)


@pytest.mark.parametrize("dtype", ["int32", "uint8", "float32", "float64"])
def test_rounding_and_division_by_pythons_functions(dtype):
    array = (np.arange(-7, 8) * 1.5).astype("float64").astype(dtype)
    x = mo.array(array)
    same(round(x), np.round(array))
    for digits in (-1, 0, 1):
        same(round(x, digits), np.round(array, digits))
    other = np.array([3] * 15).astype(dtype)
    for result, expected in [
        (divmod(x, mo.array(other)), divmod(array, other)),
        (divmod(x, 2), divmod(array, 2)),
        (divmod(20, mo.array(other)), divmod(20, other)),
        (divmod(x, other), divmod(array, other)),
    ]:
        assert isinstance(result, tuple)
        for part, value in zip(result, expected, strict=True):
            same(part, value)
    same(divmod(mo.array([5.5]), 2.0)[0], np.float32([2]))
    with pytest.raises(TypeError, match="unsupported operand"):
        divmod(x, "2")


def test_sizes_in_bytes():
    for dtype in ("bool", "bfloat16", "float64"):
        x = mo.zeros((3, 5), dtype) + 1
        assert x.itemsize == x.dtype.itemsize and x.nbytes == 15 * x.itemsize
    assert mo.zeros((0, 3)).nbytes == 0 and mo.array(1.0).nbytes == 4


def test_places_where_a_condition_holds():
    """As NumPy's `where` of one argument, which is `nonzero`."""
    array = np.array([[0, 1, 0], [2, 0, 3]])
    for value in (array, array > 1, array[0]):
        found = mo.where(mo.array(value))
        assert isinstance(found, tuple)
        for part, expected in zip(found, np.where(value), strict=True):
            same(part, expected)
    for arguments in [{"x": 1.0}, {"y": 1.0}]:
        with pytest.raises(TypeError, match=r"where: [xy] is not given, expected both of x and y"):
            mo.where(array > 1, **arguments)
