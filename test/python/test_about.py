# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reports of the machine for bugs, and the command line that prints them."""

import os
import platform
import subprocess
import sys

import metaops as mo
import numpy as np
import pytest
from metaops import __main__ as command_line
from metaops.tools import _about, toolkits


def run(*arguments, **environment):
    """Return the exit code and what is printed by a process of the command line."""
    result = subprocess.run(
        [sys.executable, "-m", "metaops", *arguments],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
    )
    assert not result.stderr
    return result.returncode, result.stdout


def told(text):
    """Return what is told, by name, in order."""
    pairs = (line.split("  ", 1) for line in text.splitlines())
    return {name: rest.strip() for name, rest in pairs}


def test_of_this_machine(tmp_path):
    folder = str(tmp_path / "cache")
    code, text = run("info", METAOPS_CACHE_DIR=folder, METAOPS_POISON="", OMP_NUM_THREADS="1")
    rows = told(text)
    assert code == 0
    assert [*rows] == [
        *("metaops", "build", "LLVM", "Python", "NumPy", "other libraries", "system"),
        *("processor", "threads", "devices", "GPU", "nvJitLink", "ptxas", "libdevice"),
        *("cache", "flags", "environment"),
    ]
    assert rows["metaops"].startswith(f"{mo.__version__} in {os.sep}")
    assert rows["Python"] == f"CPython {platform.python_version()}"
    assert rows["NumPy"] == np.__version__
    assert rows["LLVM"].split(".")[0].isdecimal()
    assert "failed" not in rows["build"]
    assert rows["threads"] == f"1, on {len(os.sched_getaffinity(0))} processors"
    assert {"cpu:0", "interpreter:0"} <= set(rows["devices"].split(", "))
    assert rows["cache"].startswith(f"{folder}: ")
    assert rows["flags"] == "as by default"
    assert f"METAOPS_CACHE_DIR={folder!r}" in rows["environment"]


def test_settings_that_differ(tmp_path):
    rows = told(run("info", METAOPS_CACHE_DIR="", METAOPS_POISON="1")[1])
    assert rows["cache"] == "none"
    assert rows["flags"] == "poison_memory=True"
    assert "METAOPS_POISON='1'" in rows["environment"]
    with mo.flag_scope(rules="paper", fuse=False):
        flags = dict(_about.describe_machine())["flags"].split(", ")
    assert {"rules='paper'", "fuse=False"} <= {*flags}


def test_no_failure_hides_the_rest(monkeypatch):
    """A report may be about that nothing can be compiled, or no folder read."""

    def fail(*_arguments, **_options):
        raise RuntimeError("out of order")

    monkeypatch.setattr("metaops.exporting.export", fail)
    monkeypatch.setattr("metaops.cache.info", fail)
    monkeypatch.setattr("subprocess.run", lambda *_, **__: subprocess.CompletedProcess([], 0, ""))
    with mo.flag_scope(cache_dir=os.getcwd()):
        rows = dict(_about.describe_machine())
    assert rows["build"] == "compiling a program failed: out of order"
    assert rows["cache"].endswith(": out of order")
    assert rows["flags"].startswith("unknown: ")
    assert rows["NumPy"] == np.__version__


def test_without_a_command_there_is_usage(capsys):
    assert command_line.main([]) == 0
    text = capsys.readouterr().out
    assert text.startswith("usage: python -m metaops")
    assert all(f"    {command}" in text for command in ("info", "cache", "calibrate"))
    code, text = run()
    assert code == 0
    assert text.startswith("usage: python -m metaops")
    with pytest.raises(SystemExit):
        command_line.main(["nothing"])
    with pytest.raises(SystemExit):
        command_line.main(["cache"])


@pytest.mark.parametrize("arguments", [["info"], ["cache", "info"], ["--help"], []])
def test_a_reader_may_have_had_enough(arguments):
    """As `python -m metaops info | head -1` has: no traceback."""
    end, begin = os.pipe()
    os.close(end)
    try:
        command = [sys.executable, "-m", "metaops", *arguments]
        result = subprocess.run(command, stdout=begin, stderr=subprocess.PIPE, text=True)
    finally:
        os.close(begin)
    assert result.stderr == ""
    assert result.returncode == 1


def test_tools_are_found_as_the_session_finds_them(tmp_path):
    package = tmp_path / "site-packages" / "nvidia" / "cu13"
    named = tmp_path / "toolkit"
    for file in (
        package / "lib" / "libnvJitLink.so.12",
        named / "lib64" / "libnvJitLink.so.13",
        named / "nvvm" / "libdevice" / "libdevice.10.bc",
    ):
        file.parent.mkdir(parents=True)
        file.touch()
    path, environment = [str(tmp_path / "site-packages"), ""], {"CUDA_HOME": str(named)}
    folders = toolkits.toolkit_folders(environment, path)
    assert folders[:2] == [str(package), str(named)]
    assert "/usr/local/cuda" in folders
    tools = toolkits.find_tools({**environment, "PATH": str(tmp_path)}, path)
    # The newer library, wherever it is.
    assert tools["nvJitLink"] == str(named / "lib64" / "libnvJitLink.so.13")
    assert tools["libdevice"] == str(named / "nvvm" / "libdevice" / "libdevice.10.bc")
    program = tmp_path / "ptxas"
    program.touch(0o755)
    assert toolkits.find_tools({"PATH": str(tmp_path)}, [])["ptxas"] in (
        str(program),
        "/usr/local/cuda/bin/ptxas",
    )
