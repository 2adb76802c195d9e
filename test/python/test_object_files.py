# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Object files of metaop-compile compute what metaop-run computes, and need nothing."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import metaops as mo
import numpy as np
import pytest
from random_control_flow import ControlFlow
from test_schedule_fuzz import TOOLS

pytestmark = pytest.mark.processor

SOURCE = Path(__file__).resolve().parents[2]
COMPILER = shutil.which("gcc") or shutil.which("clang-22")

#: Imports that an object may have: functions of the C library for memory and mathematics.
IMPORTS = re.compile(
    "mem(cpy|move|set)|__(trunc[sd]fhf2|extendhfsf2)|"
    "(_ZGV[bde]N[248]vv?_)?"
    "(a?(cos|sin|tan)h?|atan2|cbrt|ceil|erfc?|exp[2]?|expm1|fabs|floor|fma|fmax|fmin|fmod|hypot|"
    "ldexp|lgamma|log|log10|log1p|log2|nearbyint|pow|rint|round|roundeven|sqrt|tgamma|trunc)f?"
)

#: Reads inputs from files, runs a model twice, and writes its outputs. Memory ends at
#: pages that nobody may read, as near as its alignment lets it.
MAIN = """
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include "model.h"

static void *place(size_t bytes, size_t alignment) {
  size_t page = 4096, pages = (bytes + page - 1) / page + 1;
  char *memory = mmap(0, (pages + 1) * page, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  mprotect(memory + pages * page, page, PROT_NONE);
  memset(memory, 0xff, pages * page);
  return memory + pages * page - (bytes + alignment - 1) / alignment * alignment;
}

int main(int argc, char **argv) {
  size_t input_bytes[] = {INPUT_BYTES}, output_bytes[] = {OUTPUT_BYTES};
  size_t alignments[] = {ALIGNMENTS};
  void *inputs[MODEL_NUM_INPUTS + 1], *outputs[MODEL_NUM_OUTPUTS + 1];
  for (int i = 0; i < MODEL_NUM_INPUTS; ++i) {
    inputs[i] = place(input_bytes[i], alignments[i]);
    FILE *file = fopen(argv[1 + i], "rb");
    if (fread(inputs[i], 1, input_bytes[i], file) != input_bytes[i])
      return 2;
    fclose(file);
  }
  for (int i = 0; i < MODEL_NUM_OUTPUTS; ++i)
    outputs[i] = place(output_bytes[i], MODEL_ALIGNMENT);
  void *arena = place(MODEL_ARENA_BYTES, MODEL_ALIGNMENT);
  int error = model_init(arena, MODEL_ARENA_BYTES);
  for (int run = 0; run < 2 && !error; ++run)
    error = model_run((const void *const *)inputs, outputs, arena);
  for (int i = 0; i < MODEL_NUM_OUTPUTS; ++i) {
    FILE *file = fopen(argv[1 + MODEL_NUM_INPUTS + i], "wb");
    fwrite(outputs[i], 1, output_bytes[i], file);
    fclose(file);
  }
  if (error)
    puts(model_error_string(error));
  return error;
}
"""


def compile_model(text: str, folder: Path, *flags: str) -> str:
    """Make model.o and model.h of a module; return what the compiler says."""
    (folder / "model.mlir").write_text(text)
    command = [TOOLS / "metaop-compile", folder / "model.mlir", "-o", folder / "model.o", *flags]
    return subprocess.run(command, capture_output=True, text=True, check=False).stderr


def write_main(folder: Path) -> None:
    """Write the C program for the model there."""
    header = (folder / "model.h").read_text()

    def listed(kind: str, suffix: str) -> str:
        return ", ".join(re.findall(rf"MODEL_{kind}_\d+_{suffix}(?= )", header)) or "0"

    elements = [f"sizeof({name})" for name in listed("INPUT", "TYPE").split(", ")]
    text = MAIN.replace("INPUT_BYTES}", listed("INPUT", "BYTES") + "}")
    text = text.replace("OUTPUT_BYTES}", listed("OUTPUT", "BYTES") + "}")
    text = text.replace("ALIGNMENTS}", ", ".join(elements) + "}")
    (folder / "main.c").write_text(text)


