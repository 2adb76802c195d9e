# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Code of the user's own in program files."""

import pathlib

import metaops as mo
import numpy as np
import pytest
from metaops import execute
from metaops.extern import compiling

pytestmark = pytest.mark.processor

HERE = pathlib.Path(__file__).name


@pytest.fixture(scope="module", autouse=True)
def folder(tmp_path_factory):
    """Have what is compiled be kept beside the user's cache."""
    with mo.flag_scope(cache_dir=str(tmp_path_factory.mktemp("cache"))):
        yield


@pytest.fixture
def path(tmp_path):
    return tmp_path / "own.metaops"


def rand(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype("float32")


def coded(source, **more):
    """Return a function of a tensor that is this code and a product."""

    def function(x):
        return mo.code(x.shape, x.dtype, [x], source, **more) * 2

    return function


def test_files_have_the_code(path):
    def model(x):
        rows = mo.code(
            (x.shape[0],),
            "float32",
            [mo.exp(x)],
            """
            for (auto i = begin; i < end; i++) {
              @out(i) = data["first"];
              for (int64_t j = 0; j < in0_shape1; j++)
                @out(i) += @in0(i, j);
            }
            """,
            data={"first": 0.5},
            parallel=1,
        )
        low, high = mo.code(
            [(), (1,)],
            ["float32", "int64"],
            [rows * 1],
            """
            @out0() = *std::min_element(&@in0(0), &@in0(in0_shape0));
            @out1(0) = std::max_element(in0_p, in0_p + in0->num) - in0_p;
            """,
        )
        return rows + 1, low, high

    x = rand(70, 5)
    mo.export(model, [mo.array(x)], path)
    expected = [value.numpy() for value in model(mo.array(x))]
    for load in (mo.load_program, execute.load_program):
        for made, right in zip(load(path)(x), expected, strict=True):
            assert np.allclose(made, right, rtol=1e-5)


def test_loops_and_gradients_in_files(path):
    loop = "for (int i = 0; i < in0_shape0; i++) @out(i) = "

    def model(x):
        def square(c):
            return mo.code(
                c.shape,
                c.dtype,
                [c],
                loop + "@in0(i) * @in0(i);",
                [loop + "2 * @in0(i) * @dout(i);"],
            )

        last = mo.scan(lambda c, _: (square(c), None), x, length=3)[0]
        return last, mo.grad(last.sum(), x)

    x = np.array([0.5, -0.9, 1.1], "float32")
    mo.export(model, [mo.array(x)], path)
    last, gradient = execute.load_program(path)(x)
    assert np.allclose(last, x**8, rtol=1e-5)
    assert np.allclose(gradient, 8 * x**7, rtol=1e-5)


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ('throw std::runtime_error("no");', "exceptions disabled"),
        ("std::vector<float> v(in0_shape0); @out(0) = v[0];", "uses '"),
        ('std::printf("%f", @in0(0)); @out(0) = 1;', "uses '(printf|putchar|puts)'"),
        ("static int n = 0; @out(0) = ++n;", r"cannot link 'the source at .*:\d+'.*variables"),
        ("static thread_local int n = 0; @out(0) = ++n;", "(?s)cannot link|uses '"),
    ],
)
def test_what_files_cannot_have(source, words, path):
    with pytest.raises((RuntimeError, ValueError), match=words) as raised:
        mo.export(coded(source), [mo.ones(1)], path)
    assert "code" in str(raised.value)
    assert not path.exists()
    assert mo.ones(2).sum().item() == 2


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (lambda: mo.ones(2).sum().item(), "Python that runs while a source is compiled"),
        (lambda: int("bad \udcff"), r"bad \\+udcff"),
        (lambda: {}["bad \udcff"], r"bad \\+udcff"),
    ],
)
def test_failures_while_a_source_is_compiled(error, words, path, monkeypatch):
    run = compiling._run

    def fail(command, *args):
        if "-c" in command:
            error()
        run(command, *args)

    monkeypatch.setattr(compiling, "_run", fail)
    with pytest.raises((RuntimeError, ValueError), match=words):
        mo.export(coded("@out(0) = 4;"), [mo.ones(1)], path)
    assert not path.exists()
    assert mo.ones(2).sum().item() == 2


SHARED = """
#include <algorithm>
template <typename T> __attribute__((noinline)) T half(T x) { return x / 2; }
inline __attribute__((noinline)) float next(float x) { return x + 1; }
__attribute__((noinline)) float square(float x) { return x * x; }
"""


def test_functions_of_headers_are_each_sources_own(path):
    def model(x):
        first = mo.code(
            x.shape,
            x.dtype,
            [x],
            "@out(0) = square(next(half(@in0(0)))); @out(1) = half(3);",
            cpu_header=SHARED,
        )
        return mo.code(
            x.shape,
            x.dtype,
            [first],
            """
            std::copy(in0_p, in0_p + 2, out_p);
            std::sort(out_p, out_p + 2, [](float a, float b) { return square(a) < square(b); });
            """,
            cpu_header=SHARED,
        )

    x = np.array([6, 0], "float32")
    mo.export(model, [mo.array(x)], path)
    assert mo.load_program(path)(x).tolist() == [1, 16]


def test_headers_with_initialisers(path):
    header = "struct Begun { Begun() { n = getpid(); } int n; }; static Begun begun;"
    function = coded("@out(0) = begun.n;", cpu_header="#include <unistd.h>\n" + header)
    with pytest.raises((RuntimeError, ValueError), match=r"uses 'getpid'|initialisers"):
        mo.export(function, [mo.ones(1)], path)


def test_checked_code_and_files_without_code(path):
    with pytest.raises((RuntimeError, ValueError), match="check=True"):
        mo.export(coded("@out(0) = 1;", check=True), [mo.ones(1)], path)
    with pytest.raises(ValueError, match=rf"code is called at .*{HERE}:\d+.*without machine code"):
        mo.export(coded("@out(0) = 1;"), [mo.ones(1)], path, code=False)


def test_ir_of_files_is_not_compiled_with_code_of_this_process(path):
    mo.export(coded("@out(0) = 1;"), [mo.ones(1)], path)
    assert mo.load_program(path)(np.ones(1, "float32")).tolist() == [2]
    with pytest.raises((RuntimeError, ValueError), match="no code of a process"):
        mo.load_program(path, code=False)
