# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Types, text, copies and files of complex numbers, exchange with NumPy, and refused calls."""

import copy
import operator
import pickle

import metaops as mo
import numpy as np
import pytest
from metaops.complex_numbers.table import FORMS
from test_complex import A, B, X, close, drawn

# Types

TYPES = ["int32", "float16", "float32", "float64", "complex64", "complex128"]


@pytest.mark.parametrize("first", TYPES)
@pytest.mark.parametrize("second", ["complex64", "complex128"])
def test_promotion(first, second):
    """As the array API has it; integers and halves count as float32."""
    wide = "complex128" if {first, second} & {"float64", "complex128"} else "complex64"
    x, z = mo.ones(3, dtype=first), mo.ones(3, dtype=second)
    assert (x * z).dtype == (z + x).dtype == mo.result_type(x, z) == wide
    assert mo.result_type(first, second) == wide
    assert mo.can_cast(first, second) == (wide == second)
    assert (x.astype(second)).dtype == second


def test_numbers_adopt_types():
    assert (mo.ones(3) * 1j).dtype == (mo.zeros(3, "complex64") + 0.5).dtype == "complex64"
    assert (mo.ones(3, dtype="float64") * 1j).dtype == "complex128"
    assert (mo.ones(3, dtype="int32") * 1j).dtype == "complex64"
    assert (mo.ones(3) * np.complex128(1j)).dtype == "complex128"
    assert mo.array(1j).dtype == mo.array([1j, mo.ones(())]).dtype == "complex64"
    with mo.default_dtype("float64"):
        assert mo.array([1j]).dtype == mo.zeros(2, dtype=complex).dtype == "complex128"


def test_types_are_numpys():
    for name in ("complex64", "complex128"):
        dtype = getattr(mo, name)
        scalar = np.dtype(name)
        assert dtype == name == dtype.name and dtype == scalar and dtype == scalar.type
        assert dtype != "float32" and dtype != np.float32 and dtype != mo.float32
        assert dtype.itemsize == scalar.itemsize and repr(dtype) == f"metaops.{name}"
        assert pickle.loads(pickle.dumps(dtype)) is dtype and hash(dtype) == hash(name)
        assert np.zeros(1, dtype).dtype == scalar
        assert mo.isdtype(dtype, "complex floating") and mo.isdtype(scalar, "numeric")
        assert not mo.isdtype(dtype, "real floating") and not mo.isdtype(mo.float32, dtype)
        half = "float32" if name == "complex64" else "float64"
        assert mo.finfo(dtype) == mo.finfo(mo.zeros(1, dtype)) == mo.finfo(half)


CREATED = {
    "zeros": lambda dtype: mo.zeros(2, 3, dtype=dtype),
    "zeros by position": lambda dtype: mo.zeros((2, 3), dtype),
    "ones": lambda dtype: mo.ones((2, 3), dtype=dtype),
    "empty": lambda dtype: mo.empty((2, 3), dtype=dtype),
    "full": lambda dtype: mo.full((2, 3), 1 + 2j, dtype),
    "full of a real number": lambda dtype: mo.full((2, 3), 2, dtype),
    "like": lambda dtype: mo.zeros_like(mo.array(X), dtype),
    "ones like": lambda dtype: mo.ones_like(mo.array(X), dtype=dtype),
    "full like": lambda dtype: mo.full_like(mo.array(A), 2j, dtype),
    "eye": lambda dtype: mo.eye(3, dtype=dtype),
    "arange": lambda dtype: mo.arange(3, dtype=dtype),
    "linspace": lambda dtype: mo.linspace(0, 1, 3, dtype=dtype),
    "array": lambda dtype: mo.array([1, 2j], dtype),
    "asarray": lambda dtype: mo.asarray(X, dtype),
    "cast": lambda dtype: mo.array(X).cast(dtype),
    "to": lambda dtype: mo.array(X).to(dtype),
    "astype": lambda dtype: mo.astype(mo.array(X), dtype),
    "of a Complex": lambda dtype: mo.array(A).astype(dtype),
    "tri": lambda dtype: mo.tri(3, dtype=dtype),
    "hanning": lambda dtype: mo.hanning(3, dtype=dtype),
    "one_hot": lambda dtype: mo.one_hot(mo.array([0, 1]), 2, dtype=dtype),
    "sum": lambda dtype: mo.sum(mo.array(X), dtype=dtype),
    "rand": lambda dtype: mo.rand(2, 3, dtype=dtype),
    "randn": lambda dtype: mo.randn((2, 3), dtype, key=mo.random.Key(1)),
    "randn like": lambda dtype: mo.randn_like(mo.array(A), dtype),
}


