# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Linear algebra: values beside NumPy's, derivatives, matrices that are singular."""

import pathlib

import metaops as mo
import numpy as np
import pytest
from numpy.linalg import LinAlgError
from util import check_gradient, close

HERE = pathlib.Path(__file__).name
la = mo.linalg


def positive(rng, *shape):
    """Return symmetric positive definite matrices."""
    x = rng.normal(size=shape)
    return x @ np.swapaxes(x, -1, -2) + shape[-1] * np.eye(shape[-1])


def regular(rng, *shape):
    """Return matrices that are far from singular."""
    return rng.normal(size=shape) + 2 * np.eye(shape[-1])


def tolerance(dtype):
    return {"rtol": 2e-4, "atol": 2e-4} if dtype == "float32" else {"rtol": 1e-9, "atol": 1e-11}


SHAPES = [(1, 1), (3, 3), (0, 0), (2, 5, 5), (0, 3, 3), (2, 3, 4, 4), (70, 70), (2, 130, 130)]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", SHAPES)
def test_values_are_numpys(rng, dtype, shape):
    a = positive(rng, *shape).astype(dtype)
    b = rng.normal(size=(*shape[:-1], 2)).astype(dtype)
    x = mo.array(a)
    same = tolerance(dtype)
    results = {
        "cholesky": (la.cholesky(x), np.linalg.cholesky(a)),
        "solve": (la.solve(x, mo.array(b)), np.linalg.solve(a, b)),
        "inv": (la.inv(x), np.linalg.inv(a)),
        "slogdet": (la.slogdet(x).logabsdet, np.linalg.slogdet(a)[1]),
        "sign": (la.slogdet(x).sign, np.linalg.slogdet(a)[0]),
    }
    for name, (given, expected) in results.items():
        assert str(given.dtype) == dtype, name
        close(given, expected, **same)
    if shape[-1] < 10:
        given = la.det(x)
        expected = np.linalg.det(a)
        np.testing.assert_allclose(given.numpy(), expected, rtol=same["rtol"])


def test_determinants_have_signs(rng):
    a = rng.normal(size=(20, 5, 5))
    close(la.det(mo.array(a)), np.linalg.det(a), rtol=1e-9)
    sign, logabsdet = la.slogdet(mo.array(a))
    close(sign, np.linalg.slogdet(a)[0])
    close(logabsdet, np.linalg.slogdet(a)[1], rtol=1e-9)


@pytest.mark.parametrize("upper", [False, True])
def test_triangles_of_cholesky(rng, upper):
    a = positive(rng, 3, 4, 4)
    # The other triangle is not read.
    half = np.triu(a) if upper else np.tril(a)
    factor = la.cholesky(mo.array(half), upper=upper)
    lower = np.linalg.cholesky(a)
    close(factor, np.swapaxes(lower, -1, -2) if upper else lower, rtol=1e-9)
    b = rng.normal(size=(4, 2))
    close(la.cholesky_solve(mo.array(b), factor, upper=upper), np.linalg.solve(a, b), rtol=1e-9)


@pytest.mark.parametrize("upper", [False, True])
@pytest.mark.parametrize("left", [False, True])
@pytest.mark.parametrize("unit", [False, True])
def test_triangular_equations(rng, upper, left, unit):
    a = regular(rng, 2, 4, 4)
    b = rng.normal(size=(2, 4, 3) if left else (2, 3, 4))
    x = la.solve_triangular(
        mo.array(a), mo.array(b), upper=upper, left=left, unitriangular=unit
    ).numpy()
    t = np.triu(a) if upper else np.tril(a)
    if unit:
        t = t - np.diag(np.ones(4)) * np.diagonal(t, 0, -2, -1)[:, None, :] + np.eye(4)
    np.testing.assert_allclose(t @ x if left else x @ t, b, rtol=1e-8, atol=1e-8)


def test_right_hand_sides_are_broadcast(rng):
    a, b, c = regular(rng, 2, 1, 3, 3), rng.normal(size=(5, 3, 2)), rng.normal(size=3)
    close(la.solve(mo.array(a), mo.array(b)), np.linalg.solve(a, b), rtol=1e-9)
    expected = np.stack([[np.linalg.solve(a[i, 0], c)] for i in range(2)])
    close(la.solve(mo.array(a), mo.array(c)), expected, rtol=1e-9)


