# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Types of elements as objects: what they equal, and where they go."""

import copy
import json
import pickle

import metaops as mo
import numpy as np
import pytest
from util import same

WIDTHS = (8, 16, 32, 64)
NAMES = ["bool", *(f"int{n}" for n in WIDTHS), *(f"uint{n}" for n in WIDTHS)]
NAMES += [f"float{n}" for n in WIDTHS[1:]]
A = np.array([[0, 1, 2], [3, 4, 5]], "float32")


@pytest.mark.parametrize("name", [*NAMES, "bfloat16"])
def test_a_type_is_its_name(name):
    dtype = getattr(mo, name)
    x = mo.array(A).cast(dtype)
    assert x.dtype is dtype and x.dtype == name and name == x.dtype
    assert isinstance(dtype, str) and str(dtype) == name == f"{dtype}" == dtype.name
    assert type(str(dtype)) is str is type(dtype.name)
    assert hash(dtype) == hash(name) and {name: 1}[dtype] == 1
    assert repr(dtype) == f"metaops.{name}"
    assert json.dumps({"dtype": dtype}) == f'{{"dtype": "{name}"}}'
    assert [other for other in (*NAMES, "bfloat16") if dtype == getattr(mo, other)] == [name]
    assert dtype != name + "s"
    assert mo.dtype(name) is mo.dtype(dtype) is dtype
    assert pickle.loads(pickle.dumps(dtype)) is copy.copy(dtype) is copy.deepcopy([dtype])[0]
    assert x.numpy().dtype.itemsize == (4 if name == "bfloat16" else dtype.itemsize)


@pytest.mark.parametrize("name", NAMES)
def test_types_of_numpy(name):
    dtype = getattr(mo, name)
    scalar = np.dtype(name).type
    for given in (scalar, np.dtype(name)):
        assert dtype == given and given == dtype and (dtype != given) is False
        assert mo.dtype(given) is dtype
        assert mo.zeros((2,), given).dtype is dtype
    other = "int8" if name != "int8" else "int16"
    for given in (
        np.dtype(other).type,
        np.dtype(other),
        np.complex64,
        np.dtype("U3"),
        list,
        object,
    ):
        assert dtype != given and given != dtype and (dtype == given) is False
    assert np.zeros(2, dtype).dtype == name == np.dtype(dtype)
    assert np.asarray(mo.array(A), dtype=dtype).dtype == name


@pytest.mark.parametrize("name", NAMES)
def test_types_of_python(name):
    equal = [given for given in (bool, int, float, str) if getattr(mo, name) == given]
    assert equal == {"bool": [bool], "int64": [int], "float32": [float]}.get(name, [])


def test_other_objects():
    for given in (3, None, [], mo.array(A)):
        assert (mo.float32 == given) is False and (mo.float32 != given) is True
    assert mo.bfloat16 != np.float32
    with pytest.raises(TypeError):
        sorted([mo.float32, 3])


# Functions that take a dtype.
TAKERS = {
    "array": lambda d: mo.array(A, d),
    "Var": lambda d: mo.Var(A, d),
    "asarray": lambda d: mo.asarray(A, d),
    "full": lambda d: mo.full((2, 3), 1, d),
    "zeros": lambda d: mo.zeros(2, 3, dtype=d),
    "ones": lambda d: mo.ones((2, 3), d),
    "empty": lambda d: mo.empty((2, 3), d),
    "zeros_like": lambda d: mo.zeros_like(A, d),
    "full_like": lambda d: mo.full_like(mo.array(A), 1, d),
    "arange": lambda d: mo.arange(3, dtype=d),
    "linspace": lambda d: mo.linspace(0, 1, 3, d),
    "iota": lambda d: mo.iota((2, 3), 0, d),
    "one_hot": lambda d: mo.one_hot([0, 1], 2, d),
    "rand": lambda d: mo.rand(2, 3, dtype=d),
    "random": lambda d: mo.random((2, 3), d),
    "randn": lambda d: mo.randn(2, 3, dtype=d),
    "normal": lambda d: mo.normal((2, 3), dtype=d),
    "randint": lambda d: mo.randint(0, 3, (2,), d),
    "cast": lambda d: mo.array(A).cast(d),
    "mo.cast": lambda d: mo.cast(A, d),
    "astype": lambda d: mo.array(A).astype(d),
    "to": lambda d: mo.array(A).to(d),
    "init": lambda d: mo.nn.init.normal((2, 3), dtype=d),
}


