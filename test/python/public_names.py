# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes which module has which name of the package, for the package and for type checkers.

    python test/python/public_names.py

It reads what the modules list in ``__all__``, and writes `_exports.py`, by which the
package and its rooms find their names, and stubs, by which type checkers do: `__init__.pyi`
of the package, its rooms and its layers, and `nn/functional.pyi`. Functions have other
spellings of their parameters there, too (see `other_spellings.py`). The members of Var in
`_core.pyi` are written from tables, too (see `var_members.py`).
"""

from __future__ import annotations

import ast
import builtins
import json
import pathlib
import subprocess
import sys
from collections.abc import Iterable

from other_spellings import with_spellings
from var_members import core_stubs

PACKAGE = pathlib.Path(__file__).parents[2] / "python" / "metaops"

#: Modules all of whose ``__all__`` the package has, by the rooms that they are in.
WHOLE = {
    "": "_devices _flags exporting fetching gradients io loading trees",
    "compat": "array_api exchange",
    "complex_numbers": "dtypes pair parts",
    "control_flow": "branches loops scans",
    "extern": "calls host routines",
    "func": "checkpoints contexts derivatives jacobians linear modules rules vectorizing",
    "ops.create": "creation limits",
    "ops.elementwise": """
        activations bessels bits closeness elementwise floats functions incomplete packing
        probabilities rounding zetas
    """,
    "ops.index": "choices gathering places",
    "ops.products": "contraction distances products",
    "ops.reduce": "cumulative nan_orders norms reduction running segments",
    "ops.shape": "blocks diagonals padding repeating shaping splitting stacking windows",
    "ops.signal": "differences filters polynomials tapers",
    "ops.sort": "distinct orders quantiles searching sets sorting",
    "ops.statistics": "grids histograms statistics",
    "random": "categories counts distributions gammas sampling states",
    "tools": "info memory summaries tuning",
    "tracing": "functions reports",
}

#: Modules of whose names the package has some.
PARTS = {
    "_core": """
        Var bfloat16 broadcast broadcast_var dtype dump fetch_sync float16 float32 float64
        get_num_threads int16 int32 int64 int8 iota matmul reindex reindex_reduce reset_peak seed
        set_num_threads stats stop_fuse stop_grad sync sync_all uint16 uint32 uint64 uint8
    """,
    "_defaults": "default_dtype get_default_dtype set_default_dtype",
    "nn": "Module Sequential",
    "random.keys": "Key",
    "tools.explaining": "Explanation KernelExplanation explain",
    "tools.profiler": "KernelProfile ProfileReport ProgramProfile profile_scope",
}

#: Names that ``from metaops import *`` leaves out: of builtins, and of variables of many.
UNLISTED = {
    "_core": "bool",
    "compat.array_api": "__array_api_version__ __array_namespace_info__ e inf nan newaxis pi",
}

#: Modules that are names of the package; `__all__` lists the first two.
MODULES = [
    "nn",
    "optim",
    "amp",
    "cache",
    "compat",
    "complex_numbers",
    "control_flow",
    "data",
    "execute",
    "extern",
    "fft",
    "func",
    "linalg",
    "models",
    "ops",
    "random",
    "tools",
    "tracing",
    "transforms",
]

HEADER = """\
# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Written by test/python/public_names.py.
"""


def listed(module: str) -> list[str]:
    """Return what a module lists in ``__all__``."""
    for node in ast.parse((PACKAGE / f"{module.replace('.', '/')}.py").read_text()).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return list(ast.literal_eval(node.value))
    raise ValueError(f"{module} has no __all__")


def find_exports() -> dict[str, list[str]]:
    """Return the names that the package lists, by the modules that have them."""
    modules = [f"{room}.{name}".strip(".") for room in WHOLE for name in WHOLE[room].split()]
    exports = {module: listed(module) for module in modules}
    exports |= {module: names.split() for module, names in PARTS.items()}
    return {module: sorted(exports[module]) for module in sorted(exports)}


def find_unlisted() -> dict[str, list[str]]:
    """Return the names that the package has, and does not list, by modules."""
    return {module: sorted(names.split()) for module, names in UNLISTED.items()}


def write_table(exports: dict[str, list[str]]) -> str:
    """Return a dict of tuples as the formatter has it, a name on each line."""
    lines = ["{"]
    for module, names in exports.items():
        if len(names) == 1:
            lines.append(f'    "{module}": ("{names[0]}",),')
        else:
            lines += [f'    "{module}": (', *(f'        "{name}",' for name in names), "    ),"]
    return "\n".join([*lines, "}"])


def table() -> str:
    """Return the text of the package's table."""
    modules = "\n".join(f'    "{name}",' for name in MODULES)
    return f'''{HEADER}"""Which module has which name of the package."""

#: The names that `__all__` lists, by modules.
EXPORTS = {write_table(find_exports())}

#: Those that it does not list.
UNLISTED = {write_table(find_unlisted())}

#: Modules that are names of the package; `__all__` lists the first two.
MODULES = (
{modules}
)
'''