def link(folder: Path, *command: str) -> Path:
    """Compile the C program, and link it with the model."""
    write_main(folder)
    arguments = ["-Wall", "-Werror", f"-I{folder}", folder / "main.c", folder / "model.o", "-lm"]
    subprocess.run([*command, *arguments, "-o", folder / "main"], check=True)
    return folder / "main"


def run_model(folder: Path, inputs: list[np.ndarray], outputs: list[np.ndarray], *command: str):
    """Run the C program on inputs; return outputs like the given ones."""
    names = [folder / f"in{i}" for i in range(len(inputs))]
    for name, value in zip(names, inputs, strict=True):
        value.tofile(name)
    results = [folder / f"out{i}" for i in range(len(outputs))]
    subprocess.run([*command, folder / "main", *names, *results], check=True)
    return [
        np.fromfile(name, like.dtype).reshape(like.shape)
        for name, like in zip(results, outputs, strict=True)
    ]


def run_tool(folder: Path, inputs: list[np.ndarray], *flags: str) -> list[np.ndarray]:
    """Return what metaop-run computes."""
    names = [folder / f"in{i}.npy" for i in range(len(inputs))]
    for name, value in zip(names, inputs, strict=True):
        np.save(name, value)
    folder_of_results = folder / "results"
    folder_of_results.mkdir(exist_ok=True)
    given = [f"--input={name}" for name in names]
    command = [TOOLS / "metaop-run", folder / "model.mlir", *given, *flags]
    command.append(f"--output={folder_of_results}")
    subprocess.run(command, check=True, capture_output=True, text=True)
    count = len(list(folder_of_results.iterdir()))
    return [np.load(folder_of_results / f"result{i}.npy") for i in range(count)]


def list_imports(path: Path) -> set[str]:
    """Return the names that an object asks for."""
    done = subprocess.run(["nm", "-u", path], capture_output=True, text=True, check=True)
    return {line.split()[-1] for line in done.stdout.splitlines()}


def check_imports(folder: Path) -> None:
    """Check that the object needs the C library alone, and no memory of it."""
    wrong = {name for name in list_imports(folder / "model.o") if not IMPORTS.fullmatch(name)}
    assert not wrong
    command = [COMPILER, "-shared", "-Wl,--no-undefined", folder / "model.o", "-lm"]
    subprocess.run([*command, "-o", folder / "model.so"], check=True)


def check_failure(folder: Path, inputs: list[np.ndarray], said: str) -> None:
    """Check that a model refuses inputs for what metaop-run says of them."""
    outputs = [folder / f"out{i}" for i in range(3)]
    for i, value in enumerate(inputs):
        value.tofile(folder / f"in{i}")
    command = [folder / "main", *(folder / f"in{i}" for i in range(len(inputs))), *outputs]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode >= 4
    # Where, and of how many; the number itself is not told.
    bounds = re.compile(r"is out of range for .*? (?:of extent \d+|\d+ classes)")
    assert bounds.findall(done.stdout) == bounds.findall(said) != []


def check_model(text: str, folder: Path, inputs: list[np.ndarray]) -> None:
    """Compare a model with what metaop-run computes, bit by bit."""
    assert compile_model(text, folder) == ""
    check_imports(folder)
    link(folder, COMPILER)
    try:
        expected = run_tool(folder, inputs)
    except subprocess.CalledProcessError as error:
        return check_failure(folder, inputs, error.stderr)
    found = run_model(folder, inputs, expected)
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_array_equal(a, b, strict=True)


