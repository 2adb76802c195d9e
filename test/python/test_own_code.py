# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""C++ of the user's own: what it computes, its gradients, and where it may be called."""

import os
import pathlib
import re
import shutil
import signal
import threading
import time

import metaops as mo
import numpy as np
import pytest
from metaops.extern import compiling

pytestmark = pytest.mark.processor

HERE = pathlib.Path(__file__).name

SQUARE = """
    for (int64 i = 0; i < in0->num; i++)
        out0_p[i] = in0_p[i] * in0_p[i];
"""


@pytest.fixture(scope="module", autouse=True)
def folder(tmp_path_factory):
    """Have what is compiled be kept beside the user's cache."""
    with mo.flag_scope(cache_dir=str(tmp_path_factory.mktemp("cache"))):
        yield


@pytest.fixture
def compilations(monkeypatch):
    """Count the calls of the compiler."""
    calls = []
    run = compiling._run

    def count(command, *args):
        calls.append(command)
        return run(command, *args)

    monkeypatch.setattr(compiling, "_run", count)
    return calls


def rand(*shape, seed=0, dtype="float32"):
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


# The examples of Jittor's documentation, as they stand there.


def test_example_1():
    jt = mo

    class Func(mo.Function):
        def execute(self, x):
            self.save_vars = x
            return jt.code(x.shape, x.dtype, [x],
                cpu_src='''
                    for (int i=0; i<in0_shape0; i++)
                        @out(i) = @in0(i)*@in0(i)*2;
                ''')  # fmt: skip

        def grad(self, grad_x):
            x = self.save_vars
            return jt.code(x.shape, x.dtype, [x, grad_x],
                cpu_src='''
                    for (int i=0; i<in0_shape0; i++)
                        @out(i) = @in1(i)*@in0(i)*4;
                ''')  # fmt: skip

    a = jt.random([10])
    func = Func()
    b = func(a)
    assert np.allclose(b.numpy(), 2 * a.numpy() ** 2)
    assert np.allclose(jt.grad(b, a).numpy(), 4 * a.numpy())


def test_example_2():
    jt = mo
    a = jt.array([3, 2, 1])
    b = jt.code(a.shape, a.dtype, [a],
        cpu_header="""
            #include <algorithm>
            @alias(a, in0)
            @alias(b, out)
        """,
        cpu_src="""
            for (int i=0; i<a_shape0; i++)
                @b(i) = @a(i);
            std::sort(&@b(0), &@b(in0_shape0));
        """
    )  # fmt: skip
    assert (b.data == [1, 2, 3]).all()


def test_example_3(capfd):
    jt = mo
    a = jt.array([3, 2, 1])
    b, c = jt.code([(1,), (1,)], [a.dtype, a.dtype], [a],
        cpu_header="""
            #include <iostream>
            using namespace std;
        """,
        cpu_src="""
            @alias(a, in0)
            @alias(b, out0)
            @alias(c, out1)
            @b(0) = @c(0) = @a(0);
            for (int i=0; i<a_shape0; i++) {
                @b(0) = std::min(@b(0), @a(i));
                @c(0) = std::max(@c(0), @a(i));
            }
            cout << "min:" << @b(0) << " max:" << @c(0) << endl;
        """
    )  # fmt: skip
    assert b.data == 1
    assert c.data == 3
    assert capfd.readouterr().out == "min:1 max:3\n"


def test_example_4():
    jt = mo
    a = jt.array([5, -4, 3, -2, 1])
    b, c = jt.code([(-5,), (-5,)], ["float32", "float32"], [a],
        cpu_src="""
            @alias(a, in0)
            @alias(b, out0)
            @alias(c, out1)
            int num_b=0, num_c=0;
            for (int i=0; i<a_shape0; i++) {
                if (@a(i)>0)
                    @b(num_b++) = @a(i);
                else
                    @c(num_c++) = @a(i);
            }
            b->set_shape({num_b});
            c->set_shape({num_c});
        """
    )  # fmt: skip
    assert (b.data == [5, 3, 1]).all()
    assert (c.data == [-4, -2]).all()


