# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Exported programs: from Python without the compiler, and from C."""

import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import metaops as mo
import numpy as np
import pytest
from decoders import TOKENS, make_decoder, read_text
from metaops.execute import Program, TensorType, load_program

BUILD = Path(mo.execute.__file__).absolute().parents[2]
SOURCE = Path(__file__).resolve().parents[2]
MAKER = BUILD / "bin" / "MakeProgramFile"


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    """Return a perceptron's file; unittests/Runtime/ExportSlice.h says what is in it."""
    if not MAKER.exists():
        pytest.skip("the unit tests are not built")
    path = tmp_path_factory.mktemp("program") / "perceptron.metaops"
    subprocess.run([MAKER, path], check=True)
    return path


@pytest.fixture
def program(path):
    return load_program(path, threads=2)


def weights():
    i, j = np.indices((32, 48))
    a = ((7 * i + 3 * j) % 11 - 5) / 16
    i, j = np.indices((48, 4))
    return a, ((5 * i + j) % 13 - 6) / 32


def expected(x):
    a, b = weights()
    y = np.maximum(x.astype(np.float64) @ a, 0) @ b
    return y, np.exp(y)


def some_x(seed=0):
    return np.random.default_rng(seed).normal(size=(8, 32)).astype("float32")


def check(outputs, x):
    y, e = outputs
    assert (y.dtype, e.dtype) == ("float32", "float64")
    np.testing.assert_allclose(y, expected(x)[0], rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(e, np.exp(y.astype(np.float64)), rtol=1e-12)


def test_a_program_runs(program):
    for seed in range(3):
        x = some_x(seed)
        check(program(x), x)
        named = program(x=x)
        assert list(named) == ["y", "e"]
        check(named.values(), x)


def test_what_a_program_is(program):
    assert program.inputs == (TensorType("x", "float32", (8, 32)),)
    assert program.outputs == (
        TensorType("y", "float32", (8, 4)),
        TensorType("e", "float64", (8, 4)),
    )
    assert program.target == "host"
    assert program.producer == "a test"
    assert dict(program.keys) == {"model": "perceptron"}
    assert "metaop.reduce" in (program.ir or "")
    assert program.scratch_bytes > 0
    assert repr(program) == (
        "<metaops.execute.Program (x: float32 (8, 32)) -> (y: float32 (8, 4), e: float64 (8, 4))>"
    )
    given = program.weights
    assert list(given) == ["a", "b"]
    for array, value in zip(given.values(), weights(), strict=True):
        np.testing.assert_array_equal(array, value)
        with pytest.raises(ValueError, match="read-only"):
            array[0, 0] = 1


def test_inputs_of_any_layout(program):
    x = some_x()
    check(program(x.T.copy().T), x)
    check(program(np.repeat(x, 2, axis=1)[:, ::2]), x)
    check(program(x.tolist()), x)
    raw = np.zeros(x.nbytes + 1, np.uint8)
    raw[1:] = x.reshape(-1).view(np.uint8)
    check(program(raw[1:].view("float32").reshape(8, 32)), x)
    kept = x.copy()
    program(x)
    np.testing.assert_array_equal(x, kept)


def test_outputs_are_the_callers(program):
    x = some_x()
    first, second = program(x), program(x)
    first[0][:] = 7
    check(second, x)
    program.close()
    check(second, x)


def test_wrong_calls(program):
    x = some_x()
    takes = r"the program takes 1 inputs \(x\)"
    with pytest.raises(TypeError, match=takes + ", given 0"):
        program()
    with pytest.raises(TypeError, match=takes + ", given 2"):
        program(x, x)
    with pytest.raises(TypeError, match=takes + ", given z"):
        program(z=x)
    with pytest.raises(TypeError, match="all by position or all by name; given both"):
        program(x, x=x)
    with pytest.raises(ValueError, match=r"'x' is float32 \(8, 32\), given float64 \(8, 32\)"):
        program(x.astype("float64"))
    with pytest.raises(ValueError, match=r"given float32 \(32, 8\)"):
        program(x.T)
    with pytest.raises(ValueError, match="given >f4"):
        program(x.astype(">f4"))
    with pytest.raises(ValueError, match="1 to 4096 threads, given 0"):
        program.threads = 0
    program.threads = 3
    assert program.threads == 3
    check(program(x), x)


def test_wrong_files(path, tmp_path):
    with pytest.raises(FileNotFoundError):
        load_program(tmp_path / "nothing")
    with pytest.raises(ValueError, match="no regular file"):
        load_program(tmp_path)
    with pytest.raises(ValueError, match="no program file"):
        load_program(b"PK")
    with pytest.raises(ValueError, match="given -1"):
        load_program(path, threads=-1)
    data = bytearray(path.read_bytes())
    data[-65] ^= 1
    x = some_x()
    assert len(load_program(bytes(data))(x)) == 2
    with pytest.raises(ValueError, match="checksum of its weights is wrong"):
        load_program(bytes(data), verify=True)
    data[70] ^= 1
    with pytest.raises(ValueError, match="damaged"):
        load_program(bytes(data))
    check(load_program(path.read_bytes(), verify=True)(x), x)


def test_without_code(path):
    program = load_program(path, code=False)
    assert program.target == ""
    assert program.inputs[0].name == "x"
    np.testing.assert_array_equal(program.weights["b"], weights()[1])
    with pytest.raises(ValueError, match="loaded without code"):
        program(some_x())


def test_closing(path):
    x = some_x()
    with load_program(path) as program:
        check(program(x), x)
    with pytest.raises(RuntimeError, match="the program has been closed"):
        program(x)
    program.close()
    assert program.inputs[0].shape == (8, 32)


def test_several_threads(program):
    failures = []

    def work(seed):
        x = some_x(seed)
        try:
            for _ in range(50):
                check(program(x), x)
        except AssertionError as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_weights_outlive_the_program(path):
    given = load_program(path).weights
    np.testing.assert_array_equal(given["a"], weights()[0])


def test_bfloat16():
    from metaops.execute import _from_bfloat16, _to_bfloat16

    x = np.array([1, -2.5, 1.00390625, 1.01171875, 3.0e38, np.inf, -np.inf, np.nan, 0], "float32")
    back = _from_bfloat16(_to_bfloat16(x))
    # Halves go to even; nan stays one.
    told = np.array([1, -2.5, 1, 1.015625, 3.00405e38, np.inf, -np.inf, np.nan, 0], "float32")
    np.testing.assert_allclose(back, told, rtol=1e-5)
    assert back[2] == 1 and back[3] == 1.015625


# ----------------------------------------------------------------------------
# Without the compiler
# ----------------------------------------------------------------------------


def run_python(code, *arguments):
    done = subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)],
        capture_output=True,
        text=True,
        env={**os.environ, "METAOPS_CACHE_DIR": ""},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


