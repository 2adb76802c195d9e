# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs as C, by examples/target/emitc, beside the processor's own kernels.

The graphs of test/Kernels are compiled twice: as C, by the system's compiler, and by
`metaop-compile` for this machine. Both are in one process and take turns on one thread; their
results are compared. Then come the workloads of script/bench: which run as C, and what is
refused by what. With --write both tables are written into the target's README.md.
"""

from __future__ import annotations

import argparse
import ctypes
import fnmatch
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from statistics import median

import listings
import metaops as mo
import numpy as np
from common import Table

ROOT = Path(__file__).resolve().parents[1]
TARGET = ROOT / "examples/target/emitc"
sys.path.insert(0, str(TARGET))

import programs_as_c  # noqa: E402
from programs_as_c import NotInC  # noqa: E402

#: The call of the system's compiler.
FLAGS = ("-O3", "-march=native")
#: Marks between which the table stands in README.md.
BEGIN, END = "<!-- numbers by script/bench emitc -->", "<!-- end of numbers -->"

ELEMENTS = {
    "f32": np.float32,
    "f64": np.float64,
    "i1": np.bool_,
    "i8": np.int8,
    "i32": np.int32,
    "i64": np.int64,
}

#: Runs both, each `calls` times in turn, and gives the seconds of a call by each.
DRIVER = """
#include <time.h>
#include "model.h"
static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return time.tv_sec + 1e-9 * time.tv_nsec;
}
double time_c(void **inputs, void **outputs, void *arena, int calls) {
  double begin = now();
  for (int k = 0; k < calls; ++k)
    run(inputs, outputs, arena);
  return (now() - begin) / calls;
}
double time_model(void **inputs, void **outputs, void *arena, int calls) {
  double begin = now();
  for (int k = 0; k < calls; ++k)
    if (model_run((const void *const *)inputs, outputs, arena))
      return -1;
  return (now() - begin) / calls;
}
"""


def make_inputs(graph: str) -> list[np.ndarray]:
    """Return an array for each argument of @main; integers are small places."""
    (arguments,) = re.findall(r"func\.func @main\((.*?)\) ->", graph, re.S)
    random = np.random.default_rng(7)
    inputs = []
    for text in re.findall(r"tensor<(.*?)>", arguments):
        *extents, element = text.split("x")
        shape = [int(extent) for extent in extents]
        is_float = element[0] == "f"
        values = random.uniform(0.1, 1, shape) if is_float else random.integers(0, 2, shape)
        inputs.append(np.asarray(values, ELEMENTS[element]))
    return inputs


def aligned(count: int) -> np.ndarray:
    """Return so many bytes that begin at a multiple of 64."""
    memory = np.zeros(count + 64, np.uint8)
    return memory[-memory.ctypes.data % 64 :][:count]


class Both:
    """A program as C and as an object file, in one library."""

    def __init__(self, opt: Path, graph: Path, folder: Path) -> None:
        text = graph.read_text()
        source, self.plan = programs_as_c.write(opt, text)
        (folder / "both.c").write_text(source + DRIVER)
        tool = ROOT / "build/release/bin/metaop-compile"
        run([tool, graph, "-o", folder / "model.o", "--target=native"])
        parts = [folder / "both.c", folder / "model.o", "-o", folder / "both.so"]
        run(["cc", *FLAGS, "-shared", "-fPIC", f"-I{folder}", *parts, "-lm"])
        header = (folder / "model.h").read_text()
        self.inputs = make_inputs(text)
        (arena,) = re.findall(r"MODEL_ARENA_BYTES (\d+)", header)
        sizes = re.findall(r"MODEL_OUTPUT_\d+_BYTES (\d+)", header)
        types = re.findall(r'MODEL_OUTPUT_\d+_DTYPE "(\w+)"', header)
        library = ctypes.CDLL(str(folder / "both.so"))
        self.results, self.run = {}, {}
        for name, size in (("c", self.plan.arena_bytes), ("model", int(arena))):
            outputs = [aligned(int(size)) for size in sizes]
            self.results[name] = [
                part.view(kind) for part, kind in zip(outputs, types, strict=True)
            ]
            self.run[name] = self.bind(library[f"time_{name}"], outputs, aligned(size))

    def bind(self, function, outputs, arena):
        """Return what runs one of the two so many times, and gives the seconds of a call."""
        pointers = [
            (ctypes.c_void_p * max(1, len(arrays)))(*(array.ctypes.data for array in arrays))
            for arrays in (self.inputs, outputs)
        ]
        function.restype = ctypes.c_double
        address = ctypes.c_void_p(arena.ctypes.data)

        def call(calls: int) -> float:
            assert arena.size >= 0  # lives as long as this
            return function(*pointers, address, calls)

        return call

    def check(self) -> None:
        """Compare the results of both."""
        for call in self.run.values():
            assert call(1) >= 0
        for mine, other in zip(*self.results.values(), strict=True):
            np.testing.assert_allclose(mine, other, rtol=2e-4, atol=2e-4)

    def measure(self, rounds: int, seconds: float) -> tuple[float, float]:
        """Return the medians of the seconds that a call takes as C, and as an object."""
        counts = {name: max(1, round(seconds / call(1))) for name, call in self.run.items()}
        times: dict[str, list[float]] = {name: [] for name in self.run}
        for _ in range(rounds):
            for name, call in self.run.items():
                times[name].append(call(counts[name]))
        return median(times["c"]), median(times["model"])


def run(command: Sequence[object]) -> None:
    """Run a command; `NotInC` with the end of what it says where it fails."""
    words = [str(word) for word in command]
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=300)
    if done.returncode != 0:
        raise NotInC(done.stderr.strip().splitlines()[-1])


def compare(opt: Path, graphs: Sequence[Path], rounds: int) -> Table:
    """Return a line for each graph: its times."""
    table = Table("Times", ["graph", "kernels", "C, us", "ours, us", "C / ours"])
    for graph in graphs:
        tell(graph.stem)
        with tempfile.TemporaryDirectory() as folder:
            both = Both(opt, graph, Path(folder))
            both.check()
            as_c, ours = both.measure(rounds, 0.05)
        table.add(graph.stem, len(both.plan.calls), 1e6 * as_c, 1e6 * ours, as_c / ours)
    return table


def survey(opt: Path, patterns: Sequence[str]) -> Table:
    """Return how many workloads run as C, with the same results, and what the others lack."""
    groups: dict[str, list[str]] = {}
    for name, prepare in listings.rows(["small"]):
        row = name.split("/")[1]
        if not any(fnmatch.fnmatch(row, pattern) for pattern in patterns):
            continue
        tell(row)
        prepare()()
        graph = listings.without_locations(mo.last_program().ir("graph"))
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "graph.mlir"
            path.write_text(graph)
            try:
                Both(opt, path, Path(folder)).check()
                became = "runs as C, and has our results"
            except NotInC as refused:
                became = re.sub(r"^result \d+", "a result", str(refused))
        groups.setdefault(became, []).append(row)
    table = Table("Workloads", ["what becomes of it", "workloads", "such as"])
    for became, names in sorted(groups.items(), key=lambda group: -len(group[1])):
        table.add(became, len(names), ", ".join(names[:3]))
    return table


def tell(name: str) -> None:
    """Say what is looked at."""
    print(f"\r{name}\033[K", end="", file=sys.stderr, flush=True)


def main() -> None:
    """Print the table, and write it where asked to."""
    parser = argparse.ArgumentParser(prog="script/bench emitc", description=__doc__)
    parser.add_argument(
        "names", nargs="*", help="graphs of test/Kernels, and workloads (default: all)"
    )
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--write", action="store_true", help="into the target's README.md")
    options = parser.parse_args()
    graphs = sorted((ROOT / "test/Kernels").glob("*.mlir"))
    if options.names:
        graphs = [graph for graph in graphs if graph.stem in options.names]
    opt = programs_as_c.build()
    tables = [
        compare(opt, graphs, options.rounds),
        survey(opt, options.names or ["*"]),
    ]
    print()
    parts = [table.markdown().split("\n\n", 1)[1] for table in tables if table.rows]
    print("\n".join(parts))
    if options.write:
        page = TARGET / "README.md"
        before, rest = page.read_text().split(BEGIN)
        lines = "\n".join(parts).strip()
        page.write_text(f"{before}{BEGIN}\n{lines}\n{END}{rest.split(END)[1]}")


if __name__ == "__main__":
    main()
