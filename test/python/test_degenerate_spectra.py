# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Derivatives where eigenvalues or singular values are equal, or 0: a test for each row of
the tables of docs/LinearAlgebra.md."""

import metaops as mo
import numpy as np
import pytest
from util import close, finite_differences

la = mo.linalg


def with_spectrum(values):
    """Return a symmetric matrix of these eigenvalues."""
    q = np.linalg.qr(np.random.default_rng(3).normal(size=(len(values),) * 2)).Q
    return (q * np.array(values, "float64")) @ q.T


def with_singular_values(rows, values):
    """Return a matrix of these singular values, which are as many as its columns."""
    rng = np.random.default_rng(4)
    u = np.linalg.qr(rng.normal(size=(rows, len(values)))).Q
    return (u * np.array(values, "float64")) @ np.linalg.qr(rng.normal(size=(len(values),) * 2)).Q


def weights(*shape):
    return np.random.default_rng(5).normal(size=shape)


def expected_gradient(loss, a, symmetric):
    """Differentiate NumPy's: by a symmetric matrix along what is symmetric."""

    def at(arrays):
        x = (arrays[0] + arrays[0].T) / 2 if symmetric else arrays[0]
        return float(loss(x, np))

    return finite_differences(at, [a.copy()], 1e-6)[0]


def gradient_of(loss, a):
    x = mo.array(a)
    return mo.grad(loss(x, mo), x)


EQUAL = {
    "identity": np.eye(4),
    "twice the identity": 2 * np.eye(4),
    "a pair": with_spectrum([1, 2, 2, 3]),
    "two pairs": with_spectrum([1, 1, 2, 2]),
}


def rebuilt(function):
    """Return a loss of V diag(function(w)) V^T."""

    def loss(x, np_or_mo):
        w, v = np_or_mo.linalg.eigh(x)
        return ((v * function(w, np_or_mo)) @ v.mT * np_or_mo.asarray(weights(4, 4))).sum()

    return loss


FUNCTIONS = {
    "itself": lambda w, _: w,
    "root": lambda w, m: m.sqrt(w),
    "inverse": lambda w, _: 1 / w,
    "power": lambda w, _: w**3,
}


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("name", EQUAL)
def test_functions_of_a_matrix_of_equal_eigenvalues(name, function):
    loss = rebuilt(FUNCTIONS[function])
    expected = expected_gradient(loss, EQUAL[name], True)
    close(gradient_of(loss, EQUAL[name]), expected, rtol=1e-6, atol=1e-7)


def test_a_function_that_is_0_there_is_not_known():
    loss = rebuilt(lambda w, m: m.log(w))
    assert np.isnan(gradient_of(loss, EQUAL["identity"]).numpy()).all()
    expected = expected_gradient(loss, EQUAL["a pair"], True)
    close(gradient_of(loss, EQUAL["a pair"]), expected, rtol=1e-6, atol=1e-7)


def test_functions_of_equal_eigenvalues_alone():
    def loss(x, np_or_mo):
        return (np_or_mo.linalg.eigvalsh(x) ** 3).sum()

    for a in EQUAL.values():
        close(gradient_of(loss, a), 3 * a @ a, rtol=1e-9, atol=1e-9)


def test_functions_of_the_space_of_equal_eigenvalues():
    def loss(x, np_or_mo):
        vectors = np_or_mo.linalg.eigh(x).eigenvectors[:, 1:3]
        return (vectors @ vectors.mT * np_or_mo.asarray(weights(4, 4))).sum()

    a = EQUAL["a pair"]
    close(gradient_of(loss, a), expected_gradient(loss, a, True), rtol=1e-6, atol=1e-7)

    def with_values(x, np_or_mo):
        values, vectors = np_or_mo.linalg.eigh(x)
        space = vectors[:, 1:3] @ vectors[:, 1:3].mT
        return (space * np_or_mo.asarray(weights(4, 4))).sum() + (values**2).sum()

    expected = expected_gradient(with_values, a, True)
    close(gradient_of(with_values, a), expected, rtol=1e-6, atol=1e-7)


def test_sums_of_different_functions_are_known_of_calls_of_their_own():
    roots, powers = (rebuilt(FUNCTIONS[name]) for name in ("root", "power"))
    a = EQUAL["a pair"]

    def together(x, np_or_mo):
        w, v = np_or_mo.linalg.eigh(x)
        first = (v * np_or_mo.sqrt(w)) @ v.mT * np_or_mo.asarray(weights(4, 4))
        return (first + (v * w**3) @ v.mT * np_or_mo.asarray(weights(4, 4)).mT ** 2).sum()

    assert np.isnan(gradient_of(together, a).numpy()).any()

    def apart(x, np_or_mo):
        return roots(x, np_or_mo) + powers(x, np_or_mo)

    close(gradient_of(apart, a), expected_gradient(apart, a, True), rtol=1e-6, atol=1e-7)