ALONE = """
import sys
{}
import numpy as np
program = load_program(sys.argv[1])
assert program(np.zeros((8, 32), "float32"))[1].tolist() == [[1.0] * 4] * 8
assert "metaops._core" not in sys.modules
maps = open("/proc/self/maps").read()
assert "_execute" in maps
for library in ("libLLVM", "libMLIR", "metaops/_core", "libz3"):
    assert library not in maps, library
"""


@pytest.mark.parametrize(
    "statement",
    [
        "from metaops.execute import load_program",
        "from metaops import load_program",
        "import metaops as mo; load_program = mo.load_program",
        "import metaops.execute; load_program = metaops.execute.load_program",
    ],
)
def test_nothing_of_the_compiler_is_loaded(path, statement):
    run_python(ALONE.format(statement), path)


def test_beside_the_compiler(path):
    """In either order, and the compiler is there when it is asked for."""
    run_python(
        ALONE.format("from metaops.execute import load_program")
        + "import metaops as mo\n"
        + "x = mo.array([1.0, 2.0])\n"
        + "assert (x * x).numpy().tolist() == [1, 4]\n"
        + "assert program(np.zeros((8, 32), 'float32'))[1][0][0] == 1\n",
        path,
    )
    x = some_x()
    check(mo.load_program(path)(x), x)
    assert isinstance(mo.load_program(path), Program)


@pytest.mark.parametrize(
    "statement",
    [
        "import metaops.nn as nn",
        "from metaops.optim import Adam",
        "from metaops import *",
        "from metaops import nn, _core",
        "import metaops.ops.reduce.cumulative",
        "import metaops.random",
        "from metaops.ops import sort",
        "from metaops._core import Var",
        "import metaops.execute",
    ],
)
def test_any_part_may_be_imported_first(statement):
    run_python(
        statement + "\nimport metaops as mo\n"
        "assert 'grad' in dir(mo) and mo.grad\n"
        "assert mo.__doc__.startswith('A deep-learning compiler')\n"
        "assert mo.nn.Linear(2, 3)(mo.ones((1, 2))).shape == (1, 3)\n"
        "try: mo.no_such_name\n"
        "except AttributeError as error: assert 'metaops has no' in str(error)\n"
    )