def numbers(rng, shape: tuple[int, ...], dtype: str) -> np.ndarray:
    """Return numbers of a type; not all of one kind."""
    if dtype == "bool":
        return rng.integers(0, 2, shape).astype(bool)
    if dtype.startswith(("int", "uint")):
        return rng.integers(0 if dtype[0] == "u" else -90, 90, shape).astype(dtype)
    return (rng.standard_normal(shape) * 3).astype(dtype)


PROGRAMS = {
    "product": (
        """
func.func @main(%x: tensor<37x64xf32>, %w: tensor<64x48xf32>, %b: tensor<48xf32>)
    -> tensor<37x48xf32> {
  %0 = metaop.broadcast %x dims = [0, 1] : tensor<37x64xf32> -> tensor<37x64x48xf32>
  %1 = metaop.broadcast %w dims = [1, 2] : tensor<64x48xf32> -> tensor<37x64x48xf32>
  %2 = metaop.mul %0, %1 : tensor<37x64x48xf32>
  %3 = metaop.reduce add %2 dims = [1] : tensor<37x64x48xf32> -> tensor<37x48xf32>
  %4 = metaop.broadcast %b dims = [1] : tensor<48xf32> -> tensor<37x48xf32>
  %5 = metaop.add %3, %4 : tensor<37x48xf32>
  %6 = metaop.constant dense<0.0> : tensor<37x48xf32>
  %7 = metaop.max %5, %6 : tensor<37x48xf32>
  return %7 : tensor<37x48xf32>
}""",
        [((37, 64), "float32"), ((64, 48), "float32"), ((48,), "float32")],
    ),
    "softmax": (
        """
func.func @main(%x: tensor<9x33xf32>) -> (tensor<9x33xf32>, tensor<9xf32>) {
  %top = metaop.reduce max %x dims = [1] : tensor<9x33xf32> -> tensor<9xf32>
  %0 = metaop.broadcast %top dims = [0] : tensor<9xf32> -> tensor<9x33xf32>
  %1 = metaop.sub %x, %0 : tensor<9x33xf32>
  %2 = metaop.exp %1 : tensor<9x33xf32>
  %3 = metaop.reduce add %2 dims = [1] : tensor<9x33xf32> -> tensor<9xf32>
  %4 = metaop.broadcast %3 dims = [0] : tensor<9xf32> -> tensor<9x33xf32>
  %5 = metaop.div %2, %4 : tensor<9x33xf32>
  return %5, %top : tensor<9x33xf32>, tensor<9xf32>
}""",
        [((9, 33), "float32")],
    ),
    "types": (
        """
func.func @main(%h: tensor<5x7xf16>, %n: tensor<5x7xi64>, %d: tensor<7xf64>, %b: tensor<5x7xi1>)
    -> (tensor<5x7xf16>, tensor<5xi64>, tensor<7xf64>, tensor<5x7xi1>) {
  %0 = metaop.exp %h : tensor<5x7xf16>
  %zero = metaop.constant dense<0> : tensor<5x7xi64>
  %1 = metaop.select %b, %n, %zero : tensor<5x7xi1>, tensor<5x7xi64>
  %2 = metaop.reduce add %1 dims = [1] : tensor<5x7xi64> -> tensor<5xi64>
  %3 = metaop.tanh %d : tensor<7xf64>
  %4 = metaop.cmp lt %n, %zero : tensor<5x7xi64> -> tensor<5x7xi1>
  return %0, %2, %3, %4 : tensor<5x7xf16>, tensor<5xi64>, tensor<7xf64>, tensor<5x7xi1>
}""",
        [((5, 7), "float16"), ((5, 7), "int64"), ((7,), "float64"), ((5, 7), "bool")],
    ),
    "a table": (
        """
func.func @main(%x: tensor<3x4xf32>) -> tensor<3x4xf32> {
  %w = metaop.constant dense<[[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0], [9.0, 1.0, 1.5, 2.5]]>
    : tensor<3x4xf32>
  %y = metaop.mul %x, %w : tensor<3x4xf32>
  return %y : tensor<3x4xf32>
}""",
        [((3, 4), "float32")],
    ),
    "arguments and equal results": (
        """
func.func @main(%x: tensor<4xf32>, %unused: tensor<0x3xf32>)
    -> (tensor<4xf32>, tensor<4xf32>, tensor<2x2xf32>, tensor<0x3xf32>) {
  %y = metaop.exp %x : tensor<4xf32>
  %z = metaop.reshape %x : tensor<4xf32> -> tensor<2x2xf32>
  return %y, %y, %z, %unused : tensor<4xf32>, tensor<4xf32>, tensor<2x2xf32>, tensor<0x3xf32>
}""",
        [((4,), "float32"), ((0, 3), "float32")],
    ),
    "no inputs": (
        """
func.func @main() -> tensor<6xi64> {
  %0 = metaop.iota dim = 0 : tensor<6xi64>
  return %0 : tensor<6xi64>
}""",
        [],
    ),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(tmp_path, rng, name):
    text, arguments = PROGRAMS[name]
    check_model(text, tmp_path, [numbers(rng, *argument) for argument in arguments])


#: A part is put over a tensor, at a place that is an input.
WINDOWS = """
func.func @main(%x: tensor<3x4x2xf32>, %whole: tensor<5x6x2xf32>,
    %at: tensor<i64>, %by: tensor<i64>)
    -> tensor<5x6x2xf32> {
  %zero = metaop.constant dense<0> : tensor<i64>
  %0 = metaop.insert none %x into %whole[%at, %by, %zero]
    : tensor<3x4x2xf32> into tensor<5x6x2xf32>
  return %0 : tensor<5x6x2xf32>
}"""


def test_windows_that_move(tmp_path, rng):
    assert compile_model(WINDOWS, tmp_path) == ""
    link(tmp_path, COMPILER)
    x, whole = numbers(rng, (3, 4, 2), "float32"), numbers(rng, (5, 6, 2), "float32")
    far = np.iinfo("int64")
    for at in (*range(-4, 7), far.min, far.max):
        for by in (-3, 0, 2, 5, far.min):
            expected = whole.copy()
            for i, j in np.ndindex(3, 4):
                if 0 <= at + i < 5 and 0 <= by + j < 6:
                    expected[at + i, by + j] = x[i, j]
            inputs = [x, whole, np.array(at), np.array(by)]
            (found,) = run_model(tmp_path, inputs, [expected])
            np.testing.assert_array_equal(found, expected)


@pytest.mark.rest
def test_random_control_flow(tmp_path, rng):
    """Branches and loops, nested to any depth; sorts are refused, by their line."""
    compiled = 0
    for seed in range(24):
        program = ControlFlow(seed)
        text = program.text()
        said = compile_model(text, tmp_path)
        if "is a routine of the runtime" in said:
            assert re.search(r"model.mlir:\d+:\d+: error: 'metaop.sort' op", said)
            continue
        check_model(text, tmp_path, [numbers(rng, (program.extent,), "float32") for _ in "ab"])
        compiled += 1
    assert compiled > 8


def inputs_of(folder: Path, rng) -> list[np.ndarray]:
    """Return numbers for what the header says that the model takes."""
    header = (folder / "model.h").read_text()
    found = re.findall(r'INPUT_\d+_DTYPE "(.*)"\n(?:.*\n){2}(?:.*SHAPE \{(.*)\})?', header)
    return [
        numbers(rng, tuple(map(int, shape.split(", "))) if shape else (), dtype)
        for dtype, shape in found
    ]


def test_a_convolutional_network(tmp_path, rng):
    """The graph of a module, whose parameters are inputs then."""
    model = mo.nn.Sequential(
        mo.nn.Conv2d(3, 8, 3, padding=1), mo.nn.ReLU(), mo.nn.Flatten(), mo.nn.Linear(8 * 36, 5)
    )
    mo.sync(model.parameters())
    model(mo.array(numbers(rng, (2, 3, 6, 6), "float32"))).sync()
    text = mo.last_program().ir("graph")
    assert compile_model(text, tmp_path) == ""
    inputs = inputs_of(tmp_path, rng)
    assert len(inputs) >= 5
    check_model(text, tmp_path, inputs)


@pytest.mark.parametrize("target", ["x86-64-v3", "x86-64-v4"])
def test_targets(tmp_path, rng, target):
    text, arguments = PROGRAMS["product"]
    assert compile_model(text, tmp_path, f"--target={target}") == ""
    check_imports(tmp_path)
    flag = {"x86-64-v3": "avx2", "x86-64-v4": "avx512vl"}[target]
    if flag not in Path("/proc/cpuinfo").read_text():
        pytest.skip(f"a processor without {flag}")
    link(tmp_path, COMPILER)
    inputs = [numbers(rng, *argument) for argument in arguments]
    x, w, b = inputs
    expected = np.maximum(x @ w + b, 0)
    (found,) = run_model(tmp_path, inputs, [expected])
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)


