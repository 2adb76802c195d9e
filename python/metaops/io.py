# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tensors in files: NumPy's .npz, written atomically and read without pickle."""

from __future__ import annotations

import os
import tempfile
import zipfile
from collections.abc import Mapping
from typing import Any, TypeAlias, Union

import numpy as np
import numpy.typing as npt

from ._core import Var
from ._typing import VarLike

__all__ = ["load", "save"]

Path: TypeAlias = Union[str, "os.PathLike[str]"]


def save(tensors: Mapping[str, VarLike], path: Path) -> None:
    """Write named tensors to a file that `numpy.load` reads too.

    Parameters
    ----------
    tensors
        Names and Vars, arrays or numbers. Vars are computed.
    path
        The file, replaced as a whole once everything is written.

    Raises
    ------
    TypeError
        If a value is an array of Python objects.
    """
    path = os.fspath(path)
    arrays = {
        name: value.numpy() if isinstance(value, Var) else np.asarray(value)
        for name, value in tensors.items()
    }
    for name, value in arrays.items():
        if value.dtype.hasobject:
            raise TypeError(f"save: {name!r} has dtype {value.dtype}, expected numbers")
    directory = os.path.dirname(path) or "."
    with tempfile.NamedTemporaryFile(dir=directory, delete=False) as file:
        try:
            with zipfile.ZipFile(file, "w") as archive:
                for name, value in arrays.items():
                    with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                        np.lib.format.write_array(member, value, allow_pickle=False)
            file.flush()
            # Temporary files are private; a saved one is as any other new file.
            umask = os.umask(0)
            os.umask(umask)
            os.chmod(file.name, 0o666 & ~umask)
            os.replace(file.name, path)
        except BaseException:
            os.unlink(file.name)
            raise


def load(path: Path) -> dict[str, npt.NDArray[Any]]:
    """Read named tensors from a file that `save` wrote.

    Returns
    -------
    dict
        Names and NumPy arrays.

    Raises
    ------
    ValueError
        If the file is no such archive or holds Python objects.
    OSError
        If it cannot be read.
    """
    result = {}
    try:
        with zipfile.ZipFile(path) as archive:
            for member_name in archive.namelist():
                with archive.open(member_name) as member:
                    array = np.lib.format.read_array(member, allow_pickle=False)
                result[member_name.removesuffix(".npy")] = array
    except zipfile.BadZipFile as error:
        raise ValueError(f"load: {os.fspath(path)} is not a file of tensors: {error}") from None
    return result
