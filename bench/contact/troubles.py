# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Troubles: what a machine or its GPU lacks, in a line each.

What is missing before this Python starts, glibc or a part of the archive, is told by the
bundle's script itself (script/gpu-bundle).
"""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

from .child import Record

#: Of PTX 8.0, which the kernels are written in.
OLDEST_DRIVER = 12000
#: By their capabilities, each of whose code later ones of the same major number run.
CHIPS = {80: "sm_80", 86: "sm_86", 87: "sm_87", 89: "sm_89", 90: "sm_90a"}
#: Bytes of logs and culprits, and those that compilers leave for a while.
RESULT_BYTES, SCRATCH_BYTES = 100_000_000, 300_000_000
#: Of a GPU's memory, for a child: its context, and the largest workloads with what PyTorch keeps.
CHILD_BYTES = 2_500_000_000
#: CUcomputemode: of nobody, and of one process at a time.
PROHIBITED, EXCLUSIVE = 2, 3
FLAGS = Path("/proc/cpuinfo")


class NoRoomError(Exception):
    """Nothing can be written anywhere; the message says why."""


class NoGpuError(Exception):
    """No kernel can run on this machine's GPU; the message says why."""


def writable(folder: Path) -> tuple[Path, list[str]]:
    """Return where results can be written, and the trouble if it is somewhere else."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "contact.jsonl").open("w").close()
    except OSError as error:
        reason = error.strerror or str(error)
        try:
            other = Path(tempfile.mkdtemp(prefix="contact-results-"))
        except OSError:
            raise NoRoomError(
                f"no results can be in {folder} ({reason}), nor in any temporary folder"
            ) from None
        return other, [f"no results can be in {folder} ({reason}): they are in {other}"]
    return folder, []


def scratch(folder: Path) -> tuple[Path, list[str]]:
    """Return a folder of the run's own, and the trouble if it is among the results."""
    try:
        return Path(tempfile.mkdtemp(prefix="contact-")), []
    except OSError:
        pass
    try:
        made = Path(tempfile.mkdtemp(prefix="scratch-", dir=folder))
    except OSError as error:
        reason = error.strerror or str(error)
        raise NoRoomError(
            f"there is no temporary folder, and none in {folder} ({reason})"
        ) from None
    # Children have none either, if that of the system is full.
    tempfile.tempdir = os.environ["TMPDIR"] = str(made)
    return made, [f"there is no temporary folder with room: it is in {folder}"]


def of_machine(folder: Path) -> list[str]:
    """Return what there is not enough of."""
    told = []
    places = {folder: RESULT_BYTES, Path(tempfile.gettempdir()): SCRATCH_BYTES}
    for place, wanted in places.items():
        free = shutil.disk_usage(place).free
        if free < wanted:
            told.append(f"little room in {place}: {free // 10**6} MB, of {wanted // 10**6} wanted")
    if FLAGS.exists() and " avx2" not in FLAGS.read_text():
        told.append("the processor has no AVX2: the emulator is slow, and its part may not end")
    return told


def chip_of(device: Record) -> str:
    """Return the chip whose code a GPU runs."""
    major, minor = device["capability major"], device["capability minor"]
    fitting = [one for one in CHIPS if one // 10 == major and one <= 10 * major + minor]
    if not fitting:
        known = ", ".join(CHIPS.values())
        name = f"{device['gpu']} is of capability {major}.{minor}"
        raise NoGpuError(f"{name}, and code is made for {known}")
    return CHIPS[max(fitting)]


def of_gpu(device: Record, made_for: str) -> list[str]:
    """Return what a GPU lacks by what is known of it; raise if kernels cannot run there."""
    name, chip = device["gpu"], chip_of(device)
    version = device["driver CUDA"]
    if version < OLDEST_DRIVER:
        driver = f"the driver {device.get('driver', '')}".strip()
        given = f"CUDA {version // 1000}.{version % 1000 // 10}"
        raise NoGpuError(
            f"{driver} is for {given}, and one for CUDA {OLDEST_DRIVER // 1000}.0 is needed"
        )
    if device.get("compute mode") == PROHIBITED:
        raise NoGpuError(f"{name} is closed to all processes (compute mode 2)")
    told = []
    if device.get("compute mode") == EXCLUSIVE:
        told.append(f"{name} takes one process at a time: parts run one after another")
    if " MIG " in f"{name} ":
        processors = device["multiprocessors"]
        told.append(f"{name} is a slice of {processors} multiprocessors: times are the slice's")
    if device.get("clusters of 16", 1) == 0:
        told.append("no cluster of 16 blocks fits: kernels that have one fail")
    if made_for not in ("", chip):
        told.append(f"the archive has kernels for {made_for}: those for {chip} are compiled here")
    return told


def most_children(device: Record, cores: int) -> int:
    """Return how many children a GPU has memory for at a time, at most one a core."""
    if device.get("compute mode") == EXCLUSIVE:
        return 1
    free = device.get("memory free bytes", cores * CHILD_BYTES)
    return max(1, min(cores, int(free) // CHILD_BYTES))
