# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Complex numbers in programs: recorded functions, maps, loops, gradients, optimisers, files."""

import metaops as mo
import numpy as np
import pytest
from test_complex import close, drawn

A, M = drawn(5), drawn(3, 5, seed=1)


def test_recorded_functions():
    @mo.jit
    def step(z, w, factor):
        return mo.exp(z) * w * factor, {"size": mo.abs(z)}

    for a in (A, 2 * A, M[0]):
        z = mo.array(a)
        product, sizes = step(z, z.conj(), 2j)
        close(product, np.exp(a) * a.conj() * 2j, rtol=1e-4)
        close(sizes["size"], abs(a))
    info = mo.jit_info(step)
    assert info.keys == len(info.records) == 1, "halves are leaves"


def test_recorded_functions_of_one_half():
    """A half that is an argument or constant is returned as it is."""
    z = mo.array(A)
    close(mo.jit(lambda z: z.conj())(z), A.conj())
    same = mo.jit(lambda z: z)(z)
    assert same.real is z.real and same.imag is z.imag
    close(mo.jit(lambda x: mo.Complex(x))(mo.array(A.real)), A.real.astype("complex64"))
    close(mo.jit(lambda x: x * z)(mo.ones(5)), A)
    close(mo.jit(lambda a: a * 2)(A), A * 2)
    # A Var on the left asks for no value of what is recorded.
    close(mo.jit(lambda x, z: x * z - z @ x)(mo.ones(5), z), A - A.sum())
    with pytest.raises(TypeError, match="have no order"):
        mo.jit(lambda x, z: x < z)(mo.ones(5), z)


def test_recorded_functions_see_writes():
    z = mo.array(A)
    step = mo.jit(lambda x: x * z)
    close(step(mo.ones(5)), A)
    z[0] = 5j
    close(step(mo.ones(5)), np.concatenate([[5j], A[1:]]))
    z.assign(A * 2)
    close(step(mo.ones(5)), A * 2)


def test_donated_halves():
    step = mo.jit(lambda z: z * 2, donate="z")
    z = mo.array(A)
    for power in (2, 4, 8):
        z = step(z)
        close(z, A * power)


def test_both_halves_are_one_tensor():
    x = mo.array(A.real)
    step = mo.jit(lambda z: z * z)
    close(step(mo.Complex(x, x)), (A.real * (1 + 1j)) ** 2)
    close(step(mo.array(A)), A**2)


def test_halves_that_nobody_reads_are_not_computed():
    z, w = mo.array(M), mo.array(M)
    mo.sync([z, w])
    mo.sync((z * w).real)
    written = sum(kernel.bytes_written for kernel in mo.last_program().kernels)
    assert written == M.real.nbytes


def test_maps():
    z = mo.array(M)
    close(mo.vmap(mo.prod)(z), M.prod(1))
    close(mo.vmap(lambda z, w: (z * w).sum(), (0, None))(z, mo.array(A)), (M * A).sum(1))
    close(mo.vmap(lambda z: z * 2, out_dims=1)(M), 2 * M.T)
    close(mo.vmap(lambda z: mo.grad(mo.abs(z).sum(), z))(z), M / abs(M))
    close(mo.map(lambda z: z * 1j, z), M * 1j)


def test_loops():
    z = mo.array(A)
    last, products = mo.scan(lambda c, z: (c * z, c * z), mo.array(1 + 0j), z)
    close(last, A.prod())
    close(products, A.cumprod())
    close(mo.scan(lambda c, z: (c * z, c * z), 1 + 0j, z)[1], A.cumprod())
    close(mo.fori_loop(0, 3, lambda i, c: c * c, z), A**8, rtol=1e-4)
    grown = mo.while_loop(lambda c: mo.abs(c).sum() < 100, lambda c: c * 2j, z)
    power = np.log2(np.abs(grown.numpy()) / abs(A)).round()
    assert abs(grown.numpy()).sum() >= 100 and (power == power[0]).all()
    for choice in (True, False):
        chosen = mo.cond(mo.array(choice), lambda z: z * 1j, lambda z: z.conj(), z)
        close(chosen, A * 1j if choice else A.conj())


