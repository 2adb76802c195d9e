# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Names of the package are the same whichever of them a process uses first."""

import os
import pathlib
import subprocess
import sys

import metaops as mo
import public_names
import pytest
from metaops import _exports

#: Has a child for each name, which uses that first. Children share NumPy, nothing else.
FIRST = """
import os, sys, numpy, metaops

def use(name):
    value = getattr(metaops, name)
    metaops.nn, metaops.optim, metaops.zeros(3)
    assert getattr(metaops, name) is value, f"mo.{name} became another one"
    assert name in dir(metaops), f"dir does not list {name}"

children = {}
failed = []

def collect():
    pid, status = os.wait()
    name = children.pop(pid)
    if status:
        failed.append(name)

for name in sys.argv[1:]:
    assert set(sys.modules) & {"metaops._core", "metaops._session"} == set()
    if (pid := os.fork()) == 0:
        try:
            use(name)
            os._exit(0)
        except BaseException as error:
            print(repr(error), file=sys.stderr, flush=True)
            os._exit(1)
    children[pid] = name
    if len(children) >= 2:
        collect()
while children:
    collect()
assert not failed, failed
"""

#: All names, one of each module in turn.
TABLES = (_exports.EXPORTS, _exports.UNLISTED)
BY_MODULE = [list(names) for table in TABLES for names in table.values()]
NAMES = [names[k] for k in range(max(map(len, BY_MODULE))) for names in BY_MODULE if k < len(names)]

#: The table, and stubs.
FILES = public_names.find_files()


def run(code, *arguments):
    environment = {**os.environ, "METAOPS_CACHE_DIR": ""}
    command = [sys.executable, "-c", code, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_names_that_are_used_first():
    """Those of modules that are loaded in other ways, and some of the others."""
    special = {*_exports.MODULES, *_exports.EXPORTS["nn"], "load_program"}
    run(FIRST, *special, *NAMES[:: len(NAMES) // 8])


def test_each_name_of_a_package_that_is_new():
    """The package's own module runs anew for each name; the others stay."""
    run(
        "import sys, metaops\n"
        "known = {name: getattr(metaops, name) for name in dir(metaops)}\n"
        "for name in known:\n"
        "    del sys.modules['metaops']\n"
        "    import metaops\n"
        "    own = vars(metaops).get('__path__') and name.startswith('__') or name == '__all__'\n"
        "    assert own or getattr(metaops, name) is known[name], name\n"
    )


@pytest.mark.parametrize("first", ["", "mo.zeros", "import metaops.execute", "mo.nn"])
@pytest.mark.parametrize("code", [True, False])
def test_the_ir_of_a_program_is_compiled(tmp_path, first, code):
    """`mo.load_program` was another function before any other name had been used."""
    path = tmp_path / "program"
    mo.export(lambda x: x * 2, [mo.zeros((3,))], path, code=code)
    told = run(
        f"import sys, metaops as mo\n{first}\n"
        "program = mo.load_program(sys.argv[1], code=False)\n"
        "print(program([1, 2, 3]).tolist())\n",
        path,
    )
    assert told == "[2.0, 4.0, 6.0]\n"


@pytest.mark.parametrize("path", FILES, ids=str)
def test_what_is_written_from_the_modules(path):
    assert path.read_text() == FILES[path], "run test/python/public_names.py"
    assert len(set(mo.__all__)) == len(mo.__all__)


def test_no_file_has_the_name_of_a_function():
    """Python makes a module that is imported an attribute of its package."""
    files = {path.stem for path in pathlib.Path(mo.__file__).parent.iterdir()}
    assert files & {*mo.__all__} <= {*_exports.MODULES, "__init__", "__main__"}


def test_a_name_that_is_nowhere_is_an_attribute_error_at_once():
    code = "import metaops\ntry: metaops.{}\nexcept AttributeError as e: print(e)"
    assert "(did you mean 'softmax'?)" in run(code.format("sofmax"))
    assert run(code.format("_sofmax")) == "metaops has no _sofmax\n"
    with pytest.raises(ImportError, match="cannot import name 'sofmax'"):
        exec("from metaops import sofmax")