def test_types(rng):
    a = mo.array([[2, 1], [1, 3]])
    assert str(la.inv(a).dtype) == "float32"
    close(la.det(a), np.float32(5), rtol=1e-6)
    half = mo.array(positive(rng, 3, 3)).astype("float16")
    assert str(la.cholesky(half).dtype) == "float16"
    mixed = la.solve(a.astype("float32"), mo.array([1.0, 2.0], "float64"))
    assert str(mixed.dtype) == "float64"


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda: la.cholesky(mo.zeros((2, 3))), r"cholesky: the matrices have shape \(2, 3\)"),
        (lambda: la.inv(mo.zeros(4)), r"inv: the matrices have shape \(4,\)"),
        (lambda: la.det(3.0), r"det: the matrices have shape \(\)"),
        (lambda: la.solve(mo.eye(3), mo.zeros(4)), "expected as many rows"),
        (lambda: la.solve(mo.ones((2, 3, 3)), mo.ones((4, 3, 1))), "of matrices .* do not go"),
        (lambda: la.solve_triangular(mo.eye(3), mo.zeros(3)), "expected as many rows"),
    ],
)
def test_shapes_that_do_not_fit(call, match):
    with pytest.raises(ValueError, match=match) as caught:
        call()
    assert HERE in str(caught.value)


# Matrices that cannot be taken


def test_singular_matrices_are_errors_that_say_which(rng):
    a = np.stack([positive(rng, 3, 3) for _ in range(4)])
    a[2] = np.diag([1.0, 1.0, 0.0])
    a[3] = 0
    x = mo.array(a)
    for call, text in (
        (lambda: la.solve(x, mo.ones(3)), "solve: matrix 2 of 4 is singular: pivot 3 is 0"),
        (lambda: la.inv(x), "inv: matrix 2 of 4 is singular: pivot 3 is 0"),
        (lambda: la.cholesky(x), "matrix 2 of 4 is not positive definite: its minor 3"),
        (lambda: la.solve_triangular(x, x), "solve_triangular: matrix 2 of 4 is singular"),
    ):
        with pytest.raises(LinAlgError, match=text) as caught:
            call().sync()
        assert HERE in str(caught.value)
    with pytest.raises(LinAlgError, match="cholesky: the matrix is not positive definite"):
        la.cholesky(mo.array([[1.0, 2.0], [2.0, 1.0]])).numpy()
    # The session is as before.
    close(la.inv(x[:2]), np.linalg.inv(a[:2]), rtol=1e-9)


def test_of_many_examples_it_is_said_which():
    batch = np.stack([np.eye(3)] * 4)
    batch[2] = 0
    x = mo.array(batch)
    with pytest.raises(LinAlgError, match=r"the matrix is singular: .* in example 2 of 4, rec"):
        mo.vmap(la.inv)(x).sync()
    pairs = x.reshape(2, 2, 3, 3)
    with pytest.raises(LinAlgError, match=r"matrix 0 of 2 is singular: .* in example 1 of 2, rec"):
        mo.vmap(la.inv)(pairs).sync()
    with mo.device("interpreter"), pytest.raises(LinAlgError, match="in example 1 of 2, rec"):
        mo.vmap(la.inv)(pairs).sync()


def test_without_a_check_the_matrix_is_nan(rng):
    a = np.stack([positive(rng, 3, 3), np.zeros((3, 3))])
    x = mo.array(a)
    for call, numpys in (
        (lambda: la.inv(x, check=False), np.linalg.inv),
        (lambda: la.cholesky(x, check=False), np.linalg.cholesky),
        (lambda: la.solve(x, mo.array(a), check=False), lambda a: np.linalg.solve(a, a)),
    ):
        result = call().numpy()
        np.testing.assert_allclose(result[0], numpys(a[0]), rtol=1e-9, atol=1e-12)
        assert np.isnan(result[1]).any()
    for call in (la.inv_ex, la.cholesky_ex, lambda x: la.solve_ex(x, x)):
        _, info = call(x)
        assert info.numpy().tolist() == [0, 1]


