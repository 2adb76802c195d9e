# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Small matrices, many at once: values beside NumPy's, and what goes wrong beside LAPACK's."""

import metaops as mo
import numpy as np
import pytest
from numpy.linalg import LinAlgError
from util import close

la = mo.linalg
SIZES = [1, 2, 3, 4, 5, 8, 11, 15, 16, 17]
#: Matrices of which some groups are whole, and the last one is not.
COUNT = 37


def tolerance(dtype):
    return {"rtol": 5e-3, "atol": 5e-3} if dtype == "float32" else {"rtol": 1e-8, "atol": 1e-10}


def matrices(rng, n, dtype):
    """Return matrices that need exchanges of rows, and are not nearly singular."""
    x = rng.normal(size=(COUNT, n, n)) + 3 * np.eye(n)[rng.permutation(n)]
    return x.astype(dtype)


def positive(rng, n, dtype):
    x = rng.normal(size=(COUNT, n, n))
    return (x @ x.swapaxes(1, 2) + np.eye(n)).astype(dtype)


def enlarged(x):
    """Return matrices with ones behind: so large that LAPACK takes them."""
    n = x.shape[-1]
    wide = np.zeros((*x.shape[:-2], n + 17, n + 17), x.dtype)
    wide[..., :n, :n] = x
    places = np.arange(n, n + 17)
    wide[..., places, places] = 1
    return wide


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("n", SIZES)
def test_values_are_numpys(rng, n, dtype):
    a, p = matrices(rng, n, dtype), positive(rng, n, dtype)
    b, v = rng.normal(size=(COUNT, n, 3)).astype(dtype), rng.normal(size=n).astype(dtype)
    same = tolerance(dtype)
    x = mo.array(a)
    close(la.cholesky(mo.array(p)), np.linalg.cholesky(p), **same)
    close(la.solve(x, mo.array(b)), np.linalg.solve(a, b), **same)
    rows = np.tile(v[:, None], (COUNT, 1, 1))
    close(la.solve(x, mo.array(v)), np.linalg.solve(a, rows)[..., 0], **same)
    close(la.inv(x), np.linalg.inv(a), **same)
    sign, logabsdet = la.slogdet(x)
    close(sign, np.linalg.slogdet(a)[0])
    close(logabsdet, np.linalg.slogdet(a)[1], **same)
    np.testing.assert_allclose(la.det(x).numpy(), np.linalg.det(a), rtol=same["rtol"])
    P, L, U = la.lu(x)
    close(P @ L @ U, a, **same)
    assert np.abs(L.numpy()).max() <= 1


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", [(3, 5), (5, 3), (1, 16), (16, 1), (12, 16), (16, 7)])
def test_rows_are_exchanged_of_matrices_that_are_not_square(rng, shape, dtype):
    a = rng.normal(size=(COUNT, *shape)).astype(dtype)
    P, L, U = la.lu(mo.array(a))
    close(P @ L @ U, a, **tolerance(dtype))
    assert (np.triu(L.numpy(), 1) == 0).all() and (np.tril(U.numpy(), -1) == 0).all()
    assert np.abs(L.numpy()).max() <= 1