#: The packages that script/bootstrap installs have all of them.
CROSS_COMPILER = (shutil.which("clang-22"), shutil.which("qemu-aarch64"))


@pytest.mark.skipif(None in CROSS_COMPILER, reason="needs clang-22 and qemu-aarch64")
@pytest.mark.parametrize("name", PROGRAMS)
def test_aarch64(tmp_path, rng, name):
    text, arguments = PROGRAMS[name]
    assert compile_model(text, tmp_path, "--target=aarch64") == ""
    clang, qemu = CROSS_COMPILER
    link(tmp_path, clang, "--target=aarch64-linux-gnu", "-fuse-ld=lld", "-static")
    inputs = [numbers(rng, *argument) for argument in arguments]
    expected = run_tool(tmp_path, inputs, "--interpret")
    for a, b in zip(run_model(tmp_path, inputs, expected, qemu), expected, strict=True):
        tolerance = {"float16": 4e-3, "float32": 2e-5}.get(b.dtype.name, 1e-11)
        np.testing.assert_allclose(a, b, tolerance, tolerance, strict=True)


@pytest.mark.skipif(None in CROSS_COMPILER, reason="needs clang-22 and qemu-aarch64")
def test_control_flow_for_aarch64(tmp_path, rng):
    compiled = 0
    for seed in range(100, 108):
        program = ControlFlow(seed)
        if compile_model(program.text(), tmp_path, "--target=aarch64"):
            continue
        clang, qemu = CROSS_COMPILER
        link(tmp_path, clang, "--target=aarch64-linux-gnu", "-fuse-ld=lld", "-static")
        inputs = [numbers(rng, (program.extent,), "float32") for _ in "ab"]
        try:
            expected = run_tool(tmp_path, inputs, "--interpret")
        except subprocess.CalledProcessError:
            continue  # a check fails
        for a, b in zip(run_model(tmp_path, inputs, expected, qemu), expected, strict=True):
            np.testing.assert_allclose(a, b, 2e-5, 2e-5)
        compiled += 1
    assert compiled > 2


