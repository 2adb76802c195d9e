# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Layers of lib/: no folder needs what stands behind it.

The table of lib/README.md has the folders in order, with the library of each. A folder may
include headers, and use symbols, of itself and of folders before it; a library may use
symbols of what its CMakeLists.txt links. A link of static archives fails at neither, as
each program links all of them.
"""

from __future__ import annotations

import json
import re
import subprocess
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

from checks.landings import ROOT

NM = "/usr/lib/llvm-22/bin/llvm-nm"
FILT = "/usr/lib/llvm-22/bin/llvm-cxxfilt"
BUILD = ROOT / "build/release"

#: Libraries whose folders need one another: methods of operations emit and differentiate,
#: and a compiler of programs tunes them by itself.
TOGETHER = {"MetaOpsDialect", "MetaOpsKernels"}

#: A row of the table: folder, library, meaning.
ROW = re.compile(r"^\| `([\w/]+)` \| `(\w+)` \|", re.MULTILINE)
INCLUDE = re.compile(r'^#include "(?:MetaOps/)?([\w/.]+)"', re.MULTILINE)
LIBRARY = re.compile(r"^add_metaops_library\((\w+)(.*?)\)", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\bLINK\s+([\w\s]*?)(?=\b(?:SOURCES|DEPENDS|STANDALONE)\b|$)")


@dataclass
class Layers:
    """The folders of lib/ in order, and the libraries that they make up."""

    #: The place of each folder in the order.
    places: dict[str, int]
    #: The library of each folder.
    libraries: dict[str, str]
    #: The libraries that each one links, directly.
    links: dict[str, set[str]]

    @classmethod
    def read(cls) -> Layers:
        """Return the layers that the project declares."""
        rows = ROW.findall((ROOT / "lib/README.md").read_text())
        links = {}
        for file in (ROOT / "lib").rglob("CMakeLists.txt"):
            for name, arguments in LIBRARY.findall(file.read_text()):
                found = LINK.search(arguments)
                links[name] = set(found[1].split()) if found else set()
        places = {folder: place for place, (folder, _) in enumerate(rows)}
        for folder, library in rows:
            if library in TOGETHER:
                places[folder] = min(places[f] for f, other in rows if other == library)
        return cls(places, dict(rows), links)

    def find_folder(self, path: Path | str) -> str | None:
        """Return the listed folder that a path below lib/ lies in."""
        for parent in Path(path).parents:
            if parent.as_posix() in self.places:
                return parent.as_posix()
        return None

    def find_header_place(self, header: str) -> int:
        """Return the place of the folder of a public header.

        A header above several folders stands before all of them, one of no folder of
        lib/ before everything.
        """
        if folder := self.find_folder(header):
            return self.places[folder]
        above = Path(header).parent.as_posix() + "/"
        return min((p for f, p in self.places.items() if f.startswith(above)), default=-1)

    def find_linked(self, library: str) -> set[str]:
        """Return a library and all that it links, directly or not."""
        found, waiting = set(), [library]
        while waiting:
            name = waiting.pop()
            if name not in found:
                found.add(name)
                waiting += self.links.get(name, ())
        return found


# --- Headers ------------------------------------------------------------------------------


def check_includes(layers: Layers) -> list[str]:
    """Return a line for each include of a header that stands behind what includes it."""
    faults = []
    for base in ("include/MetaOps", "lib"):
        for file in sorted((ROOT / base).rglob("*.[hc]*")):
            if file.suffix not in (".h", ".cpp"):
                continue
            path = file.relative_to(ROOT / base)
            if base == "lib":
                folder = layers.find_folder(path)
                place = layers.places[folder] if folder else len(layers.places)
            else:
                place = layers.find_header_place(path.as_posix())
            for header in INCLUDE.findall(file.read_text()):
                if (ROOT / "include/MetaOps" / header).exists() and (
                    layers.find_header_place(header) > place
                ):
                    faults.append(f"{base}/{path} includes {header}, of a later folder")
                elif header.startswith("../"):
                    faults.append(f"{base}/{path} includes {header}, private to its folder")
    return faults


# --- Symbols ------------------------------------------------------------------------------


@dataclass
class Symbols:
    """Symbols of the objects of a folder."""

    defined: set[str] = field(default_factory=set)
    undefined: set[str] = field(default_factory=set)


def read_symbols(layers: Layers) -> dict[str, Symbols]:
    """Return what the objects of each folder define and leave undefined.

    What several objects define, as inline functions are, belongs to none of them.
    """
    objects = {}
    for command in json.loads((BUILD / "compile_commands.json").read_text()):
        source = Path(command["file"])
        if not source.is_relative_to(ROOT / "lib"):
            continue
        if folder := layers.find_folder(source.relative_to(ROOT / "lib")):
            (output,) = re.findall(r" -o (\S+)", command["command"])
            objects[str(BUILD / output)] = folder
    listed = subprocess.run(
        [NM, "--extern-only", "--format=posix", "--print-file-name", *objects],
        check=True,
        capture_output=True,
        text=True,
    )
    found: dict[str, Symbols] = defaultdict(Symbols)
    for line in listed.stdout.splitlines():
        name, symbol, kind, *_ = re.split(r"(?::)?\s+", line)
        symbols = found[objects[name]]
        if kind in "Uw":
            symbols.undefined.add(symbol)
        elif kind not in "WVvu":
            symbols.defined.add(symbol)
    return found


def check_symbols(layers: Layers, symbols: dict[str, Symbols]) -> list[str]:
    """Return a line for each pair of folders of which one uses the other without right."""
    owners = {name: folder for folder, own in symbols.items() for name in own.defined}
    used: dict[tuple[str, str], set[str]] = defaultdict(set)
    for folder, own in symbols.items():
        for name in own.undefined:
            if (owner := owners.get(name)) and owner != folder:
                used[folder, owner].add(name)
    faults = []
    for (folder, owner), names in sorted(used.items()):
        library = layers.libraries[folder]
        if layers.places[owner] > layers.places[folder]:
            why = "which stands behind it"
        elif library in layers.links and (
            layers.libraries[owner] not in layers.find_linked(library)
        ):
            why = f"whose {layers.libraries[owner]} {library} does not link"
        else:
            continue
        faults.append(f"{folder} uses {owner}, {why}:")
        faults += [f"    {name}" for name in demangle(sorted(names))]
    return faults


def demangle(names: list[str]) -> list[str]:
    """Return symbols as C++ writes them."""
    text = subprocess.run(
        [FILT], input="\n".join(names), check=True, capture_output=True, text=True
    )
    return text.stdout.splitlines()


def find_faults() -> list[str]:
    """Return what is out of order, in lines."""
    layers = Layers.read()
    return check_includes(layers) + check_symbols(layers, read_symbols(layers))
