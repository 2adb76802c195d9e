# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arithmetic, shapes, reductions and keys of complex numbers, as NumPy's."""

import operator

import metaops as mo
import numpy as np
import pytest


def drawn(*shape, dtype="complex64", seed=0):
    """Return complex numbers as an array, others of each seed."""
    rng = np.random.default_rng(seed)
    return (rng.standard_normal(shape) + 1j * rng.standard_normal(shape)).astype(dtype)


A, B = drawn(2, 3), drawn(2, 3, seed=1)
X = drawn(2, 3, seed=2).real


def close(actual, expected, rtol=1e-5, atol=1e-5):
    """Compare a result with NumPy's: kind, shape, and values."""
    if isinstance(expected, list | tuple):
        assert len(actual) == len(expected)
        for one, other in zip(actual, expected, strict=True):
            close(one, other)
        return
    expected = np.asarray(expected)
    assert isinstance(actual, mo.Complex if expected.dtype.kind == "c" else mo.Var)
    assert actual.shape == expected.shape
    np.testing.assert_allclose(actual.numpy(), expected, rtol=rtol, atol=atol)


# Operators

OPERANDS = {
    "a Complex": (mo.array(B), B),
    "a Var": (mo.array(X), X),
    "a row": (mo.array(X[0]), X[0]),
    "an array": (X, X),
    "a complex array": (B, B),
    "a number": (2.5, 2.5),
    "an integer": (3, 3),
    "a complex number": (2 - 1j, 2 - 1j),
    "a scalar of NumPy": (np.float32(1.5), np.float32(1.5)),
    "a complex scalar of NumPy": (np.complex64(1.5j), np.complex64(1.5j)),
    "a list": ([1j, 2, 3], np.array([1j, 2, 3], "complex64")),
}
OPERATORS = [
    *(operator.add, operator.sub, operator.mul, operator.truediv, operator.pow),
    *(operator.eq, operator.ne),
]


@pytest.mark.parametrize("operand", OPERANDS)
@pytest.mark.parametrize("op", OPERATORS, ids=lambda op: op.__name__)
def test_operators(op, operand):
    """A Complex on the left and on the right."""
    given, value = OPERANDS[operand]
    close(op(mo.array(A), given), op(A, value), rtol=1e-4, atol=1e-4)
    close(op(given, mo.array(A)), op(value, A), rtol=1e-4, atol=1e-4)


COMPLEX = [name for name in OPERANDS if "complex" in name or name == "a list"]


@pytest.mark.parametrize("operand", [name for name in COMPLEX if name != "a list"])
@pytest.mark.parametrize("op", OPERATORS, ids=lambda op: op.__name__)
def test_operators_of_a_var(op, operand):
    """Complex numbers beside real tensors, on either side; gradients flow to these."""
    given, value = OPERANDS[operand]
    x = np.abs(X) + 0.5
    var = mo.array(x)
    for actual, expected in [(op(var, given), op(x, value)), (op(given, var), op(value, x))]:
        close(actual, expected, rtol=1e-4, atol=1e-4)
        if isinstance(actual, mo.Complex):
            assert np.any(mo.grad((actual.real + actual.imag).sum(), var).numpy())


def test_products():
    a, b, x = drawn(4, 3), drawn(3, 5, seed=1), drawn(3, 5, seed=2).real
    for left, right in [(a, b), (a, x), (x.T, a.T)]:
        expected = left @ right
        close(mo.array(left) @ mo.array(right), expected)
        close(mo.array(left) @ right, expected)
        close(left @ mo.array(right), expected)
        close(mo.matmul(left, mo.array(right)), expected)


def test_infinite_factors():
    """Products are those of the halves, and a real factor has an imaginary 0, as in NumPy."""
    values = [0.0, -0.0, 1.0, -np.inf, np.inf, np.nan]
    z = np.array([complex(a, b) for a in values for b in values])
    with np.errstate(all="ignore"):
        for op in (operator.mul, operator.truediv, operator.add, operator.sub):
            for other in (z[:, None], np.array(values)[:, None], 2.0, 1j, np.inf):
                expected = op(z, other)
                given = mo.array(other) if isinstance(other, np.ndarray) else other
                actual = op(mo.array(z), given).numpy()
                for half, true in [(actual.real, expected.real), (actual.imag, expected.imag)]:
                    np.testing.assert_array_equal(half, true)
                    if op is not operator.truediv:
                        zeros = true == 0
                        np.testing.assert_array_equal(
                            np.signbit(half)[zeros], np.signbit(true)[zeros]
                        )


