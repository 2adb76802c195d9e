# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Counts the names of other libraries that are here, and writes docs/Coverage.md.

    python test/python/coverage_of_names.py

The names are in data/library_names.txt, made from installed libraries; what is said of
those that are not here is in `metaops.compat._absent`.
"""

from __future__ import annotations

import pathlib
import textwrap
from itertools import chain
from typing import NamedTuple

import metaops as mo
from metaops.compat._absent import read_table
from metaops.optim import lr_scheduler

DATA = pathlib.Path(__file__).parent / "data"
DOCUMENT = pathlib.Path(__file__).parents[2] / "docs" / "Coverage.md"

#: Modules in which the names of a library are looked for.
MODULES = {
    "numpy": [mo],
    "the array API": [mo],
    "jax.numpy": [mo],
    "jax.lax": [mo],
    "torch": [mo, mo.nn],
    "torch.nn": [mo.nn],
    "torch.nn.functional": [mo.nn.functional, mo],
    "torch.nn.init": [mo.nn.init],
    "torch.optim": [mo.optim],
    "torch.optim.lr_scheduler": [lr_scheduler],
    "torchvision.transforms": [mo.transforms],
    "torchvision.transforms.v2": [mo.transforms, mo.nn],
    "torchvision.transforms.functional": [mo.transforms.functional],
    "jittor.transform": [mo.transforms, mo.transforms.functional],
    "jax": [mo],
    "jax.nn": [mo, mo.nn],
    "jax.random": [mo],
    "jax.scipy.special": [mo],
    "numpy.random": [mo],
    "numpy.fft": [mo.fft],
    "torch.fft": [mo.fft],
    "torch.linalg": [mo, mo.linalg],
    "torch.special": [mo],
}


class Library(NamedTuple):
    """Names of one library."""

    version: str
    kind: str
    module: str
    names: list[str]

    def is_here(self, name: str) -> bool:
        """Return whether a name is one of ours, without the sign of a change in place."""
        own = {word for module in MODULES[self.module] for word in module.__all__}
        return name in own or name.removesuffix("_") in own


def libraries() -> list[Library]:
    """Return the names of all libraries."""
    result = []
    for line in (DATA / "library_names.txt").read_text().splitlines():
        if line.startswith("== "):
            version, rest = line[3:].split(": ")
            kind, module = rest.split(" of ")
            result.append(Library(version, kind, module, []))
        elif line and not line.startswith("#"):
            result[-1].names.extend(line.split())
    return result


def counted() -> list[Library]:
    """Return those whose names are counted: lists of functions, layers and optimisers."""
    return [library for library in libraries() if library.kind != "names"]


def tables() -> tuple[dict[str, str], dict[str, list[str]], dict[str, list[str]]]:
    """Return what is called otherwise, what is left out and what is missing, by reasons."""
    elsewhere: dict[str, str] = {}
    left_out: dict[str, list[str]] = {}
    missing: dict[str, list[str]] = {}
    for title, lines in read_table():
        if title == "elsewhere":
            for line in lines:
                names, here = line.split(" -> ")
                elsewhere |= dict.fromkeys(names.split(), here)
            continue
        kind, reason = title.split(": ", 1)
        names = " ".join(lines).split()
        {"not": left_out, "missing": missing}[kind][reason] = names
    return elsewhere, left_out, missing


def _listed(names: list[str]) -> str:
    text = ", ".join(f"`{name}`" for name in sorted(names, key=str.lower))
    return "\n".join(textwrap.wrap(text, 95, break_long_words=False, break_on_hyphens=False))


def document() -> str:
    """Return what docs/Coverage.md is to say."""
    elsewhere, left_out, missing = tables()
    kinds = [elsewhere, *(list(chain(*kind.values())) for kind in (left_out, missing))]
    rows = []
    for library in counted():
        absent = [name for name in library.names if not library.is_here(name)]
        counts = [sum(name in kind for name in absent) for kind in kinds]
        cells = [f"{library.kind} of {library.module}", library.version, len(library.names)]
        cells += [len(library.names) - len(absent), *counts]
        rows.append(f"| {' | '.join(map(str, cells))} |")
    lines = [
        "<!-- Written by test/python/coverage_of_names.py from metaops/compat/_absent.py. -->",
        "",
        "# Coverage",
        "",
        "How many names of other libraries are here. A name counts as here if a function or",
        "class of this library has it; [Names](Names.md) tells where one means another thing.",
        "The others have another name or are written otherwise, are left out deliberately, or",
        "are missing, each for a reason that is told below.",
        "",
        "| names | version | all | here | otherwise | left out | missing |",
        "| --- | --- | --- | --- | --- | --- | --- |",
        *rows,
        "",
        "## Otherwise",
        "",
        "| there | here |",
        "| --- | --- |",
    ]
    by_advice: dict[str, list[str]] = {}
    for name, here in elsewhere.items():
        by_advice.setdefault(here, []).append(name)
    for here, names in sorted(by_advice.items(), key=lambda row: sorted(row[1])[0].lower()):
        there = ", ".join(f"`{name}`" for name in sorted(names, key=str.lower))
        lines.append(f"| {there} | {here} |")
    for title, kind in (("Left out", left_out), ("Missing", missing)):
        lines += ["", f"## {title}"]
        for reason, names in kind.items():
            lines += ["", reason, "", _listed(names)]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    DOCUMENT.write_text(document())
