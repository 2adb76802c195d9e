# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a new session uses for GPUs, as far as Python knows it."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence

__all__ = ["assembled_for", "cubin_folder", "kernel_log", "other_assemblers", "package_folders"]


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


def _split(names: str) -> list[str]:
    return [name.strip() for name in names.split(",") if name.strip()]
