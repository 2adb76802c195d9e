# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operands of functions of complex numbers, and the other arguments beside them.

Numbers have all digits of the type of what is beside them, lists count as arrays, and what
is no operand is refused by name. Results are tensors of their own.
"""

import copy

import metaops as mo
import numpy as np
import pytest

A = np.array([1 + 2j, 3 - 1j])
X = np.array([1.0, 2.0])
M = np.array([[1, 2j], [3, 4j]])


def exact(actual, expected):
    """Compare with NumPy's values up to a few last digits of float64."""
    np.testing.assert_allclose(actual.numpy(), expected, rtol=1e-14, atol=1e-14)


# Digits

#: Calls with a number of Python's that float32 rounds, for tensors and for arrays.
DIGITS = {
    "add": lambda m, z: z + 0.1,
    "subtract": lambda m, z: 0.1 - z,
    "multiply": lambda m, z: z * 0.1,
    "divide": lambda m, z: z / 0.1,
    "reflected power": lambda m, z: 0.3**z,
    "large": lambda m, z: z * 1e300,
    "ufunc": lambda m, z: np.multiply(z, 0.1),
    "where": lambda m, z: m.where(z == 3 - 1j, 0.1, z),
    "full": lambda m, z: m.full(2, 0.1, "complex128"),
    "array": lambda m, z: m.array(0.1, "complex128"),
    "full_like": lambda m, z: m.full_like(z, 0.1),
    "prod": lambda m, z: m.prod(z, initial=0.1),
    "sum": lambda m, z: m.sum(z, initial=0.1j),
    "append": lambda m, z: m.append(z, 0.1j),
    "insert": lambda m, z: m.insert(z, 1, 0.1j),
    "concat": lambda m, z: m.concatenate([z, [0.1j]]),
    "stack": lambda m, z: m.stack([z, [0.1j, 0.1]]),
    "kron": lambda m, z: m.kron(z, 0.1j),
    "kron of reals": lambda m, z: m.kron(z.real, 0.1j),
    "outer": lambda m, z: m.outer(0.1j, z),
    "vdot": lambda m, z: m.vdot([0.1j, 0.3], z),
    "einsum": lambda m, z: m.einsum("i,->i", z, 0.1j),
    "list": lambda m, z: m.add(z, [0.1j, 0.1]),
}


@pytest.mark.parametrize("name", DIGITS)
def test_digits_of_numbers(name):
    call = DIGITS[name]
    exact(call(mo, mo.array(A)), call(np, A))


def test_digits_that_are_written():
    z = mo.array(A)
    z += 0.1
    exact(z, A + 0.1)
    z[0] = 0.1
    assert z[0].item() == 0.1
    z[0] = 0.3j
    assert z[0].item() == 0.3j
    assert z.at[1].set(0.1)[1].item() == 0.1
    assert z.at[1].add(0.1)[1].item() == A[1] + 0.1 + 0.1
    assert mo.put_along_axis(z, mo.array([1]), 0.1j, 0)[1].item() == 0.1j
    assert mo.array([z[0], 0.1])[1].item() == 0.1


def test_comparisons_have_all_digits():
    z = mo.array(np.array([0.1 + 0j]))
    assert bool((z == 0.1).all()) and not bool((z != 0.1).any())
    assert bool(mo.isclose(z, 0.1, 0, 0).all())
    assert 0.1 in z


# Lists

CONJUGATING = {
    "vdot": lambda m, v, z: m.vdot(v, z),
    "vecdot": lambda m, v, z: m.vecdot(v, z),
    "correlate": lambda m, v, z: m.correlate(z, v),
    "correlate with a list first": lambda m, v, z: m.correlate(v, z),
}


@pytest.mark.parametrize("name", CONJUGATING)
@pytest.mark.parametrize("v", [[1j, 2], (1j, 2), np.array([1j, 2])], ids=["list", "tuple", "array"])
def test_lists_are_conjugated(name, v):
    call = CONJUGATING[name]
    exact(call(mo, v, mo.array(A)), call(np, v, A))


def test_vectors_of_matrices_are_conjugated():
    exact(mo.vecmat([1j, 2], mo.array(M)), np.array([-1j, 2]) @ M)


