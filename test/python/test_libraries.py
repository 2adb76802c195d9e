# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Libraries that compute products in place of kernels."""

import os

import metaops as mo
import numpy as np
import pytest

pytestmark = pytest.mark.processor


@pytest.fixture(scope="module", autouse=True)
def onednn():
    """The routine is there from the first time that the flag is set."""
    with mo.flag_scope(libraries="rules"):
        pass


def rounded(values):
    """Return a bfloat16 tensor."""
    return mo.array(np.ascontiguousarray(values, dtype="float32")).astype("bfloat16")


def halves(rng, *shape):
    """Return a bfloat16 tensor, and its elements as NumPy has them."""
    values = rounded(rng.standard_normal(shape))
    return values, values.astype("float32").numpy().astype("float64")


def product(a, b, extents, strides, shape):
    """Call the routine; strides are of a, b and the result."""
    names = ("strides_a", "strides_b", "strides_product")
    parameters = {"extents": extents, **dict(zip(names, strides, strict=True))}
    roles = ["a", "b", "product"]
    return mo.routine(
        "product", [shape], ["float32"], a, b, parameters=parameters, roles=roles, total=True
    )[0]


def bound(a, b):
    """Return what sums of products may be off by: roundings to float32, in any order."""
    return (np.abs(a) @ np.abs(b)) * a.shape[-1] * 2.0**-23 + 1e-30


LAYOUTS = ["plain", "a transposed", "b transposed", "result transposed"]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_products_of_random_extents(rng, layout):
    for _ in range(12):
        m, n, k = (int(extent) for extent in rng.integers(1, 300, 3))
        (a, exact_a), (b, exact_b) = halves(rng, m, k), halves(rng, k, n)
        strides = [[0, k, 1], [0, n, 1], [0, n, 1]]
        shape = (m, n)
        if layout == "a transposed":
            a, strides[0] = rounded(exact_a.T), [0, 1, m]
        elif layout == "b transposed":
            b, strides[1] = rounded(exact_b.T), [0, 1, k]
        elif layout == "result transposed":
            shape, strides[2] = (n, m), [0, 1, m]
        found = product(a, b, [1, m, n, k], strides, shape).numpy()
        if layout == "result transposed":
            found = found.T
        assert np.all(np.abs(found - exact_a @ exact_b) <= bound(exact_a, exact_b)), (m, n, k)


@pytest.mark.parametrize(("count", "m", "n", "k"), [(1, 5, 7, 9), (3, 64, 64, 64), (37, 8, 24, 40)])
def test_batches(rng, count, m, n, k):
    (a, exact_a), (b, exact_b) = halves(rng, count, m, k), halves(rng, count, k, n)
    strides = [[m * k, k, 1], [k * n, n, 1], [m * n, n, 1]]
    found = product(a, b, [count, m, n, k], strides, (count, m, n)).numpy()
    assert np.all(np.abs(found - exact_a @ exact_b) <= bound(exact_a, exact_b))


def test_bits_do_not_depend_on_threads(rng):
    (a, _), (b, _) = halves(rng, 700, 130), halves(rng, 130, 90)
    threads, found = mo.get_num_threads(), []
    try:
        for number in (1, 2, 5):
            mo.set_num_threads(number)
            strides = [[0, 130, 1], [0, 90, 1], [0, 90, 1]]
            found.append(product(a + 0, b, [1, 700, 90, 130], strides, (700, 90)).numpy())
    finally:
        mo.set_num_threads(threads)
    for other in found[1:]:
        np.testing.assert_array_equal(found[0], other)


@pytest.mark.parametrize(
    ("extents", "strides", "shape"),
    [
        ([1, 4, 6, 5], [[0, 5, 1], [0, 6, 1], [0, 6, 1]], (4, 7)),
        ([1, 4, 6, 6], [[0, 5, 1], [0, 6, 1], [0, 6, 1]], (4, 6)),
        ([1, 4, 6, 5], [[0, 6, 1], [0, 6, 1], [0, 6, 1]], (4, 6)),
        ([1, 4, 6, 5], [[0, -5, 1], [0, 6, 1], [0, 6, 1]], (4, 6)),
        ([1, 4, 6, 5], [[0, 5, 1], [0, 6, 1], [0, 0, 1]], (4, 6)),
        ([1, 2**62, 6, 5], [[0, 5, 1], [0, 6, 1], [0, 6, 1]], (4, 6)),
        ([1, 4, 6, 0], [[0, 5, 1], [0, 6, 1], [0, 6, 1]], (4, 6)),
        ([4, 6, 5], [[0, 5, 1], [0, 6, 1], [0, 6, 1]], (4, 6)),
    ],
)
def test_what_is_no_product_of_the_tensors_is_refused(rng, extents, strides, shape):
    (a, _), (b, _) = halves(rng, 4, 5), halves(rng, 5, 6)
    with pytest.raises(RuntimeError, match="taken by nobody: onednn"):
        product(a, b, extents, strides, shape).sync()
    assert (a + 1).astype("float32").numpy().shape == (4, 5)


