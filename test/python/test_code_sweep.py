# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""LLVM ends, and makes code, for every way to read a row and every kind of processor.

Its code generator has loops that rewrite a few patterns for ever (InterleavedAccess.cpp names
one). So kernels of all types, of extents that fill vectors or do not, that read backwards, in
steps, moved and beyond the ends are compiled for processors that differ in what they have.
METAOPS_SWEEP=all has the extents from 1 to 130.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from test_schedule_fuzz import TOOLS as BUILT

BIN = Path("/usr/lib/llvm-22/bin")
TOOLS = [shutil.which(name, path=f"{BIN}:{os.environ['PATH']}") for name in ("opt", "llc")]
TRANSLATE = shutil.which("mlir-translate", path=f"{BIN}:{os.environ['PATH']}")

pytestmark = [
    pytest.mark.rest,
    pytest.mark.skipif(None in (*TOOLS, TRANSLATE), reason="needs opt, llc and mlir-translate"),
]

TYPES = ["i8", "i16", "i32", "i64", "f16", "bf16", "f32", "f64"]
#: By what its schedules are made for, and what LLVM calls it.
PROCESSORS = {
    "avx512": [
        "skylake-avx512",
        "cannonlake",
        "icelake-server",
        "sapphirerapids",
        "graniterapids",
        "znver4",
        "znver5",
    ],
    "avx2": ["haswell", "znver3", "alderlake"],
    "sse": ["x86-64", "x86-64-v2"],
    "neon": ["generic", "apple-m1", "neoverse-v2"],
}
EXTENTS = (
    range(1, 131)
    if os.environ.get("METAOPS_SWEEP") == "all"
    else [1, 5, 17, 33, 40, 63, 64, 65, 100]
)
#: The place that is read at place d1 of a row of n, and the least extent of what is read.
READS = {
    "reversed": ("{last} - d1", "{n}"),
    "in steps": ("d1 * 2", "2 * {n}"),
    "in steps of three": ("d1 * 3 + 1", "3 * {n} + 1"),
    "reversed, in steps": ("2 * {last} - d1 * 2", "2 * {n}"),
    "moved": ("d1 + 3", "{n} + 3"),
    "beyond the start": ("d1 - 2", "{n}"),
    "beyond both ends": ("{last} + 1 - d1", "{n}"),
}


def write_program(kind: str, extents: list[int]) -> str:
    """Write a program whose results are rows of sums, read in all ways."""
    arguments, lines, results, types = [], [], [], []
    zero = "0.0" if "f" in kind else "0"
    for n in extents:
        for place, extent in READS.values():
            k = len(results)
            read = place.format(n=n, last=n - 1)
            columns = eval(extent.format(n=n))
            # No two are of one shape, and so of one kernel.
            source, result = f"tensor<{k + 2}x{columns}x{kind}>", f"tensor<{k + 2}x{n}x{kind}>"
            arguments += [f"%a{k}: {source}", f"%b{k}: {source}"]
            for name in "ab":
                lines.append(
                    f"  %{name}r{k} = metaop.reindex %{name}{k} map affine_map<(d0, d1) -> (d0,"
                    f" {read})> fill {zero} : {kind} : {source} -> {result}"
                )
            lines.append(f"  %r{k} = metaop.sub %ar{k}, %br{k} : {result}")
            results.append(f"%r{k}")
            types.append(result)
    return (
        f"func.func @main({', '.join(arguments)}) -> ({', '.join(types)}) {{\n"
        + "\n".join(lines)
        + f"\n  return {', '.join(results)} : {', '.join(types)}\n}}\n"
    )


def run(command: list[str], text: str, seconds: float = 120) -> str:
    """Return what a tool writes, given a text."""
    done = subprocess.run(command, input=text, capture_output=True, text=True, timeout=seconds)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


@pytest.mark.parametrize("processor", PROCESSORS)
@pytest.mark.parametrize("kind", TYPES)
def test_code_generators_end(kind: str, processor: str) -> None:
    program = write_program(kind, EXTENTS)
    pipeline = f"--metaop-pipeline=to=llvm processor={processor}"
    lowered = run([str(BUILT / "metaop-opt"), pipeline], program, 600)
    module = run([TRANSLATE, "--mlir-to-llvmir"], lowered)
    module = run([TOOLS[0], "-O1", "-S"], module, 600)
    triple = "aarch64-unknown-linux-gnu" if processor == "neon" else "x86_64-unknown-linux-gnu"
    for name in PROCESSORS[processor]:
        command = [TOOLS[1], f"-mtriple={triple}", f"-mcpu={name}", "-filetype=null"]
        run(command, module, 60 + len(EXTENTS))