def test_lists_beside_real_tensors():
    x = mo.array(X)
    exact(x * [1j, 2], X * [1j, 2])
    exact([1j, 2] @ x, [1j, 2] @ X)
    assert (x == [1j, 2]).tolist() == [False, True]


def test_parts_of_lists():
    assert mo.iscomplexobj([1j]) and not mo.isrealobj([1, 2j])
    assert mo.isreal([1, 2j]).tolist() == [True, False]
    assert mo.iscomplex([1, 2j]).tolist() == [False, True]
    assert mo.zeros_like([1j]).tolist() == [0j]
    np.testing.assert_allclose(mo.angle([1j]).numpy(), [np.pi / 2], rtol=1e-6)


@pytest.mark.parametrize("name", ["matmul", "dot", "kron", "outer", "inner", "vdot"])
def test_operands_by_name(name):
    exact(getattr(mo, name)(a=mo.array(A), b=mo.array(X)), getattr(np, name)(A, X))


def test_operands_by_name_with_options():
    exact(mo.tensordot(a=mo.array(M), b=mo.array(X), axes=1), np.tensordot(M, X, 1))
    exact(mo.matvec(mo.array(M), b=mo.array(X)), M @ X)
    with pytest.raises(TypeError, match="matmul: b is not given"):
        mo.matmul(mo.array(A))


# Arguments that are no operands


REFUSED = {
    "trapezoid: dx": lambda z, x: mo.trapezoid(x, dx=1j),
    "trapezoid: x": lambda z, x: mo.trapezoid(x, z),
    "extract: condition": lambda z, x: mo.extract([1j, 1], z),
    "compress: condition": lambda z, x: mo.compress([1j, 1], z, 0),
    "take: indices": lambda z, x: mo.take(z, [1j]),
    "repeat: repeats": lambda z, x: mo.repeat(z, 1j),
    "reshape: shape": lambda z, x: mo.reshape(z, 1j),
    "reshape: an argument": lambda z, x: z.reshape(1j),
    "tensordot: axes": lambda z, x: mo.tensordot(z, z, 1j),
    "sum: where": lambda z, x: mo.sum(z, where=[1j, 0]),
    "select: conditions": lambda z, x: mo.select([z], [z], 1),
    "zeros: shape": lambda z, x: mo.zeros(z),
    "eye: m": lambda z, x: mo.eye(2, 1j),
    "linspace: num": lambda z, x: mo.linspace(0, 1, 1j),
    "where: condition": lambda z, x: mo.where(z, x, x),
    "isclose: rtol": lambda z, x: mo.isclose(z, z, 1j),
    "var: correction": lambda z, x: mo.var(z, correction=1j),
    "polar: abs": lambda z, x: mo.polar(z, 1),
    "permutation: given a Complex": lambda z, x: mo.random.permutation(z),
    "choice: given a Complex": lambda z, x: mo.random.choice(z),
    "sum: dtype": lambda z, x: mo.sum(z, dtype="int32"),
    "mean: dtype": lambda z, x: z.mean(dtype=np.float32),
    "cumsum: dtype": lambda z, x: mo.cumsum(z, 0, "float32"),
    "linspace: dtype": lambda z, x: mo.linspace(0, 1j, 3, dtype="float32"),
    "pad: mode": lambda z, x: mo.pad(z, 1, mode="maximum"),
    "pad: mode is 'minimum'": lambda z, x: mo.pad(z, 1, "minimum"),
    "cast: given complex numbers and dtype 'float32'": lambda z, x: z.to("float32"),
}


@pytest.mark.parametrize("message", REFUSED)
def test_other_arguments_are_refused(message):
    with pytest.raises(TypeError, match=f"^{message}"):
        REFUSED[message](mo.array(A), mo.array(X))


def test_types_of_what_is_drawn():
    z, x = mo.array(A), mo.array(X)
    assert mo.randn_like(z).dtype == "complex128"
    for real in (mo.randn_like(z, dtype="float32"), mo.rand_like(z, "float32")):
        assert isinstance(real, mo.Var) and real.dtype == "float32" and real.shape == (2,)
    assert mo.rand_like(x, "complex64").dtype == "complex64"