#: Functions whose gradients by values and by vectors are the same multiples of each other for
#: all of the values that are equal, and whose derivatives differ.
ALIKE = {
    "a root": lambda w, v: ((v * w**0.5) @ v.mT).sum(),
    "a space and values": lambda w, v: (v @ v.mT).sum() + (w**2).sum(),
    "roots and values": lambda w, v: ((v * w**0.5) @ v.mT).sum() + (w**3).sum(),
    "a function that is 0": lambda w, v: ((v * (w - 2)) @ v.mT).sum(),
    "values": lambda w, v: (w**2 + 0 * v).sum(),
}


@pytest.mark.parametrize("name", ALIKE)
def test_functions_that_are_not_told_apart(name):
    # The vectors are unit vectors.
    x = mo.array(2 * np.eye(3))
    assert np.isnan(mo.grad(ALIKE[name](*la.eigh(x)), x).numpy()).any()


def test_traces_of_functions_need_no_limit():
    x = mo.array(2 * np.eye(3))
    w, v = la.eigh(x)
    made = (v * w**3) @ v.mT * mo.eye(3, dtype="float64")
    close(mo.grad(made.sum(), x), 12 * np.eye(3), rtol=1e-12, atol=1e-12)
    close(mo.grad((la.eigh(x).eigenvalues ** 2).sum(), x), 4 * np.eye(3), rtol=1e-12, atol=1e-12)


def test_values_of_recorded_functions_that_are_differentiated_from_outside():
    x = mo.array(2 * np.eye(3))
    w = mo.jit(lambda x: la.eigh(x).eigenvalues)(x)
    assert np.isnan(mo.grad((w**2).sum(), x).numpy()).any()
    w = mo.jit(la.eigvalsh)(x)
    close(mo.grad((w**2).sum(), x), 4 * np.eye(3), rtol=1e-12, atol=1e-12)
    inside = mo.jit(lambda x: mo.grad((la.eigh(x).eigenvalues ** 2).sum(), x))
    close(inside(x), 4 * np.eye(3), rtol=1e-12, atol=1e-12)


def test_values_of_another_call_are_constants_to_vectors():
    a = EQUAL["a pair"]

    def mixed(x, values):
        v = la.eigh(x).eigenvectors
        return ((v * values) @ v.mT * mo.array(weights(4, 4))).sum()

    x = mo.array(a)
    apart = mo.grad(mixed(x, la.eigvalsh(x) ** 3), x)
    constant = mo.grad(mixed(x, mo.stop_grad(la.eigvalsh(x)) ** 3), x)
    _, vectors = la.eigh(x)
    within = vectors.mT @ (apart - constant) @ vectors
    # By values there is nothing between vectors.
    close(within * (1 - mo.eye(4, dtype="float64")), np.zeros((4, 4)), atol=1e-9)
    expected = expected_gradient(rebuilt(FUNCTIONS["power"]), a, True)
    assert np.abs(apart.numpy() - expected).max() > 0.1


def test_a_vector_of_equal_eigenvalues_has_no_derivative():
    def loss(x, np_or_mo):
        return np_or_mo.linalg.eigh(x).eigenvectors[0, 1] ** 2

    assert np.isnan(gradient_of(loss, EQUAL["a pair"]).numpy()).any()
    x = mo.array(EQUAL["a pair"])
    values, vectors = la.eigh(x)
    moved, turned = mo.jvp([values, vectors], [x], [mo.array(weights(4, 4))])
    assert np.isfinite(moved.numpy()).all()
    assert np.isnan(turned.numpy()).any()


def test_second_derivatives_where_eigenvalues_are_equal_are_not_known():
    x = mo.array(EQUAL["a pair"])
    for loss in (rebuilt(lambda w, _: w), lambda x, _: (la.eigvalsh(x) ** 3).sum()):
        first = mo.grad(loss(x, mo), x)
        assert np.isfinite(first.numpy()).all()
        assert np.isnan(mo.grad((first**2).sum(), x).numpy()).any()


# Singular values


def product(form):
    """Return a loss of what is made of singular values and vectors."""

    def loss(x, np_or_mo):
        made = form(*np_or_mo.linalg.svd(x, False))
        return (made * np_or_mo.asarray(weights(*made.shape))).sum()

    return loss


