# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The stubs of the extension say what inspect says."""

import ast
import inspect
import pathlib

import metaops as mo
from metaops import _core
from metaops._names import ABSENT

STUBS = pathlib.Path(_core.__file__).parent / "_core.pyi"


def declared():
    """Return the functions of the stubs by name, of Var by "Var.name"."""
    tree = ast.parse(STUBS.read_text())
    result = {}
    for node in tree.body:
        members = node.body if isinstance(node, ast.ClassDef) else [node]
        prefix = f"{node.name}." if isinstance(node, ast.ClassDef) else ""
        for member in members:
            if isinstance(member, ast.FunctionDef):
                marks = [ast.unparse(mark) for mark in member.decorator_list]
                if "overload" not in marks and "property" not in marks:
                    result[prefix + member.name] = member.args
    return result


# What Python or NumPy call by position.
UNTOLD = {"Function.__call__", "dtype.__new__"}


def test_the_stubs_tell_the_truth():
    checked = 0
    for name, arguments in declared().items():
        if name in UNTOLD or "__" in name:
            continue
        value = _core
        for part in name.split("."):
            value = getattr(value, part)
        actual = inspect.signature(value).parameters.values()
        positional = [a.arg for a in arguments.args]
        kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
        own = [p.name for p in actual if p.kind in kinds]
        if not name.startswith("Var.") or own[:1] == ["self"]:
            assert own == positional, name
        else:
            assert own[1:] == positional[1:], name  # x for self
        keywords = [p.name for p in actual if p.kind is inspect.Parameter.KEYWORD_ONLY]
        assert keywords == [a.arg for a in arguments.kwonlyargs], name
        defaults = [p.default for p in actual if p.default is not inspect.Parameter.empty]
        stated = [ast.literal_eval(d) for d in (*arguments.defaults, *arguments.kw_defaults) if d]
        assert defaults == stated, name
        checked += 1
    assert checked > 150
    missing = {name for name in dir(mo.Var) if not name.startswith("_") and name not in ABSENT} - {
        name[4:] for name in declared() if name.startswith("Var.")
    }
    # Properties and overloads.
    assert missing == {
        "T",
        "at",
        "data",
        "device",
        "dtype",
        "mT",
        "ndim",
        "permute",
        "reshape",
        "shape",
        "size",
        "transpose",
        "view",
    }