def test_gradients_through_a_loop():
    """Of |z**4|**2 by z: 8 |z|**6 z, as a scan of products."""
    z = mo.array(A)
    last, _ = mo.scan(lambda c, _: (c * z, ()), mo.ones(5, "complex64"), mo.zeros(4))
    gradient = mo.grad(mo.square(mo.abs(last)).sum(), z)
    close(gradient, 8 * abs(A) ** 6 * A, rtol=1e-4, atol=1e-3)


# Functions with derivatives of their own


class Square(mo.Function):
    """z * z, whose gradient is by the conjugate."""

    def execute(self, z):
        self.z = z
        return z * z

    def grad(self, gradient):
        return 2 * self.z.conj() * gradient

    def jvp(self, tangent):
        return 2 * self.z * tangent


def test_functions_with_derivatives():
    z = mo.array(A)
    close(Square.apply(z), A * A)
    close(mo.grad(Square()(z).real.sum(), z), 2 * A.conj())
    close(mo.jvp([Square()(z)], [z], [mo.array(2 * A)])[0], 4 * A * A)
    rule = mo.custom_vjp(lambda z: z * z)
    rule.defvjp(lambda z: (z * z, z), lambda z, g: (3 * z.conj() * g,))
    close(mo.grad(rule(z).real.sum(), z), 3 * A.conj())


def test_a_function_that_is_not_asked_by_one_half():
    """A gradient by the real part alone has zeros for that by the imaginary one."""
    z = mo.array(A)
    close(mo.grad(Square()(z).imag.sum(), z), 2j * A.conj())


def test_checkpoints():
    z = mo.array(A)
    layer = mo.checkpoint(lambda z: mo.exp(z) * z)
    close(layer(z), np.exp(A) * A)
    plain = mo.grad(mo.abs(mo.exp(z) * z).sum(), z)
    close(mo.grad(mo.abs(layer(z)).sum(), z), plain.numpy())


def test_derivatives_of_lists():
    z, x = mo.array(A), mo.array(A.real)
    loss = (mo.abs(z) ** 2 * x).sum()
    by_z, by_x = mo.grad(loss, [z, x])
    close(by_z, 2 * A * A.real)
    close(by_x, abs(A) ** 2)
    close(mo.vjp([z * z], [z], [mo.ones(5, "complex64")])[0], 2 * A.conj())
    close(mo.jvp([z * z], [z], [mo.array(1j * A)])[0], 2j * A * A)
    close(mo.hessian_vector_product((mo.abs(z) ** 2).sum(), [z], [mo.array(A)])[0], 2 * A)
    result, moves = mo.linearize(lambda z: z * z, z)
    close(result, A * A)
    close(moves(mo.array(1j * A)), 2j * A * A)


def test_gradients_are_not_defined_for_complex_losses():
    with pytest.raises(TypeError, match="grad: loss is a Complex, expected real numbers"):
        mo.grad(mo.array(A), [mo.array(A)])


def test_detached():
    z = mo.array(A)
    close(mo.grad((z.detach() * z).real.sum(), z), A.conj())
    with mo.no_grad():
        constant = z * z
    with pytest.raises(ValueError, match="does not depend"):
        mo.grad(mo.abs(constant).sum(), z)


# Training

TARGET = np.array([1j, 2, 3 + 1j], "complex64")


@pytest.mark.parametrize("kind", [mo.optim.SGD, mo.optim.Adam, mo.optim.RMSprop])
def test_optimisers(kind):
    w = mo.Complex(mo.ones(3), mo.zeros(3))
    optimizer = kind([w], lr=0.05)
    assert len(optimizer.parameters) == 2
    for _ in range(300):
        optimizer.step((mo.abs(w - TARGET) ** 2).sum())
    close(w, TARGET, rtol=0.05, atol=0.05)


def test_gradients_that_are_applied():
    w = mo.Complex(mo.ones(3), mo.zeros(3))
    optimizer = mo.optim.SGD([w], lr=0.5)
    gradients = mo.grad((mo.abs(w - TARGET) ** 2).sum(), [w])
    optimizer.apply({w: gradients[0]})
    close(w, TARGET)
    optimizer.apply(mo.grad((mo.abs(w - 1) ** 2).sum(), [w]))
    close(w, np.ones(3, "complex64"))