# Stubs


def relative(package: str, target: list[str]) -> str:
    """Return how a package of the first level, or the whole one, names a module by dots."""
    if package and target[:1] == [package]:
        return "." + ".".join(target[1:])
    return ("." if not package else "..") + ".".join(target)


class Source:
    """A module's text: where the names in its annotations come from.

    Modules of the package are named from the package that the stub is of.
    """

    def __init__(self, package: str, module: str) -> None:
        folder = PACKAGE / package / module.replace(".", "/")
        is_package = folder.is_dir()
        path = folder / "__init__.py" if is_package else folder.with_suffix(".py")
        self.module = module
        self.tree = ast.parse((path if path.exists() else path.with_suffix(".pyi")).read_text())
        self.origins: dict[str, str] = {}
        parts = [*filter(None, [package]), *module.split(".")]
        for node in self.tree.body:
            if isinstance(node, ast.Import):
                for alias in node.names:
                    name = alias.asname or alias.name
                    self.origins[name] = f"import {alias.name} as _{name}"
            elif isinstance(node, ast.ImportFrom):
                origin = node.module or ""
                if node.level:
                    above = parts[: len(parts) - node.level + is_package]
                    origin = relative(package, [*above, *origin.split(".")] if origin else above)
                for alias in node.names:
                    name = alias.asname or alias.name
                    self.origins[name] = f"from {origin} import {alias.name} as _{name}"
            elif isinstance(node, ast.ClassDef):
                self.origins[node.name] = f"from .{module} import {node.name} as _{node.name}"
            elif isinstance(node, ast.AnnAssign | ast.Assign):
                for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                    name = ast.unparse(target)
                    prefix = module.rpartition(".")[2].strip("_")
                    alias = f"_{prefix}{name}" if name.startswith("_") else f"_{name}"
                    self.origins[name] = f"from .{module} import {name} as {alias}"

    def find_function(self, name: str) -> ast.FunctionDef | None:
        """Return the definition of a function, if there is one, and no other of its name."""
        found = [n for n in self.tree.body if isinstance(n, ast.FunctionDef) and n.name == name]
        return found[0] if len(found) == 1 and not found[0].decorator_list else None


class _Renamed(ast.NodeTransformer):
    """Gives names of annotations an underscore, and collects what they are imported by."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.imports: set[str] = set()

    def visit_Name(self, node: ast.Name) -> ast.Name:
        origin = self.source.origins.get(node.id)
        if origin is None:
            if node.id not in dir(builtins):
                raise ValueError(f"{self.source.module}: nothing defines {node.id}")
            # The package has a `bool` of its own.
            return ast.Name("_builtins.bool" if node.id == "bool" else node.id)
        self.imports.add(origin)
        return ast.Name(origin.split()[-1])


def stub(source: Source, function: ast.FunctionDef) -> tuple[set[str], list[str]] | None:
    """Return imports and text of a function's stub; None where it needs none."""
    forms = with_spellings(function)
    if len(forms) == 1 and ast.unparse(forms[0].args) == ast.unparse(function.args):
        return None
    renamed = _Renamed(source)
    about = (ast.get_docstring(function) or "").split("\n\n")[0].replace("\n", " ")
    lines = []
    for form in forms:
        for argument in ast.walk(form.args):
            if isinstance(argument, ast.arg) and argument.annotation is not None:
                argument.annotation = renamed.visit(argument.annotation)
        result = "" if form.returns is None else f" -> {ast.unparse(renamed.visit(form.returns))}"
        if len(forms) > 1:
            lines.append("@_overload")
        lines.append(f"def {form.name}({ast.unparse(form.args)}){result}:")
        lines.append(f'    """{about}"""' if about and form is forms[0] else "    ...")
    return renamed.imports, lines


def package_stubs() -> str:
    """Return the text of the package's stub, as it is before the formatter."""
    modules: dict[str, list[str]] = {}
    for table in (find_exports(), find_unlisted()):
        for module, names in table.items():
            modules.setdefault(module, []).extend(names)
    imports = {f"from . import {module} as {module}" for module in MODULES if module != "random"}
    callable_imports, room = random_stubs()
    modules["random.sampling"].remove("random")
    names = [*MODULES[:2], *(name for names in find_exports().values() for name in names)]
    parts = ["__version__: str", *room]
    return write_stubs("", modules, imports | callable_imports, parts, names)


def layer_stubs() -> str:
    """Return the same of the package of layers, which imports its names one by one."""
    listed_names = listed("nn/__init__")
    modules = {}
    imports = set()
    for node in ast.parse((PACKAGE / "nn" / "__init__.py").read_text()).body:
        if isinstance(node, ast.ImportFrom):
            names = [alias.name for alias in node.names if alias.name in listed_names]
            if node.module is None:
                imports |= {f"from . import {name} as {name}" for name in names}
            elif node.level == 1:
                modules[node.module] = names
    return write_stubs("nn", modules, imports, [], listed_names)


