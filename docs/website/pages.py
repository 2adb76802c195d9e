# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Pages of the website: the documents of docs/README.md, and a reference of Python's names.

The documents stay where they are. The folder that Sphinx reads has copies of them at the same
places, and of the sources and pictures that they link to, so that links lead where they lead
in a checkout. A link to a folder, which has no page, becomes text.
"""

from __future__ import annotations

import functools
import inspect
import os
import re
import shutil
import sys
from pathlib import Path
from textwrap import indent
from types import ModuleType
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
INDEX = ROOT / "docs/README.md"

#: A link of Markdown: its text, the path, and the heading.
LINK = re.compile(r"\[([^\[\]]*)\]\(([^()#\s:]+)(#[^()\s]*)?\)")

#: Pages of the reference by their files: a title, and the modules whose names they have.
REFERENCE = {
    "tensors": ("Tensors and devices", r"_core|_defaults|_devices|_flags"),
    "create": ("Making tensors", r"ops\.create\..*|io|loading|exporting|fetching|trees"),
    "elementwise": ("Functions of elements", r"ops\.elementwise\..*"),
    "reduce": ("Reductions and running sums", r"ops\.reduce\..*"),
    "shape": ("Shapes", r"ops\.shape\..*"),
    "indexing": ("Indexing", r"ops\.index\..*"),
    "sort": ("Sorting and searching", r"ops\.sort\..*"),
    "products": ("Products", r"ops\.products\..*"),
    "statistics": ("Statistics", r"ops\.statistics\..*"),
    "signal": ("Signals and polynomials", r"ops\.signal\..*"),
    "random": ("Random numbers", r"random\..*"),
    "complex": ("Complex numbers", r"complex_numbers\..*"),
    "gradients": ("Gradients", r"gradients"),
    "func": ("Functions of functions, and derivatives of their own", r"func\..*"),
    "extern": ("Code of your own", r"extern\..*"),
    "recorded": ("Recorded functions", r"tracing\..*"),
    "control-flow": ("Branches and loops", r"control_flow\..*"),
    "tools": ("Tools", r"tools\..*"),
    "compat": ("Exchange with other libraries", r"compat\..*"),
}

#: Modules with a page of their own.
MODULES = {
    "nn": "Layers and losses",
    "nn.functional": "Layers as functions",
    "nn.init": "Initial values",
    "nn.utils": "Help for layers",
    "fft": "Fourier transforms",
    "linalg": "Linear algebra",
    "models": "Models of the literature",
    "optim": "Optimisers",
    "optim.lr_scheduler": "Learning rates",
    "amp": "Mixed precision",
    "transforms": "Transforms of images",
    "transforms.functional": "Transforms as functions",
    "cache": "The cache on disk",
    "data": "Data sets and loaders",
    "execute": "Running exported programs",
}

Groups = dict[str, list[str]]


def list_groups(index: Path) -> Groups:
    """Return the pages that an index links to in tables, by its headings."""
    groups: Groups = {}
    for line in index.read_text().splitlines():
        if line.startswith("## "):
            groups[line[3:]] = []
        elif line.startswith("| ["):
            (link, *_) = re.findall(r"\]\(([^)#]*)\)", line)
            groups[list(groups)[-1]].append(os.path.normpath(f"docs/{link}"))
    return groups


@functools.cache
def list_pages() -> list[str]:
    """Return the documents of the website, the first page and the index among them."""
    pages = [page for pages in list_groups(INDEX).values() for page in pages]
    return ["README.md", "docs/README.md", *pages]


def write_contents(groups: Groups) -> str:
    """Return the table of contents that the side of each page shows."""
    parts = {"": ["docs/README.md"], **groups, "Reference of Python": ["reference/index.rst"]}
    return "".join(
        "\n\n```{toctree}\n:hidden:\n"
        + (f":caption: {title}\n" if title else "")
        + "\n".join(["", *(page.rpartition(".")[0] for page in pages)])
        + "\n```\n"
        for title, pages in parts.items()
    )


def write_title(title: str) -> str:
    """Return a title of a page."""
    return f"{title}\n{'=' * len(title)}\n\n"


def write_entry(owner: ModuleType, name: str) -> str:
    """Return the directive that documents a name of a module."""
    value: Any = getattr(owner, name)
    if isinstance(value, type):
        return f".. autoclass:: {name}\n   :members:\n"
    if callable(value):
        return f".. autofunction:: {name}\n"
    # Without its value, which may name folders of this machine.
    return f".. py:data:: {name}\n\n{indent(inspect.getdoc(value) or '', '   ')}\n"


def write_names(owner: ModuleType, title: str, names: list[str]) -> str:
    """Return the page of some names of a module."""
    entries = [write_entry(owner, name) for name in sorted(names, key=str.lower)]
    return write_title(title) + f".. currentmodule:: {owner.__name__}\n\n" + "\n".join(entries)


def write_rooms(folder: Path) -> None:
    """Write the pages of the package's own names, by the rooms that these are in."""
    import metaops
    from metaops._exports import EXPORTS

    left = dict(EXPORTS)
    for page, (title, pattern) in REFERENCE.items():
        modules = [module for module in EXPORTS if re.fullmatch(pattern, module)]
        names = [name for module in modules for name in left.pop(module)]
        (folder / f"{page}.rst").write_text(write_names(metaops, title, names))
    # Layers that the package has too are on the page of layers.
    if unknown := set(left) - set(MODULES):
        sys.exit(f"docs/website/pages.py: no page of the reference has {sorted(unknown)}")


def write_modules(folder: Path) -> None:
    """Write the pages of modules."""
    import metaops

    for module, title in MODULES.items():
        owner: Any = metaops
        for part in module.split("."):
            owner = getattr(owner, part)
        # Modules within have pages of their own.
        own = [n for n in owner.__all__ if not isinstance(getattr(owner, n), ModuleType)]
        (folder / f"{module}.rst").write_text(write_names(owner, title, own))


def write_reference(folder: Path) -> None:
    """Write the reference, every public name of the package, and its contents."""
    write_rooms(folder)
    write_modules(folder)
    contents = "".join(f"   {page}\n" for page in [*REFERENCE, *MODULES])
    (folder / "index.rst").write_text(
        f"{write_title('Reference')}"
        "Names of the package ``metaops``, from their docstrings.\n\n"
        f".. toctree::\n   :maxdepth: 1\n\n{contents}"
    )


def copy_page(page: str, folder: Path) -> None:
    """Copy a document, and what it links to that is none."""

    def follow(link: re.Match[str]) -> str:
        path = os.path.normpath(os.path.join(os.path.dirname(page), link[2]))
        if (ROOT / path).is_dir():
            readme = os.path.join(link[2], "README.md")
            return f"[{link[1]}]({readme})" if f"{path}/README.md" in list_pages() else link[1]
        if (ROOT / path).is_file():
            copy_file(path, folder)
        return link[0]

    (folder / page).parent.mkdir(parents=True, exist_ok=True)
    (folder / page).write_text(LINK.sub(follow, (ROOT / page).read_text()))


def copy_file(path: str, folder: Path) -> None:
    """Copy a file to the same place in another folder."""
    (folder / path).parent.mkdir(parents=True, exist_ok=True)
    if not (folder / path).exists():
        shutil.copy(ROOT / path, folder / path)


def write_pages(folder: Path) -> None:
    """Make the folder that Sphinx reads anew."""
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "reference").mkdir(parents=True)
    for page in list_pages():
        copy_page(page, folder)
    write_reference(folder / "reference")


if __name__ == "__main__":
    write_pages(Path(sys.argv[1]))
