# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The array API standard: its names and parameters, and what could be otherwise here."""

import inspect
import itertools
import math
import pathlib
import re

import array_api_standard as standard
import metaops as mo
import numpy as np
import pytest
from util import close, floats, same

INFO = mo.__array_namespace_info__()
KINDS = inspect.Parameter
SIGNED = ["int8", "int16", "int32", "int64"]
UNSIGNED = ["uint8", "uint16", "uint32", "uint64"]
FLOATS = ["float32", "float64"]
COMPLEX = ["complex64", "complex128"]


def unmet_parameters(name, function, expected):
    """Return the parameters of the standard that a function does not take as it says."""
    own = dict(inspect.signature(function).parameters)
    spellings = getattr(getattr(function, "__init__", function), "spellings", {})
    spellings = getattr(function, "spellings", spellings)
    by_position = [p for p in own.values() if p.kind is not KINDS.KEYWORD_ONLY]
    has_more = any(p.kind is KINDS.VAR_POSITIONAL for p in by_position)
    unmet = []
    for place, parameter in enumerate(expected.parameters.values()):
        named = own.get(spellings.get(parameter.name, parameter.name))
        found = [named] if named else []
        if parameter.kind in (KINDS.POSITIONAL_ONLY, KINDS.POSITIONAL_OR_KEYWORD):
            placed = by_position[place] if place < len(by_position) else None
            if placed is None and not has_more:
                unmet.append(f"{name}({parameter.name})")
                continue
            if parameter.kind is KINDS.POSITIONAL_ONLY:
                found = [placed] if placed else []
            elif named and placed and named is not placed and not has_more:
                unmet.append(f"{name}({parameter.name})")
                continue
        elif parameter.kind is KINDS.VAR_POSITIONAL:
            found = [p for p in by_position if p.kind is KINDS.VAR_POSITIONAL]
        if not found:
            unmet.append(f"{name}({parameter.name})")
        elif parameter.default is not KINDS.empty and found[0].default != parameter.default:
            unmet.append(f"{name}({parameter.name}={parameter.default})")
    return unmet


def unmet():
    """Return all of the standard that is not there, by its name there."""
    found = []
    x = mo.ones((2, 2))
    for owner, functions in (
        (mo, standard.FUNCTIONS),
        (mo.Var, standard.METHODS),
        (type(INFO), standard.INFO),
    ):
        for name, expected in functions.items():
            if not hasattr(owner, name):
                found.append(name)
            else:
                found += unmet_parameters(name, getattr(owner, name), expected)
    found += [name for name in (*standard.CONSTANTS, *standard.DTYPES) if not hasattr(mo, name)]
    found += [
        extension
        for extension, names in standard.EXTENSIONS.items()
        if not all(hasattr(getattr(mo, extension, None), name) for name in names.split())
    ]
    found += [
        name
        for name in (*standard.ATTRIBUTES, *standard.SPECIAL_METHODS, *standard.METHODS)
        if not hasattr(x, name)
    ]
    found += [
        f'default_dtypes()["{kind}"]'
        for kind in ("real floating", "complex floating", "integral", "indexing")
        if kind not in INFO.default_dtypes()
    ]
    return found


def test_the_document_lists_what_is_not_met():
    text = (pathlib.Path(__file__).parents[2] / "docs" / "ArrayApi.md").read_text()
    section = text.split("## Not met")[1].split("\n## ")[0]
    rows = re.findall(r"^\| `([^`]+)` \|", section, re.MULTILINE)
    assert sorted(rows) == sorted(unmet())
    named = re.findall(r"^\| `linalg` \|(.*)\|$", section, re.MULTILINE)[0]
    for name in re.findall("`([^`]+)`", named):
        assert hasattr(mo, name)


def test_the_table_is_the_standards():
    assert len(standard.FUNCTIONS) == 134
    assert len(standard.SPECIAL_METHODS) == 57
    # A function that lacks parameters is found.
    expected = standard.FUNCTIONS["arange"]
    assert unmet_parameters("arange", lambda start, stop=0: None, expected) == [
        "arange(stop=None)",
        "arange(step)",
        "arange(dtype)",
        "arange(device)",
    ]


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_limits_of_floats(dtype):
    """Attributes are Python's numbers, and of a tensor they are those of its dtype."""
    given = getattr(mo, dtype)
    for own in (mo.finfo(given), mo.finfo(mo.ones(2, dtype=dtype)), mo.finfo(dtype)):
        assert own == mo.finfo(mo.ones(2, dtype=dtype).dtype)
        assert own.dtype == given and type(own.dtype) is mo.dtype
        assert type(own.bits) is int
        for name in ("eps", "max", "min", "smallest_normal"):
            assert type(getattr(own, name)) is float
            if dtype != "bfloat16":
                assert getattr(own, name) == float(getattr(np.finfo(dtype), name))
    assert own.bits == 8 * given.itemsize
    one = mo.ones((), dtype=dtype)
    assert (one + own.eps > one).item() and (one + own.eps / 2 == one).item()
    with pytest.raises(TypeError, match="no type of floats"):
        mo.finfo("int8")


