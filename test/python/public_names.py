# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes which module has which name of the package, for the package and for type checkers.

    python test/python/public_names.py

It reads what the modules list in ``__all__``, and writes `_exports.py`, by which the
package finds its names, and the stubs `__init__.pyi` and `nn/__init__.pyi`, by which type
checkers do; functions have other spellings of their parameters there, too (see
`other_spellings.py`).
"""

from __future__ import annotations

import ast
import builtins
import json
import pathlib
import subprocess
import sys

from other_spellings import with_spellings

PACKAGE = pathlib.Path(__file__).parents[2] / "python" / "metaops"

#: Modules all of whose ``__all__`` the package has.
WHOLE = """
    _devices _flags activations array_api bessels bits blocks categories choices closeness
    contraction counts creation cumulative diagonals differences distances distinct distributions
    elementwise exchange exporting fetching filters floats functions gammas gathering gradients
    grids histograms incomplete info io limits loading memory nan_orders norms orders packing
    padding places polynomials probabilities products quantiles reduction repeating rounding
    running sampling searching segments sets shaping sorting splitting stacking statistics tapers
    trees tuning windows zetas
"""

#: Modules of whose names the package has some.
PARTS = {
    "_core": """
        Var bfloat16 broadcast broadcast_var dtype dump fetch_sync float16 float32 float64
        get_num_threads int16 int32 int64 int8 iota matmul reindex reindex_reduce reset_peak seed
        set_num_threads stats stop_fuse stop_grad sync sync_all uint16 uint32 uint64 uint8
    """,
    "_defaults": "default_dtype get_default_dtype set_default_dtype",
    "explaining": "Explanation KernelExplanation explain",
    "keys": "Key",
    "nn": "Module Sequential",
    "profiler": "KernelProfile ProfileReport ProgramProfile profile_scope",
}

#: Names that ``from metaops import *`` leaves out: of builtins, and of variables of many.
UNLISTED = {
    "_core": "bool",
    "array_api": "__array_api_version__ __array_namespace_info__ e inf nan newaxis pi",
}

#: Modules that are names of the package; `__all__` lists the first two.
MODULES = ["nn", "optim", "cache", "execute"]

HEADER = """\
# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Written by test/python/public_names.py.
"""


def listed(module: str) -> list[str]:
    """Return what a module lists in ``__all__``."""
    for node in ast.parse((PACKAGE / f"{module}.py").read_text()).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return list(ast.literal_eval(node.value))
    raise ValueError(f"{module} has no __all__")


def find_exports() -> dict[str, list[str]]:
    """Return the names that the package lists, by the modules that have them."""
    exports = {module: listed(module) for module in WHOLE.split()}
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
    return f'''{HEADER}"""Which module has which name of the package."""

#: The names that `__all__` lists, by modules.
EXPORTS = {write_table(find_exports())}

#: Those that it does not list.
UNLISTED = {write_table(find_unlisted())}

#: Modules that are names of the package; `__all__` lists the first two.
MODULES = {json.dumps(MODULES).replace("[", "(").replace("]", ")")}
'''


# Stubs


class Source:
    """A module's text: where the names in its annotations come from."""

    def __init__(self, package: pathlib.Path, module: str) -> None:
        path = package / f"{module}.py"
        self.module = module
        self.tree = ast.parse((path if path.exists() else path.with_suffix(".pyi")).read_text())
        self.origins: dict[str, str] = {}
        for node in self.tree.body:
            if isinstance(node, ast.Import):
                for alias in node.names:
                    name = alias.asname or alias.name
                    self.origins[name] = f"import {alias.name} as _{name}"
            elif isinstance(node, ast.ImportFrom):
                origin = "." * node.level + (node.module or "")
                for alias in node.names:
                    name = alias.asname or alias.name
                    self.origins[name] = f"from {origin} import {alias.name} as _{name}"
            elif isinstance(node, ast.ClassDef):
                self.origins[node.name] = f"from .{module} import {node.name} as _{node.name}"
            elif isinstance(node, ast.AnnAssign | ast.Assign):
                for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                    name = ast.unparse(target)
                    alias = f"_{module.strip('_')}{name}" if name.startswith("_") else f"_{name}"
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
    imports = {f"from . import {module} as {module}" for module in MODULES}
    return write_stubs(PACKAGE, modules, imports, ["__version__: str"])


def layer_stubs() -> str:
    """Return the same of the package of layers, which imports its names one by one."""
    path = PACKAGE / "nn"
    listed_names = set(listed("nn/__init__"))
    modules = {}
    imports = set()
    for node in ast.parse((path / "__init__.py").read_text()).body:
        if isinstance(node, ast.ImportFrom):
            names = [alias.name for alias in node.names if alias.name in listed_names]
            if node.module is None:
                imports |= {f"from . import {name} as {name}" for name in names}
            elif node.level == 1:
                modules[node.module] = names
    return write_stubs(path, modules, imports, [])


def write_stubs(
    path: pathlib.Path, modules: dict[str, list[str]], imports: set[str], parts: list[str]
) -> str:
    """Return the text of the stub of a package whose modules have some names."""
    imports |= {"import builtins as _builtins", "from typing import overload as _overload"}
    for module, names in modules.items():
        is_package = (path / module / "__init__.py").exists()
        source = Source(path, f"{module}/__init__" if is_package else module)
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
    first = f'{HEADER}"""The names of the package, for type checkers."""\n'
    return "\n".join([first, *sorted(imports), *parts, ""])


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
    }
    stubs = {path: formatted(text, path) for path, text in texts.items()}
    return {PACKAGE / "_exports.py": table()} | stubs


if __name__ == "__main__":
    for path, text in find_files().items():
        path.write_text(text)