def functional_stubs() -> str:
    """Return the same of `nn.functional`, whose names are those of other packages."""
    tree = ast.parse((PACKAGE / "nn" / "functional.py").read_text())
    tables = {
        ast.unparse(node.targets[0]): ast.literal_eval(node.value)
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Dict)
    }
    origins = dict(tables["_RENAMED"])
    for module, names in tables["_FUNCTIONS"].items():
        origins |= {name: f"{module}.{name}" for name in names.split()}
    imports = []
    for name, origin in origins.items():
        module, _, own = origin.rpartition(".")
        imports.append(f"from {'..' if module == 'metaops' else '.'} import {own} as {name}")
    return stub_text(imports, [], origins)


def random_stubs() -> tuple[set[str], list[str]]:
    """Return imports and text of a class: the room `random` is a function, too."""
    imports, lines = set(), []
    for module in find_exports():
        if not module.startswith("random."):
            continue
        source = Source("", module)
        for name in find_exports()[module]:
            imports.add(f"from .{module} import {name} as _random_{name}")
            is_class = any(isinstance(n, ast.ClassDef) and n.name == name for n in source.tree.body)
            value = f"_random_{name}" if is_class else f"staticmethod(_random_{name})"
            lines.append(f"    {name} = {value}")
    lines.append("    __call__ = staticmethod(_random_random)")
    about = '    """The package `metaops.random`, which is a function, too."""'
    return imports, ["class _Random:", about, *sorted(lines), "random: _Random"]


def room_stubs() -> dict[pathlib.Path, str]:
    """Return the texts of the stubs of rooms, which have names of the package."""
    exports = find_exports()
    rooms: dict[str, set[str]] = {"ops": set()}
    for module, names in exports.items():
        room = module.rpartition(".")[0]
        if room:
            rooms.setdefault(room, set()).update(names)
            if room.startswith("ops."):
                rooms["ops"].add(room[4:])
    folders = {PACKAGE / room.replace(".", "/"): names for room, names in rooms.items()}
    return {folder / "__init__.pyi": room_stub(folder, names) for folder, names in folders.items()}


def room_stub(room: pathlib.Path, names: set[str]) -> str:
    """Return the text of a room's stub: names of the package, or rooms in it."""
    above = "." * (len(room.relative_to(PACKAGE).parts) + 1)
    imports = []
    for name in names:
        origin = "." if (room / name).is_dir() else above
        if name == "random":
            origin = ".sampling"  # the package's own is the room
        imports.append(f"from {origin} import {name} as {name}")
    return stub_text(imports, [], names)


def stub_text(imports: Iterable[str], parts: list[str], names: Iterable[str]) -> str:
    """Return the text of a stub, whose `__all__` lists names."""
    listing = f"__all__ = {json.dumps(sorted(names))}"
    first = f'{HEADER}"""The names of the package, for type checkers."""\n'
    return "\n".join([first, *sorted(imports), listing, *parts, ""])


def write_stubs(
    package: str,
    modules: dict[str, list[str]],
    imports: set[str],
    parts: list[str],
    listed_names: list[str],
) -> str:
    """Return the text of the stub of a package whose modules have some names."""
    imports |= {"import builtins as _builtins", "from typing import overload as _overload"}
    for module, names in modules.items():
        source = Source(package, module)
        for name in names:
            function = source.find_function(name)
            written = None if function is None else stub(source, function)
            if written is None:
                imports.add(f"from .{module} import {name} as {name}")
            else:
                imports |= written[0]
                parts += written[1]
    bound = [line.split()[-1] for line in imports]
    if twice := {name for name in bound if bound.count(name) > 1}:
        raise ValueError(f"{', '.join(sorted(twice))}: imported from several modules")
    return stub_text(imports, parts, listed_names)


def formatted(text: str, path: pathlib.Path) -> str:
    """Return Python's text as the project's formatter has it."""
    command = [sys.executable, "-m", "ruff"]
    for arguments in (["check", "-q", "--fix", "--select=I"], ["format", "-q"]):
        done = subprocess.run(
            [*command, *arguments, f"--stdin-filename={path}", "-"],
            input=text,
            capture_output=True,
            text=True,
            check=True,
        )
        text = done.stdout
    return text


def find_files() -> dict[pathlib.Path, str]:
    """Return the texts of all files that are written here."""
    texts = {
        PACKAGE / "__init__.pyi": package_stubs(),
        PACKAGE / "nn" / "__init__.pyi": layer_stubs(),
        PACKAGE / "nn" / "functional.pyi": functional_stubs(),
        PACKAGE / "_core.pyi": core_stubs(),
    } | room_stubs()
    stubs = {path: formatted(text, path) for path, text in texts.items()}
    return {PACKAGE / "_exports.py": table()} | stubs


if __name__ == "__main__":
    for path, text in find_files().items():
        path.write_text(text)