@pytest.mark.parametrize("dtype", [name for name in standard.DTYPES if "int" in name])
def test_limits_of_integers(dtype):
    for given in (getattr(mo, dtype), mo.ones(2, dtype=dtype), mo.ones(2, dtype=dtype).dtype):
        own, expected = mo.iinfo(given), np.iinfo(dtype)
        assert (own.bits, own.max, own.min) == (expected.bits, expected.max, expected.min)
        assert {type(own.bits), type(own.max), type(own.min)} == {int}
        assert own.dtype == dtype and type(own.dtype) is mo.dtype
    with pytest.raises(TypeError, match="no type of integers"):
        mo.iinfo("bool")


def test_namespace():
    x = mo.zeros(3)
    assert x.__array_namespace__() is mo
    for version in ("2021.12", "2022.12", "2023.12", "2024.12"):
        assert x.__array_namespace__(api_version=version) is mo
    with pytest.raises(ValueError, match=r"api_version is '2031\.12', expected one of 2021"):
        x.__array_namespace__(api_version="2031.12")
    assert mo.__array_api_version__ == "2024.12"
    assert mo.newaxis is None and math.isnan(mo.nan)
    assert [mo.e, mo.pi, mo.inf] == [math.e, math.pi, math.inf]


def test_info():
    assert INFO.capabilities() == {
        "boolean indexing": True,
        "data-dependent shapes": True,
        "max dimensions": None,
    }
    assert INFO.default_device() == mo.zeros(1).device in INFO.devices() == mo.devices()
    defaults = INFO.default_dtypes(device="cpu")
    assert defaults["real floating"] == mo.asarray(1.5).dtype == mo.ones(2).dtype
    assert defaults["integral"] == mo.asarray(1).dtype == mo.arange(3).dtype
    assert defaults["indexing"] == mo.argmax(mo.ones(2)).dtype
    assert defaults["complex floating"] == mo.asarray(1j).dtype
    assert set(INFO.dtypes()) == {"bool", *SIGNED, *UNSIGNED, *FLOATS, *COMPLEX}
    assert all(getattr(mo, name) is dtype for name, dtype in INFO.dtypes().items())
    kinds = {
        "bool": ["bool"],
        "signed integer": SIGNED,
        "unsigned integer": UNSIGNED,
        "integral": SIGNED + UNSIGNED,
        "real floating": FLOATS,
        "complex floating": COMPLEX,
        "numeric": SIGNED + UNSIGNED + FLOATS + COMPLEX,
        ("bool", "signed integer"): ["bool", *SIGNED],
        (): [],
    }
    for kind, names in kinds.items():
        assert sorted(INFO.dtypes(kind=kind)) == sorted(names)
        for name in {"bool", *SIGNED, *UNSIGNED, *FLOATS, *COMPLEX}:
            assert mo.isdtype(getattr(mo, name), kind) is (name in names)
    with pytest.raises(ValueError, match="kind is 'float', expected one of 'bool'"):
        INFO.dtypes(kind="float")
    with pytest.raises(ValueError, match="there is no device 'gpu'; there are cpu:0 to"):
        INFO.dtypes(device="gpu")


def test_kinds_of_types():
    assert mo.isdtype(mo.float16, "real floating") and mo.isdtype("bfloat16", "numeric")
    assert mo.isdtype(mo.int8, mo.int8) and not mo.isdtype(mo.int8, mo.int16)
    assert mo.isdtype(mo.int8, (mo.uint8, "signed integer"))
    with pytest.raises(TypeError, match="dtype"):
        mo.isdtype(mo.int8, "integer")


NAMES = ["bool", *SIGNED, *UNSIGNED, "float16", "bfloat16", *FLOATS]


def promoted(*dtypes):
    """Return the type that concat promotes to, or None."""
    try:
        return mo.concat([mo.zeros((0,), dtype) for dtype in dtypes]).dtype
    except TypeError:
        return None


