# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs as pictures, drawn by Graphviz."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ._profile_types import CallTimes, ProgramGraph

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["to_dot", "write"]

_TEXT = (".dot", ".gv")
_DRAWN = (".svg", ".pdf", ".png")

_HEAD = """\
digraph program {
  graph [fontname="Helvetica" fontsize=11 labeljust=l]
  node [fontname="Helvetica" fontsize=10 shape=box style="rounded,filled" fillcolor=white]
  edge [color="#555555" arrowsize=0.6]
"""


def to_dot(graph: ProgramGraph, calls: list[CallTimes]) -> str:
    """Return a program as Graphviz' text.

    Each call of a kernel is a box. An operator may be computed by several
    kernels, and has a node in each. Operators that no kernel computes, because
    they are views or simplification has removed them, are dashed, in the boxes
    of what uses them.
    """
    members = [list(call["nodes"]) for call in calls]
    kernels_of = _place(graph, members)
    total = sum(call["total"] for call in calls)
    lines = [_HEAD]
    for number, kind in enumerate(graph["leaves"]):
        lines.append(f"  leaf{number} [shape=ellipse label={_quote(kind)}]\n")
    for number, call in enumerate(calls):
        lines.append(_open_box(number, call, total))
        lines += [f"    {_node(graph, p, number, p in call['nodes'])}" for p in members[number]]
        lines.append("  }\n")
    for position, kernels in enumerate(kernels_of):
        if not kernels:
            lines.append(f"  {_node(graph, position, None, False)}")
    lines += _edges(graph, kernels_of)
    return "".join([*lines, "}\n"])


def write(dot: str, path: Path) -> None:
    """Write a picture, in the format that the file's name ends with.

    Raises
    ------
    ValueError
        If the name ends with something else.
    RuntimeError
        If Graphviz is not installed, or fails.
    """
    import shutil
    import subprocess

    kind = path.suffix.lower()
    if kind in _TEXT:
        path.write_text(dot)
        return
    if kind not in _DRAWN:
        raise ValueError(f"graph: given '{path}', expected a name with {', '.join(_TEXT + _DRAWN)}")
    program = shutil.which("dot")
    if program is None:
        raise RuntimeError(
            f"graph: drawing '{path}' takes Graphviz, whose program 'dot' is not on the PATH; "
            f"install it (Debian's package graphviz), or write a {_TEXT[0]} file"
        )
    done = subprocess.run([program, f"-T{kind[1:]}"], input=dot.encode(), capture_output=True)
    if done.returncode != 0:
        raise RuntimeError(f"graph: dot failed: {done.stderr.decode(errors='replace').strip()}")
    path.write_bytes(done.stdout)


def _quote(text: str) -> str:
    """Return a string of Graphviz; a line break stays one."""
    text = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{text}"'


def _colour(share: float) -> str:
    """Return white for 0 up to orange for 1."""
    red, green, blue = (round(255 + share * (end - 255)) for end in (255, 140, 60))
    return f'"#{red:02x}{green:02x}{blue:02x}"'


def _place(graph: ProgramGraph, members: list[list[int]]) -> list[list[int]]:
    """Return the boxes that each operator is drawn in.

    What no kernel computes joins the boxes of what uses it, and is added to
    their members. What nothing uses either is in no box.
    """
    kernels_of: list[list[int]] = [[] for _ in graph["nodes"]]
    for kernel, positions in enumerate(members):
        for position in positions:
            kernels_of[position].append(kernel)
    users: list[list[int]] = [[] for _ in graph["nodes"]]
    for position, (_, operands, _, _) in enumerate(graph["nodes"]):
        for operand in operands:
            if operand >= 0:
                users[operand].append(position)
    for position in reversed(range(len(users))):
        if not kernels_of[position]:
            kernels_of[position] = sorted({k for user in users[position] for k in kernels_of[user]})
            for kernel in kernels_of[position]:
                members[kernel].append(position)
    return kernels_of


def _name(position: int, kernel: int | None) -> str:
    return f"node{position}" if kernel is None else f"kernel{kernel}_{position}"


def _node(graph: ProgramGraph, position: int, kernel: int | None, is_computed: bool) -> str:
    operator, _, kind, line = graph["nodes"][position]
    label, tooltip = _quote(f"{operator}\n{kind}"), _quote(line or operator)
    # A result of the program has a double border.
    border = " peripheries=2" if position in graph["outputs"] else ""
    style = "" if is_computed else ' style="rounded,dashed"'
    return f"{_name(position, kernel)} [label={label} tooltip={tooltip}{border}{style}]\n"


def _open_box(number: int, call: CallTimes, total: int) -> str:
    share = call["total"] / total if total else 0.0
    label = f"{call['name']}: {call['total'] * 1e-6:.3f} ms, {share:.1%}"
    tooltip = _quote("\n".join([label, *call["lines"]]))
    return (
        f"  subgraph cluster_{number} {{\n"
        f"    label={_quote(label)} tooltip={tooltip}\n"
        f'    style="rounded,filled" fillcolor={_colour(share)}\n'
    )


def _edges(graph: ProgramGraph, kernels_of: list[list[int]]) -> Iterator[str]:
    def source(operand: int, kernel: int | None) -> str:
        if operand < 0:
            return f"leaf{-1 - operand}"
        kernels = kernels_of[operand]
        if kernel in kernels or not kernels:
            return _name(operand, kernel if kernels else None)
        # From memory, where the first of them has written it.
        return _name(operand, kernels[0])

    for position, (_, operands, _, _) in enumerate(graph["nodes"]):
        boxes: list[int | None] = [*kernels_of[position]]
        for kernel in boxes or [None]:
            for operand in operands:
                yield f"  {source(operand, kernel)} -> {_name(position, kernel)}\n"
