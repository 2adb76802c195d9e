# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A target outside of the compiler, examples/target/emitc: kernels as C.

The tools are built once more with the target's folder, and nothing else, named to CMake.
Kernels are printed as C, compiled by the system's compiler, and compared with ours.
"""

import ctypes
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from util import close

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build/emitc"
LLVM = Path("/usr/lib/llvm-22")

pytestmark = [
    pytest.mark.processor,
    pytest.mark.rest,
    pytest.mark.skipif(not (ROOT / "build/release/build.ninja").exists(), reason="needs the build"),
]


def configure(build: Path, folder: Path | str) -> subprocess.CompletedProcess[str]:
    """Configure a build of the tools with a target's folder."""
    options = {
        "CMAKE_BUILD_TYPE": "Release",
        "CMAKE_C_COMPILER": LLVM / "bin/clang",
        "CMAKE_CXX_COMPILER": LLVM / "bin/clang++",
        "CMAKE_CXX_COMPILER_LAUNCHER": shutil.which("ccache") or "",
        "CMAKE_EXE_LINKER_FLAGS": "-fuse-ld=lld",
        "CMAKE_PREFIX_PATH": LLVM,
        "METAOPS_BUILD_PYTHON": "OFF",
        "METAOPS_BUILD_TESTS": "OFF",
        "METAOPS_COMPILER_BUILD": ROOT / "build/release",
        "METAOPS_PRECOMPILE_HEADERS": "OFF",
        "METAOPS_TARGETS": folder,
    }
    definitions = [f"-D{name}={value}" for name, value in options.items()]
    return subprocess.run(
        ["cmake", "-G", "Ninja", "-S", ROOT, "-B", build, *definitions],
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def opt() -> Path:
    """metaop-opt with the target, of the archives that there are."""
    done = configure(BUILD, "examples/target/emitc")
    assert done.returncode == 0, done.stdout + done.stderr
    done = subprocess.run(
        ["cmake", "--build", BUILD, "--target", "metaop-opt"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return BUILD / "bin/metaop-opt"


def lower(opt: Path, graph: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [opt, "--metaop-pipeline=target=emitc"],
        input=graph,
        capture_output=True,
        text=True,
        check=False,
    )


def compile_c(opt: Path, graph: str, folder: Path) -> ctypes.CDLL:
    """Return the kernels of a program, compiled by the system's compiler."""
    lowered = lower(opt, graph)
    assert lowered.returncode == 0, lowered.stderr
    text = subprocess.run(
        [LLVM / "bin/mlir-translate", "--mlir-to-cpp"],
        input=lowered.stdout,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    source, library = folder / "kernels.c", folder / "kernels.so"
    headers = "".join(f"#include <{name}.h>\n" for name in ("math", "stdbool", "stddef", "stdint"))
    source.write_text(headers + text)
    subprocess.run(
        ["cc", "-O2", "-shared", "-fPIC", "-o", library, source, "-lm"], check=True, timeout=120
    )
    return ctypes.CDLL(str(library))


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
    """Return the results of @main, which calls one kernel, by C."""
    library = compile_c(opt, graph, folder)
    phases = {
        phase: subprocess.run(
            [opt, f"--metaop-pipeline=target=emitc to={phase}"],
            input=graph,
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for phase in ("kernels", "loops")
    }
    ((names, slots),) = re.findall(
        r" call @kernel_0\((.*?)\) \{metaop\.slots = \[(.*?)\]", phases["kernels"]
    )
    (steps,) = re.findall(r"#metaop\.entry<[^>]*\brange = (\d+)", phases["loops"])
    outputs = [np.empty_like(result) for result in results]
    buffers = [inputs[int(name)] for name in re.findall(r"%arg(\d+)", names)]
    buffers += [outputs[int(number)] for number in re.findall(r"<result, (\d+)>", slots)]
    pointers = [buffer.ctypes.data_as(ctypes.c_void_p) for buffer in buffers]
    library.kernel_0(*pointers, ctypes.c_size_t(0), ctypes.c_size_t(int(steps)))
    return outputs


def compare(opt: Path, graph: str, folder: Path) -> None:
    (arguments,) = re.findall(r"func\.func @main\((.*?)\)", graph, re.S)
    inputs = make_inputs(re.findall(r"tensor<(.*?)>", arguments))
    expected = interpret(graph, inputs, folder)
    results = run_as_c(opt, graph, inputs, expected, folder)
    assert len(results) == len(expected) > 0
    for result, value in zip(results, expected, strict=True):
        close(result, value, rtol=2e-5, atol=2e-5)


#: Graphs of one kernel, which needs no memory beside.
GRAPHS = (
    *("argmax-of-2-d-axis-1", "chain-of-4", "dropout", "gelu-both", "max-of-4-d-axis-1"),
    *("max-pooling", "pad", "product", "softmax"),
    "sum-of-2-d-axis-0",
)


@pytest.mark.parametrize("name", GRAPHS)
def test_kernels_run_as_c(opt: Path, name: str, tmp_path: Path) -> None:
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


def test_what_c_cannot_say_is_refused(opt: Path) -> None:
    graph = """func.func @main(%x: tensor<8xi32>) -> tensor<8xf32> {
      %0 = metaop.bitcast %x : tensor<8xi32> -> tensor<8xf32>
      return %0 : tensor<8xf32>
    }"""
    lowered = lower(opt, graph)
    assert lowered.returncode != 0
    assert "'arith.bitcast' op cannot be said in C, by target 'emitc'" in lowered.stderr


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
    done = configure(tmp_path / "build", folder)
    assert done.returncode != 0
    said = " ".join(done.stderr.split())
    assert "adds no target; its CMakeLists.txt has to call metaops_add_target" in said