@pytest.mark.parametrize(
    "dtype", ["complex64", mo.complex128, np.complex64, np.dtype("complex128")]
)
@pytest.mark.parametrize("name", CREATED)
def test_types_where_they_are_taken(name, dtype):
    made = CREATED[name](dtype)
    assert isinstance(made, mo.Complex) and made.dtype == dtype
    assert made.numpy().dtype == dtype


def test_created_values():
    close(mo.full((2,), 1 + 2j), np.full((2,), 1 + 2j, "complex64"))
    close(mo.zeros_like(mo.array(A)), np.zeros_like(A))
    close(mo.full_like(mo.array(A), 2j), np.full_like(A, 2j))
    close(mo.eye(2, dtype="complex64"), np.eye(2, dtype="complex64"))
    close(mo.linspace(2, 1j, 5), np.linspace(2, 1j, 5))
    close(mo.polar(mo.array([2.0, 1.0]), 0.5), np.array([2, 1]) * np.exp(0.5j))
    close(mo.array([[1j, 2], [mo.ones(()), mo.array(3j)]]), np.array([[1j, 2], [1, 3j]]))


def test_devices():
    for device in ("cpu", "interpreter"):
        for z in (
            mo.array(A, device=device),
            mo.zeros((2, 3), dtype="complex64", device=device),
            mo.full((2, 3), 1j, device=device),
            mo.zeros_like(mo.array(A), device=device),
            mo.array(A).to(device),
            mo.array(A).to_device(device),
        ):
            assert z.device == mo.device(device) == mo.device(z.imag.device)
            assert z.shape == (2, 3)
    z, x = mo.array(A, device="interpreter"), mo.array(X, device="interpreter")
    for actual, expected in [
        (z * 1j, A * 1j),
        (2 - z, 2 - A),
        (x * 1j, X * 1j),
        (x + z, X + A),
        (mo.exp(z), np.exp(A)),
        (mo.prod(z), A.prod()),
        (mo.stack([z, x]), np.stack([A, X])),
        (mo.where(x > 0, z, 1), np.where(X > 0, A, 1)),
    ]:
        assert actual.device == mo.device("interpreter")
        close(actual, expected)
    assert mo.grad(mo.abs(mo.log(z)).sum(), z).device == mo.device("interpreter")


def test_random_numbers_have_variance_1():
    z = mo.randn(100_000, dtype="complex64", key=mo.random.Key(0)).numpy()
    assert abs(z.var() - 1) < 0.02 and abs(np.corrcoef(z.real, z.imag)[0, 1]) < 0.02
    u = mo.rand(1000, dtype="complex64").numpy()
    assert u.real.min() >= 0 and u.real.max() < 1 and u.imag.min() >= 0 and u.imag.max() < 1


# Parts and views


def test_parts():
    z = mo.array(A)
    close(mo.real(z), A.real)
    close(mo.imag(z), A.imag)
    close(mo.real(mo.array(X)), X)
    close(mo.imag(mo.array(X)), np.zeros_like(X))
    close(mo.view_as_real(z), np.stack([A.real, A.imag], -1))
    close(mo.view_as_complex(mo.view_as_real(z)), A)
    close(mo.angle(mo.array([-1.0, 2.0, np.nan])), np.angle([-1.0, 2.0, np.nan]))
    assert mo.iscomplexobj(z) and not mo.iscomplexobj(z.real) and mo.isrealobj(z.real)
    close(mo.isreal(mo.array([1j, 1])), np.isreal([1j, 1]))
    close(mo.iscomplex(mo.array([1j, 1])), np.iscomplex([1j, 1]))
    close(z.H, A.conj().T)
    close(mo.isclose(z, z + 1e-9), np.ones((2, 3), bool))
    assert bool(mo.allclose(z, z * (1 + 1e-7))) and bool(mo.array_equal(z, A))
    assert not bool(mo.array_equal(z, z + 1)) and not bool(mo.array_equal(z, z[0]))