def test_wrong_memory(tmp_path):
    """A run that is given what it cannot use says so, and touches nothing."""
    assert compile_model((SOURCE / "examples" / "matmul.mlir").read_text(), tmp_path) == ""
    (tmp_path / "main.c").write_text("""
#include "model.h"
#include <stdio.h>
static _Alignas(MODEL_ALIGNMENT) char arena[MODEL_ARENA_BYTES + 1];
static float x[MODEL_INPUT_0_ELEMENTS], w[MODEL_INPUT_1_ELEMENTS];
static _Alignas(MODEL_ALIGNMENT) float y[MODEL_OUTPUT_0_ELEMENTS];
static void run(const void *input, void *output, void *memory) {
  const void *inputs[] = {input, w};
  void *outputs[] = {output};
  puts(model_error_string(model_run(inputs, outputs, memory)));
}
int main() {
  run(x, y, arena);
  run(NULL, y, arena);
  run((const char *)x + 1, y, arena);
  run(x, NULL, arena);
  run(x, y + 1, arena);
  run(x, y, NULL);
  run(x, y, arena + 1);
  puts(model_error_string(model_init(arena, sizeof(arena))));
  puts(model_error_string(model_init(arena, MODEL_ARENA_BYTES - 1)));
  puts(model_error_string(-1));
}
""")
    arguments = [tmp_path / "main.c", tmp_path / "model.o", "-lm", "-o", tmp_path / "main"]
    subprocess.run([COMPILER, f"-I{tmp_path}", *arguments], check=True)
    said = subprocess.run([tmp_path / "main"], capture_output=True, text=True, check=True).stdout
    assert said.splitlines() == [
        "no error",
        *["an input is null, or not aligned to its elements"] * 2,
        *["an output is null, or not aligned"] * 2,
        *["the arena is null, too small, or not aligned"] * 2,
        "no error",
        "the arena is null, too small, or not aligned",
        "no error of this model",
    ]