def test_threads_may_import_different_parts_at_once():
    run_python(
        "import sys, threading\n"
        "sys.setswitchinterval(1e-5)\n"
        "import metaops as mo\n"
        "parts = ['import metaops.nn', 'mo.grad', 'import metaops.optim', 'mo.matmul', "
        "'mo.nn', 'mo.optim', 'from metaops.ops.sort import sorting', 'mo.flags', "
        "'mo.load_program', 'from metaops.ops.reduce.cumulative import cumsum', "
        "'mo.array([1.0])', 'import metaops.execute', 'import metaops.random']\n"
        "failures = []\n"
        "def work(part):\n"
        "    try: exec(part, {'mo': mo})\n"
        "    except Exception as error: failures.append((part, error))\n"
        "threads = [threading.Thread(target=work, args=(p,), daemon=True) for p in parts]\n"
        "for thread in threads: thread.start()\n"
        "for thread in threads: thread.join(60)\n"
        "assert not failures, failures\n"
        "assert not any(thread.is_alive() for thread in threads)\n"
    )


# ----------------------------------------------------------------------------
# From C
# ----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def prefix(tmp_path_factory):
    """Install the library for C, moved to where it was not meant for."""
    cmake = shutil.which("cmake")
    if not (cmake and shutil.which("gcc")) or not (BUILD / "lib/libMetaOpsExecute.so").exists():
        pytest.skip("there is no CMake, no gcc, or no library")
    installed = tmp_path_factory.mktemp("install") / "first"
    subprocess.run(
        [cmake, "--install", BUILD, "--prefix", installed, "--component", "execute"],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    return installed.rename(installed.with_name("moved"))


def test_what_is_installed(prefix):
    files = {str(path.relative_to(prefix)) for path in prefix.rglob("*") if path.is_file()}
    library = next(iter(sorted(f for f in files if ".so.0." in f)))
    folder = library.rsplit("/", 1)[0]
    assert files == {
        "include/metaops-c/metaops.h",
        "include/metaops-c/routine.h",
        f"{folder}/libMetaOpsExecute.so",
        f"{folder}/libMetaOpsExecute.so.0",
        library,
        f"{folder}/pkgconfig/metaops-execute.pc",
    }
    needed = subprocess.run(["ldd", prefix / library], capture_output=True, text=True).stdout
    for name in ("LLVM", "MLIR", "libz3", "libz.", "libzstd"):
        assert name not in needed
    symbols = subprocess.run(
        ["nm", "-D", "--defined-only", prefix / library], capture_output=True, text=True
    ).stdout.split("\n")
    names = {line.split()[-1] for line in symbols if line}
    assert "metaops_run" in names
    assert all(name.startswith("metaops_") for name in names), names


def compile_example(prefix, folder, name="run"):
    config = next(iter(prefix.rglob("metaops-execute.pc"))).parent
    if shutil.which("pkg-config"):
        options = subprocess.run(
            ["pkg-config", "--cflags", "--libs", "metaops-execute"],
            check=True,
            capture_output=True,
            text=True,
            env={**os.environ, "PKG_CONFIG_PATH": str(config)},
        ).stdout.split()
    else:
        options = [f"-I{prefix}/include", f"-L{config.parent}", "-lMetaOpsExecute"]
    program = folder / name
    warnings = ["-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]
    subprocess.run(
        ["gcc", *warnings, SOURCE / f"examples/c/{name}.c", "-o", program, *options, "-lm"],
        check=True,
    )
    return program, {**os.environ, "LD_LIBRARY_PATH": str(config.parent)}


def test_the_example_in_c(prefix, path, tmp_path):
    program, env = compile_example(prefix, tmp_path)
    for threads in ([], ["3"]):
        done = subprocess.run(
            [program, path, *threads], check=True, capture_output=True, text=True, env=env
        )
        lines = done.stdout.split()
        assert (lines[0], lines[33]) == ("y", "e")
        y, e = (np.array(part, dtype="float64") for part in (lines[1:33], lines[34:]))
        x = (np.arange(8 * 32) % 17 - 8).reshape(8, 32)
        np.testing.assert_allclose(y.reshape(8, 4), expected(x)[0], rtol=1e-4, atol=1e-4)
        np.testing.assert_allclose(e, np.exp(y), rtol=1e-6)


def test_errors_of_the_example(prefix, path, tmp_path):
    program, env = compile_example(prefix, tmp_path)
    damaged = tmp_path / "damaged"
    damaged.write_bytes(path.read_bytes()[:-64])
    for file, message in ((damaged, "damaged"), (tmp_path / "none", "No such file")):
        done = subprocess.run([program, file], capture_output=True, text=True, env=env)
        assert done.returncode == 1
        assert done.stderr.startswith("error 2: ")
        assert message in done.stderr


def make_step():
    """Return a step of training with dropout and Adam, its optimiser, and its arguments."""
    mo.seed(5)
    model = mo.nn.Sequential(
        mo.nn.Linear(6, 16), mo.nn.ReLU(), mo.nn.Dropout(0.3), mo.nn.Linear(16, 4)
    )
    optimizer = mo.optim.Adam(model.parameters(), lr=0.01)

    def step(x, y):
        loss = ((model(x) - y) ** 2).mean()
        optimizer.step(loss)
        return loss

    x, y = ((np.arange(8 * n) % 17 - 8).astype("float32").reshape(8, n) for n in (6, 4))
    return step, optimizer, (x, y)


def train_in_python(path, optimizer, args, steps):
    """Run an exported step; return the losses and the state in the end."""
    program, losses = load_program(path), []
    state = program.state
    names = [t.name for t in program.inputs if t.name.startswith("optimizer.") and t.shape == ()]
    for count in range(1, steps + 1):
        numbers = optimizer._numbers(optimizer.param_groups[0], count)
        given = {name: np.float32(numbers[name.removeprefix("optimizer.")]) for name in names}
        loss, state = program(*args, given, state)
        losses.append(loss)
    return losses, state


@pytest.mark.processor
def test_training_in_c(prefix, tmp_path):
    """A hundred steps give what they give in Python, bit for bit."""
    step, optimizer, args = make_step()
    mo.seed(9)
    path = tmp_path / "step.metaops"
    mo.export(step, args, path, state="outputs")
    assert optimizer.steps == 0
    losses, state = train_in_python(path, optimizer, args, 100)
    program, env = compile_example(prefix, tmp_path, "train")
    done = subprocess.run(
        [program, path, "100"], check=True, capture_output=True, text=True, env=env
    )
    sections = []
    for word in done.stdout.split():
        if word == "output" or word in state:
            sections.append((word, []))
        else:
            sections[-1][1].append(word)
    given = [np.float32(values[0]) for _, values in sections[:100]]
    np.testing.assert_array_equal(given, losses)
    assert [name for name, _ in sections[100:]] == list(state)
    for name, values in sections[100:]:
        np.testing.assert_array_equal(
            np.array(values, state[name].dtype), state[name].reshape(-1), err_msg=name
        )
    # A session has other kernels, and the same numbers but for rounding.
    twin, _, _ = make_step()
    mo.seed(9)
    eager = [twin(mo.array(args[0]), mo.array(args[1])).numpy() for _ in range(100)]
    np.testing.assert_allclose(losses, eager, rtol=2e-3)


def test_decoding_in_c(prefix, tmp_path):
    """A loop over tokens that inserts into caches in place writes what Python writes."""
    decoder = make_decoder()
    path = tmp_path / "decoder.metaops"
    mo.export(decoder.decode, [mo.array(1)], path)
    program, env = compile_example(prefix, tmp_path, "decode")
    tokens = range(1, TOKENS)
    done = subprocess.run(
        [program, path, *map(str, tokens)], check=True, capture_output=True, text=True, env=env
    )
    texts = [[int(token) for token in line.split()] for line in done.stdout.splitlines()]
    assert texts == [read_text(decoder, first) for first in tokens]
    wrong = tmp_path / "wrong.metaops"
    mo.export(lambda x: x + 1, [mo.array(1.0)], wrong)
    done = subprocess.run([program, wrong, "1"], capture_output=True, text=True, env=env)
    assert (done.returncode, done.stderr) == (1, "expected a token and a text of int64\n")
