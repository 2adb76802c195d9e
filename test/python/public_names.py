# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes which module has which name of the package, for the package and for type checkers.

    python test/python/public_names.py

It reads what the modules list in ``__all__``, and writes `_exports.py`, by which the
package finds its names, and `__init__.pyi`, by which type checkers find them.
"""

from __future__ import annotations

import ast
import json
import pathlib

PACKAGE = pathlib.Path(__file__).parents[2] / "python" / "metaops"
TABLE = PACKAGE / "_exports.py"
STUBS = PACKAGE / "__init__.pyi"

#: Modules all of whose ``__all__`` the package has.
WHOLE = """
    _devices _flags activations array_api bits blocks categories choices closeness contraction
    counts creation cumulative diagonals differences distances distinct distributions
    elementwise exchange exporting fetching filters floats functions gammas gathering gradients
    grids histograms info io limits loading memory nan_orders norms orders packing padding
    places polynomials products quantiles reduction repeating rounding running sampling
    searching segments sets shaping sorting splitting stacking statistics tapers tuning windows
"""

#: Modules of whose names the package has some.
PARTS = {
    "_core": """
        Var array bfloat16 broadcast broadcast_var dtype dump fetch_sync float16 float32 float64
        get_num_threads int16 int32 int64 int8 iota matmul reindex reindex_reduce reset_peak seed
        set_num_threads stats stop_fuse stop_grad sync sync_all tensor uint16 uint32 uint64 uint8
    """,
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


if __name__ == "__main__":
    TABLE.write_text(table())
