# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a bundle for GPUs does, as far as it goes without one."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from metaops import toolkits

BENCH = Path(__file__).resolve().parents[2] / "bench"
sys.path.insert(0, str(BENCH))

import gpu_python  # noqa: E402
from gpu_copy import DriverError, GpuCopy  # noqa: E402

without_gpu = pytest.mark.skipif(os.path.exists("/dev/nvidiactl"), reason="there is a GPU")


def run_check(folder, *arguments):
    command = [sys.executable, BENCH / "gpu_check.py", *arguments, "--tests", "--output", folder]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    return done, json.loads((folder / "gpu-check.json").read_text())["tables"]


def test_workloads_agree_on_the_emulator(tmp_path):
    done, (checked, tests) = run_check(tmp_path, "chain of 1", "softmax both", "--emulate")
    assert done.returncode == 0, done.stderr
    assert checked["title"] == "emulator:sm_90a beside cpu:0" and checked["rows"] == []
    assert "2 of 2 workloads agree at odd extents" in done.stdout
    assert tests["rows"] == []


@without_gpu
def test_what_does_not_run_says_why(tmp_path):
    done, (checked, _, timed) = run_check(tmp_path, "chain of 1")
    assert done.returncode == 1
    ((name, reason),) = checked["rows"]
    assert name == "chain of 1" and "libcuda.so.1" in reason
    assert "NVIDIA's driver" in timed["rows"][0][0]


def test_the_copy_needs_the_driver():
    with pytest.raises(DriverError, match=r"libcuda-absent\.so is a part of NVIDIA's driver"):
        GpuCopy("libcuda-absent.so")


def make_python(folder, text):
    folder.mkdir()
    python = folder / "python3"
    python.write_text(f"#!/bin/sh\n{text}\n")
    python.chmod(0o755)
    return str(python)


def test_the_first_python_that_has_pytorch_is_found(tmp_path, monkeypatch):
    without = make_python(tmp_path / "a", "exit 1")
    # What is ours is not seen by others.
    having = make_python(tmp_path / "b", 'test -z "$PYTHONPATH" && echo 2.9.1')
    monkeypatch.setenv("PYTHONPATH", "/ours")
    monkeypatch.setenv("PATH", f"{tmp_path / 'a'}:{tmp_path / 'b'}")
    assert gpu_python.find() == (having, f"PyTorch 2.9.1 of {having}")
    monkeypatch.setenv("PATH", str(tmp_path / "a"))
    assert gpu_python.find() == ("", f"PyTorch is in none of {without}")
    monkeypatch.setenv("PATH", str(tmp_path / "none"))
    assert gpu_python.find() == ("", "no Python on the path")


def test_assemblers_and_folders_are_told_to_the_session():
    given = {"METAOPS_ASSEMBLERS": " nvJitLink 13.0, ,ptxas 12.1"}
    assert toolkits.other_assemblers(given) == ["nvJitLink 13.0", "ptxas 12.1"]
    assert toolkits.other_assemblers({}) == []
    chips = {"METAOPS_EMULATOR_ASSEMBLES": "sm_80, sm_90a,"}
    assert toolkits.assembled_for(chips) == ["sm_80", "sm_90a"]
    assert toolkits.assembled_for({}) == []
    assert toolkits.package_folders(["", "/packages"]) == ["/packages"]


def test_emulated_devices_assemble_for_chips_that_there_are():
    program = "import metaops; metaops.array"
    environment = {**os.environ, "METAOPS_EMULATOR_ASSEMBLES": "sm_80,sm_75"}
    finished = subprocess.run(
        [sys.executable, "-c", program],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert finished.returncode == 1
    message = (
        "ValueError: METAOPS_EMULATOR_ASSEMBLES: the chip 'sm_75' is too old; code is made for"
    )
    assert message in finished.stderr