def test_clipped_gradients():
    """A norm is of absolute values; its order tells halves from numbers."""
    gradients = [mo.array(A), mo.array(A.real)]
    for order in (1, 2, np.inf):
        clipped, norm = mo.optim.clip_grad_norm(gradients, 0.1, order)
        sizes = np.concatenate([abs(A), abs(A.real)])
        expected = np.linalg.norm(sizes, order)
        close(norm, np.float32(expected))
        close(clipped[0], A * 0.1 / expected)
    close(
        mo.optim.clip_grad_value(gradients, 0.1)[0],
        A.real.clip(-0.1, 0.1) + 1j * A.imag.clip(-0.1, 0.1),
    )


class Filter(mo.nn.Module):
    """A product by weights that are learnt."""

    def __init__(self):
        super().__init__()
        self.w = mo.Complex(mo.ones(3), mo.zeros(3))

    def execute(self, x):
        return self.w * x


def test_modules():
    module = Filter()
    assert [name for name, _ in module.named_parameters()] == ["w.real", "w.imag"]
    optimizer = mo.optim.SGD(module.parameters(), lr=0.4)
    for _ in range(30):
        optimizer.step((mo.abs(module(mo.ones(3)) - TARGET) ** 2).sum())
    close(module.w, TARGET, rtol=1e-3, atol=1e-3)
    other = Filter()
    other.load_state_dict(module.state_dict())
    close(other.w, module.w.numpy())


def test_mixed_precision():
    """Halves stay float32, also in products."""
    z, x = mo.array(M), mo.array(A.real)
    with mo.amp.autocast(dtype="bfloat16"):
        results = [z @ x, z @ A, mo.matmul(z, mo.array(A)), mo.exp(z), z * z, x @ M.T]
    for result in results:
        assert result.dtype == "complex64"
    close(results[1], M @ A)
    close(results[2], M @ A)


# Elsewhere


def test_program_files(tmp_path):
    """A Complex is two values of a program."""
    path = tmp_path / "turn.metaops"
    weight = mo.array(2j)
    mo.export(
        lambda z, x: {"turned": z * weight, "size": mo.abs(z) * x}, [mo.array(A), mo.ones(5)], path
    )
    program = mo.load_program(path)
    assert [tensor.name for tensor in program.inputs] == ["z.real", "z.imag", "x"]
    for given in (A, (A.real, A.imag), mo.array(A)):
        made = program(given, np.ones(5, "float32"))
        np.testing.assert_allclose(
            made["turned"].real + 1j * made["turned"].imag, A * 2j, rtol=1e-6
        )
        np.testing.assert_allclose(made["size"], abs(A), rtol=1e-6)


def test_structures():
    """A Complex is a node of two leaves."""
    tree = {"z": mo.array(A), "x": mo.ones(2)}
    assert [leaf.shape for leaf in mo.tree_leaves(tree)] == [(5,), (5,), (2,)]
    close(mo.tree_map(lambda x: x * 2, tree)["z"], 2 * A)
    zeros = mo.tree_map(mo.zeros_like, tree)
    close(mo.tree_map(lambda x, y: x + y, tree, zeros)["z"], A)
    assert mo.tree_map(lambda x: x, {"number": 1 + 2j}) == {"number": 1 + 2j}


def test_operator_by_operator():
    with mo.flag_scope(lazy_execution=False):
        close(mo.exp(mo.array(A)) * A, np.exp(A) * A)


def test_phase_retrieval():
    """Numbers are found by the sizes of their sums, as in optics."""
    rng = np.random.default_rng(3)
    waves = (rng.standard_normal((40, 4)) + 1j * rng.standard_normal((40, 4))).astype("complex64")
    truth = drawn(4)
    sizes = mo.array(np.abs(waves @ truth))
    z = mo.array(truth + 0.3 * drawn(4, seed=1))
    optimizer = mo.optim.Adam([z], lr=0.02)
    for _ in range(400):
        optimizer.step(((mo.abs(waves @ z) - sizes) ** 2).sum())
    turn = np.vdot(z.numpy(), truth)
    np.testing.assert_allclose(z.numpy() * turn / abs(turn), truth, rtol=0.02, atol=0.02)