SCANNED = """
func.func @main(%x: tensor<4xf32>, %xs: tensor<5x4xf32>, %n: tensor<i64>)
    -> (tensor<4xf32>, tensor<5x4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %h, %ys = metaop.scan 5 reverse carries(%c = %x : tensor<4xf32>)
      rows(%r = %xs : tensor<5x4xf32>) -> (tensor<4xf32>, tensor<5x4xf32>) {
    %next = metaop.add %c, %r : tensor<4xf32>
    metaop.scan_yield %next, %next : tensor<4xf32>, tensor<4xf32>
  }
  %d = metaop.scan %n carries(%c = %x : tensor<4xf32>) -> tensor<4xf32> {
    %next = metaop.add %c, %c : tensor<4xf32>
    metaop.scan_yield %next : tensor<4xf32>
  }
  %half = metaop.constant dense<0.5> : tensor<4xf32>
  %b = metaop.scan %n most 5 reverse carries(%c = %x : tensor<4xf32>)
      rows(%r = %xs : tensor<5x4xf32>) -> tensor<4xf32> {
    %p = metaop.mul %c, %half : tensor<4xf32>
    %next = metaop.add %p, %r : tensor<4xf32>
    metaop.scan_yield %next : tensor<4xf32>
  }
  return %h, %ys, %d, %b : tensor<4xf32>, tensor<5x4xf32>, tensor<4xf32>, tensor<4xf32>
}"""


def test_rows_are_scanned(tmp_path, rng):
    """From the last to the first, and as often, or as many, as a number says."""
    assert compile_model(SCANNED, tmp_path) == ""
    link(tmp_path, COMPILER)
    x, xs = numbers(rng, (4,), "float32"), numbers(rng, (5, 4), "float32")
    carry, made = x.copy(), np.zeros_like(xs)
    for row in reversed(range(5)):
        made[row] = carry = carry + xs[row]
    for trips in (-2, 0, 1, 3, 7):
        some = x
        for row in reversed(range(min(trips, 5))):
            some = some * np.float32(0.5) + xs[row]
        expected = [carry, made, x * np.float32(2 ** max(trips, 0)), some]
        found = run_model(tmp_path, [x, xs, np.array(trips)], expected)
        for one, other in zip(found, expected, strict=True):
            np.testing.assert_array_equal(one, other)


CHECKED = """
func.func @main(%x: tensor<10xf32>, %i: tensor<4xi64>, %n: tensor<i64>) -> tensor<4xf32> {
  %zero = metaop.constant dense<0.0> : tensor<4xf32>
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %end = tensor.extract %n[] : tensor<i64>
  %r = scf.for %k = %c0 to %end step %c1 iter_args(%v = %zero) -> tensor<4xf32> : i64 {
    %t = tensor.from_elements %k : tensor<i64>
    %spread = metaop.broadcast %t dims = [] : tensor<i64> -> tensor<4xi64>
    %j = metaop.add %i, %spread : tensor<4xi64>
    %c = metaop.check %j extent = 10 dim = 0 : tensor<4xi64>
    %y = metaop.gather %x[%c] map affine_map<(d0)[s0] -> (s0)> fill 0.0 : f32
        : (tensor<10xf32>, tensor<4xi64>) -> tensor<4xf32>
    %w = metaop.add %v, %y : tensor<4xf32>
    scf.yield %w : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}"""