def test_rotary_embedding():
    """Pairs of features are turned, as language models do with places."""
    x = drawn(4, 6).real
    angles = np.outer(np.arange(4), 10000 ** (-np.arange(3) / 3)).astype("float32")
    turned = mo.view_as_complex(mo.array(x).reshape(4, 3, 2)) * mo.polar(1.0, mo.array(angles))
    even, odd = x[:, ::2], x[:, 1::2]
    expected = np.stack(
        [
            even * np.cos(angles) - odd * np.sin(angles),
            even * np.sin(angles) + odd * np.cos(angles),
        ],
        -1,
    )
    close(mo.view_as_real(turned), expected)


# NumPy


def test_arrays_are_copies():
    a = A.copy()
    z = mo.array(a)
    a[0] = 0
    close(z, A)
    out = z.numpy()
    out[0] = 0
    close(z, A)
    strided = np.arange(24).reshape(2, 3, 4)[:, ::-1].transpose(2, 0, 1) * (1 + 2j)
    close(mo.asarray(strided), strided)
    close(mo.array(strided.astype(">c16")), strided)
    assert np.asarray(z).dtype == "complex64" and np.asarray(z, "complex128").dtype == "complex128"
    np.asarray(z)[0] = 0
    close(z, A)
    for empty in (mo.zeros((0, 2), "complex64"), mo.array(1j)):
        assert np.asarray(empty).shape == empty.shape
    with pytest.raises(ValueError, match="copy is False"):
        mo.asarray(A, copy=False)


def test_universal_functions():
    """They record functions of this package, so gradients flow."""
    z, x = mo.array(A), mo.array(X)
    for name in ("exp", "sin", "conjugate", "absolute", "isfinite", "square"):
        close(getattr(np, name)(z), getattr(np, name)(A))
    close(np.add(x, 1j), X + 1j)
    close(np.complex64(2j) * x, np.complex64(2j) * X)
    close(np.add.reduce(z, axis=1), np.add.reduce(A, axis=1))
    close(np.sum(z, axis=0), A.sum(0))
    close(np.multiply.accumulate(z), np.multiply.accumulate(A))
    loss = mo.abs(np.complex64(2j) * x).sum()
    np.testing.assert_allclose(mo.grad(loss, x).numpy(), 2 * np.sign(X), rtol=1e-6)
    with pytest.raises(TypeError, match=r"np\.maximum: given complex numbers"):
        np.maximum(z, z)
    with pytest.raises(TypeError, match=r"np\.exp: given complex numbers and out"):
        np.exp(z, out=np.zeros_like(A))


def test_dlpack_is_refused():
    with pytest.raises(BufferError, match=r"apart in memory; give away mo\.view_as_real"):
        np.from_dlpack(mo.array(A))
    with pytest.raises(BufferError, match="apart in memory"):
        mo.from_dlpack(mo.array(A))


# Text, copies and files


def test_text():
    z = mo.array(np.array([[1 + 2j, -0.5j]], "complex64"))
    assert repr(z) == "Complex([[ 1.+2.j , -0.-0.5j]], dtype=complex64)"
    assert str(z) == str(z.numpy()) and f"{mo.array(1 + 2j):.1f}" == "1.0+2.0j"
    assert repr(mo.zeros((0, 2), "complex64")) == "Complex([], shape=(0, 2), dtype=complex64)"
    assert "..." in repr(mo.zeros(5000, dtype="complex64"))
    assert z.tolist() == [[1 + 2j, -0.5j]] and z[0, 0].item() == complex(z[0, 0]) == 1 + 2j
    assert len(z) == 1 and z.ndim == 2 and z.size == 2 and z.nbytes == 16 and z.itemsize == 8
    assert (1 + 2j) in z and 3 not in z and [complex(v) for v in z[0]] == [1 + 2j, -0.5j]


def test_copies_and_pickles():
    z = mo.array(A)
    for made in (copy.copy(z), copy.deepcopy(z), pickle.loads(pickle.dumps(z)), z.clone(), +z):
        assert made is not z
        close(made, A)


