# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs as C: the target's kernels, and a function that calls them as the plan says.

    build() -> metaop-opt with the target
    write(opt, graph) -> the source of `void run(void **inputs, void **outputs, char *arena)`

The calls, the memory of each value, and the length of each parallel loop are read from the
program at the phases `kernels` and `loops`. What has more than calls and views in `@main`,
such as a branch, a check or a sort, raises `NotInC`.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
FOLDER = Path(__file__).resolve().parent
BUILD = ROOT / "build/emitc"
LLVM = Path("/usr/lib/llvm-22")

#: What the code of kernels uses of C.
HEADERS = ("math", "stdbool", "stddef", "stdint")
#: Operations of @main that are the memory of their operand.
VIEWS = ("metaop.barrier", "metaop.reshape", "metaop.stop_fuse", "metaop.stop_grad")


class NotInC(ValueError):
    """A program that the target, or this module, does not say in C."""


# The tools with the target


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
    return _run(["cmake", "-G", "Ninja", "-S", ROOT, "-B", build, *definitions])


def build() -> Path:
    """Build metaop-opt with the target, of the archives of `build/release`; return its path."""
    for done in (
        configure(BUILD, FOLDER),
        _run(["cmake", "--build", BUILD, "--target", "metaop-opt"]),
    ):
        if done.returncode != 0:
            raise RuntimeError(done.stdout + done.stderr)
    return BUILD / "bin/metaop-opt"


def _run(command: list[object], text: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(word) for word in command], input=text, capture_output=True, text=True, check=False
    )


def lower(opt: Path, graph: str, phase: str = "emitc") -> str:
    """Return a program at a phase of the target; `NotInC` with the first error."""
    done = _run([opt, f"--metaop-pipeline=target=emitc to={phase}"], graph)
    if done.returncode != 0:
        raise NotInC(re.sub(r"^.*?error: ", "", done.stderr.splitlines()[0]))
    return done.stdout


# The plan of a program


@dataclass
class Call:
    """A kernel, and where in C the values are that it reads, and then those that it writes."""

    kernel: str
    buffers: list[str]


@dataclass
class Plan:
    """The calls of a program, in order, and the bytes that values between them take."""

    calls: list[Call]
    arena_bytes: int


def _place(slot: str) -> str:
    """Return where the memory of a slot is."""
    kind, number = re.findall(r"(\w+)", slot)[:2]
    if kind == "arena":
        return f"arena + {number}"
    return f"{kind}s[{number}]".replace("arguments", "inputs").replace("results", "outputs")


def read_plan(program: str) -> Plan:
    """Read the calls of a program at the phase `kernels`."""
    (main,) = re.findall(r"^  func\.func @main\(.*?^  }", program, re.M | re.S)
    head, *lines = main.splitlines()[:-1]
    arena = re.search(r"metaop\.arena_bytes = (\d+)", head)
    places = {f"%arg{k}": f"inputs[{k}]" for k in range(len(re.findall(r"%arg\d+:", head)))}
    plan = Plan([], int(arena[1]) if arena else 0)
    for line in lines:
        if call := re.match(
            r" +(%\w+)\S* = call @(\w+)\((.*?)\) \{metaop\.slots = \[(.*?)\]", line
        ):
            name, kernel, operands, slots = call.groups()
            written = [_place(slot) for slot in re.findall(r"slot<(.*?)>", slots)]
            read = [places[operand] for operand in operands.split(", ") if operand]
            plan.calls.append(Call(kernel, read + written))
            places |= {f"{name}#{k}": place for k, place in enumerate(written)}
            places[name] = written[0]
        elif view := re.match(r" +(%\w+) = ([\w.]+) (%[\w#]+) ", line):
            if view[2] not in VIEWS:
                raise NotInC(f"'{view[2]}' op is no call")
            places[view[1]] = places[view[3]]
        elif returned := re.match(r" +return ?(.*?)(?: : |$)", line):
            for k, value in enumerate(filter(None, returned[1].split(", "))):
                if places[value] != f"outputs[{k}]":
                    raise NotInC(f"result {k} is the memory of another value")
        else:
            (operation,) = re.findall(r"^ +(?:%[\w:, %]+ = )?([\w.]+)", line)
            raise NotInC(f"'{operation}' op is no call")
    return plan


def write(opt: Path, graph: str) -> tuple[str, Plan]:
    """Return the source of a program, whose function is `run`, and its plan."""
    plan = read_plan(lower(opt, graph, "kernels"))
    loops = lower(opt, graph, "loops")
    text = _run([LLVM / "bin/mlir-translate", "--mlir-to-cpp"], lower(opt, graph)).stdout
    steps = {
        name: re.search(r"\brange = (\d+)", entry)
        for name, entry in re.findall(r"func\.func @(\w+)\(.*?#metaop\.entry<([^>]*)>", loops)
    }
    lines = [f"#include <{name}.h>" for name in HEADERS]
    lines += [text, "void run(void **inputs, void **outputs, char *arena) {"]
    for call in plan.calls:
        range_ = steps[call.kernel]
        buffers = ", ".join(f"(void *)({place})" for place in call.buffers)
        lines.append(f"  {call.kernel}({buffers}, 0, {range_[1] if range_ else 1});")
    return "\n".join([*lines, "}\n"]), plan