# Words of sources.


DTYPES = "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64"


@pytest.mark.parametrize("dtype", [*DTYPES.split()])
def test_types(dtype):
    x = (rand(3, 4) * 50).astype(dtype)
    made = mo.code(
        x.shape,
        dtype,
        [mo.array(x)],
        "for (int64_t i = 0; i < in0->num; i++) out_p[i] = (in0_type)in0_p[i];",
    )
    assert str(made.dtype) == dtype
    assert (made.numpy() == x).all()


@pytest.mark.parametrize("compiler", ["c++", "clang++", "clang++-22"])
def test_bfloat16(compiler, monkeypatch):
    if shutil.which(compiler) is None:
        pytest.skip(f"there is no {compiler}")
    monkeypatch.setenv("METAOPS_CXX", compiler)
    x = np.concatenate([rand(1000) * 50, np.float32([0, -0.0, np.inf, -np.inf, np.nan])])
    halved = [1 + 2.0**-8, 1 + 3 * 2.0**-8, 3e38]
    x = mo.array(np.concatenate([x, np.float32(halved)]))
    made = mo.code(
        x.shape,
        "bfloat16",
        [x, x.cast("bfloat16")],
        """
        for (int64_t i = 0; i < in0->num; i++) {
            out_type sum = @in0(i);
            sum += 3;
            @out(i) = sum * @in1(i) - 1;
        }
        """,
    )
    low = x.cast("bfloat16").cast("float32")
    sums = (low + 3).cast("bfloat16").cast("float32")
    expected = (sums * low - 1).cast("bfloat16").cast("float32").numpy()
    assert np.array_equal(made.cast("float32").numpy(), expected, equal_nan=True)
    same = mo.code(
        x.shape, "bfloat16", [x], "for (int64_t i = 0; i < in0->num; i++) @out(i) = @in0(i);"
    )
    assert np.array_equal(same.cast("float32").numpy(), low.numpy(), equal_nan=True)


def test_extents_strides_and_names():
    x, y = rand(2, 3, 4), rand(4, seed=1)
    made = mo.code(
        (2, 4, 3),
        "float32",
        [mo.array(x), mo.array(y)],
        """
        static_assert(sizeof(in1_type) == 4, "float32");
        for (int i = 0; i < in0_shape0; i++)
          for (int j = 0; j < in0_shape1; j++)
            for (int k = 0; k < in0_shape2; k++)
              @out(i, k, j) = @in0(i, j, k) * in1_p[k] /* @not(a, tensor) */
                  + in0_stride0 + 10 * in0_stride1 + 100 * in0_stride2 // @nor(this)
                  + 1000 * in0->shape[2] + 1e4 * in0->ndim + std::string("@in0(,)").size();
        """,
    )
    expected = (x * y).transpose(0, 2, 1) + 12 + 40 + 100 + 4000 + 3e4 + 7
    assert np.allclose(made.numpy(), expected)


def test_nested_accesses_and_fewer_indices():
    x, places = rand(3, 4), np.array([2, 0, 1])
    made = mo.code(
        (3, 4),
        "float32",
        [mo.array(x), mo.array(places)],
        """
        for (int i = 0; i < 3; i++)
          std::copy(&@in0(@in1(i)), &@in0(@in1(i)) + in0_shape1, &@out(i, 0));
        """,
    )
    assert (made.numpy() == x[places]).all()


def test_tensors_without_dimensions_or_elements():
    assert mo.code((), "float32", [mo.array(3.0)], "@out() = @in0() + 1;").item() == 4
    empty = mo.code((0, 3), "float32", [mo.zeros((0, 3))], "if (in0->num) throw 1;")
    assert empty.numpy().shape == (0, 3)
    assert mo.code((2,), "int32", [], "@out(0) = @out(1) = 7;").numpy().tolist() == [7, 7]


