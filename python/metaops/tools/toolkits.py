# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a new session uses for GPUs, as far as Python knows it."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence

__all__ = [
    "assembled_for",
    "cubin_folder",
    "find_tools",
    "gpu_driver",
    "kernel_log",
    "other_assemblers",
    "package_folders",
    "toolkit_folders",
]


def package_folders(path: Sequence[str] | None = None) -> list[str]:
    """Return the folders of Python packages that may have packages of NVIDIA.

    They are those that modules are imported from, in order.
    """
    return [folder for folder in (sys.path if path is None else path) if folder]


def other_assemblers(environment: Mapping[str, str] = os.environ) -> list[str]:
    """Return the assemblers that ``METAOPS_ASSEMBLERS`` names, separated by commas.

    Their machine code is taken from the cache also where they are not installed.
    """
    return _split(environment.get("METAOPS_ASSEMBLERS", ""))


def assembled_for(environment: Mapping[str, str] = os.environ) -> list[str]:
    """Return the chips that ``METAOPS_EMULATOR_ASSEMBLES`` names, separated by commas.

    Devices that emulate a GPU have each kernel assembled for these, too.
    """
    return _split(environment.get("METAOPS_EMULATOR_ASSEMBLES", ""))


def gpu_driver(environment: Mapping[str, str] = os.environ) -> str:
    """Return the driver that ``METAOPS_CUDA_DRIVER`` describes, or an empty text.

    It emulates GPUs, in the place of NVIDIA's.
    """
    return environment.get("METAOPS_CUDA_DRIVER", "")


def cubin_folder(environment: Mapping[str, str] = os.environ) -> str:
    """Return the folder that ``METAOPS_EMULATOR_CUBINS`` names, or an empty text.

    What emulated devices have assembled is kept there, for other processes.
    """
    return environment.get("METAOPS_EMULATOR_CUBINS", "")


def kernel_log(environment: Mapping[str, str] = os.environ) -> str:
    """Return the file that ``METAOPS_EMULATOR_LOG`` names, or an empty text.

    Emulated devices append to it which kernels the programs that are compiled have.
    """
    return environment.get("METAOPS_EMULATOR_LOG", "")


#: Files in the folders of a toolkit that code for GPUs needs.
_TOOLS = {
    "nvJitLink": tuple(
        f"{folder}/libnvJitLink.so.{version}" for version in (13, 12) for folder in ("lib64", "lib")
    ),
    "ptxas": ("bin/ptxas",),
    "libdevice": ("nvvm/libdevice/libdevice.10.bc",),
}


def toolkit_folders(
    environment: Mapping[str, str] = os.environ, path: Sequence[str] | None = None
) -> list[str]:
    """Return the folders in which the session looks for toolkits, in its order."""
    packages = [
        os.path.join(folder, "nvidia", name)
        for folder in package_folders(path)
        for name in _listed(os.path.join(folder, "nvidia"))
    ]
    named = [environment[name] for name in ("CUDA_HOME", "CUDA_PATH") if environment.get(name)]
    local = "/usr/local"
    versions = sorted(
        (name for name in _listed(local) if name.startswith("cuda-")), key=_version, reverse=True
    )
    return [*packages, *named, f"{local}/cuda", *(os.path.join(local, name) for name in versions)]


def _listed(folder: str) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []


def _version(name: str) -> tuple[list[int], str]:
    """Return the number behind a folder's name, such as [13, 0] of cuda-13.0."""
    parts = name.rpartition("-")[2].split(".")
    return [int(part) for part in parts if part.isdecimal()], name


def find_tools(
    environment: Mapping[str, str] = os.environ, path: Sequence[str] | None = None
) -> dict[str, str | None]:
    """Return the files that the session uses for GPUs, None of what is not there.

    Libraries that only the system's loader finds are not among them.
    """
    folders = toolkit_folders(environment, path)
    found: dict[str, str | None] = {}
    for name, files in _TOOLS.items():
        paths = (os.path.join(folder, file) for file in files for folder in folders)
        found[name] = next(filter(os.path.isfile, paths), None)
    if found["ptxas"] is None:
        import shutil

        found["ptxas"] = shutil.which("ptxas", path=environment.get("PATH"))
    return found


def _split(names: str) -> list[str]:
    return [name.strip() for name in names.split(",") if name.strip()]
