# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiled code of the user's own on disk, and in processes that fork and end."""

import os
import stat
import subprocess
import sys
import textwrap

import metaops as mo
import pytest
from metaops import cache
from metaops.extern import compiling

pytestmark = pytest.mark.processor

ADD = 'for (int i = 0; i < in0_shape0; i++) @out(i) = @in0(i) + data["by"];'


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "cache"


def run(folder, text, compiler=None, **more):
    """Run a program in a process of its own; returns what it prints."""
    environment = {**os.environ, "METAOPS_CACHE_DIR": str(folder), **more}
    if compiler:
        environment["METAOPS_CXX"] = str(compiler)
    program = "import metaops as mo\nfrom metaops.extern import compiling\n" + textwrap.dedent(text)
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


#: Prints a value, and how often the compiler was called.
COUNTED = """
calls = []
run = compiling._run
compiling._run = lambda *args: (calls.append(args), run(*args))
x = mo.array([1.0, 2.0])
made = mo.code(x.shape, x.dtype, [x], {source!r}, cpu_header={header!r}, data={{"by": 3}})
print(made.sum().item(), len(calls))
"""


def counted(source=ADD, header=""):
    return COUNTED.format(source=source, header=header)


def test_a_second_process_compiles_nothing(folder):
    assert run(folder, counted()) == ["9.0", "1"]
    assert run(folder, counted()) == ["9.0", "0"]
    usage = cache.info(folder)
    assert usage.libraries == 1
    assert run(folder, counted(ADD + " ")) == ["9.0", "1"]
    assert cache.clear(folder).libraries == 2
    assert cache.info(folder) == (0, 0, 0, 0, 0)
    assert run(folder, counted()) == ["9.0", "1"]


def test_what_decides_is_in_the_key(folder, tmp_path):
    header = tmp_path / "mine.h"
    header.write_text("#define MORE 1")
    text = counted(ADD + " @out(0) += MORE;", f'#include "{header}"')
    assert run(folder, text) == ["10.0", "1"]
    assert run(folder, text) == ["10.0", "0"]
    header.write_text("#define MORE 2")
    assert run(folder, text) == ["11.0", "1"]
    header.write_text("#define MORE 1")
    assert run(folder, text) == ["10.0", "1"]
    compiler = tmp_path / "another"
    compiler.write_text(f'#!/bin/sh\nexec {compiling.find_compiler().path} "$@"\n')
    compiler.chmod(0o755)
    assert run(folder, text, compiler) == ["10.0", "1"]
    assert run(folder, text, compiler) == ["10.0", "0"]
    compiler.write_text(compiler.read_text() + "# changed\n")
    assert run(folder, text, compiler) == ["10.0", "1"]


def test_another_processor_shares_nothing(folder):
    assert run(folder, counted()) == ["9.0", "1"]
    other = "compiling._describe_processor = lambda: 'another'\n"
    assert run(folder, other + counted()) == ["9.0", "1"]
    assert cache.info(folder).libraries == 2


def test_headers_that_change_in_a_process(tmp_path):
    header = tmp_path / "number.h"
    with mo.flag_scope(cache_dir=str(tmp_path / "cache")):
        for number in (1, 2):
            header.write_text(f"#define NUMBER {number} // {'x' * number}")
            made = mo.code((), "int32", [], "@out() = NUMBER;", cpu_header=f'#include "{header}"')
            assert made.item() == number


def test_headers_beside_the_users_file(tmp_path):
    (tmp_path / "beside.h").write_text("#define BESIDE 5")
    script = tmp_path / "script.py"
    script.write_text(
        "import metaops as mo\n"
        "print(mo.code((), 'int32', [], '@out() = BESIDE;', cpu_header='#include \"beside.h\"'))\n"
    )
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, cwd="/")
    assert done.stdout == "5\n", done.stderr


def test_headers_of_the_same_name_in_a_process(tmp_path, monkeypatch):
    text = "def make(mo):\n    return mo.code((), 'int32', [], '@out() = MINE;', cpu_header={})\n"
    made = []
    with mo.flag_scope(cache_dir=str(tmp_path / "cache")):
        for number in (1, 2):
            folder = tmp_path / str(number)
            folder.mkdir()
            (folder / "mine.h").write_text(f"#define MINE {number}")
            names = {}
            quoted = text.format(repr('#include "mine.h"'))
            exec(compile(quoted, str(folder / "user.py"), "exec"), names)
            made.append(names["make"](mo).item())
            monkeypatch.setenv("CPATH", str(folder))
            made.append(
                mo.code((), "int32", [], "@out() = MINE;", cpu_header="#include <mine.h>").item()
            )
    assert made == [1, 1, 2, 2]


@pytest.mark.parametrize("damage", ["library", "notes"])
def test_what_is_damaged_is_made_again(folder, damage):
    run(folder, counted())
    (path,) = (folder / "code").glob("code-*.so" if damage == "library" else "code-*.json")
    path.write_bytes(path.read_bytes()[:100])
    assert run(folder, counted()) == ["9.0", "1"]
    assert run(folder, counted()) == ["9.0", "0"]


def test_folders_that_others_may_write_to_are_not_used(folder):
    run(folder, counted())
    (folder / "code").chmod(stat.S_IRWXU | stat.S_IRWXG)
    assert run(folder, counted()) == ["9.0", "1"]
    assert run(folder, counted()) == ["9.0", "1"]


def test_without_a_folder(folder):
    assert run("", counted()) == ["9.0", "1"]


def test_a_compiler_that_is_killed_leaves_nothing_that_counts(folder, tmp_path):
    killed = tmp_path / "killed"
    real = compiling.find_compiler().path
    killed.write_text(f'#!/bin/sh\n[ "$1" = --version ] && exec {real} "$@"\nkill -9 $$\n')
    killed.chmod(0o755)
    text = """
    try:
        mo.code((), "int32", [], "@out() = 1;")
    except RuntimeError as error:
        print("refused" if "exit status -9" in str(error) else error)
    """
    assert run(folder, text, killed) == ["refused"]
    assert [path.name for path in (folder / "code").iterdir()] == []
    assert run(folder, counted()) == ["9.0", "1"]


def test_abandoned_folders_go(folder):
    run(folder, counted())
    old, new = folder / "code" / "making-old", folder / "code" / "making-new"
    old.mkdir()
    new.mkdir()
    os.utime(old, (0, 0))
    run(folder, counted(ADD + "  "))
    assert not old.exists()
    assert new.exists()


def test_the_folder_stays_small(folder, monkeypatch):
    run(folder, counted())
    monkeypatch.setattr(compiling, "MAX_BYTES", 0)
    with mo.flag_scope(cache_dir=str(folder)):
        mo.code((), "int32", [], "@out() = 1; // small").item()
    assert cache.info(folder).libraries == 1
    assert cache.prune(0, folder).libraries == 1


def test_forks_and_ends(folder):
    text = """
    import os
    x = mo.array([1.0, 2.0])
    def added(by):
        return mo.code(x.shape, x.dtype, [x], {source!r}, data={{"by": by}})
    added(1).numpy()
    pending = added(2)
    child = os.fork()
    if child == 0:
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    print(pending.sum().item())
    x.update(added(5))
    """
    assert run(folder, text.format(source=ADD)) == ["7.0"]


def test_what_calls_the_compiler_is_imported_by_the_first_source():
    text = """
    import sys
    sys.modules.pop("metaops.extern.compiling")
    mo.ones(2).sum().item()
    print("metaops.extern.compiling" in sys.modules)
    """
    assert run("", text) == ["False"]