def test_inputs_are_dense_and_outputs_their_own():
    x = mo.array(rand(6, 6))
    views = [x[::2, 1:].transpose(), x.reshape((36,)), mo.concat([x, x], 1)]
    source = "for (int64_t i = 0; i < in0->num; i++) out_p[i] = in0_p[i];"
    for view in views:
        made = mo.code(view.shape, "float32", [view], source)
        assert (made.numpy() == view.numpy()).all()
    apart = mo.code((), "bool", [x], "@out() = (void *)in0_p != (void *)out_p;")
    assert apart.item()


def test_one_object_for_all_extents_and_numbers(compilations):
    def scaled(x, by):
        source = 'for (int i = 0; i < in0_shape0; i++) @out(i) = @in0(i) * data["by"]; // one'
        return mo.code(x.shape, x.dtype, [x], source, data={"by": by})

    for n in range(1, 60):
        x = rand(n, seed=n)
        assert np.allclose(scaled(mo.array(x), n / 2).numpy(), x * np.float32(n / 2))
    assert len(compilations) == 1


def test_names_of_data_are_in_the_source(compilations):
    source = "@out() = data[std::string(1, 'a' + 1)]; // names"
    assert mo.code((), "float64", [], source, data={"a": 1, "b": 2.5}).item() == 2.5
    assert mo.code((), "float64", [], source, data={"b": 4, "c": True}).item() == 4
    assert len(compilations) == 2
    missing = mo.code((), "float64", [], source, data={"a": 1})
    with pytest.raises(RuntimeError, match="std::out_of_range: data has no b"):
        missing.item()


@pytest.mark.parametrize("name", ["\xe9", "\u4e2d", 'a"b', "a\\b", "a\tb", "??/", "\\u00e9"])
def test_names_of_data_are_any_text(name):
    quoted = name.replace("\\", "\\\\").replace('"', '\\"').replace("?", "\\?")
    made = mo.code((), "float64", [], f'@out() = data["{quoted}"];', data={"a": 1.0, name: 3.0})
    assert made.item() == 3


def test_numbers_may_have_parts():
    source = "@out() = 1'000 + @in0() + 0x1'F + 1.000'5 + (@in0() == 'a' ? 1 : 1'0);"
    made = mo.code((), "float64", [mo.array(2.0, "float64")], source)
    assert made.item() == 1000 + 2 + 0x1F + 1.0005 + 10


def test_equal_calls_are_merged_and_unread_ones_do_not_run():
    source = "static int n = 0; @out(0) = ++n; // counted"
    x = mo.zeros(1)
    first, second = (mo.code((1,), "int32", [x], source) for _ in range(2))
    assert (first + 10 * second).numpy().tolist() == [11]
    unread = mo.code((1,), "int32", [x + 1], source)
    mo.sync_all()
    del unread
    mo.sync_all()
    other = mo.code((1,), "int32", [x + 2], source)
    assert other.numpy().tolist() in ([2], [3])


def test_flags_are_the_compilers():
    made = mo.code((), "int32", [], "@out() = N;", flags=["-DN=41 + 1"])
    assert made.item() == 42


# Shared among threads.


def test_parallel_parts_cover_the_range_once():
    x = rand(70, 9)
    made = mo.code(
        x.shape,
        "float32",
        [mo.array(x)],
        """
        for (int64_t at = begin; at < end; at++) {
          int64_t i = at / out_shape1, j = at % out_shape1;
          @out(i, j) = @in0(i, j) + 1;
        }
        """,
        parallel=2,
    )
    assert np.allclose(made.numpy(), x + 1)
    rows = mo.code(
        (70,),
        "int64",
        [],
        "for (auto i = begin; i < end; i++) @out(i) = i;",
        parallel=1,
    )
    assert (rows.numpy() == np.arange(70)).all()