@pytest.mark.parametrize("name", ["sum", "mean", "prod"])
def test_complex_types_of_methods(name):
    made = getattr(mo.array(X), name)(dtype="complex64")
    assert made.dtype == "complex64"
    exact(made, getattr(X, name)())


def test_iteration():
    z = mo.array(M)
    assert [row.tolist() for row in z] == M.tolist()
    with pytest.raises(TypeError, match="without dimensions"):
        iter(mo.array(1j))


# Results of their own

SHARING = {
    "cast": lambda z, x: mo.cast(x, "complex128"),
    "astype": lambda z, x: x.astype("complex128"),
    "to": lambda z, x: x.to("complex128"),
    "array": lambda z, x: mo.array(x, "complex128"),
    "asarray": lambda z, x: mo.asarray(x, "complex128"),
    "tensor": lambda z, x: mo.tensor(x, dtype="complex128"),
    "asarray of complex": lambda z, x: mo.asarray(z),
    "operator": lambda z, x: z**1,
    "pow": lambda z, x: mo.pow(z, 1),
    "float_power": lambda z, x: mo.float_power(z, 1),
    "ufunc": lambda z, x: np.power(z, 1),
    "prod": lambda z, x: mo.prod(z, ()),
    "method": lambda z, x: z.prod(()),
    "real": lambda z, x: mo.real(z),
    "imag": lambda z, x: mo.imag(z),
    "positive": lambda z, x: +z,
    "conj": lambda z, x: z.conj(),
    "detach": lambda z, x: z.detach(),
    "device": lambda z, x: z.to("cpu"),
}


@pytest.mark.parametrize("name", SHARING)
def test_results_are_their_own(name):
    """What is written to a result changes no argument, and the other way round."""
    z, x = mo.array(A), mo.array(X)
    result = SHARING[name](z, x)
    value = result.numpy()
    z += 5
    x += 5
    np.testing.assert_array_equal(result.numpy(), value)
    z, x = mo.array(A), mo.array(X)
    result = SHARING[name](z, x)
    result += 5
    exact(z, A)
    exact(x, X)


def test_no_copy():
    z = mo.array(A)
    assert mo.asarray(z, copy=False) is z
    assert mo.astype(z, "complex128", copy=False) is z
    with pytest.raises(ValueError, match="copy is False"):
        mo.asarray(z, "complex64", copy=False)


def test_halves_of_copies():
    """A copy of a structure has one tensor where that has one."""
    z = mo.array(A)
    pair, half = copy.deepcopy((z, z.real))
    assert pair.real is half and half is not z.real


@pytest.mark.parametrize("write", ["assign", "setitem"])
def test_a_value_of_the_own_halves(write):
    """All halves are read before one of them is written."""
    for make, expected in [
        (lambda z: mo.Complex(z.imag, z.real), A.imag + 1j * A.real),
        (lambda z: mo.Complex(-z.imag, z.real), A * 1j),
    ]:
        z = mo.array(A)
        if write == "assign":
            z.assign(make(z))
        else:
            z[...] = make(z)
        exact(z, expected)


# Places


def test_writes_stay_on_a_device():
    z = mo.array(A).to("interpreter:0")
    z[0] = 5j
    z.assign(np.array([5j, 2]))
    assert z.device == z.imag.device == "interpreter:0" and z.tolist() == [5j, 2]
    for made in (mo.full_like(z, 1j), z.at[0].set(1j), mo.full_like(z, 1, "float32")):
        assert made.device == "interpreter:0"
    for made in (mo.full_like(z, 1j, device="cpu"), mo.full_like(z, 1, "float32", device="cpu")):
        assert made.device == "cpu:0"
    assert mo.arange(3, dtype="complex64", device="interpreter:0").device == "interpreter:0"
    with pytest.raises(ValueError, match=r"halves are on \S+ and interpreter:0"):
        mo.Complex(mo.array(X), z.real)


def test_modules_of_short_floats():
    """No complex type has halves of 16 bits."""

    class Layer(mo.nn.Module):
        def __init__(self):
            super().__init__()
            self.weights = [mo.Complex(mo.ones(2), mo.zeros(2))]
            self.bias = mo.zeros(2)

    layer = Layer()
    for convert, bias in [(layer.half, "float16"), (layer.bfloat16, "bfloat16")]:
        convert()
        z = layer.weights[0]
        assert z.real.dtype == z.imag.dtype == "float32" and z.dtype == "complex64"
        assert layer.bias.dtype == bias
    assert layer.double().weights[0].dtype == "complex128"


