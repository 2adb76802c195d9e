# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Fourier transforms: values beside NumPy's, lengths, norms, bad input."""

import pathlib

import metaops as mo
import numpy as np
import pytest
from util import close

HERE = pathlib.Path(__file__).name
NORMS = [None, "backward", "ortho", "forward"]
#: The largest error of a transform, in root mean squares of the results.
PRECISION = {"float32": 4e-7, "float64": 8e-16}


def numbers(rng, shape, dtype, *, real=False):
    """Return real or complex numbers of a type, of different sizes."""
    x = rng.normal(size=shape) * rng.choice([1, 3], shape)
    if real:
        return x.astype(dtype)
    made = "complex64" if dtype == "float32" else "complex128"
    return (x + 1j * rng.normal(size=shape)).astype(made)


def near(given, expected, dtype):
    """Compare results with those of NumPy in f64, by root mean squares."""
    given, expected = given.numpy(), np.asarray(expected)
    assert given.shape == expected.shape
    assert given.dtype == np.result_type(dtype, np.float32) or given.dtype.kind == "c"
    if expected.size == 0:
        return
    error = np.sqrt(np.mean(np.abs(given - expected) ** 2))
    assert error <= PRECISION[dtype] * max(np.sqrt(np.mean(np.abs(expected) ** 2)), 1e-30)