def test_a_part_that_throws_stops_the_others():
    made = mo.code(
        (1000,),
        "int32",
        [],
        'for (auto i = begin; i < end; i++) if (i == 500) throw std::runtime_error("at 500");',
        parallel=1,
    )
    with pytest.raises(RuntimeError, match="std::runtime_error: at 500"):
        made.numpy()


# Failures.


def test_exceptions_are_the_users():
    made = mo.code((1,), "float32", [], 'throw std::domain_error("no such thing");')
    with pytest.raises(RuntimeError, match=rf"std::domain_error: no such thing.*{HERE}:\d+"):
        made.numpy()
    with pytest.raises(RuntimeError, match="throws what is no std::exception"):
        mo.code((1,), "float32", [], "throw 3;").numpy()
    assert mo.code((1,), "float32", [], "@out(0) = 3;").item() == 3


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (r'"bytes \377 of no text"', "domain_error: bytes \ufffd of no text"),
        (r'std::string(4069, 45) + "\303\244\303\244\303\244"', "-\ufffd"),
    ],
)
def test_exceptions_in_bytes_that_are_no_text(text, words):
    made = mo.code((1,), "float32", [], f"throw std::domain_error({text});")
    with pytest.raises(RuntimeError, match=words):
        made.numpy()


def test_a_failure_leaves_the_session_as_it_was():
    w = mo.array(rand(5))
    before = w.numpy()
    beside = mo.exp(w)
    failing = mo.code((5,), "float32", [w], 'throw std::runtime_error("failed");')
    w.update(w * 2 + failing)
    with pytest.raises(RuntimeError, match="failed"):
        mo.sync_all()
    assert np.allclose(beside.numpy(), np.exp(before))
    # It keeps the value that it would have lost.
    assert (w.numpy() == before).all()


def test_sources_that_do_not_compile_name_the_users_line():
    with pytest.raises(RuntimeError) as error:
        mo.code((1,), "float32", [], """
            @out(0) = 1;
            this_is_not_known();
        """)  # fmt: skip
    lines = pathlib.Path(__file__).read_text().split("\n")
    line = 1 + next(k for k, text in enumerate(lines) if text.strip() == "this_is_not_known();")
    assert re.search(rf"{HERE}:{line}(:\d+)?: error: .*this_is_not_known", str(error.value))
    assert mo.ones(2).sum().item() == 2


@pytest.fixture
def hanging(tmp_path, monkeypatch):
    """Have the compiler hang, in a process of its own; returns the file with its number."""
    compiler, number = tmp_path / "c++", tmp_path / "number"
    compiler.write_text(
        f'#!/bin/sh\n[ "$1" = --version ] && exit 0\nsleep 1000 &\necho $! > {number}\nwait\n'
    )
    compiler.chmod(0o755)
    monkeypatch.setenv("METAOPS_CXX", str(compiler))
    return number


def has_ended(number):
    """Return whether a process of this number has ended, or does within ten seconds."""
    for _ in range(1000):
        try:
            state = pathlib.Path(f"/proc/{int(number.read_text())}/stat").read_text()
        except FileNotFoundError:
            return True
        if state.rpartition(")")[2].split()[0] in "ZX":
            return True
        time.sleep(0.01)
    return False


def test_a_compiler_that_hangs_is_ended(hanging, monkeypatch):
    monkeypatch.setattr(compiling, "SECONDS", 0.5)
    with pytest.raises(RuntimeError, match=r"has not compiled .* within 0.5 seconds"):
        mo.code((1,), "float32", [], "@out(0) = 11;")
    assert has_ended(hanging)


def test_a_compiler_that_is_interrupted_is_ended(hanging):
    def interrupt():
        while not (hanging.exists() and hanging.read_text()):
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        mo.code((1,), "float32", [], "@out(0) = 13;")
    thread.join()
    assert has_ended(hanging)
    assert mo.ones(2).sum().item() == 2