def test_indices_are_checked(tmp_path, rng):
    """In each trip of a loop; an error says where."""
    assert compile_model(CHECKED, tmp_path) == ""
    link(tmp_path, COMPILER)
    x, i = numbers(rng, (10,), "float32"), np.array([2, 0, 5, 3])
    for trips in (0, 1, 5):
        expected = np.zeros(4, "float32")
        for trip in range(trips):
            expected += x[i + trip]
        (found,) = run_model(tmp_path, [x, i, np.array(trips)], [expected])
        np.testing.assert_array_equal(found, expected)
    (tmp_path / "in2").write_bytes(np.array(6).tobytes())
    names = [tmp_path / name for name in ("main", "in0", "in1", "in2", "out0")]
    done = subprocess.run(names, capture_output=True, text=True, check=False)
    assert done.returncode == 4
    assert re.fullmatch(
        r"an index is out of range for dimension 0 of extent 10, recorded at .*model.mlir:11:\d+\n",
        done.stdout,
    )
    assert "#define MODEL_ERROR_INDEX_0 4" in (tmp_path / "model.h").read_text()


BOUNDED = """
func.func @main(%x: tensor<4xf32>, %n: tensor<i64>) -> tensor<4xf32> {
  %c = metaop.check %n extent = 4 trips : tensor<i64>
  %r = metaop.scan %c most 3 carries(%v = %x : tensor<4xf32>) -> tensor<4xf32> {
    %next = metaop.add %v, %v : tensor<4xf32>
    metaop.scan_yield %next : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}"""


def test_trips_are_checked(tmp_path, rng):
    assert compile_model(BOUNDED, tmp_path) == ""
    link(tmp_path, COMPILER)
    x = numbers(rng, (4,), "float32")
    for trips in (0, 3):
        (found,) = run_model(tmp_path, [x, np.array(trips)], [x])
        np.testing.assert_array_equal(found, x * np.float32(2**trips))
    (tmp_path / "in1").write_bytes(np.array(4).tobytes())
    names = [tmp_path / name for name in ("main", "in0", "in1", "out0")]
    done = subprocess.run(names, capture_output=True, text=True, check=False)
    assert done.returncode == 4
    assert "a loop is to make more trips than its max_trips of 3, recorded at" in done.stdout


def test_the_example(tmp_path):
    command = [TOOLS / "metaop-compile", SOURCE / "examples" / "matmul.mlir"]
    subprocess.run([*command, "-o", tmp_path / "matmul.o"], check=True)
    sources = [SOURCE / "examples" / "c" / "static.c", tmp_path / "matmul.o"]
    flags = ["-std=c11", "-Wall", "-Wextra", "-Werror", f"-I{tmp_path}"]
    subprocess.run([COMPILER, *flags, *sources, "-lm", "-o", tmp_path / "static"], check=True)
    said = subprocess.run([tmp_path / "static"], capture_output=True, text=True, check=True).stdout
    x = (np.arange(32) % 17 - 8).reshape(4, 8)
    w = (np.arange(128) % 17 - 8).reshape(8, 16)
    found = np.array([line.split() for line in said.splitlines()], "float64")
    np.testing.assert_array_equal(found, np.maximum(x @ w, 0))


def test_no_input_is_written(tmp_path, rng):
    text = """
func.func @main(%x: tensor<64xf32> {metaop.donatable}) -> tensor<64xf32> {
  %y = metaop.exp %x : tensor<64xf32>
  return %y : tensor<64xf32>
}"""
    # Were the input overwritten, the second run would give another result.
    check_model(text, tmp_path, [numbers(rng, (64,), "float32")])