def test_promotion():
    """`result_type` says what operators do, of all pairs."""
    for a, b in itertools.product(NAMES, repeat=2):
        expected = promoted(a, b)
        if expected is None:
            with pytest.raises(TypeError, match="no integer type holds both"):
                mo.result_type(a, b)
            assert not mo.can_cast(a, b)
        else:
            assert mo.result_type(a, b) is mo.result_type(mo.zeros(1, a), b) is expected
            assert mo.can_cast(a, b) is (expected == b) is mo.can_cast(mo.zeros(1, a), b)
    for a, number in itertools.product(NAMES, (True, 3, 1.5)):
        expected = mo.where(mo.ones((0,), "bool"), mo.zeros((0,), a), number).dtype
        assert mo.result_type(a, number) == mo.result_type(number, mo.zeros(1, a)) == expected
    assert mo.result_type("int8", "uint64", "float32") == "float32"
    assert mo.result_type("float16", "int8", "bfloat16", 2.0, True) == "float32"
    for given in [(), (1, 2.0)]:
        with pytest.raises(TypeError, match="neither a tensor nor a dtype"):
            mo.result_type(*given)


def test_astype():
    x = mo.asarray([0.0, 1.7, -2.5])
    same(mo.astype(x, mo.int32), np.int32([0, 1, -2]))
    same(mo.astype(x, mo.bool, device="cpu"), np.array([False, True, True]))
    assert mo.astype(x, mo.float32) is not x
    assert mo.astype(x, mo.float32, copy=False) is x
    assert mo.astype(x, mo.float64, copy=False).dtype == "float64"


CREATED = {
    "arange": (mo.arange, (3,), np.arange(3)),
    "arange of floats": (mo.arange, (1.5, 3), np.float32([1.5, 2.5])),
    "arange down": (mo.arange, (3, 0, -2), np.array([3, 1])),
    "arange of nothing": (mo.arange, (3, 0), np.arange(0)),
    "empty": (mo.empty, ((2, 0),), np.zeros((2, 0), "float32")),
    "eye": (mo.eye, (2, 3), np.eye(2, 3, dtype="float32")),
    "full of a bool": (mo.full, ((2,), True), np.array([True, True])),
    "full of an integer": (mo.full, (2, 3), np.array([3, 3])),
    "full of a float": (mo.full, ((), 1.5), np.float32(1.5)),
    "linspace": (mo.linspace, (0, 1, 3), np.float32([0, 0.5, 1])),
    "ones": (mo.ones, (2,), np.ones(2, "float32")),
    "zeros": (mo.zeros, ((1, 2),), np.zeros((1, 2), "float32")),
}


@pytest.mark.parametrize("name", CREATED)
def test_creation(name):
    function, arguments, expected = CREATED[name]
    same(function(*arguments), expected)
    same(function(*arguments, dtype=None, device="cpu"), expected)
    same(function(*arguments, dtype=mo.float64), expected.astype("float64"))
    with pytest.raises(ValueError, match="there is no device 'tpu'; there are cpu:0 to"):
        function(*arguments, device="tpu")


def test_creation_by_names():
    same(mo.full(shape=(2,), fill_value=1), np.array([1, 1]))
    same(mo.zeros(shape=(2,), dtype=mo.int8), np.zeros(2, "int8"))
    same(mo.eye(3, 2, k=-1, dtype=mo.bool), np.eye(3, 2, -1, dtype=bool))
    same(mo.linspace(0, 1, num=2, endpoint=False), np.float32([0, 0.5]))
    x = mo.asarray([[1, 2, 3]], device="cpu")
    for name, value in {"zeros": 0, "ones": 1, "empty": 0}.items():
        like = getattr(mo, f"{name}_like")
        same(like(x, dtype=mo.float32, device="cpu"), np.full((1, 3), value, "float32"))
        with pytest.raises(ValueError, match="device"):
            like(x, device="gpu")
    same(mo.full_like(x, fill_value=7), np.full((1, 3), 7))
    with pytest.raises(TypeError, match="device: given 0"):
        mo.asarray(x, device=0)


def test_attributes():
    x = mo.array(np.arange(6).reshape(1, 2, 3))
    assert x.device == INFO.default_device() == mo.device(str(x.device))
    same(x.mT, x.numpy().swapaxes(1, 2))
    with pytest.raises(ValueError, match="two dimensions"):
        mo.zeros(3).mT
    moved = x.to_device("cpu")
    assert moved is not x and moved.device == "cpu"
    same(moved, x.numpy())
    with pytest.raises(ValueError, match="there is no device 'gpu'"):
        x.to_device("gpu")
    with pytest.raises(ValueError, match="stream"):
        x.to_device("cpu", stream=1)
    assert x.__dlpack_device__() == (1, 0)


def test_python_numbers():
    three = mo.asarray(3)
    assert "abcdef"[three] == "d" and [*range(three)] == [0, 1, 2]
    assert complex(mo.asarray(1.5)) == 1.5 and complex(mo.asarray(True)) == 1
    for x in (mo.asarray(1.5), mo.asarray([1]), mo.asarray(True)):
        with pytest.raises(TypeError, match="expected one integer"):
            [1, 2, 3][x]
    with pytest.raises(ValueError, match="not a single number"):
        complex(mo.ones(2))