@pytest.mark.parametrize("device", ["interpreter:0", "emulator:sm_90a"])
def test_devices_that_run_no_code_of_the_host(device):
    with mo.device(device):
        x = mo.ones(4)
        with pytest.raises(ValueError, match=f"code on {device}: .*move the inputs to the CPU"):
            mo.code((4,), "float32", [x], SQUARE)
        assert (x + 1).numpy().tolist() == [2, 2, 2, 2]
    with mo.device("cpu:1"):
        assert mo.code((4,), "float32", [mo.ones(4)], SQUARE).numpy().tolist() == [1, 1, 1, 1]


def test_the_interpreter_runs_no_code():
    x = mo.ones(4)
    with mo.flag_scope(backend="interpreter"):
        for call in (
            lambda: mo.code((4,), "float32", [x], SQUARE),
            lambda: mo.host_call(np.sort, (4,), "float32", x),
        ):
            with pytest.raises(RuntimeError, match="the interpreter does not run") as raised:
                call().numpy()
            assert str(raised.value).count("'metaop.extern' op") == 1
    assert mo.code((4,), "float32", [x], SQUARE).numpy().tolist() == [1, 1, 1, 1]


def test_no_compiler(monkeypatch, tmp_path):
    monkeypatch.setenv("METAOPS_CXX", "no-such-compiler")
    with pytest.raises(RuntimeError, match="METAOPS_CXX is 'no-such-compiler'"):
        mo.code((1,), "float32", [], "@out(0) = 12;")
    monkeypatch.delenv("METAOPS_CXX")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(RuntimeError, match=r"no C\+\+ compiler"):
        mo.code((1,), "float32", [], "@out(0) = 12;")


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: mo.code((1,), "float32", [], ""), ValueError, "cpu_src is empty"),
        (lambda: mo.code(3, "float32", [], "x"), TypeError, "shapes is 3"),
        (lambda: mo.code((1.5,), "float32", [], "x"), TypeError, "shapes"),
        (lambda: mo.code([(1,)], ["float32"] * 2, [], "x"), ValueError, "1 shapes and 2 dtypes"),
        (lambda: mo.code([], [], [], "x"), ValueError, "0 shapes and 0 dtypes"),
        (lambda: mo.code((1,), "float12", [], "x"), TypeError, "float12"),
        (lambda: mo.code((1,), "float32", mo.ones(2), "x"), TypeError, "a list of tensors"),
        (lambda: mo.code((1,), "float32", [], "x", ["y"]), ValueError, "1 sources of gradients"),
        (lambda: mo.code((1,), "float32", [], "x", flags="-O2"), TypeError, "flags"),
        (lambda: mo.code((1,), "float32", [], "x", data={"a": "b"}), TypeError, "'a': 'b'"),
        (lambda: mo.code((1,), "float32", [], "x", parallel=2), ValueError, "parallel is 2"),
        (lambda: mo.code((-1,), "float32", [], "x", parallel=1), ValueError, "bounds"),
        (lambda: mo.code((1,), "float32", [], "@in0(0);"), ValueError, "@in0 is no tensor"),
        (lambda: mo.code((1,), "float32", [], "@out(0, 1);"), ValueError, "2 indices of out0"),
        (lambda: mo.code((1,), "float32", [], 'LOGi << "x";'), ValueError, "std::cerr"),
    ],
)
def test_bad_calls(call, error, words):
    with pytest.raises(error, match=re.escape(words)) as raised:
        call()
    assert f"{HERE}:" in str(raised.value)


def test_words_of_jittor_raise_with_what_to_write():
    with pytest.raises(AttributeError, match=r"mo\.code, flags="):
        mo.flags.compile_options = {"FLAGS: -lm": 1}


# Bounds.