def test_quotients_do_not_overflow():
    z = np.array([1e200 + 1e200j, 1e-200 - 2e-200j, 3e300 + 1e-300j])
    close(mo.array(z) / mo.array(z), np.ones(3, complex), rtol=1e-15)
    close(1 / mo.array(z), 1 / z, rtol=1e-14, atol=0)


@pytest.mark.parametrize("exponent", [0, 1, 2, 3, 7, -1, -2, 0.5, 1.5, 1j, 120])
def test_powers(exponent):
    z = np.array([1.1 + 0.2j, -0.9 + 0.1j, 0.5j, 0j])
    with np.errstate(all="ignore"):
        expected = z**exponent
    close(mo.array(z) ** exponent, expected, rtol=1e-12, atol=1e-14)
    whole = mo.array(z) ** mo.array(np.float64(exponent) if exponent != 1j else np.array(1j))
    close(whole, expected, rtol=1e-12, atol=1e-14)


def test_no_order():
    z = mo.array(A)
    for op in (operator.lt, operator.le, operator.gt, operator.ge):
        with pytest.raises(TypeError, match="complex ones have no order"):
            op(z, z)
        with pytest.raises(TypeError):
            op(mo.array(X), z)


# Functions of halves

#: Calls of functions with the arguments behind the first one, as NumPy has them.
SHAPED = {
    "reshape": ((3, 2),),
    "transpose": (),
    "permute_dims": ((1, 0),),
    "squeeze": (),
    "expand_dims": (1,),
    "broadcast_to": ((4, 2, 3),),
    "moveaxis": (0, 1),
    "swapaxes": (0, 1),
    "flip": (1,),
    "roll": (1, 1),
    "rot90": (),
    "tile": ((2, 2),),
    "repeat": (2, 0),
    "sum": (1,),
    "mean": (0,),
    "prod": (1,),
    "cumsum": (1,),
    "cumprod": (1,),
    "std": (0,),
    "var": (0,),
    "any": (0,),
    "all": (0,),
    "count_nonzero": (0,),
    "take": ([0, 1], 1),
    "diagonal": (),
    "trace": (),
    "tril": (),
    "triu": (),
    "diff": (),
    "pad": (1,),
    "split": (3, 1),
    "unstack": (),
    "atleast_3d": (),
    "matrix_transpose": (),
    "concat": (),
}


@pytest.mark.parametrize("name", SHAPED)
def test_functions_along_dimensions(name):
    numpys = getattr(np, name, None)
    if numpys is None:
        pytest.skip("this NumPy has no such function")
    close(getattr(mo, name)(mo.array(A), *SHAPED[name]), numpys(A, *SHAPED[name]))


def test_joined():
    """Real tensors among complex ones have imaginary parts of 0."""
    z, x = mo.array(A), mo.array(X)
    for name in ("stack", "concat", "vstack", "hstack"):
        close(getattr(mo, name)([z, x, B]), getattr(np, name)([A, X, B]))
    close(mo.append(x, z, 0), np.append(X, A, 0))
    close(mo.where(x > 0, z, 1), np.where(X > 0, A, 1))
    close(mo.where(X > 0, x, 2j), np.where(X > 0, X, np.complex64(2j)))
    close(mo.pad(z, 1, value=1 + 2j), np.pad(A, 1, constant_values=1 + 2j))
    close(mo.pad(z, 1, value=3), np.pad(A, 1, constant_values=3))
    close(mo.insert(z, 1, 2.5, 0), np.insert(A, 1, 2.5, 0))
    conditions = [X > 1, X < 0]
    close(mo.select(conditions, [z, x], 3), np.select(conditions, [A, X], 3))
    close(mo.block([[z, x], [x, z]]), np.block([[A, X], [X, A]]))
    for name in ("broadcast_arrays", "meshgrid"):
        given, values = (z[0], x[0]), (A[0], X[0])
        close(list(getattr(mo, name)(*given)), list(getattr(np, name)(*values)))
    with pytest.raises(TypeError, match="geomspace"):
        mo.geomspace(1, 1j, 3)


def test_products_of_tensors():
    a, b = drawn(3), drawn(3, seed=1)
    z, w = mo.array(a), mo.array(b)
    for name in ("dot", "inner", "outer", "kron", "cross", "vdot", "convolve", "tensordot"):
        more = (1,) if name == "tensordot" else ()
        close(getattr(mo, name)(z, w, *more), getattr(np, name)(a, b, *more))
        close(getattr(mo, name)(z, b.real, *more), getattr(np, name)(a, b.real, *more))
    close(mo.vecdot(z, w), np.vdot(a, b))
    close(mo.correlate(z, w, "full"), np.correlate(a, b, "full"))
    close(mo.einsum("i,j,k->ijk", z, w.real, w), np.einsum("i,j,k->ijk", a, b.real, b))
    close(mo.einsum("ij,kj->ik", mo.array(A), mo.array(X)), np.einsum("ij,kj->ik", A, X))
    square = drawn(3, 3)
    close(mo.matrix_power(mo.array(square), 3), np.linalg.matrix_power(square, 3), rtol=1e-4)
    chain = [drawn(2, 3), drawn(3, 4, seed=1), drawn(4, 2, seed=2)]
    close(mo.multi_dot(list(map(mo.array, chain))), np.linalg.multi_dot(chain), rtol=1e-4)


