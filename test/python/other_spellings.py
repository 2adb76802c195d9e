# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Other spellings of parameters in the signatures that type checkers see.

A parameter that may be left out has its other spellings beside it, as keywords. For one
that may not there is a second form of the function, without it and with these. The
tensors that a function is about, which are given by position, have one name.
"""

from __future__ import annotations

import ast
import copy
import pathlib

_NAMES = pathlib.Path(__file__).parents[2] / "python" / "metaops" / "compat" / "_names.py"

#: Tensors: what is given by position, whatever it is called.
_TENSORS = ("a", "b", "obj", "tensors", "x", "y")


def _read_table() -> dict[str, tuple[str, ...]]:
    for node in ast.parse(_NAMES.read_text()).body:
        if isinstance(node, ast.AnnAssign) and ast.unparse(node.target) == "SPELLINGS":
            assert node.value is not None
            return dict(ast.literal_eval(node.value))
    raise ValueError("no table of spellings")


#: The table of `metaops.compat._names`, which is not imported: this writes part of the package.
SPELLINGS = _read_table()


def _named(argument: ast.arg, name: str) -> ast.arg:
    return ast.arg(name, copy.deepcopy(argument.annotation))


def _spellings(function: ast.FunctionDef) -> dict[str, list[str]]:
    """Return the other spellings of each parameter that a type checker is to know."""
    arguments = function.args
    names = [a.arg for a in (*arguments.args, *arguments.kwonlyargs)]
    taken = {*names, *(a.arg for a in arguments.posonlyargs)}
    result = {}
    for name in names:
        if name not in _TENSORS:
            words = [word for word in SPELLINGS.get(name, ()) if word not in taken]
            if words:
                result[name] = words
            taken.update(words)
    return result


def _plain(default: ast.expr) -> ast.expr:
    """Return a default that needs no names."""
    has_names = any(isinstance(node, ast.Name) for node in ast.walk(default))
    return ast.Constant(...) if has_names else default


def _with_optional(function: ast.FunctionDef, spellings: dict[str, list[str]]) -> ast.FunctionDef:
    """Return the function with spellings of what may be left out, as keywords."""
    form = copy.deepcopy(function)
    arguments = form.args
    pairs = list(zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True))
    optional = arguments.args[len(arguments.args) - len(arguments.defaults) :]
    optional += [argument for argument, default in pairs if default is not None]
    for argument in optional:
        for word in spellings.get(argument.arg, ()):
            arguments.kwonlyargs.append(_named(argument, word))
            arguments.kw_defaults.append(ast.Constant(...))
    arguments.defaults = [_plain(default) for default in arguments.defaults]
    arguments.kw_defaults = [default and _plain(default) for default in arguments.kw_defaults]
    return form


def _with_keywords(
    form: ast.FunctionDef, spellings: dict[str, list[str]], start: int
) -> ast.FunctionDef:
    """Return a form whose parameters from one on are keywords, of any spelling."""
    form = copy.deepcopy(form)
    arguments = form.args
    required = len(arguments.args) - len(arguments.defaults)
    defaults = [None] * required + list(arguments.defaults)
    keywords: list[tuple[ast.arg, ast.expr | None]] = []
    for argument, default in list(zip(arguments.args, defaults, strict=True))[start:]:
        words = spellings.get(argument.arg, []) if default is None else []
        keywords.append((argument, ast.Constant(...) if words else default))
        keywords += [(_named(argument, word), ast.Constant(...)) for word in words]
    keywords += zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    arguments.args = arguments.args[:start]
    arguments.defaults = []
    arguments.kwonlyargs = [argument for argument, _ in keywords]
    arguments.kw_defaults = [default for _, default in keywords]
    return form


def with_spellings(function: ast.FunctionDef) -> list[ast.FunctionDef]:
    """Return the forms of a function with other spellings of its parameters, or itself."""
    spellings = _spellings(function)
    first = _with_optional(function, spellings)
    required = function.args.args[: len(function.args.args) - len(function.args.defaults)]
    if function.args.vararg is not None:
        return [first]
    starts = [k for k, argument in enumerate(required) if argument.arg in spellings]
    return [first, *(_with_keywords(first, spellings, start) for start in reversed(starts))]
