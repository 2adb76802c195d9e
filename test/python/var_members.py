# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The members of Var that are written in Python, as the stub of the extension has them.

`metaops.methods` has tables of them: a name and its function, the first parameter of which
is the Var. Here each function is found by the table's text, and written as a member.
"""

from __future__ import annotations

import ast
import copy
import pathlib

from other_spellings import with_spellings

PACKAGE = pathlib.Path(__file__).parents[2] / "python" / "metaops"
STUB = PACKAGE / "_core.pyi"

#: Begins, in the stub, what is written; a class ends it.
MARK = "    # Written by test/python/public_names.py from the tables of metaops.methods.\n"

#: Names of types in Var's stub: methods of it have some of these names.
TYPES = {
    "Axes": "_Axes",
    "DType": "_DTypeLike",
    "Shape": "Sequence[_Int]",
    "Sorted": "tuple[Var, Var]",
    "VarLike": "_VarLike",
    "bool": "_Bool",
    "float": "_Float",
    "int": "_Int",
}
#: Names that mean the same in the stub.
SAME = {"Any", "Callable", "ModuleType", "Sequence", "Var"}
#: Operators in place, which take less than those of two operands: no complex numbers.
COMPLEX = ("__imatmul__", "__ipow__")
SAME |= {"complex", "list", "object", "str", "tuple"}


class Module:
    """A module of the package: its functions, tables and imports."""

    def __init__(self, name: str) -> None:
        path = PACKAGE / name.replace(".", "/")
        path = path.with_suffix(".py" if path.with_suffix(".py").exists() else ".pyi")
        self.functions: dict[str, ast.FunctionDef] = {}
        self.tables: dict[str, ast.Dict] = {}
        self.imports: dict[str, str] = {}
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.FunctionDef):
                self.functions[node.name] = node
            elif isinstance(node, ast.AnnAssign) and isinstance(node.value, ast.Dict):
                self.tables[ast.unparse(node.target)] = node.value
            elif isinstance(node, ast.ImportFrom) and node.level:
                above = name.split(".")[: -node.level]
                for alias in node.names:
                    parts = [*above, node.module, alias.name]
                    self.imports[alias.asname or alias.name] = ".".join(filter(None, parts))

    def find_module(self, name: str) -> Module:
        """Return a module that is imported by a name."""
        return Module(self.imports[name])

    def find(self, value: ast.expr) -> ast.FunctionDef:
        """Return the function that an expression of a table means."""
        if isinstance(value, ast.Call):  # an operator of two operands, made of a function
            (function,) = value.args
            operator = ast.parse("def f(self, other: VarLike): ...").body[0]
            assert isinstance(operator, ast.FunctionDef)
            operator.returns = self.find(function).returns
            return operator
        if isinstance(value, ast.Attribute):
            assert isinstance(value.value, ast.Name)
            return self.find_module(value.value.id).functions[value.attr]
        assert isinstance(value, ast.Name)
        if value.id in self.functions:
            return self.functions[value.id]
        module, _, name = self.imports[value.id].rpartition(".")
        return Module(module).functions[name]

    def members(self, table: str) -> dict[str, ast.FunctionDef]:
        """Return the functions of a table, and of others in it, by the members' names."""
        result: dict[str, ast.FunctionDef] = {}
        items = self.tables[table]
        for key, value in zip(items.keys, items.values, strict=True):
            if key is None:
                assert isinstance(value, ast.Attribute) and isinstance(value.value, ast.Name)
                result |= self.find_module(value.value.id).members(value.attr)
            else:
                result[ast.literal_eval(key)] = self.find(value)
        return result


class _Renamed(ast.NodeTransformer):
    """Gives types the names that they have in the stub."""

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if node.id in SAME:
            return node
        return ast.parse(TYPES[node.id], mode="eval").body


def written(name: str, function: ast.FunctionDef, *, is_property: bool) -> list[str]:
    """Return the lines of a member."""
    is_operator = name.startswith("__")
    forms = [function] if is_property or is_operator else with_spellings(function)
    lines = []
    for given in forms:
        form = copy.deepcopy(given)
        arguments = form.args
        first = (arguments.posonlyargs or arguments.args)[0]
        first.arg, first.annotation = "self", None
        if is_property:
            arguments = ast.parse("lambda self: 0", mode="eval").body.args  # type: ignore[attr-defined]
        for argument in ast.walk(arguments):
            if isinstance(argument, ast.arg) and argument.annotation is not None:
                argument.annotation = _Renamed().visit(argument.annotation)
        assert form.returns is not None, name
        result = ast.unparse(_Renamed().visit(form.returns))
        if len(forms) > 1:
            lines.append("@overload")
        if is_property:
            lines.append("@property")
        note = "" if name.strip("_").islower() else "  # noqa: N802"
        if name in COMPLEX:
            note = "  # type: ignore[misc]"
        lines.append(f"def {name}({ast.unparse(arguments)}) -> {result}: ...{note}")
    return [f"    {line}\n" for line in lines]


def core_stubs() -> str:
    """Return the text of the extension's stub, as it is before the formatter."""
    methods = Module("methods")
    plain = {
        **methods.members("_QUICK"),
        **methods.members("_METHODS"),
        **methods.find_module("operators").members("SPECIAL_METHODS"),
    }
    lines = []
    for name, function in methods.members("_ATTRIBUTES").items():
        lines += written(name, function, is_property=True)
    for name, function in plain.items():
        lines += written(name, function, is_property=False)
    before, rest = STUB.read_text().split(MARK)
    return "".join([before, MARK, *lines, rest[rest.index("\nclass ") :]])
