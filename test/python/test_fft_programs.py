# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Fourier transforms within programs: derivatives, vmap, loops, files, devices."""

import metaops as mo
import numpy as np
import pytest
from util import check_gradient, close

fft = mo.fft


def pair(x, y):
    """Return complex numbers of both parts."""
    return mo.Complex(x, y)


def parts(z):
    """Return a real tensor with both parts."""
    return mo.view_as_real(z)


LENGTHS = [1, 2, 3, 6, 7]


@pytest.mark.parametrize("n", LENGTHS)
def test_gradients_are_those_of_finite_differences(rng, n):
    x, y = rng.normal(size=(2, 5)), rng.normal(size=(2, 5))
    half = rng.normal(size=(2, n // 2 + 1))
    for transform in (fft.fft, fft.ifft):
        check_gradient(lambda x, y, f=transform: parts(f(pair(x, y), n)) ** 2, x, y)
        check_gradient(lambda x, f=transform: parts(f(x, n)) ** 2, x)
    for transform in (fft.rfft, fft.ihfft):
        check_gradient(lambda x, f=transform: parts(f(x, n)) ** 2, x)
    for transform in (fft.irfft, fft.hfft):
        check_gradient(lambda x, y, f=transform: f(pair(x, y), n) ** 2, half, half + 1)


@pytest.mark.parametrize("norm", ["backward", "ortho", "forward"])
def test_gradients_of_several_dimensions(rng, norm):
    x, y = rng.normal(size=(3, 2, 4)), rng.normal(size=(3, 2, 4))
    axes = (0, 2)
    check_gradient(lambda x, y: parts(fft.fftn(pair(x, y), axes=axes, norm=norm)) ** 2, x, y)
    check_gradient(lambda x: parts(fft.rfftn(x, axes=axes, norm=norm)) ** 2, x)
    for s in ((3, 6), (3, 7)):
        check_gradient(lambda x, y, s=s: fft.irfftn(pair(x, y), s, axes, norm) ** 2, x, y)


def test_gradients_are_transforms(rng):
    z = mo.array(rng.normal(size=8) + 1j * rng.normal(size=8))
    weights = mo.array(rng.normal(size=8))
    gradient = mo.grad((fft.fft(z).real * weights).sum(), z)
    close(gradient, 8 * np.fft.ifft(weights.numpy()), rtol=1e-12, atol=1e-12)
    names = [each.name for each in mo.last_program().kernels]
    assert sum(name.startswith("fft") for name in names) == 1


def test_forward_mode(rng):
    x, dx = mo.array(rng.normal(size=(2, 7))), mo.array(rng.normal(size=(2, 7)))
    (moved,) = mo.jvp([parts(fft.rfft(x))], [x], [dx])
    close(moved, parts(fft.rfft(dx)).numpy(), rtol=1e-12, atol=1e-12)
    (moved,) = mo.jvp([fft.irfft(pair(x, x * 2), 13)], [x], [dx])
    close(moved, fft.irfft(pair(dx, dx * 2), 13).numpy(), rtol=1e-12, atol=1e-12)
    # Of one part alone.
    (moved,) = mo.jvp([parts(fft.fft(pair(x, dx)))], [x], [dx])
    close(moved, parts(fft.fft(dx)).numpy(), rtol=1e-12, atol=1e-12)


def test_all_examples_at_once(rng):
    z = rng.normal(size=(5, 3, 8)) + 1j * rng.normal(size=(5, 3, 8))
    close(mo.vmap(fft.fftn)(mo.array(z)), np.fft.fftn(z, axes=(1, 2)), rtol=1e-10, atol=1e-12)
    names = [each.name for each in mo.last_program().kernels]
    assert sum(name.startswith("fft") for name in names) == 1
    x = z.real
    close(mo.vmap(fft.rfft, in_dims=2)(mo.array(x)), np.fft.rfft(np.moveaxis(x, 2, 0)), 1e-10)
    gradients = mo.vmap(lambda x: mo.grad((parts(fft.rfft(x)) ** 2).sum(), x))(mo.array(x))
    each = [mo.grad((parts(fft.rfft(row)) ** 2).sum(), row) for row in map(mo.array, x)]
    close(gradients, np.stack([row.numpy() for row in each]), rtol=1e-10, atol=1e-10)


def test_recorded_functions_and_loops(rng):
    z = rng.normal(size=16) + 1j * rng.normal(size=16)
    phase = np.exp(-0.1j * np.fft.fftfreq(16) ** 2)

    @mo.jit
    def step(z, phase):
        return fft.ifft(fft.fft(z) * phase)

    expected = z
    for _ in range(4):
        expected = np.fft.ifft(np.fft.fft(expected) * phase)
    given = mo.array(z)
    for _ in range(4):
        given = step(given, mo.array(phase))
    close(given, expected, rtol=1e-10, atol=1e-12)

    def run(z):
        return mo.scan(lambda z, _: (step(z, mo.array(phase)), z.real.sum()), z, length=4)[0]

    close(run(mo.array(z)), expected, rtol=1e-10, atol=1e-12)
    x = mo.array(z)
    gradient = mo.grad((mo.abs(run(x)) ** 2).sum(), x)
    close(gradient, 2 * z, rtol=1e-9, atol=1e-10)


def test_the_interpreter_agrees(rng):
    z, x = rng.normal(size=(3, 12)) + 1j * rng.normal(size=(3, 12)), rng.normal(size=(4, 9))
    with mo.device("interpreter"):
        close(fft.fft(mo.array(z)), np.fft.fft(z), rtol=1e-10, atol=1e-12)
        close(fft.ifftn(mo.array(z)), np.fft.ifftn(z), rtol=1e-10, atol=1e-12)
        close(fft.rfftn(mo.array(x)), np.fft.rfftn(x), rtol=1e-10, atol=1e-12)
        close(fft.irfftn(mo.array(z), (3, 5)), np.fft.irfftn(z, (3, 5), (0, 1)), 1e-10, 1e-12)
        close(fft.irfft(mo.array(z), 22), np.fft.irfft(z, 22), rtol=1e-10, atol=1e-12)


def test_program_files_have_them(rng, tmp_path):
    x = rng.normal(size=(4, 24)).astype("float32")
    path = tmp_path / "spectrum.metaops"
    mo.export(lambda x: mo.abs(fft.rfft(x)), [mo.array(x)], path)
    program = mo.execute.load_program(path)
    np.testing.assert_allclose(program(x), np.abs(np.fft.rfft(x)), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("shape", [(300, 2048), (2, 1 << 18), (4096, 40), (37, 1009)])
def test_threads_share_them(rng, shape):
    z = (rng.normal(size=shape) + 1j * rng.normal(size=shape)).astype("complex64")
    threads = mo.get_num_threads()
    results = []
    try:
        for count in (1, 3):
            mo.set_num_threads(count)
            given = mo.array(z)
            results.append([fft.fft(given).numpy(), fft.fft2(given).numpy()])
    finally:
        mo.set_num_threads(threads)
    for one, several in zip(*results, strict=True):
        np.testing.assert_array_equal(one, several)
    expected = np.fft.fft(z.astype("complex128"))
    np.testing.assert_allclose(results[1][0], expected, rtol=0, atol=1e-5 * np.abs(expected).max())


def test_arguments_are_not_written_over(rng):
    z = rng.normal(size=(8, 64)) + 1j * rng.normal(size=(8, 64))
    given = mo.array(z)
    mo.sync([part for f in (fft.fft, fft.ifftn) for part in (f(given).real, f(given).imag)])
    close(given, z, rtol=0)


def test_many_lengths_make_few_kernels(rng):
    x = mo.array(rng.normal(size=400).astype("float32"))
    fft.rfft(x[:100]).sync()
    before = mo.stats()
    for n in range(101, 131):
        fft.rfft(x, n).sync()
    # None but those that cut.
    assert mo.stats()["kernels_compiled"] - before["kernels_compiled"] <= 30