def test_what_is_used_of_bounds():
    source = "for (int i = 0; i < 6; i++) out_p[i] = i; out->set_shape({rows, 3});"
    for rows in (0, 1, 2):
        made = mo.code((-2, 3), "int32", [], source, flags=[f"-Drows={rows}"])
        assert (made.numpy() == np.arange(6).reshape(2, 3)[:rows]).all()
    whole = mo.code((-4,), "int32", [], "for (int i = 0; i < 4; i++) @out(i) = i;")
    assert whole.numpy().tolist() == [0, 1, 2, 3]


def test_bounds_are_kept():
    for shape in ("{5}", "{-1}", "{2, 2}"):
        with pytest.raises(RuntimeError, match="not within the bounds"):
            mo.code((-4,), "int32", [], f"out->set_shape({shape});")
    fixed = mo.code((4,), "int32", [], "out->set_shape({2});")
    with pytest.raises(RuntimeError, match="its extents are no bounds"):
        fixed.numpy()


def test_bounds_are_read_so_no_recording_has_them():
    @mo.jit
    def positive(x):
        return mo.code((-4,), "float32", [x], "out->set_shape({2});")

    with pytest.raises(RuntimeError, match="record"):
        positive(mo.ones(4))


# Accesses that are compared with extents.


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("@out(0, 3) = 1;", r"@out0\(0, 3\) is outside of its extents \(2, 3\), at .*:\d+"),
        ("@out(-1, 0) = 1;", r"@out0\(-1, 0\) is outside"),
        ("@out(1, 1) = @in0(6);", r"@in0\(6\) is outside of its extents \(6\)"),
        ("out_p[-1] = 1;", "writes outside of out0"),
        ("out_p[6] = 1;", "writes outside of out0"),
        ("in0_p[2] = 7;", "writes to in0"),
    ],
)
def test_checked_accesses(source, words):
    made = mo.code((2, 3), "float32", [mo.ones(6)], source, check=True)
    with pytest.raises(RuntimeError, match=words):
        made.numpy()


def test_checked_code_computes_the_same():
    x = rand(7, 5)
    made = mo.code(
        (7, 5),
        "float32",
        [mo.array(x)],
        """
        for (auto i = begin; i < end; i++)
          std::copy(&@in0(i, 0), &@in0(i, in0_shape1), &@out(i, 0));
        std::sort(&@out(0, 0), &@out(out_shape0, 0));
        """,
        parallel=1,
        check=True,
    )
    assert (made.numpy().ravel() == np.sort(x.ravel())).all()


# Gradients.


def weighted(x, y, **more):
    """Return x * x * y with gradients by both."""
    loop = "for (int64 i = 0; i < in0->num; i++) "
    return mo.code(
        x.shape,
        x.dtype,
        [x, y],
        loop + "out_p[i] = in0_p[i] * in0_p[i] * in1_p[i];",
        [
            loop + "out_p[i] = 2 * in0_p[i] * in1_p[i] * dout_p[i];",
            loop + "out_p[i] = in0_p[i] * in0_p[i] * dout_p[i];",
        ],
        **more,
    )


def test_gradients_against_the_operators():
    x, y = mo.array(rand(3, 4, dtype="float64")), mo.array(rand(3, 4, seed=1, dtype="float64"))
    loss = (weighted(x, y) * mo.sin(x)).sum()
    expected = (x * x * y * mo.sin(x)).sum()
    for made, right in zip(mo.grad(loss, [x, y]), mo.grad(expected, [x, y]), strict=True):
        assert np.allclose(made.numpy(), right.numpy(), rtol=1e-12)