def has_tiles():
    """Tell whether the processor multiplies tiles of bfloat16."""
    with open("/proc/cpuinfo") as facts:
        return "amx_bf16" in facts.read()


def libraries_of(value):
    """Return the names of the kernels that compute a value."""
    value.sync()
    return [kernel.name for kernel in mo.last_program().kernels]


@pytest.mark.skipif(not has_tiles(), reason="the rules are for processors with tiles")
def test_rules_choose_large_products_of_bfloat16(rng):
    (a, exact_a), (b, exact_b) = halves(rng, 128, 256), halves(rng, 512, 256)
    small, _ = halves(rng, 4, 256)
    a.sync(), b.sync(), small.sync()
    assert not any("onednn" in name for name in libraries_of(a @ b.T))
    with mo.flag_scope(libraries="rules"):
        y = a @ b.T
        assert any("product" in name for name in libraries_of(y))
        assert not any("product" in name for name in libraries_of(small @ b.T))
        wide = a.astype("float32") @ b.astype("float32").T
        assert not any("product" in name for name in libraries_of(wide))
    found = y.astype("float32").numpy()
    exact = exact_a @ exact_b.T
    assert np.all(np.abs(found - exact) <= np.abs(exact) * 2.0**-8 + bound(exact_a, exact_b.T))


@pytest.mark.skipif(not has_tiles(), reason="the rules are for processors with tiles")
@pytest.mark.parametrize(("m", "n"), [(128, 1024), (1024, 128), (64, 1100), (600, 520)])
def test_products_in_parts_of_rows_and_columns_are_chosen(rng, m, n):
    (a, exact_a), (b, exact_b) = halves(rng, m, 256), halves(rng, n, 256)
    a.sync(), b.sync()
    with mo.flag_scope(libraries="rules"):
        y = a @ b.T
        assert any("product" in name for name in libraries_of(y))
    exact = exact_a @ exact_b.T
    error = np.abs(y.astype("float32").numpy() - exact)
    assert np.all(error <= np.abs(exact) * 2.0**-8 + bound(exact_a, exact_b.T))


@pytest.mark.skipif(not has_tiles(), reason="the rules are for processors with tiles")
def test_all_lengths_of_a_class_are_computed_alike(rng):
    b, _ = halves(rng, 64, 64)
    b.sync()
    with mo.flag_scope(libraries="rules"):
        for lengths, is_called in (((64, 100, 150, 999), True), ((2, 5, 7), False)):
            for n in lengths:
                a, _ = halves(rng, n, 64)
                a.sync()
                found = any("product" in name for name in libraries_of(a @ b))
                assert found == is_called, n


@pytest.mark.skipif(not has_tiles(), reason="the rules are for processors with tiles")
def test_gradients_and_varying_lengths_are_the_kernels_to_rounding(rng):
    w = mo.array(rng.standard_normal((256, 256)).astype("float32"))

    def step(x, is_by_library):
        y = mo.tanh((x.astype("bfloat16") @ w.astype("bfloat16")).astype("float32"))
        results = [y, *mo.grad((y * y).sum(), [x, w])]
        for result in results:
            assert any("onednn" in name for name in libraries_of(result)) == is_by_library
        return [result.numpy() for result in results]

    for length in (300, 500, 301):
        values = rng.standard_normal((length, 256)).astype("float32")
        plain = step(mo.array(values), is_by_library=False)
        with mo.flag_scope(libraries="rules"):
            found = step(mo.array(values), is_by_library=True)
        for one, other in zip(plain, found, strict=True):
            np.testing.assert_allclose(other, one, rtol=0.02, atol=0.02 * np.abs(one).max())


def test_a_library_that_is_not_there(monkeypatch):
    monkeypatch.setenv("METAOPS_ONEDNN", "/nowhere/libdnnl.so.3")
    with pytest.raises(ValueError, match=r"there is no oneDNN; looked for /nowhere/libdnnl"):
        mo.flags.libraries = "rules"
    assert mo.flags.libraries == "off"


def test_another_library_is_refused_with_a_reason(monkeypatch):
    monkeypatch.setenv("METAOPS_ONEDNN", "libm.so.6")
    with pytest.raises(ValueError, match="it has no function dnnl_version"):
        mo.flags.libraries = "rules"


@pytest.mark.skipif(not has_tiles(), reason="the rules are for processors with tiles")
def test_exports_have_kernels(rng, tmp_path):
    (a, _), (b, _) = halves(rng, 256, 256), halves(rng, 256, 256)
    with mo.flag_scope(libraries="rules"):
        assert any("onednn" in name for name in libraries_of(a @ b))
        mo.export(lambda x: x @ b, (a,), os.fspath(tmp_path / "f.metaop"))
    assert b"onednn" not in (tmp_path / "f.metaop").read_bytes()
