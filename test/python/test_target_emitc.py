# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A target outside of the compiler, examples/target/emitc: kernels as C.

The tools are built once more with the target's folder, and nothing else, named to CMake.
Programs are printed as C, compiled by the system's compiler, and compared with the
interpreter.
"""

import ctypes
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from util import close

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "examples/target/emitc"))

import programs_as_c  # noqa: E402
from programs_as_c import NotInC  # noqa: E402

pytestmark = [
    pytest.mark.processor,
    pytest.mark.rest,
    pytest.mark.skipif(not (ROOT / "build/release/build.ninja").exists(), reason="needs the build"),
]


@pytest.fixture(scope="module")
def opt() -> Path:
    """metaop-opt with the target, of the archives that there are."""
    return programs_as_c.build()


ELEMENTS = {"f32": np.float32, "f64": np.float64, "i1": np.bool_, "i32": np.int32, "i64": np.int64}


def make_inputs(types: list[str]) -> list[np.ndarray]:
    """Return an array for each type of a tensor; integers are small places."""
    random = np.random.default_rng(7)
    inputs = []
    for text in types:
        *extents, element = text.split("x")
        shape = [int(extent) for extent in extents]
        values = random.standard_normal(shape) if element[0] == "f" else None
        if values is None:
            values = random.integers(0, 2 if element == "i1" else 5, shape)
        inputs.append(np.asarray(values, ELEMENTS[element]))
    return inputs


def interpret(graph: str, inputs: list[np.ndarray], folder: Path) -> list[np.ndarray]:
    """Return the results of @main by the reference interpreter."""
    source = folder / "graph.mlir"
    source.write_text(graph)
    given = []
    for number, array in enumerate(inputs):
        np.save(folder / f"input{number}.npy", array)
        given.append(f"--input={folder}/input{number}.npy")
    (folder / "results").mkdir()
    run = ROOT / "build/release/bin/metaop-run"
    subprocess.run([run, source, "--interpret", *given, f"--output={folder}/results"], check=True)
    files = sorted(folder.glob("results/*.npy"), key=lambda path: int(path.stem[6:]))
    return [np.load(path) for path in files]


def run_as_c(
    opt: Path, graph: str, inputs: list[np.ndarray], results: list[np.ndarray], folder: Path
) -> list[np.ndarray]:
    """Return the results of @main by C, which the system's compiler compiles."""
    text, plan = programs_as_c.write(opt, graph)
    source, library = folder / "program.c", folder / "program.so"
    source.write_text(text)
    subprocess.run(
        ["cc", "-O2", "-shared", "-fPIC", "-o", library, source, "-lm"], check=True, timeout=120
    )
    outputs = [np.empty_like(result) for result in results]
    pointers = [
        (ctypes.c_void_p * max(1, len(arrays)))(*(array.ctypes.data for array in arrays))
        for arrays in (inputs, outputs)
    ]
    arena = ctypes.create_string_buffer(max(1, plan.arena_bytes))
    ctypes.CDLL(str(library)).run(*pointers, arena)
    return outputs


def compare(opt: Path, graph: str, folder: Path) -> None:
    (arguments,) = re.findall(r"func\.func @main\((.*?)\)", graph, re.S)
    inputs = make_inputs(re.findall(r"tensor<(.*?)>", arguments))
    expected = interpret(graph, inputs, folder)
    results = run_as_c(opt, graph, inputs, expected, folder)
    assert len(results) == len(expected) > 0
    for result, value in zip(results, expected, strict=True):
        # Gradients cancel: the largest numbers say what an error is.
        close(result, value, rtol=2e-5, atol=2e-5 * max(1, np.nanmax(np.abs(value))))


#: Graphs that take the interpreter no more than seconds.
GRAPHS = (
    *("adam-step", "argmax-of-2-d-axis-1", "chain-of-4", "dropout", "embedding-backward"),
    *("gelu-both", "layer-norm-backward", "max-of-4-d-axis-1", "max-pooling", "pad", "product"),
    *("softmax", "sum-of-2-d-axis-0"),
)


@pytest.mark.parametrize("name", GRAPHS)
def test_programs_run_as_c(opt: Path, name: str, tmp_path: Path) -> None:
    compare(opt, (ROOT / f"test/Kernels/{name}.mlir").read_text(), tmp_path)


def test_other_types(opt: Path, tmp_path: Path) -> None:
    graph = """func.func @main(%x: tensor<7x5xf64>, %i: tensor<9xi32>, %k: tensor<7x5xi64>)
        -> (tensor<7x5xf64>) {
      %0 = metaop.exp %x : tensor<7x5xf64>
      %1 = metaop.cast %k : tensor<7x5xi64> -> tensor<7x5xf64>
      %2 = metaop.mul %0, %1 : tensor<7x5xf64>
      return %2 : tensor<7x5xf64>
    }"""
    compare(opt, graph, tmp_path)


def test_places_that_are_divided_may_be_negative(opt: Path, tmp_path: Path) -> None:
    graph = """func.func @main(%x: tensor<9xf32>) -> tensor<15xf32> {
      %0 = metaop.reindex %x map affine_map<(d0) -> ((d0 - 7) floordiv 3 + (d0 - 5) mod 4 + 2)>
          fill 5.0 : f32 : tensor<9xf32> -> tensor<15xf32>
      return %0 : tensor<15xf32>
    }"""
    compare(opt, graph, tmp_path)


def test_what_c_cannot_say_is_refused(opt: Path) -> None:
    graph = """func.func @main(%x: tensor<8xi32>) -> tensor<8xf32> {
      %0 = metaop.bitcast %x : tensor<8xi32> -> tensor<8xf32>
      return %0 : tensor<8xf32>
    }"""
    with pytest.raises(NotInC, match=r"'arith\.bitcast' op cannot be said in C, by target 'emitc'"):
        programs_as_c.write(opt, graph)


def test_what_the_plan_in_c_lacks_is_refused(opt: Path) -> None:
    graph = """func.func @main(%x: tensor<8xf32>) -> tensor<8xi64> {
      %0, %1 = metaop.sort %x dim = 0 : tensor<8xf32> -> tensor<8xf32>
      return %1 : tensor<8xi64>
    }"""
    with pytest.raises(NotInC, match=r"'metaop\.sort' op is no call"):
        programs_as_c.write(opt, graph)


def test_tools_know_the_target(opt: Path) -> None:
    wrong = subprocess.run(
        [opt, "--metaop-pipeline=target=abacus"],
        input="",
        capture_output=True,
        text=True,
        check=False,
    )
    assert "there is no target 'abacus'; expected cpu or cuda or emitc" in wrong.stderr
    wrong = subprocess.run(
        [opt, "--metaop-pipeline=target={emitc chip=sm_80}"],
        input="",
        capture_output=True,
        text=True,
        check=False,
    )
    assert "target 'emitc' has no option 'chip'; it has none" in wrong.stderr


def test_a_folder_has_to_add_a_target(tmp_path: Path) -> None:
    folder = tmp_path / "idle"
    folder.mkdir()
    (folder / "CMakeLists.txt").write_text("# Nothing.\n")
    done = programs_as_c.configure(tmp_path / "build", folder)
    assert done.returncode != 0
    said = " ".join(done.stderr.split())
    assert "adds no target; its CMakeLists.txt has to call metaops_add_target" in said