@pytest.mark.parametrize("unitriangular", [False, True])
@pytest.mark.parametrize("left", [False, True])
@pytest.mark.parametrize("upper", [False, True])
def test_triangles(rng, upper, left, unitriangular):
    for n in (1, 4, 7, 16):
        a = rng.normal(size=(COUNT, n, n)) / 4 + 2 * np.eye(n)
        b = rng.normal(size=(COUNT, n, 6) if left else (COUNT, 6, n))
        x = la.solve_triangular(
            mo.array(a), mo.array(b), upper=upper, left=left, unitriangular=unitriangular
        )
        triangle = np.triu(a) if upper else np.tril(a)
        if unitriangular:
            triangle[:, np.arange(n), np.arange(n)] = 1
        x = x.numpy()
        close(triangle @ x if left else x @ triangle, b, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("count", [0, 1, 7, 8, 9, 16, 17, 200])
def test_a_matrix_does_not_depend_on_those_beside_it(rng, count):
    a = rng.normal(size=(count, 6, 6)).astype("float32")
    b = rng.normal(size=(count, 6, 2)).astype("float32")
    together = la.solve(mo.array(a), mo.array(b)).numpy()
    alone = [la.solve(mo.array(x), mo.array(y)).numpy() for x, y in zip(a, b, strict=True)]
    np.testing.assert_array_equal(together, np.reshape(alone, (count, 6, 2)))


def test_threads_share_a_batch(rng):
    a = rng.normal(size=(5000, 4, 4))
    expected = la.inv(mo.array(a)).numpy()
    before = mo.get_num_threads()
    try:
        mo.set_num_threads(2)
        np.testing.assert_array_equal(la.inv(mo.array(a)).numpy(), expected)
    finally:
        mo.set_num_threads(before)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_info_is_that_of_lapack(rng, dtype):
    for n in (1, 2, 5, 8, 16):
        # Whole numbers, so that what is singular is so without rounding.
        a = rng.integers(-2, 3, (COUNT, n, n)).astype(dtype)
        a[::3, :, rng.integers(n)] = 0
        a[1::3, rng.integers(n)] = 0
        symmetric = a + a.swapaxes(1, 2) + 4 * np.eye(n, dtype=dtype)
        b = np.ones((n, 1), dtype)
        wide = np.ones((n + 17, 1), dtype)
        for given in (a, symmetric):
            small = la.cholesky_ex(mo.array(given))[1]
            large = la.cholesky_ex(mo.array(enlarged(given)))[1]
            np.testing.assert_array_equal(small.numpy(), large.numpy())
            is_singular = np.linalg.matrix_rank(given.astype("float64")) < n
            x, info = la.solve_ex(mo.array(given), mo.array(b))
            _, expected = la.solve_ex(mo.array(enlarged(given)), mo.array(wide))
            # Rounding may leave a tiny pivot in the place of a 0, in either.
            is_sure = ~is_singular | (info.numpy() == expected.numpy())
            assert is_sure.mean() > 0.9
            np.testing.assert_array_equal(np.isnan(x.numpy()[..., 0]).any(-1), info.numpy() > 0)
            assert ((info.numpy() > 0) <= is_singular).all()


def test_errors_name_the_matrix(rng):
    a = positive(rng, 3, "float32")
    a[30] = np.diag([1, -1, 1])
    with pytest.raises(LinAlgError, match=r"matrix 30 of 37 .* its minor 2 is not positive"):
        la.cholesky(mo.array(a)).numpy()
    a[30] = np.diag([1, 1, 0])
    with pytest.raises(LinAlgError, match="matrix 30 of 37 is singular: pivot 3 is 0"):
        la.inv(mo.array(a)).numpy()
    with pytest.raises(LinAlgError, match="matrix 30 of 37 is singular: element 3"):
        la.solve_triangular(mo.array(a), mo.array(a)).numpy()
    values = la.inv(mo.array(a), check=False).numpy()
    assert np.isnan(values[30]).all() and np.isfinite(np.delete(values, 30, 0)).all()


@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("n", [2, 5])
def test_what_is_not_finite_is_passed_on(rng, n, value):
    for i in range(n):
        for j in range(n):
            a = matrices(rng, n, "float64")
            a[20, i, j] = value
            solutions = la.solve(mo.array(a), mo.array(np.ones(n))).numpy()
            if np.isnan(value):
                assert np.isnan(solutions[20]).any()
                assert np.isnan(la.det(mo.array(a)).numpy()[20])
            assert np.isfinite(np.delete(solutions, 20, 0)).all()
            p = positive(rng, n, "float64")
            p[20, i, j] = value
            _, small = la.cholesky_ex(mo.array(p))
            _, large = la.cholesky_ex(mo.array(enlarged(p)))
            np.testing.assert_array_equal(small.numpy(), large.numpy())


@pytest.mark.parametrize(("n", "is_small"), [(1, True), (16, True), (17, False)])
def test_small_ones_need_no_library(rng, n, is_small):
    la.cholesky(mo.array(positive(rng, n, "float32"))).sync()
    names = [kernel.name for kernel in mo.last_program().kernels]
    assert ("cholesky" in names) == is_small
    assert any(name.startswith("cholesky (") for name in names) != is_small