def test_a_check_is_done_only_where_its_value_is_used(rng):
    singular = mo.zeros((2, 2), "float64")

    @mo.jit
    def choose(x, flag):
        return mo.cond(flag, lambda x: la.inv(x), lambda x: x, x)

    close(choose(singular, mo.array(False)), np.zeros((2, 2)))
    with pytest.raises(LinAlgError, match="inv: the matrix is singular"):
        choose(singular, mo.array(True)).sync()


def test_nan_passes_on():
    a = mo.array([[np.nan, 1.0], [1.0, 2.0]])
    assert np.isnan(la.det(a).item())
    assert np.isnan(la.inv(a).numpy()).any()
    assert np.isnan(la.solve(a, mo.ones(2)).numpy()).any()


# Derivatives


def test_gradients_are_those_of_finite_differences(rng):
    a, s = regular(rng, 3, 3), positive(rng, 3, 3)
    b = rng.normal(size=(3, 2))
    check_gradient(lambda a, b: la.solve(a, b), a, b)
    check_gradient(la.inv, a)
    check_gradient(la.det, a)
    check_gradient(lambda a: la.slogdet(a).logabsdet, a)
    # Of what is symmetric the function and its gradient are.
    check_gradient(lambda s: la.cholesky((s + s.mT) / 2), s)
    check_gradient(lambda a, b: la.solve_triangular(a, b), a, b)
    check_gradient(lambda a, b: la.solve_triangular(a, b.mT, upper=True, left=False), a, b)
    check_gradient(lambda s, b: la.cholesky_solve(b, la.cholesky((s + s.mT) / 2)), s, b)


def test_gradients_of_batches_are_those_of_each(rng):
    a, b = regular(rng, 4, 3, 3), rng.normal(size=(3, 2))

    def loss(a, b):
        return (la.solve(a, b) ** 2).sum()

    x, y = mo.array(a), mo.array(b)
    by_a, by_b = mo.grad(loss(x, y), [x, y])
    singles = [mo.grad(loss(x[i], y), [x, y]) for i in range(4)]
    close(by_a, sum(each[0].numpy() for each in singles), rtol=1e-9)
    close(by_b, sum(each[1].numpy() for each in singles), rtol=1e-9)


def test_gradients_of_symmetric_matrices_are_symmetric(rng):
    x = mo.array(positive(rng, 4, 4))
    gradient = mo.grad((la.cholesky(x) ** 3).sum(), x).numpy()
    np.testing.assert_allclose(gradient, gradient.T, rtol=1e-12)


def test_forward_mode(rng):
    a, b = mo.array(regular(rng, 3, 3)), mo.array(rng.normal(size=(3, 2)))
    s = mo.array(positive(rng, 3, 3))
    da, db = mo.array(rng.normal(size=(3, 3))), mo.array(rng.normal(size=(3, 2)))
    for function, given, tangents in (
        (la.solve, (a, b), (da, db)),
        (la.inv, (a,), (da,)),
        (la.det, (a,), (da,)),
        (lambda a: la.slogdet(a).logabsdet, (a,), (da,)),
        (la.cholesky, (s,), (da + da.mT,)),
        (la.solve_triangular, (a, b), (da, db)),
    ):
        (moved,) = mo.jvp([function(*given)], list(given), list(tangents))
        eps = 1e-6
        up = function(*(x + eps * t for x, t in zip(given, tangents, strict=True)))
        down = function(*(x - eps * t for x, t in zip(given, tangents, strict=True)))
        close(moved, ((up - down) / (2 * eps)).numpy(), rtol=1e-6, atol=1e-7)


def test_a_gradient_of_solve_factors_nothing_anew(rng):
    a, b = mo.array(regular(rng, 5, 5)), mo.array(rng.normal(size=(5, 2)))
    mo.sync(mo.grad(la.solve(a, b).sum(), [a, b]))
    names = [each.name for each in mo.last_program().kernels]
    assert names.count("lu") == 1
    assert sum(name.startswith("lu_solve") for name in names) == 2