AUTOCAST = {
    "ufunc": lambda z, x, a: np.matmul(z, z),
    "array and Var": lambda z, x, a: a @ x,
    "Var and array": lambda z, x, a: x @ a,
    "array and Complex": lambda z, x, a: a @ z,
    "function": lambda z, x, a: mo.matmul(a, x),
    "einsum": lambda z, x, a: mo.einsum("ij,jk", a, x),
}


@pytest.mark.parametrize("name", AUTOCAST)
def test_autocast_computes_as_ever(name):
    array = (M + 1 / 3).astype("complex64")
    z, x = mo.array(array), mo.array(np.array([[1 / 3, 2], [3, 5]], "float32"))
    expected = AUTOCAST[name](z, x, array).numpy()
    with mo.amp.autocast(dtype="bfloat16"):
        actual = AUTOCAST[name](z, x, array)
    np.testing.assert_allclose(actual.numpy(), expected, rtol=1e-6)


# Derivatives


def test_gradients_of_imaginary_quotients():
    z = mo.array(np.array([2j, -1j, 1, 1 + 1j]))
    np.testing.assert_allclose(mo.grad((z / 2j).imag.sum(), z).numpy(), [-0.5] * 4, atol=1e-12)
    np.testing.assert_allclose(mo.grad((z / z).real.sum(), z).numpy(), [0] * 4, atol=1e-12)
    x = mo.array(X)
    exact(mo.grad(mo.abs(1 / (1j * x)).sum(), x), -1 / X**2)
    t = mo.array([1.0, -1.0])
    exact(mo.grad(mo.abs(mo.array([1j, 2]) / (t * 1j)).sum(), t), [-1, 2])


def test_jacobians_of_pairs():
    """Derivatives of a pair by a pair are no pair of numbers."""
    z, x = mo.array(A), mo.array(X)
    for of in (mo.jacobian(mo.square), mo.hessian(lambda z: (mo.abs(z) ** 2).sum())):
        with pytest.raises(TypeError, match=r"(jacobian|hessian): the function returns a Complex"):
            of(z)
    with pytest.raises(TypeError, match="jacobian: the function returns a Complex"):
        mo.jacobian(lambda x, y: x * 1j * y, (0, 1))(x, x)
    exact(mo.jacobian(lambda z: mo.abs(z) ** 2)(z), np.diag(2 * A))
    exact(mo.jacobian(lambda x: x * 1j)(x), np.eye(2) * 1j)


# Values beyond the largest numbers


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("name", ["exp", "exp2", "sinh", "cosh", "sin", "cos"])
def test_overflow_beside_zero(name, dtype):
    """An infinite factor of an exact 0 is none: as NumPy's, with its sign."""
    z = np.array([3000, complex(3000, -0.0), -3000, 3000j, complex(-0.0, 3000), -3000j], dtype)
    actual = getattr(mo, name)(mo.array(z)).numpy()
    with np.errstate(over="ignore", invalid="ignore"):
        expected = getattr(np, name)(z)
    for part in ("real", "imag"):
        one, other = getattr(actual, part), getattr(expected, part)
        np.testing.assert_allclose(one, other, rtol=1e-5)
        is_huge = ~np.isfinite(expected)
        np.testing.assert_array_equal(np.signbit(one)[is_huge], np.signbit(other)[is_huge])


def test_sign_of_the_largest():
    z = np.array([3e38 + 3e38j, 2 + 0j, 0], "complex64")
    expected = [np.sqrt(0.5) * (1 + 1j), 1, 0]
    np.testing.assert_allclose(mo.sign(mo.array(z)).numpy(), expected, rtol=1e-6)


@pytest.mark.parametrize("text", ["complex64", "complex", "abc"])
def test_texts_are_no_operands(text):
    """A name of a type is none, as other texts are."""
    x = mo.array(X)
    assert (x == text) is False and (x != text) is True
    with pytest.raises(TypeError, match="unsupported operand"):
        x + text