@pytest.mark.parametrize("name", TAKERS)
def test_where_types_go(name):
    makes_integers = name in ("iota", "randint")
    expected = mo.int32 if makes_integers else mo.float64
    for given in (expected, expected.name, np.dtype(expected), np.dtype(expected).type):
        assert TAKERS[name](given).dtype is expected
    if name == "to":
        return  # takes more; below
    with pytest.raises(TypeError, match=r"float31.*expected one of bool, int8"):
        TAKERS[name]("float31")
    with pytest.raises(TypeError, match="expected one of bool, int8"):
        TAKERS[name](mo.array(A))


def test_normal_numbers_are_as_fine_as_their_type():
    for dtype in (mo.float64, "float64", np.float64, np.dtype("float64")):
        numbers = mo.normal((64,), dtype=dtype).numpy()
        assert np.any(numbers != numbers.astype("float32"))


def test_to():
    x = mo.array(A)
    assert x.to("float64").dtype is mo.float64
    assert x.to(mo.float16).dtype is mo.float16
    assert x.to(dtype=np.int32).dtype is mo.int32
    assert x.to(mo.zeros(2, dtype="int8")).dtype is mo.int8
    same(x.to("cpu"), A)
    same(x.to(device="cpu"), A)
    for given in ("tpu", "float31"):
        with pytest.raises(ValueError, match=f"to: given '{given}', expected a dtype, a Var or"):
            x.to(given)
    with pytest.raises(TypeError, match=r"given an array of shape .* as a dtype"):
        x.to(A)
    same(mo.grad(x.to("float64").sum(), x), np.ones_like(A))


CASTS = {
    "half": "float16",
    "float": "float32",
    "double": "float64",
    "int": "int32",
    "long": "int64",
}


@pytest.mark.parametrize("name", CASTS)
def test_casts_by_other_names(name):
    same(getattr(mo.array(A, "float16"), name)(), A.astype(CASTS[name]))


SHAPED = ["zeros", "ones", "empty", "rand", "randn"]


@pytest.mark.parametrize("name", SHAPED)
def test_shapes_of_new_tensors(name):
    make = getattr(mo, name)
    for made in (make(2, 3), make((2, 3)), make([2, 3]), make(shape=(2, 3)), make(size=(2, 3))):
        assert made.shape == (2, 3) and made.dtype is mo.float32
    for made in (make(2, 3, dtype="float64"), make((2, 3), "float64"), make((2, 3), np.float64)):
        assert made.shape == (2, 3) and made.dtype is mo.float64
    assert make(4).shape == make((4,)).shape == make(np.int64(4)).shape == (4,)
    assert make(2, np.int64(3)).shape == (2, 3)
    assert make().shape == make(()).shape == ()
    assert make(0, 3).shape == (0, 3)
    mo.seed(3)
    first = make(2, 3).numpy()
    mo.seed(3)
    same(make((2, 3)), first)
    with pytest.raises(TypeError, match="dtype is given twice"):
        make((2, 3), "float64", dtype="float16")
    with pytest.raises(TypeError, match="shape is given twice"):
        make(2, shape=(2, 3))
    with pytest.raises(TypeError, match="integers"):
        make(2, 1.5, 3)


def test_values_of_new_tensors():
    same(mo.zeros(2, 3), np.zeros((2, 3), "float32"))
    same(mo.ones(2, 3), np.ones((2, 3), "float32"))
    mo.seed(0)
    numbers = mo.rand(1000).numpy()
    assert numbers.min() >= 0 and numbers.max() < 1 and abs(numbers.mean() - 0.5) < 0.05
    assert abs(mo.randn(1000).numpy().std() - 1) < 0.1


LIKE = ["zeros_like", "ones_like", "empty_like", "rand_like", "randn_like", "full_like"]


@pytest.mark.parametrize("name", LIKE)
def test_tensors_like_others(name):
    make = getattr(mo, name)
    more = {"value": 7} if name == "full_like" else {}
    for given in (A.astype("float64"), mo.array(A, "float64")):
        made = make(given, **more)
        assert made.shape == (2, 3) and made.dtype is mo.float64
        assert make(given, dtype=mo.float16, **more).dtype is mo.float16
    if name == "full_like":
        same(make(A, fill_value=7), np.full_like(A, 7))


def test_the_sign_of_a_double_becomes_that_of_a_half(compiled):
    """One number has no vectors, whose conversions need nobody's help."""
    x, y = mo.array(0.3, "float64"), mo.array(-0.7, "float64")
    rounded = mo.copysign(x, y).cast("float32").cast("float16")
    assert float(rounded) == np.float16(-0.3)
    inverse = mo.tanh(mo.erfinv(mo.array(-0.7, "float16")))
    assert abs(float(inverse) + 0.62494) < 1e-3