def cofactors_of(a):
    """Compute the gradient of a determinant by those of minors."""
    n = len(a)
    cofactors = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            minor = np.delete(np.delete(a, i, 0), j, 1)
            cofactors[i, j] = (-1) ** (i + j) * np.linalg.det(minor)
    return cofactors


def second_derivatives_of(a, step=1e-3):
    """Compute how cofactors move, by central differences."""
    n = len(a)
    moved = np.zeros((n, n, n, n))
    for i in range(n):
        for j in range(n):
            change = np.zeros((n, n))
            change[i, j] = step
            moved[:, :, i, j] = (cofactors_of(a + change) - cofactors_of(a - change)) / (2 * step)
    return moved


SINGULAR = {
    "1x1": np.zeros((1, 1)),
    "2x2": np.array([[1.0, 2.0], [2.0, 4.0]]),
    "zeros": np.zeros((3, 3)),
    "last": np.diag([1.0, 2.0, 0.0]),
    "first": np.diag([0.0, 1.0, 2.0]),
    "two": np.diag([0.0, 2.0, 0.0, 3.0]),
    "below": np.tril(np.ones((4, 4)), -1),
    "rank 3": np.arange(16.0).reshape(4, 4) % 5 @ np.diag([1.0, 1.0, 1.0, 0.0]),
}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", SINGULAR)
def test_the_gradient_of_a_singular_determinant_is_the_adjugate(name, dtype):
    a = SINGULAR[name]
    x = mo.array(a.astype(dtype))
    gradient = mo.grad(la.det(x), x).numpy()
    np.testing.assert_allclose(gradient, cofactors_of(a), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("name", SINGULAR)
def test_second_derivatives_of_singular_determinants(name):
    a = SINGULAR[name]
    x = mo.array(a)
    np.testing.assert_allclose(
        mo.hessian(la.det)(x).numpy(), second_derivatives_of(a), rtol=1e-5, atol=1e-8
    )
    # Those further on are not known at all.
    by_second = mo.grad((mo.grad(la.det(x), x) ** 2).sum(), x)
    assert np.isnan(mo.grad(by_second.sum(), x).numpy()).all()


def test_derivatives_of_determinants_in_a_batch(rng):
    batch = np.stack([SINGULAR["two"], np.eye(4) * 2, np.zeros((4, 4)), rng.normal(size=(4, 4))])
    x = mo.array(batch)
    gradients = mo.vmap(lambda a: mo.grad(la.det(a), a))(x)
    expected = np.stack([cofactors_of(a) for a in batch])
    np.testing.assert_allclose(gradients.numpy(), expected, rtol=1e-9, atol=1e-9)
    seconds = mo.vmap(mo.hessian(la.det))(x)
    expected = np.stack([second_derivatives_of(a) for a in batch])
    np.testing.assert_allclose(seconds.numpy(), expected, rtol=1e-5, atol=1e-8)


def test_determinants_do_not_depend_on_how_large_matrices_are(rng):
    small = mo.array(1e-101 * SINGULAR["2x2"])
    close(mo.grad(la.det(small), small), 1e-101 * cofactors_of(SINGULAR["2x2"]), rtol=1e-12)
    a = (rng.normal(size=(60, 60)) * 10).astype("float32")
    a[:, 3] = 0
    assert la.det(mo.array(a)).item() == 0
    for diagonal in ([1e30, 1e30, 1e-30, 1e-30], [1e-30, 1e-30, 1e30, 1e30]):
        x = mo.array(np.diag(diagonal).astype("float32"))
        close(la.det(x), 1.0, rtol=1e-5)
        close(mo.diagonal(mo.grad(la.det(x), x)), 1 / np.array(diagonal), rtol=1e-5)


# Calls in other functions


def test_all_examples_at_once(rng):
    a, b = mo.array(regular(rng, 6, 3, 3)), mo.array(rng.normal(size=(6, 3)))
    close(mo.vmap(la.solve)(a, b), np.linalg.solve(a.numpy(), b.numpy()[..., None])[..., 0], 1e-9)
    names = [each.name for each in mo.last_program().kernels]
    assert names.count("lu") == 1
    close(mo.vmap(la.inv)(a), np.linalg.inv(a.numpy()), rtol=1e-9)
    gradients = mo.vmap(lambda a: mo.grad(la.det(a), a))(a)
    expected = np.linalg.det(a.numpy())[:, None, None] * np.swapaxes(np.linalg.inv(a.numpy()), 1, 2)
    close(gradients, expected, rtol=1e-8)


def test_recorded_functions(rng):
    a = positive(rng, 4, 4)

    @mo.jit
    def log_density(s, x):
        factor = la.cholesky(s)
        return (
            -0.5 * (la.solve_triangular(factor, x[:, None]) ** 2).sum()
            - mo.log(mo.diagonal(factor)).sum()
        )

    x = rng.normal(size=4)
    expected = -0.5 * x @ np.linalg.solve(a, x) - 0.5 * np.linalg.slogdet(a)[1]
    close(log_density(mo.array(a), mo.array(x)), expected, rtol=1e-9)
    s = mo.array(a)
    gradient = mo.grad(log_density(s, mo.array(x)), s)
    y = np.linalg.solve(a, x)
    close(gradient, 0.5 * np.outer(y, y) - 0.5 * np.linalg.inv(a), rtol=1e-8)


def test_the_interpreter_agrees(rng):
    a, s = regular(rng, 2, 3, 3), positive(rng, 3, 3)
    with mo.device("interpreter"):
        close(la.inv(mo.array(a)), np.linalg.inv(a), rtol=1e-9)
        close(la.cholesky(mo.array(s)), np.linalg.cholesky(s), rtol=1e-9)
        close(la.det(mo.array(a)), np.linalg.det(a), rtol=1e-9)
        x = mo.array(SINGULAR["rank 3"])
        close(mo.grad(la.det(x), x), cofactors_of(x.numpy()), rtol=1e-9, atol=1e-9)
        with pytest.raises(LinAlgError, match="inv: matrix 1 of 2 is singular: pivot 1 is 0"):
            la.inv(mo.array(a) * mo.array([1.0, 0.0], "float64")[:, None, None]).sync()


def test_program_files_have_them(rng, tmp_path):
    a = positive(rng, 4, 4).astype("float32")
    path = tmp_path / "inverse.metaops"
    mo.export(la.inv, [mo.array(a)], path)
    program = mo.execute.load_program(path)
    np.testing.assert_allclose(program(a), np.linalg.inv(a), rtol=1e-4, atol=1e-5)
    with pytest.raises(LinAlgError, match="inv: the matrix is singular"):
        program(np.zeros_like(a))


def test_arguments_are_not_written_over(rng):
    a = positive(rng, 4, 4)
    x = mo.array(a)
    mo.sync([la.cholesky(x), la.inv(x), la.det(x)])
    close(x, a, rtol=0, atol=0)


@pytest.mark.parametrize("inside", ["step", "scan", "branch"])
def test_steps_of_training_keep_parameters_until_checks_are_done(inside):
    identity = np.eye(3)

    def loss_of(p, x):
        if inside == "scan":
            rows = mo.stack([x, x])
            return mo.scan(lambda c, x: (la.inv(c + x), c.sum()), p, rows)[0].sum()
        if inside == "branch":
            return mo.cond(x.sum() > -100, lambda y: la.inv(y).sum(), lambda y: y.sum(), p + x)
        return la.inv(p + x).sum()

    def step(p, x):
        loss = loss_of(p, x)
        mo.optim.SGD([p], 0.01).step(loss)
        return loss

    p, x = mo.array(identity * 2), mo.array(identity)
    mo.sync([p, x])
    loss = step(p, x)
    del x
    assert np.isfinite(loss.item())
    assert np.abs(p.numpy() - 2 * identity).max() > 0
    before = p.numpy().copy()
    x = mo.array(-before)
    x.sync()
    loss = step(p, x)
    del x
    with pytest.raises(LinAlgError, match="inv"):
        loss.item()
    close(p, before, rtol=0, atol=0)


def test_the_library_is_told():
    found = la.backend()
    assert found.library == "LAPACK"
    assert found.integer_bits in (32, 64)
    assert pathlib.Path(found.path).name.startswith("lib")