def test_files(tmp_path):
    path = tmp_path / "z.bin"
    z = mo.array(A)
    mo.save({"z": z, "both": [z, mo.array(X)]}, path)
    found = mo.load(path)
    close(found["z"], A)
    close(found["both"][0], A)
    close(found["both"][1], X)
    assert found["z"].dtype == "complex64"


def test_assign():
    z = mo.array(A)
    assert z.assign(B) is z
    close(z, B)
    held = z
    for op, expected in [(operator.iadd, B + 1j), (operator.imul, (B + 1j) * 1j)]:
        z = op(z, 1j)
        assert z is held
        close(z, expected)


# Refused calls

BAD = {
    "a complex half": (lambda: mo.Complex(1j), TypeError, "a half is a complex"),
    "shapes": (lambda: mo.Complex(mo.ones(2), mo.ones(3)), ValueError, "2"),
    "to real": (lambda: mo.array(A).cast("float32"), TypeError, "z.real has the real parts"),
    "astype": (lambda: mo.astype(mo.array(A), "float32"), TypeError, "z.real has"),
    "float": (lambda: float(mo.array(1j)), TypeError, "float: given a complex number"),
    "int": (lambda: int(mo.array(1j)), TypeError, "int: given a complex number"),
    "item": (lambda: mo.array(A).item(), ValueError, "is not a single number"),
    "bool": (lambda: bool(mo.array(A)), ValueError, "is not a single number"),
    "loss": (lambda: mo.grad(mo.array(A), mo.array(A)), TypeError, "grad: loss is a Complex"),
    "view": (lambda: mo.view_as_complex(mo.ones(3)), ValueError, r"given shape \(3,\)"),
    "view of a Complex": (lambda: mo.view_as_complex(mo.array(A)), TypeError, "expected a real"),
    "view of a Var": (lambda: mo.view_as_real(mo.ones(3)), TypeError, "expected a Complex"),
    "floor division": (lambda: mo.array(A) // 2, TypeError, "unsupported operand"),
    "remainder": (lambda: mo.array(A) % 2, TypeError, "unsupported operand"),
    "a string": (lambda: mo.array(A) * "a", TypeError, "can.t multiply sequence"),
    "default dtype": (lambda: mo.set_default_dtype("complex64"), TypeError, "complex64"),
    "long doubles": (lambda: mo.array(A.astype("complex256")), TypeError, "complex256"),
    "layer": (lambda: mo.nn.Linear(3, 2)(mo.array(A)), TypeError, "Linear: given a Complex"),
    "median": (lambda: mo.median(mo.array(A), dim=0), TypeError, "median: given a Complex"),
    "full_like": (lambda: mo.full_like(mo.array(X), 1j), TypeError, "full_like: given a complex"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input(name):
    call, error, message = BAD[name]
    with pytest.raises(error, match=message):
        call()


#: Names whose functions take anything, or say something of a tensor.
OF_ANYTHING = {
    *("angle", "iscomplex", "iscomplexobj", "isreal", "isrealobj", "tree_leaves", "view_as_real"),
    *("save", "dump", "export"),
}
PLAIN = [
    name
    for name in mo.__all__
    if callable(getattr(mo, name))
    and not isinstance(getattr(mo, name), type)
    and name not in FORMS
    and name not in OF_ANYTHING
]


@pytest.mark.parametrize("name", PLAIN)
def test_functions_without_a_form_raise(name):
    """Nothing is computed of one half, or of both as if they were real."""
    z, x = mo.array(np.array([1 + 1j, 2, 3], "complex64")), mo.array([1.0, 2.0, 3.0])
    for args in [(z,), (z, z), (z, x), (x, z), (z, 0), (z, 1, 1), ([z],), ([z, z],), ([z], 0)]:
        with pytest.raises((TypeError, ValueError, BufferError)):
            getattr(mo, name)(*args)


def test_the_refused_function_is_named():
    z = mo.array(A)
    for name in ("relu", "sort", "maximum", "floor", "softmax", "norm", "argmax", "erf", "clip"):
        with pytest.raises(TypeError, match=f"{name}: given a Complex of shape"):
            getattr(mo, name)(*[z, 1][: 2 if name == "maximum" else 1])