@pytest.mark.parametrize("options", [{}, {"axis": 0}, {"axis": (0, 1), "keepdims": True}])
@pytest.mark.parametrize("name", ["sum", "mean", "prod", "std", "var"])
def test_reductions(name, options):
    close(getattr(mo, name)(mo.array(A), **options), getattr(np, name)(A, **options))
    close(getattr(mo.array(A), name)(**options), getattr(np, name)(A, **options))
    if name not in ("std", "var", "mean"):
        start = 1 - 2j
        for initial in (start, 2):
            expected = getattr(np, name)(A, initial=initial, **options)
            close(getattr(mo, name)(mo.array(A), initial=initial, **options), expected)
            close(getattr(mo.array(A), name)(initial=initial, **options), expected)


def test_products_of_no_elements():
    z = mo.zeros((2, 0), dtype="complex64")
    close(mo.prod(z), np.prod(np.zeros((2, 0), "complex64")))
    close(mo.prod(z, 1), np.ones(2, "complex64"))
    close(mo.cumprod(z, 1), np.zeros((2, 0), "complex64"))


@pytest.mark.parametrize("extent", [1, 2, 3, 8, 13])
def test_products_of_lengths(extent):
    a = drawn(extent, 2, dtype="complex128")
    close(mo.prod(mo.array(a), 0), np.prod(a, 0), rtol=1e-12)
    close(mo.cumprod(mo.array(a), 0), np.cumprod(a, 0), rtol=1e-12)
    reverse = np.cumprod(a[::-1], 0)[::-1]
    close(mo.cumprod(mo.array(a), 0, reverse=True), reverse, rtol=1e-12)
    before = np.concatenate([np.ones((1, 2)), np.cumprod(a, 0)[:-1]])
    close(mo.cumprod(mo.array(a), 0, exclusive=True), before, rtol=1e-12)
    started = mo.cumulative_prod(mo.array(a), axis=0, include_initial=True)
    close(started, np.concatenate([np.ones((1, 2)), np.cumprod(a, 0)]), rtol=1e-12)


# Parts by keys


@pytest.mark.parametrize(
    "key", [0, (1, 2), slice(1), (..., None, 1), [1, 0], np.array([True, False])]
)
def test_keys(key):
    z = mo.array(A)
    close(z[key], A[key])
    value = np.complex64(3 - 1j)
    expected = A.copy()
    expected[key] = value
    close(z.at[key].set(value), expected)
    expected = A.copy()
    expected[key] += value
    close(z.at[key].add(value), expected)
    z[key] = value
    expected = A.copy()
    expected[key] = value
    close(z, expected)


def test_gathered_and_scattered():
    z = mo.array(A)
    index = np.array([[0, 2, 2], [1, 0, 0]])
    close(z.gather(1, index), np.take_along_axis(A, index, 1))
    expected = A.copy()
    np.add.at(expected, (np.arange(2)[:, None], index), B)
    close(z.scatter_add(1, index, mo.array(B)), expected)
    close(mo.scatter_add(z, 1, index, mo.array(B)), expected)
    close(z.sum(dtype="complex128"), A.sum(dtype="complex128"))


def test_values_that_meet_are_added():
    expected = A[:, 0].copy()
    np.add.at(expected, [0, 0, 1], 1j)
    close(mo.array(A[:, 0]).at[mo.array([0, 0, 1])].add(1j), expected)


def test_writing_leaves_others_as_they_are():
    """Results of before stay, and the halves have the new elements."""
    z = mo.array(A)
    conjugate, real, copied = z.conj(), z.real, z.clone()
    z[0] = 0
    assert z.real is real and not real[0].numpy().any()
    close(conjugate, A.conj())
    close(copied, A)
    z.real.assign(mo.zeros((2, 3)))
    close(conjugate, A.conj())


def test_one_tensor_as_both_halves():
    x = mo.ones(2)
    z = mo.Complex(x, x)
    z[0] = 3 + 4j
    close(z, np.array([3 + 4j, 1 + 1j]))