def wide(x):
    """Return numbers in f64, as NumPy is to transform them."""
    return x.astype("complex128" if x.dtype.kind == "c" else "float64")


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("first", range(1, 131, 10))
def test_each_length(rng, first, dtype):
    results = []
    for n in range(first, first + 10):
        z, x = numbers(rng, (3, n), dtype), numbers(rng, (3, n), dtype, real=True)
        half = numbers(rng, (3, n // 2 + 1), dtype)
        results += [
            (mo.fft.fft(mo.array(z)), np.fft.fft(wide(z))),
            (mo.fft.ifft(mo.array(z)), np.fft.ifft(wide(z))),
            (mo.fft.fft(mo.array(x)), np.fft.fft(wide(x))),
            (mo.fft.ifft(mo.array(x)), np.fft.ifft(wide(x))),
            (mo.fft.rfft(mo.array(x)), np.fft.rfft(wide(x))),
            (mo.fft.irfft(mo.array(half), n), np.fft.irfft(wide(half), n)),
            (mo.fft.hfft(mo.array(half), n), np.fft.hfft(wide(half), n)),
            (mo.fft.ihfft(mo.array(x)), np.fft.ihfft(wide(x))),
        ]
    mo.sync([given for given, _ in results])
    for given, expected in results:
        near(given, expected, dtype)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("n", [256, 509, 1000, 1009, 1024, 1536, 2048, 2310, 4096, 4099, 65536])
def test_long_lengths(rng, n, dtype):
    count = 17 if n < 5000 else 2
    z, x = numbers(rng, (count, n), dtype), numbers(rng, (count, n), dtype, real=True)
    half = numbers(rng, (count, n // 2 + 1), dtype)
    near(mo.fft.fft(mo.array(z)), np.fft.fft(wide(z)), dtype)
    near(mo.fft.fft(mo.array(z[0])), np.fft.fft(wide(z[0])), dtype)
    near(mo.fft.rfft(mo.array(x)), np.fft.rfft(wide(x)), dtype)
    near(mo.fft.irfft(mo.array(half), n), np.fft.irfft(wide(half), n), dtype)


@pytest.mark.parametrize("n", [1 << 20, 1000003, 3 * (1 << 18) + 3])
def test_very_long_lengths(rng, n):
    z = numbers(rng, n, "float32")
    near(mo.fft.fft(mo.array(z)), np.fft.fft(wide(z)), "float32")


@pytest.mark.parametrize("dim", range(4))
@pytest.mark.parametrize("shape", [(3, 5, 8, 4), (2, 12, 20, 17), (5, 1, 16, 33), (64, 3, 7, 2)])
def test_each_dimension(rng, shape, dim):
    z, x = numbers(rng, shape, "float32"), numbers(rng, shape, "float32", real=True)
    near(mo.fft.fft(mo.array(z), dim=dim), np.fft.fft(wide(z), axis=dim), "float32")
    near(mo.fft.rfft(mo.array(x), dim=dim), np.fft.rfft(wide(x), axis=dim), "float32")
    n = 2 * shape[dim] - 1
    near(mo.fft.irfft(mo.array(z), n, dim), np.fft.irfft(wide(z), n, dim), "float32")


@pytest.mark.parametrize("inner", [2, 5, 20])
@pytest.mark.parametrize("n", [4096, 4099, 2310])
def test_long_lines_of_outer_dimensions(rng, n, inner):
    z = numbers(rng, (2, n, inner), "float32")
    near(mo.fft.fft(mo.array(z), dim=1), np.fft.fft(wide(z), axis=1), "float32")


@pytest.mark.parametrize("norm", NORMS)
def test_norms(rng, norm):
    z, x = numbers(rng, (4, 6), "float64"), numbers(rng, (4, 6), "float64", real=True)
    for name in ("fft", "ifft"):
        expected = getattr(np.fft, name)(z, 5, 0, norm)
        near(getattr(mo.fft, name)(mo.array(z), 5, 0, norm), expected, "float64")
    for name in ("rfft", "ihfft"):
        expected = getattr(np.fft, name)(x, 7, 1, norm)
        near(getattr(mo.fft, name)(mo.array(x), 7, 1, norm), expected, "float64")
    for name in ("irfft", "hfft"):
        expected = getattr(np.fft, name)(z, 9, 1, norm)
        near(getattr(mo.fft, name)(mo.array(z), 9, 1, norm), expected, "float64")
    for name in ("fftn", "ifftn", "irfftn"):
        expected = getattr(np.fft, name)(z, (5, 8), (1, 0), norm)
        near(getattr(mo.fft, name)(mo.array(z), (5, 8), (1, 0), norm), expected, "float64")
    near(mo.fft.rfftn(mo.array(x), norm=norm), np.fft.rfftn(x, norm=norm), "float64")


@pytest.mark.parametrize("n", [1, 2, 3, 5, 6, 7, 12])
def test_lengths_cut_and_fill(rng, n):
    z, x = numbers(rng, (3, 6), "float64"), numbers(rng, (3, 6), "float64", real=True)
    for name in ("fft", "ifft", "hfft", "irfft"):
        expected = getattr(np.fft, name)(z, n)
        near(getattr(mo.fft, name)(mo.array(z), n), expected, "float64")
    for name in ("rfft", "ihfft", "fft"):
        near(getattr(mo.fft, name)(mo.array(x), n), getattr(np.fft, name)(x, n), "float64")


@pytest.mark.parametrize("axes", [None, (0,), (1, 2), (2, 0), (0, 1, 2), (-1, -3)])
def test_several_dimensions(rng, axes):
    z, x = numbers(rng, (4, 6, 5), "float64"), numbers(rng, (4, 6, 5), "float64", real=True)
    for name in ("fftn", "ifftn", "irfftn"):
        near(
            getattr(mo.fft, name)(mo.array(z), axes=axes),
            getattr(np.fft, name)(z, axes=axes),
            "float64",
        )
    for name in ("fftn", "ifftn", "rfftn"):
        near(
            getattr(mo.fft, name)(mo.array(x), axes=axes),
            getattr(np.fft, name)(x, axes=axes),
            "float64",
        )
    for name in ("fft2", "ifft2", "irfft2"):
        near(getattr(mo.fft, name)(mo.array(z)), getattr(np.fft, name)(z), "float64")
    near(mo.fft.rfft2(mo.array(x)), np.fft.rfft2(x), "float64")
    near(mo.fft.irfftn(mo.array(z), (4, 6, 9)), np.fft.irfftn(z, (4, 6, 9), (0, 1, 2)), "float64")
    near(mo.fft.fftn(mo.array(z), (3, 7)), np.fft.fftn(z, (3, 7), (1, 2)), "float64")
    near(mo.fft.fft2(mo.array(z), (-1, 8)), np.fft.fft2(z, (6, 8)), "float64")


def test_hermitian_numbers_of_several_dimensions(rng):
    z, x = numbers(rng, (4, 6), "float64"), numbers(rng, (4, 6), "float64", real=True)
    for name in ("hfft2", "hfftn"):
        expected = np.fft.irfftn(z.conj(), (4, 10), (0, 1)) * 40
        near(getattr(mo.fft, name)(mo.array(z)), expected, "float64")
        near(getattr(mo.fft, f"i{name}")(mo.array(x)), np.fft.rfftn(x).conj() / 24, "float64")


def test_dimensions_that_repeat(rng):
    z, x = numbers(rng, (4, 6), "float64"), numbers(rng, (4, 6), "float64", real=True)
    for axes in ((0, 0), (1, 0, 1), (-1, 1)):
        near(mo.fft.fftn(mo.array(z), axes=axes), np.fft.fftn(z, axes=axes), "float64")
        near(mo.fft.rfftn(mo.array(x), axes=axes), np.fft.rfftn(x, axes=axes), "float64")
        near(mo.fft.irfftn(mo.array(z), axes=axes), np.fft.irfftn(z, axes=axes), "float64")
    same = mo.fft.fftn(mo.array(z), axes=())
    close(same, z, rtol=0)


def test_types():
    assert mo.fft.fft(mo.array([1, 2])).dtype == "complex64"
    assert mo.fft.fft(mo.array([True, False])).dtype == "complex64"
    assert mo.fft.rfft(mo.ones(3, dtype="float16")).dtype == "complex64"
    assert mo.fft.irfft(mo.ones(3, dtype="bfloat16")).dtype == "float32"
    assert mo.fft.fft(mo.ones(3, dtype="float64")).dtype == "complex128"
    assert mo.fft.irfft(mo.ones(3, dtype="complex128")).dtype == "float64"
    assert mo.fft.fft([1.0, 2j]).dtype == "complex64"
    close(mo.fft.fft(np.array([1.0, 2.0])), np.fft.fft([1.0, 2.0]))
    with mo.default_dtype("float64"):
        assert mo.fft.fft(mo.array([1, 2])).dtype == "complex128"
        assert mo.fft.fftfreq(4).dtype == "float64"


def test_parts_that_have_to_be_zero_are_not_read(rng):
    for n in (1, 2, 7, 8, 512, 513):
        half = numbers(rng, (3, n // 2 + 1), "float64")
        spoilt = half.copy()
        spoilt.imag[:, 0] = np.nan
        half.imag[:, 0] = 0
        if n % 2 == 0:
            spoilt.imag[:, -1] = np.inf
            half.imag[:, -1] = 0
        near(mo.fft.irfft(mo.array(spoilt), n), np.fft.irfft(half, n), "float64")
        with mo.device("interpreter"):
            if n < 10:
                near(mo.fft.irfft(mo.array(spoilt), n), np.fft.irfft(half, n), "float64")


def test_a_line_that_is_not_finite_leaves_others(rng):
    z = numbers(rng, (20, 48), "float32")
    spoilt = z.copy()
    spoilt[7, 3] = np.nan
    given = mo.fft.fft(mo.array(spoilt)).numpy()
    assert np.isnan(given[7]).all()
    rest = np.arange(20) != 7
    np.testing.assert_allclose(given[rest], np.fft.fft(wide(z))[rest], rtol=1e-4, atol=1e-4)


def test_empty_batches():
    assert mo.fft.fft(mo.zeros((0, 8))).numpy().shape == (0, 8)
    assert mo.fft.rfft(mo.zeros((0, 8))).numpy().shape == (0, 5)
    assert mo.fft.irfft(mo.zeros((3, 0, 5))).numpy().shape == (3, 0, 8)
    assert mo.fft.fft(mo.zeros((4, 0)), dim=0).numpy().shape == (4, 0)
    # Tables of this length would not fit into memory.
    assert mo.fft.fft(mo.zeros((0, (1 << 50) + 1))).numpy().size == 0
    assert mo.fft.rfft(mo.zeros(((1 << 50) + 1, 0)), dim=0).numpy().size == 0


@pytest.mark.parametrize(
    ("call", "error", "match"),
    [
        (lambda: mo.fft.fft(mo.zeros((2, 0))), ValueError, "has no elements to transform"),
        (lambda: mo.fft.fft(mo.zeros(3), 0), ValueError, "fft: n is 0, expected 1 or more"),
        (lambda: mo.fft.rfft(mo.zeros(3), -2), ValueError, "rfft: n is -2"),
        (lambda: mo.fft.irfft(mo.zeros(1)), ValueError, "irfft: n is 0"),
        (lambda: mo.fft.fft(mo.zeros(3), 2.5), TypeError, "fft: n is 2.5, expected an integer"),
        (lambda: mo.fft.fft(mo.zeros(3), dim=1), IndexError, "dimension 1 is out of range"),
        (lambda: mo.fft.fft(mo.array(3.0)), IndexError, "out of range"),
        (lambda: mo.fft.fft(mo.zeros(3), norm="unit"), ValueError, "fft: norm is 'unit'"),
        (lambda: mo.fft.rfft(mo.array([1j])), TypeError, "rfft: x is .* expected real numbers"),
        (lambda: mo.fft.ihfft([1j]), TypeError, "ihfft: x is .* expected real numbers"),
        (lambda: mo.fft.rfftn(mo.zeros(3), axes=()), ValueError, "rfftn: expected a dimension"),
        (lambda: mo.fft.fftn(mo.zeros((3, 4)), (2,), (0, 1)), ValueError, "1 lengths for 2"),
        (lambda: mo.fft.fftn(mo.zeros((3, 4)), (2, 0)), ValueError, "a length in s is 0"),
        (lambda: mo.fft.fft2(mo.zeros(3)), IndexError, "out of range"),
        (lambda: mo.fft.fftfreq(0), ValueError, "fftfreq: n is 0"),
        (lambda: mo.fft.fftfreq(4, 0.0), ValueError, "fftfreq: d is 0"),
        (lambda: mo.fft.fftshift(mo.zeros(3), 1), IndexError, "out of range"),
    ],
)
def test_what_cannot_be_transformed(call, error, match):
    with pytest.raises(error, match=match) as caught:
        call()
    assert HERE in str(caught.value)


@pytest.mark.parametrize("n", [1, 2, 5, 8])
def test_frequencies(rng, n):
    for name in ("fftfreq", "rfftfreq"):
        expected = getattr(np.fft, name)(n, 0.25)
        close(getattr(mo.fft, name)(n, 0.25), expected.astype("float32"), rtol=0)
        close(getattr(mo.fft, name)(n, d=0.25, dtype="float64"), expected, rtol=0)
    x, z = numbers(rng, (n, 3), "float64", real=True), numbers(rng, (n, 3), "float64")
    for name in ("fftshift", "ifftshift"):
        for axes in (None, 0, (1,), (0, 1)):
            for given in (x, z):
                expected = getattr(np.fft, name)(given, axes)
                close(getattr(mo.fft, name)(mo.array(given), axes), expected, rtol=0)


@pytest.mark.parametrize("n", [2**40 + 1, 2**45, 2**45 + 1])
def test_lengths_for_which_there_is_no_memory(n):
    with pytest.raises(RuntimeError, match=rf"of length {n} takes \d+ bytes, and the machine has"):
        mo.fft.fft(mo.ones(4), n).real.sync()
