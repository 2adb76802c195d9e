# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Orthogonal factors, eigenvalues, singular values: values as products, and derivatives.

Signs differ by library, so vectors are compared by what does not depend on these.
"""

import contextlib
import pathlib

import metaops as mo
import numpy as np
import pytest
from numpy.linalg import LinAlgError
from util import check_gradient, close

HERE = pathlib.Path(__file__).name
la = mo.linalg

#: Tall, wide and square, with nothing, one, many and large ones among them.
SHAPES = [(1, 1), (5, 3), (3, 5), (4, 4), (0, 0), (0, 3), (3, 0), (2, 5, 4), (2, 3, 4, 6)]
SHAPES += [(0, 3, 2), (70, 60), (130, 150), (40, 8, 8)]


def symmetric(rng, *shape):
    """Return symmetric matrices."""
    x = rng.normal(size=shape)
    return x + np.swapaxes(x, -1, -2)


def of_spectrum(rng, values, *front):
    """Return symmetric matrices of these eigenvalues."""
    n = len(values)
    q = np.linalg.qr(rng.normal(size=(*front, n, n))).Q
    return (q * np.array(values, "float64")) @ np.swapaxes(q, -1, -2)


def of_singular_values(rng, rows, columns, values):
    """Return a matrix of these singular values."""
    k = len(values)
    u = np.linalg.qr(rng.normal(size=(rows, k))).Q
    v = np.linalg.qr(rng.normal(size=(columns, k))).Q
    return (u * np.array(values, "float64")) @ v.T


def is_orthogonal(columns, size):
    """Check that columns are unit vectors, each orthogonal to the others."""
    found = np.swapaxes(columns, -1, -2) @ columns
    expected = np.broadcast_to(np.eye(columns.shape[-1]), found.shape)
    np.testing.assert_allclose(found, expected, atol=size)


def tolerance(dtype):
    return 5e-5 if dtype == "float32" else 1e-12


def computed(interpreted):
    """Return a scope in which the interpreter computes, by decompositions of its own."""
    return mo.device("interpreter") if interpreted else contextlib.nullcontext()


# Values


@pytest.mark.parametrize("interpreted", [False, True])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", SHAPES)
def test_factors_and_spectra_make_the_matrix_again(rng, shape, dtype, interpreted):
    if interpreted and shape[-1] > 10:
        pytest.skip("large ones take the interpreter long")
    a = rng.normal(size=shape).astype(dtype)
    least, (rows, columns) = tolerance(dtype), shape[-2:]
    size = least * max(1, *shape[-2:])
    with computed(interpreted):
        x = mo.array(a)
        for mode, width in (("reduced", min(rows, columns)), ("complete", rows)):
            q, r = (each.numpy() for each in la.qr(x, mode))
            assert q.shape == (*shape[:-1], width)
            assert q.dtype == r.dtype == dtype
            is_orthogonal(q, size)
            np.testing.assert_array_equal(r, np.triu(r))
            np.testing.assert_allclose(q @ r, a, atol=size)
        close(la.qr(x, "r"), r[..., : min(rows, columns), :], rtol=least, atol=size)
        for full in (False, True):
            u, s, vh = (each.numpy() for each in la.svd(x, full))
            assert u.dtype == s.dtype == vh.dtype == dtype
            assert u.shape[-1] == (rows if full else min(rows, columns))
            is_orthogonal(u, size)
            is_orthogonal(np.swapaxes(vh, -1, -2), size)
            k = min(rows, columns)
            np.testing.assert_allclose(
                (u[..., :k] * s[..., None, :]) @ vh[..., :k, :], a, atol=size
            )
        expected = np.linalg.svd(a, compute_uv=False) if a.size else s
        close(s, expected, rtol=size, atol=size)
        close(la.svdvals(x), expected, rtol=size, atol=size)


@pytest.mark.parametrize("interpreted", [False, True])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", [s for s in SHAPES if s[-1] == s[-2]] + [(65, 65), (2, 130, 130)])
def test_eigenvalues(rng, shape, dtype, interpreted):
    if interpreted and shape[-1] > 10:
        pytest.skip("large ones take the interpreter long")
    a = symmetric(rng, *shape).astype(dtype)
    size = tolerance(dtype) * max(1, shape[-1]) * 4
    with computed(interpreted):
        x = mo.array(np.tril(a))
        w, v = (each.numpy() for each in la.eigh(x))
        assert w.dtype == v.dtype == dtype
        is_orthogonal(v, size)
        np.testing.assert_allclose((v * w[..., None, :]) @ np.swapaxes(v, -1, -2), a, atol=size)
        expected = np.linalg.eigvalsh(a)
        close(w, expected, rtol=size, atol=size)
        close(la.eigvalsh(x), expected, rtol=size, atol=size)
        upper = mo.array(np.triu(a))
        close(la.eigvalsh(upper, upper=True), expected, rtol=size, atol=size)
        close(la.eigh(upper, upper=True).eigenvalues, expected, rtol=size, atol=size)


def test_the_interpreter_takes_what_rounding_makes_hard(rng):
    given = [np.zeros((3, 2)), np.ones((4, 4)), np.diag([1.0, 1e-9, 0.0])]
    given += [of_singular_values(rng, 5, 4, [3, 3, 1e-13, 0])]
    with mo.device("interpreter"):
        for a in given:
            u, s, vh = (each.numpy() for each in la.svd(mo.array(a)))
            is_orthogonal(u, 1e-12)
            is_orthogonal(vh.T, 1e-12)
            close(s, np.linalg.svd(a)[1], atol=1e-14)
            k = len(s)
            np.testing.assert_allclose((u[:, :k] * s) @ vh[:k], a, atol=1e-12)


@pytest.mark.parametrize("interpreted", [False, True])
@pytest.mark.parametrize("scale", [1e-310, 1e-200, 1e200, 1e307])
def test_squares_that_are_no_numbers(rng, scale, interpreted):
    a, s = rng.normal(size=(4, 3)), symmetric(rng, 3, 3)
    with computed(interpreted):
        u, values, vh = (each.numpy() for each in la.svd(mo.array(a * scale), False))
        q, r = (each.numpy() for each in la.qr(mo.array(a * scale)))
        w = la.eigvalsh(mo.array(s * scale)).numpy()
    least = 1e-4 if scale < 1e-300 else 1e-12
    for columns in (u, vh.T, q):
        is_orthogonal(columns, least)
    np.testing.assert_allclose(values / scale, np.linalg.svd(a)[1], rtol=least)
    np.testing.assert_allclose(q @ (r / scale), a, atol=least)
    np.testing.assert_allclose(w / scale, np.linalg.eigvalsh(s), rtol=least)


def test_generalised_inverses_and_ranks(rng):
    given = [
        rng.normal(size=shape) for shape in [(5, 3), (3, 5), (4, 4), (2, 3, 4), (0, 3), (3, 0)]
    ]
    given += [of_singular_values(rng, 6, 4, [3, 2]), np.zeros((3, 2))]
    for a in given:
        x = mo.array(a)
        close(la.pinv(x), np.linalg.pinv(a, rtol=None), rtol=1e-9, atol=1e-12)
        close(la.matrix_rank(x), np.linalg.matrix_rank(a) if a.size else 0)
    x = mo.array(np.diag([4.0, 1.0, 0.1]))
    assert la.matrix_rank(x, 0.5).item() == 2
    assert la.matrix_rank(x, rtol=0.5).item() == 1
    close(la.pinv(x, 0.1), np.diag([0.25, 1, 0]), atol=1e-12)


def test_least_squares(rng):
    for a, b in (
        (rng.normal(size=(6, 3)), rng.normal(size=(6, 2))),
        (rng.normal(size=(3, 6)), rng.normal(size=3)),
        (of_singular_values(rng, 6, 4, [3, 2]), rng.normal(size=(6, 2))),
    ):
        x, residuals, rank, values = la.lstsq(mo.array(a), mo.array(b))
        expected, _, its_rank, its_values = np.linalg.lstsq(a, b, rcond=None)
        close(x, expected, rtol=1e-9, atol=1e-12)
        close(residuals, ((a @ expected - b) ** 2).sum(0), rtol=1e-9, atol=1e-12)
        assert rank.item() == its_rank
        close(values, its_values, atol=1e-12)
    a, b = rng.normal(size=(4, 1, 5, 3)), rng.normal(size=(2, 5, 1))
    x = la.lstsq(mo.array(a), mo.array(b)).solution
    close(x, np.linalg.pinv(a) @ b, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("order", [None, 2, -2, 1, -1, "fro", "nuc", np.inf, -np.inf])
def test_condition_numbers(rng, order):
    for a in (rng.normal(size=(2, 4, 4)), np.eye(3)):
        close(la.cond(mo.array(a), order), np.linalg.cond(a, order), rtol=1e-9)
    if order in (None, 2, -2):
        a = rng.normal(size=(5, 3))
        close(la.cond(mo.array(a), order), np.linalg.cond(a, order), rtol=1e-9)
    singular = la.cond(mo.zeros((2, 2)), order).item()
    assert singular == (0 if order == -2 else np.inf)


@pytest.mark.parametrize("order", [2, -2, "nuc"])
def test_norms_by_singular_values(rng, order):
    x = rng.normal(size=(2, 4, 3))
    for keepdims in (False, True):
        expected = np.linalg.norm(x, order, (1, 2), keepdims)
        close(mo.matrix_norm(x, order, keepdims), expected, rtol=1e-12)
    check_gradient(lambda x: mo.matrix_norm(x, order), x[0])
    if order != -2:
        close(mo.matrix_norm(mo.zeros((0, 3)), order), np.float32(0))


def test_powers_of_inverses(rng):
    a = rng.normal(size=(2, 3, 3)) + 2 * np.eye(3)
    close(mo.matrix_power(a, -3), np.linalg.matrix_power(a, -3), rtol=1e-9)
    close(mo.matrix_power(mo.array([[2, 0], [0, 4]]), -1), np.diag([0.5, 0.25]).astype("float32"))
    check_gradient(lambda x: mo.matrix_power(x, -2), a[0])
    with pytest.raises(LinAlgError, match="singular"):
        mo.matrix_power(mo.zeros((2, 2)), -1).sync()


def test_types(rng):
    a = mo.array([[2, 1], [1, 3]])
    assert str(la.svdvals(a).dtype) == "float32"
    half = mo.array(rng.normal(size=(3, 2))).astype("float16")
    for x in (*la.qr(half), *la.svd(half), la.pinv(half), la.cond(half)):
        assert str(x.dtype) == "float16"
    assert str(la.matrix_rank(half).dtype) == "int64"


@pytest.mark.parametrize("order", ["fro", 1, 2, -2, "nuc"])
def test_types_of_norms(order):
    x = mo.array([[3, 1], [1, 2]])
    for dtype, made in (("int64", "float32"), ("float16", "float16"), ("float64", "float64")):
        assert str(mo.matrix_norm(x.astype(dtype), order).dtype) == made
    for function in (la.cond, mo.matrix_norm):
        with pytest.raises(TypeError, match=r"order is an array of shape \(2,\)") as caught:
            function(x, np.array([1, 2]))
        assert HERE in str(caught.value)


def test_arguments_are_not_written_over(rng):
    a = symmetric(rng, 4, 4)
    x = mo.array(a)
    mo.sync([*la.eigh(x), *la.svd(x), *la.qr(x), la.eigvalsh(x), la.svdvals(x), la.pinv(x)])
    close(x, a, rtol=0, atol=0)


def test_threads_share_a_batch(rng):
    # There may be more of them than scratch memory for each.
    a = rng.normal(size=(400, 6, 4))
    before, results = mo.get_num_threads(), []
    try:
        for threads in (1, 2, 9):
            mo.set_num_threads(threads)
            x = mo.array(a)
            made = [*la.qr(x, "complete"), *la.svd(x), *la.eigh(x.mT @ x)]
            results.append([each.numpy() for each in made])
    finally:
        mo.set_num_threads(before)
    for others in results[1:]:
        for one, other in zip(results[0], others, strict=True):
            np.testing.assert_array_equal(one, other)


def test_program_files_have_them(rng, tmp_path):
    a, path = rng.normal(size=(5, 3)).astype("float32"), tmp_path / "values.metaops"
    mo.export(lambda x: (la.svdvals(x), la.pinv(x)), [mo.array(a)], path)
    program = mo.execute.load_program(path)
    values, inverse = program(a)
    np.testing.assert_allclose(values, np.linalg.svd(a)[1], rtol=1e-5)
    np.testing.assert_allclose(inverse, np.linalg.pinv(a), rtol=1e-3, atol=1e-5)
    with pytest.raises(LinAlgError, match="has elements that are not finite"):
        program(np.full_like(a, np.inf))


# Failures


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda: la.eigh(mo.zeros((2, 3))), r"eigh: the matrices have shape \(2, 3\)"),
        (lambda: la.eigvalsh(mo.zeros(4)), r"eigvalsh: the matrices have shape \(4,\)"),
        (lambda: la.svd(mo.zeros(3)), r"svd: .* shape \(3,\), expected two dimensions"),
        (lambda: la.svdvals(2.0), r"svdvals: .* shape \(\), expected two dimensions"),
        (lambda: la.qr(mo.zeros(3)), r"qr: .* expected two dimensions"),
        (lambda: la.qr(mo.eye(3), "raw"), "qr: mode is 'raw', expected 'reduced', 'complete'"),
        (lambda: la.pinv(mo.eye(3), -1.0), r"pinv: rtol is -1.0, expected 0 or more"),
        (lambda: la.matrix_rank(mo.eye(3), 1, rtol=1), "tol and rtol are both given"),
        (lambda: la.lstsq(mo.eye(3), mo.zeros(4)), "lstsq: .* expected as many rows"),
        (lambda: la.lstsq(mo.ones((2, 3, 3)), mo.ones((4, 3, 1))), "lstsq: .* do not go"),
        (lambda: la.cond(mo.zeros((0, 0))), r"cond: .* shape \(0, 0\), expected elements"),
        (lambda: la.cond(mo.zeros((2, 3)), 1), r"cond: .* expected square"),
        (lambda: la.cond(mo.eye(2), 3), r"cond: order is 3, expected one of None, 'fro'"),
        (lambda: mo.matrix_norm(mo.eye(2), None), "matrix_norm: order is None, expected one of"),
        (lambda: la.expm(mo.zeros((2, 3))), r"expm: .* expected square"),
    ],
)
def test_shapes_that_do_not_fit(call, match):
    with pytest.raises(ValueError, match=match) as caught:
        call()
    assert HERE in str(caught.value)


def test_more_rows_than_the_library_counts():
    with pytest.raises(RuntimeError, match=r"'qr' .* 2147483646 at most") as caught:
        la.qr(mo.zeros((2**31 - 1, 1)), "r").sync()
    assert HERE in str(caught.value)


@pytest.mark.parametrize("interpreted", [False, True])
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_what_is_not_finite_is_an_error(rng, bad, interpreted):
    batch = symmetric(rng, 3, 4, 4)
    batch[1, 2, 1] = bad
    with computed(interpreted):
        x = mo.array(batch)
        for name in ("eigh", "eigvalsh", "svd", "svdvals", "pinv"):
            function = getattr(la, name)
            with pytest.raises(LinAlgError, match=f"{name}: matrix 1 of 3 has elements") as caught:
                mo.sync(function(x))
            assert HERE in str(caught.value)
            made = function(x, check=False)
            for each in (made,) if isinstance(made, mo.Var) else made:
                values = each.numpy()
                assert np.isnan(values[1]).all()
                assert np.isfinite(values[[0, 2]]).all()
        with pytest.raises(LinAlgError, match="lstsq: matrix 1 of 3 has elements"):
            la.lstsq(x, x).solution.sync()
        others = {"matrix_rank": la.matrix_rank, "cond": la.cond}
        others["matrix_norm"] = lambda x: mo.matrix_norm(x, 2)
        for name, function in others.items():
            with pytest.raises(LinAlgError, match=f"{name}: matrix 1 of 3 has elements"):
                function(x).sync()
        # The other triangle is not read; a QR has no check.
        close(la.eigvalsh(x, upper=True), np.linalg.eigvalsh(batch, "U"), rtol=1e-9, atol=1e-11)
        assert np.isnan(la.qr(x).R.numpy()[1]).any()
        with pytest.raises(LinAlgError, match=r"the matrix has elements .* in example 1 of 3"):
            mo.vmap(la.eigvalsh)(x).sync()


# Derivatives

TALL = [(4, 3), (3, 3), (2, 4, 2)]


def orders_of_rest(columns):
    """Return how often one can differentiate by columns beside the first: once if they turn."""
    return 1 if columns > 1 else 2


@pytest.mark.parametrize("shape", [*TALL, (2, 4), (1, 1)])
def test_gradients_of_factors(rng, shape):
    a = rng.normal(size=shape)
    check_gradient(lambda a: mo.concat([x.reshape(-1) for x in la.qr(a)]), a)
    check_gradient(lambda a: la.qr(a, "r"), a)

    def invariant(a):
        q, r = la.qr(a, "complete")
        rest = q[..., min(shape[-2:]) :]
        return mo.concat([(rest @ rest.mT).reshape(-1), r.reshape(-1)])

    check_gradient(invariant, a, order=orders_of_rest(shape[-2] - shape[-1]))


@pytest.mark.parametrize("upper", [False, True])
def test_gradients_of_eigenvalues(rng, upper):
    a = symmetric(rng, 2, 3, 3)
    # Of what is symmetric the function and its gradient are.
    check_gradient(lambda a: la.eigvalsh((a + a.mT) / 2, upper=upper), a)

    def vectors(a):
        values, v = la.eigh((a + a.mT) / 2, upper=upper)
        return mo.concat(
            [values.reshape(-1), (v * v).reshape(-1), (v[..., :1] @ v[..., :1].mT).reshape(-1)]
        )

    check_gradient(vectors, a)
    x = mo.array(a)
    gradient = mo.grad(la.eigh(x).eigenvectors[0, 0, 0] ** 2, x).numpy()
    np.testing.assert_allclose(gradient, np.swapaxes(gradient, -1, -2), atol=1e-12)


@pytest.mark.parametrize("full", [False, True])
@pytest.mark.parametrize("shape", [(3, 3), (4, 2), (2, 4), (2, 3, 2), (1, 1)])
def test_gradients_of_singular_values(rng, shape, full):
    a = rng.normal(size=shape)
    k = min(shape[-2:])

    def invariant(a):
        u, s, vh = la.svd(a, full)
        parts = [
            s,
            u[..., :k] * vh.mT[..., :1, :k],
            u * u if not full else u[..., k:] @ u[..., k:].mT,
        ]
        parts.append(vh[..., k:, :].mT @ vh[..., k:, :])
        return mo.concat([x.reshape(-1) for x in parts])

    check_gradient(invariant, a, order=orders_of_rest(abs(shape[-1] - shape[-2]) if full else 0))
    check_gradient(la.svdvals, a)


def test_gradients_of_least_squares(rng):
    a, b = rng.normal(size=(4, 3)), rng.normal(size=(4, 2))
    check_gradient(la.pinv, a)
    check_gradient(la.pinv, a.T)
    check_gradient(lambda a, b: la.lstsq(a, b).solution, a, b)
    check_gradient(lambda a, b: la.lstsq(a.mT, b[:3]).solution, a, b)
    check_gradient(lambda a, b: la.lstsq(a, b).residuals, a, b)
    check_gradient(la.cond, a)

    def deficient(u, v):
        return la.pinv(u @ v)

    check_gradient(deficient, rng.normal(size=(4, 2)), rng.normal(size=(2, 3)))


def test_gradients_of_examples_are_those_of_each(rng):
    a = mo.array(rng.normal(size=(5, 4, 3)))
    s = mo.array(symmetric(rng, 5, 3, 3))

    def factors(a):
        q, r = la.qr(a)
        return (q**3).sum() + (r**2).sum()

    def singular(a):
        u, s, vh = la.svd(a)
        return (u[:, :1] @ vh[:1] * s[0]).sum() ** 2

    def spectral(a):
        w, v = la.eigh(a)
        return (v[:, 0] ** 4).sum() + (w**3).sum()

    for function, x in (
        (factors, a),
        (singular, a),
        (spectral, s),
        (lambda a: la.pinv(a).sum(), a),
    ):
        together = mo.vmap(lambda x, f=function: mo.grad(f(x), x))(x)
        singles = np.stack(
            [mo.grad(function(y), y).numpy() for y in (mo.array(z) for z in x.numpy())]
        )
        close(together, singles, rtol=1e-9, atol=1e-10)
        recorded = mo.jit(lambda x, f=function: mo.grad(f(x), x))(mo.array(x.numpy()[0]))
        close(recorded, singles[0], rtol=1e-9, atol=1e-10)