@pytest.mark.parametrize("dtype", SIGNED + UNSIGNED)
def test_shifts(rng, dtype):
    a = rng.integers(0, 100, 20).astype(dtype)
    places = rng.integers(0, 7, 20).astype(dtype)
    x, y = mo.array(a), mo.array(places)
    same(x << y, a << places)
    same(x >> y, a >> places)
    same(x << 2, a << 2)
    same(1 << y, 1 << places)
    same(64 >> y, 64 >> places)
    same(places << x % 2, places << (a % 2))
    z = x
    z <<= 1
    z >>= y
    assert z is x
    same(x, (a << 1) >> places)
    with pytest.raises(TypeError, match="unsupported operand"):
        x << "1"
    with pytest.raises(TypeError, match="unsupported operand"):
        x >>= None


def test_matrix_product_in_place(rng):
    a, b = floats(rng, (2, 3)), floats(rng, (3, 3))
    x = y = mo.array(a)
    x @= mo.array(b)
    assert x is y
    close(x, a @ b)
    with pytest.raises(TypeError, match="unsupported operand"):
        x @= "b"


@pytest.mark.parametrize("dtype", ["bool", *SIGNED, *UNSIGNED, *FLOATS])
def test_types_of_reductions(dtype):
    x = mo.ones((2, 3), dtype)
    if dtype in FLOATS:
        summed = dtype
    else:
        summed = "uint64" if dtype in UNSIGNED else "int64"
    for function in (mo.sum, mo.prod, mo.cumulative_sum, mo.cumulative_prod):
        assert function(x, axis=0).dtype == summed, function
    assert mo.count_nonzero(x).dtype == mo.argmin(x, axis=1).dtype == "int64"
    assert mo.max(x).dtype == mo.min(x, axis=(0, 1)).dtype == dtype
    if dtype in FLOATS:
        assert mo.mean(x).dtype == mo.std(x).dtype == mo.var(x, correction=1.0).dtype == dtype


def test_searches_and_sets(rng):
    a = rng.integers(0, 9, 30)
    order = np.argsort(a, kind="stable")
    for side in ("left", "right"):
        expected = np.searchsorted(a, [0, 3, 9], side, order)
        same(mo.searchsorted(mo.array(a), [0, 3, 9], side=side, sorter=order), expected)
    with pytest.raises(ValueError, match="side is True, expected 'left' or 'right'"):
        mo.searchsorted([1, 2], 1, True)
    same(mo.argsort(mo.array(a), stable=False), order)
    same(mo.sort(mo.array(a), stable=True, descending=True), np.sort(a)[::-1])
    x = np.array([2.0, np.nan, 1.0, 2.0, np.nan])
    for result, expected in zip(mo.unique_all(x), np.unique_all(x), strict=True):
        same(result, expected)
    counts, inverse = mo.unique_counts(x), mo.unique_inverse(x)
    same(counts.values, np.unique_counts(x).values)
    same(counts.counts, np.unique_counts(x).counts)
    same(inverse.inverse_indices, np.unique_inverse(x).inverse_indices)
    same(mo.unique(x), np.unique(x))
    with pytest.raises(ValueError, match="0-d"):
        mo.nonzero(mo.asarray(1))


def test_parts_of_real_numbers(rng):
    a = floats(rng, (3,))
    x = mo.array(a)
    for function, expected in ((mo.real, a), (mo.conj, a), (mo.imag, a * 0)):
        result = function(x)
        assert result is not x
        same(result, np.abs(expected) if function is mo.imag else expected)


def test_shapes():
    x = mo.array(np.arange(6).reshape(2, 3))
    same(mo.permute_dims(x, axes=(1, 0)), x.numpy().T)
    same(mo.reshape(x, (3, 2), copy=True), x.numpy().reshape(3, 2))
    assert isinstance(mo.unstack(x, axis=1), tuple)
    with pytest.raises(IndexError, match="out of range"):
        mo.expand_dims(x, axis=3)
    with pytest.raises(np.exceptions.AxisError):
        mo.flip(x, axis=2)


def test_met_in_another_way():
    """The table of the document."""
    x = mo.array(np.arange(6).reshape(1, 2, 3))
    same(x.T, x.numpy().T)
    part = x[0]
    part += 1
    same(x, np.arange(6).reshape(1, 2, 3))
    with pytest.raises(TypeError):
        mo.from_dlpack(3)


def test_a_program_of_the_standard(rng):
    def standardised(x):
        xp = x.__array_namespace__()
        return (x - xp.mean(x, axis=0)) / xp.std(x, axis=0, correction=1)

    a = floats(rng, (5, 3), "float64")
    x = mo.array(a)
    close(standardised(x), (a - a.mean(0)) / a.std(0, ddof=1))
    assert mo.grad(standardised(x).sum(), x).shape == (5, 3)