def test_gradients_of_several_outputs_are_added():
    x = mo.array(rand(5, dtype="float64"))
    forward = """
        for (int i = 0; i < in0_shape0; i++) {
          @out0(i) = std::exp(@in0(i));
          @out1(i) = std::exp(@in0(i));
        }
    """
    each = "for (int i = 0; i < in0_shape0; i++) @out(i) = @dout(i) * @pout(i);"
    both = """
        for (int i = 0; i < in0_shape0; i++)
          @out(i) = @dout0(i) * @pout0(i) + @dout1(i) * @pout1(i);
    """
    as_jittor = """
        for (int i = 0; i < in0_shape0; i++)
          @out(i) = @dout(i) * (@pout(i) + @pout0(i) - @pout1(i));
    """
    for source in (each, both, as_jittor):
        a, b = mo.code([(5,)] * 2, ["float64"] * 2, [x], forward, [source])
        for loss, factor in ((a.sum() + 3 * b.sum(), 4), (b.sum(), 1)):
            gradient = mo.grad(loss, x).numpy()
            assert np.allclose(gradient, factor * np.exp(x.numpy()), rtol=1e-12)


def test_gradients_that_are_named_in_comments_alone():
    x = mo.array([1.0, 2.0])
    first, second = mo.code(
        [(2,), (2,)],
        ["float32"] * 2,
        [x],
        "for (int i = 0; i < 2; i++) { @out0(i) = 2 * @in0(i); @out1(i) = 2 * @in0(i); }",
        ["// Of dout0 and dout1.\nfor (int i = 0; i < 2; i++) @out(i) = 2 * @dout(i);"],
    )
    assert mo.grad((first + 3 * second).sum(), x).numpy().tolist() == [8, 8]


def test_gradients_of_bounds_are_those_of_what_is_used():
    x = mo.array([1.0, -2.0, 3.0, -4.0])
    made = mo.code(
        (-4,),
        "float32",
        [x],
        """
        int n = 0;
        for (int i = 0; i < in0_shape0; i++)
          if (@in0(i) > 0) @out(n++) = @in0(i);
        for (int i = n; i < out_shape0; i++) @out(i) = 0;
        out->set_shape({n});
        """,
        [
            """
            int n = 0;
            for (int i = 0; i < in0_shape0; i++)
              @out(i) = @in0(i) > 0 ? @dout(n++) : 0;
            """
        ],
    )
    assert made.numpy().tolist() == [1, 3]
    gradient = mo.grad((made * mo.array([10.0, 20.0])).sum(), x)
    assert gradient.numpy().tolist() == [10, 0, 20, 0]


def test_missing_gradients_are_errors():
    x = mo.array(rand(4))
    made = mo.code(x.shape, x.dtype, [x], SQUARE)
    with pytest.raises(RuntimeError, match=rf"{HERE}:\d+; give a mo.code its cpu_grad_src"):
        mo.grad(made.sum(), x)
    assert (mo.grad((made.detach() * x).sum(), x).numpy() == made.numpy()).all()
    y = mo.array(rand(4, seed=1))
    first = mo.grad(weighted(x, y).sum(), x)
    with pytest.raises(RuntimeError, match="nobody knows the derivatives"):
        mo.grad(first.sum(), x)
    with pytest.raises(RuntimeError, match="has no jvp"):
        mo.jvp([weighted(x, y)], [x], [mo.ones(4)])


def test_sources_that_are_empty_are_gradients_of_zeros():
    x, y = mo.ones(3), mo.ones(3)
    loop = "for (int i = 0; i < 3; i++) @out(i) = "
    made = mo.code((3,), "float32", [x, y], loop + "@in0(i) * @in1(i);", ["", loop + "@dout(i);"])
    by_x, by_y = mo.grad(made.sum(), [x, y])
    assert by_x.numpy().tolist() == [0, 0, 0]
    assert by_y.numpy().tolist() == [1, 1, 1]


# Recorded functions, branches and loops.


