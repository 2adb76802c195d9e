# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The stubs of the extension say what inspect says; a program of users has right types."""

import ast
import inspect
import json
import os
import pathlib
import re
import subprocess
import sys

import metaops as mo
import pytest
import typed_program
from metaops import _core
from metaops.compat._names import ABSENT, SPELLINGS

PACKAGE = pathlib.Path(_core.__file__).parent
STUBS = PACKAGE / "_core.pyi"


#: Names that Python or NumPy call by position, or that have other forms than `inspect` shows.
UNTOLD = {"Function.__call__", "dtype.__new__"}
SHAPES = {"zeros", "ones", "empty", "rand"}
SHAPES |= {f"Var.{name}" for name in ("permute", "reshape", "transpose", "view")}


def declared():
    """Return the forms of functions in the stubs by name, of Var by "Var.name"."""
    tree = ast.parse(STUBS.read_text())
    result = {}
    for node in tree.body:
        members = node.body if isinstance(node, ast.ClassDef) else [node]
        prefix = f"{node.name}." if isinstance(node, ast.ClassDef) else ""
        for member in members:
            if isinstance(member, ast.FunctionDef):
                marks = [ast.unparse(mark) for mark in member.decorator_list]
                if "property" not in marks:
                    result.setdefault(prefix + member.name, []).append(member.args)
    return result


def test_the_stubs_tell_the_truth():
    checked = 0
    for name, forms in declared().items():
        if name in UNTOLD | SHAPES or "__" in name:
            continue
        arguments = forms[0]
        value = _core
        for part in name.split("."):
            value = getattr(value, part)
        actual = inspect.signature(value).parameters.values()
        names = {p.name for p in actual}
        optional = {p.name for p in actual if p.default is not inspect.Parameter.empty}
        spellings = {word for p in optional for word in SPELLINGS.get(p, ())} - names
        positional = [a.arg for a in arguments.args]
        kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
        own = [p.name for p in actual if p.kind in kinds]
        if not name.startswith("Var.") or own[:1] == ["self"]:
            assert own == positional, name
        else:
            assert own[1:] == positional[1:], name  # x for self
        keywords = [p.name for p in actual if p.kind is inspect.Parameter.KEYWORD_ONLY]
        told = [a.arg for a in arguments.kwonlyargs]
        assert keywords == [word for word in told if word not in spellings], name
        defaults = [p.default for p in actual if p.default is not inspect.Parameter.empty]
        stated = [ast.literal_eval(d) for d in (*arguments.defaults, *arguments.kw_defaults) if d]
        assert defaults == [default for default in stated if default is not ...], name
        if name.startswith("Var."):
            assert spellings <= {*told}, name
        checked += 1
    assert checked > 150
    missing = {name for name in dir(mo.Var) if not name.startswith("_") and name not in ABSENT} - {
        name[4:] for name in declared() if name.startswith("Var.") and name not in SHAPES
    }
    # Properties and overloads.
    assert missing == {
        "T",
        "at",
        "data",
        "device",
        "dtype",
        "itemsize",
        "mT",
        "nbytes",
        "ndim",
        "permute",
        "reshape",
        "shape",
        "size",
        "transpose",
        "view",
    }


PROGRAM = pathlib.Path(__file__).parent / "typed_program.py"
WRONG = """
import metaops as mo
mo.sofmax(mo.zeros(3))
mo.zeros(3).sum(axes=0)
mo.mean(mo.zeros(3), axis="x")
"""


def test_the_program_with_types_runs():
    typed_program.main()


@pytest.mark.parametrize("strict", [False, True])
def test_mypy_knows_the_package(tmp_path, strict):
    """As for a user: the package is where it is found, and without the project's settings."""
    (tmp_path / "program.py").write_text(PROGRAM.read_text())
    (tmp_path / "wrong.py").write_text(WRONG)
    command = [sys.executable, "-m", "mypy", "--config-file=", "--cache-dir=cache"]
    command += ["--check-untyped-defs", *["--strict"] * strict, "program.py", "wrong.py"]
    found = run_checker(command, tmp_path, MYPYPATH=str(PACKAGE.parent))
    assert found.count("error:") == 3, found
    for line, part in ((3, 'no attribute "sofmax"'), (4, '"axes"'), (5, '"str"')):
        assert re.search(rf"wrong.py:{line}: error: .*{part}", found), found


def test_pyright_knows_the_package(tmp_path):
    pytest.importorskip("pyright")
    (tmp_path / "program.py").write_text(PROGRAM.read_text())
    (tmp_path / "wrong.py").write_text(WRONG)
    settings = {"extraPaths": [str(PACKAGE.parent)], "include": ["."]}
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(settings))
    command = [sys.executable, "-m", "pyright", "--pythonpath", sys.executable]
    found = run_checker(command, tmp_path)
    assert found.count("error:") == 3, found
    for line, part in ((3, '"sofmax" is not a known'), (4, '"axes"'), (5, '"axis"')):
        assert re.search(rf"wrong.py:{line}:\d+ - error: .*{part}", found), found


#: Differences of stubs on purpose: other spellings of parameters.
SPELLED = re.compile("runtime does not have parameter|stub parameter .* has a default value")


@pytest.mark.rest
def test_the_stubs_have_what_the_package_has(tmp_path):
    """The written ones, of the package and its rooms, as mypy compares them with the objects."""
    command = [sys.executable, "-m", "mypy.stubtest", "--concise", "metaops"]
    found = run_checker(command, tmp_path, MYPYPATH=str(PACKAGE.parent)).splitlines()
    rooms = {path.parent.relative_to(PACKAGE).parts for path in PACKAGE.rglob("__init__.pyi")}
    assert len(rooms) > 12
    seen = 0
    for line in found:
        name, _, said = line.partition(" ")
        if tuple(name.split(".")[1:-1]) in rooms:
            seen += 1
            assert SPELLED.search(said) or said == "failed to find stubs", line
    assert seen > 200


def run_checker(command, folder, **environment):
    """Return what a type checker says."""
    done = subprocess.run(
        command, cwd=folder, env={**os.environ, **environment}, capture_output=True, text=True
    )
    assert done.returncode == 1, done.stderr
    return done.stdout