FORMS = {
    "itself": lambda u, s, vh: (u * s) @ vh,
    "square": lambda u, s, vh: (u * s**2) @ vh,
    "orthogonal part": lambda u, s, vh: u @ vh,
    "of rows": lambda u, s, vh: u @ u.mT,
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("rows", [3, 5])
@pytest.mark.parametrize("values", [(2, 2, 1), (1, 1, 1)])
def test_functions_of_a_matrix_of_equal_singular_values(values, rows, form):
    a = with_singular_values(rows, values)
    loss = product(FORMS[form])
    expected = expected_gradient(loss, a, False)
    close(gradient_of(loss, a), expected, rtol=1e-6, atol=1e-7)


def test_functions_of_equal_singular_values_alone():
    a = with_singular_values(4, [2, 2, 1])
    x = mo.array(a)
    u, _, vh = np.linalg.svd(a, False)
    close(mo.grad(la.svdvals(x).sum(), x), u @ vh, rtol=1e-9, atol=1e-9)


def test_orthogonal_parts_and_values_are_not_told_apart():
    x = mo.array(2 * np.eye(3))
    u, s, vh = la.svd(x)
    assert np.isnan(mo.grad((u @ vh).sum() + (s**2).sum(), x).numpy()).any()
    u, s, vh = la.svd(x)
    total = (u @ vh).sum() + (la.svdvals(x) ** 2).sum()
    close(mo.grad(total, x), 4 * np.eye(3), rtol=1e-9, atol=1e-12)


def test_one_singular_value_of_0_of_a_square_matrix():
    a = with_singular_values(3, [3, 2, 0])
    loss = product(FORMS["itself"])
    close(gradient_of(loss, a), weights(3, 3), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("rows", [3, 5])
def test_what_singular_values_of_0_do_not_concern(rows):
    a = with_singular_values(rows, [3, 0, 0])
    loss = product(lambda u, s, vh: (u[:, :1] * s[:1]) @ vh[:1])
    expected = expected_gradient(loss, a, False)
    close(gradient_of(loss, a), expected, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize(("rows", "values"), [(3, [3, 0, 0]), (5, [3, 2, 0])])
def test_the_matrix_itself_where_singular_values_are_0_is_not_known(rows, values):
    a = with_singular_values(rows, values)
    assert np.isnan(gradient_of(product(FORMS["itself"]), a).numpy()).any()


@pytest.mark.parametrize("rows", [3, 5])
def test_the_sum_of_singular_values_some_of_which_are_0(rows):
    a = with_singular_values(rows, [3, 2, 0])
    x = mo.array(a)
    gradient = mo.grad(la.svdvals(x).sum(), x).numpy()
    u, _, vh = np.linalg.svd(a, False)
    np.testing.assert_allclose((u.T @ gradient @ vh.T)[:2, :2], np.eye(2), atol=1e-9)
    assert np.isfinite(gradient).all()


# Other factors


def test_factors_of_columns_that_depend_on_others_have_no_finite_derivatives():
    x = mo.array(np.ones((4, 2)) * [1, 0])
    assert not np.isfinite(mo.grad(la.qr(x).Q.sum(), x).numpy()).all()


@pytest.mark.parametrize("columns", [2, 4])
@pytest.mark.parametrize("name", ["qr", "svd"])
def test_columns_that_may_turn_have_no_gradients(name, columns):
    # Of five, three columns may turn, and one may not.
    a, k = weights(5, columns), columns

    def rest(x, np_or_mo):
        if name == "qr":
            return np_or_mo.linalg.qr(x, "complete").Q[:, k:]
        return np_or_mo.linalg.svd(x).U[:, k:]

    def loss(x, np_or_mo):
        made = rest(x, np_or_mo)
        return (made * np_or_mo.asarray(weights(*made.shape))).sum()

    if columns == 4:
        close(gradient_of(loss, a), expected_gradient(loss, a, False), rtol=1e-6, atol=1e-7)
        return
    assert np.isnan(gradient_of(loss, a).numpy()).all()
    examples = mo.array(np.stack([a, 2 * a]))
    together = mo.vmap(lambda x: mo.grad(loss(x, mo), x))(examples)
    assert np.isnan(together.numpy()).all()

    def of_space(x, np_or_mo):
        made = rest(x, np_or_mo)
        return (made @ made.mT * np_or_mo.asarray(weights(5, 5))).sum()

    expected = expected_gradient(of_space, a, False)
    close(gradient_of(of_space, a), expected, rtol=1e-6, atol=1e-7)


def test_generalised_inverses_keep_their_rank():
    rows = np.arange(6.0).reshape(2, 3)
    a = np.stack([*rows, rows.sum(0)])
    x = mo.array(a)
    inverse = np.linalg.pinv(a)
    gradient = mo.grad((la.pinv(x) * mo.array(weights(3, 3))).sum(), x).numpy()
    assert np.isfinite(gradient).all()
    # Along what keeps the rank, such as the matrix itself.
    np.testing.assert_allclose((gradient * a).sum(), -(weights(3, 3) * inverse).sum(), rtol=1e-8)
    zeros = mo.zeros((2, 3), "float64")
    close(mo.grad(la.pinv(zeros).sum(), zeros), np.zeros((2, 3)))


def test_the_condition_number_of_a_singular_matrix():
    x = mo.array(np.diag([1.0, 0.0]))
    assert la.cond(x).item() == np.inf
    assert not np.isfinite(mo.grad(la.cond(x), x).numpy()).all()


@pytest.mark.parametrize("shape", [(0, 0), (0, 3, 3), (3, 0), (0, 3)])
def test_derivatives_of_nothing(shape):
    def total(x):
        parts = [*la.qr(x), *la.svd(x), la.pinv(x), la.svdvals(x)]
        if shape[-1] == shape[-2]:
            parts += [*la.eigh(x), la.eigvalsh(x)]
        return sum((part.sum() for part in parts), mo.array(0.0, "float64"))

    x = mo.zeros(shape, "float64")
    close(mo.grad(total(x), x), np.zeros(shape))