def test_recorded_functions():
    @mo.jit
    def loss(x, y):
        return (weighted(x, y) + mo.code(x.shape, x.dtype, [x + 1], SQUARE).detach()).sum()

    for n in (3, 3, 4):
        x, y = mo.array(rand(n)), mo.array(rand(n, seed=1))
        a, b = x.numpy(), y.numpy()
        made = loss(x, y)
        assert np.allclose(made.numpy(), (a * a * b + (a + 1) ** 2).sum(), rtol=1e-5)
        assert np.allclose(mo.grad(made, x).numpy(), 2 * a * b, rtol=1e-5)
    inside = mo.jit(lambda x, y: mo.grad(weighted(x, y).sum(), [x, y]))
    by_x, by_y = inside(x, y)
    assert np.allclose(by_x.numpy(), 2 * a * b, rtol=1e-5)
    assert np.allclose(by_y.numpy(), a * a, rtol=1e-5)


def test_loops_and_branches():
    x, y = mo.array(rand(4) / 2), mo.array(rand(4, seed=1) / 2)
    a, b = x.numpy(), y.numpy()
    last, rows = mo.scan(lambda c, _: (weighted(c, y), c), x, length=3)
    expected = a
    for k in range(3):
        assert np.allclose(rows.numpy()[k], expected, rtol=1e-5)
        expected = expected * expected * b
    assert np.allclose(last.numpy(), expected, rtol=1e-5)
    # x^8 y^7
    gradient = mo.grad(last.sum(), x).numpy()
    assert np.allclose(gradient, 8 * a**7 * b**7, rtol=1e-4)
    for condition in (True, False):
        made = mo.cond(mo.array(condition), lambda v: weighted(v, y), lambda v: v, x)
        assert np.allclose(made.numpy(), a * a * b if condition else a, rtol=1e-5)
    end = mo.while_loop(
        lambda v: v.sum() < 100,
        lambda v: mo.code(v.shape, v.dtype, [v], SQUARE),
        mo.full((2,), 2.0),
    )
    assert end.numpy().tolist() == [256, 256]


def test_a_branch_that_is_not_taken_does_not_run():
    failing = 'throw std::runtime_error("ran"); '
    made = mo.cond(
        mo.array(False),
        lambda v: mo.code(v.shape, v.dtype, [v], failing),
        lambda v: v + 1,
        mo.ones(2),
    )
    assert made.numpy().tolist() == [2, 2]
    rows = mo.scan(
        lambda c, row: (c, mo.code((), "float32", [row], failing)), mo.ones(()), mo.ones((0,))
    )[1]
    assert rows.numpy().shape == (0,)


def test_examples_take_it_in_turn():
    def squared(x):
        gradient = SQUARE.replace("in0_p[i] *", "2 * dout_p[i] *")
        return mo.code(x.shape, x.dtype, [x], SQUARE, [gradient])

    x = mo.array([[1.0, 2.0], [3.0, 4.0]])
    for mapped in (mo.map(squared, x), mo.vmap(squared)(x)):
        assert mapped.numpy().tolist() == [[1, 4], [9, 16]]
        assert mo.grad((mapped * mapped).sum(), x).numpy().tolist() == [[4, 32], [108, 256]]
    y = mo.array(rand(3, 2, 5))
    twice = mo.vmap(mo.vmap(lambda y: squared(y) + squared(x[0, 1:])))(y)
    np.testing.assert_allclose(twice.numpy(), y.numpy() ** 2 + 4, rtol=1e-6)
    inside = mo.vmap(lambda y: mo.grad(squared(y).sum(), y))(y[0])
    np.testing.assert_allclose(inside.numpy(), 2 * y[0].numpy(), rtol=1e-6)


def test_numbers_of_data_make_no_new_programs():
    x = mo.array(rand(4))
    source = 'for (int i = 0; i < 4; i++) @out(i) = @in0(i) * data["by"]; // programs'

    def scaled(by):
        return mo.code((4,), "float32", [x], source, data={"by": by}).numpy()

    scaled(0.5)
    scaled(1.5)
    before = mo.stats()["programs_compiled"]
    for k in range(2, 12):
        assert np.allclose(scaled(k), x.numpy() * k)
    assert mo.stats()["programs_compiled"] == before
