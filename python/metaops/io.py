# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Values in files: written atomically, read without pickle."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, TypeAlias, Union

from ._errors import at_line

if TYPE_CHECKING:
    import zipfile

__all__ = ["load", "save"]

Path: TypeAlias = Union[str, "os.PathLike[str]"]


def save(value: Any, path: Path) -> None:
    """Write a value to a file, from which `load` returns its like.

    Parameters
    ----------
    value
        Vars, which are computed, and NumPy arrays; numbers, strings and None;
        and lists, tuples and dicts of all these, such as `Module.state_dict` and
        `Optimizer.state_dict` return.
    path
        The file, replaced as a whole once everything is written. `numpy.load`
        reads its tensors, those of bfloat16 as their bits in uint16; those of a
        dict are named by their keys, what is further inside by keys with dots
        between. A tensor that is there under several names is written once.

    Raises
    ------
    TypeError
        If there is anything else in the value; the message says where.
    ValueError
        If a list or dict contains itself, or is nested too deeply.
    """
    import tempfile
    import zipfile

    path = os.fspath(path)
    directory = os.path.dirname(path) or "."
    with tempfile.NamedTemporaryFile(dir=directory, delete=False) as file:
        try:
            with zipfile.ZipFile(file, "w") as archive:
                _write(archive, value)
            file.flush()
            # Temporary files are private; a saved one is as any other new file.
            umask = os.umask(0)
            os.umask(umask)
            os.chmod(file.name, 0o666 & ~umask)
            os.replace(file.name, path)
        except BaseException:
            os.unlink(file.name)
            raise


def _write(archive: zipfile.ZipFile, value: Any) -> None:
    from ._structure import Writer

    try:
        Writer(archive).write(value)
    except RecursionError:
        raise at_line(ValueError("save: the value is nested too deeply")) from None


def load(path: Path) -> Any:
    """Read the value from a file that `save` wrote.

    Nothing in the file is executed, whoever wrote it.

    Returns
    -------
    Any
        What was saved: Vars as Vars, arrays as arrays, and dicts of any kind as
        dicts. Of a .npz file that NumPy wrote, a dict of arrays by name.

    Raises
    ------
    ValueError
        If the file is damaged, is no such file, or holds Python objects; the
        message names it.
    OSError
        If it cannot be opened.
    """
    import zipfile

    from ._structure import Reader

    path = os.fspath(path)
    with open(path, "rb") as file:
        try:
            with zipfile.ZipFile(file) as archive:
                return Reader(archive, os.fstat(file.fileno()).st_size).read()
        except MemoryError:
            raise
        except Exception as error:
            # Damaged bytes make zipfile, zlib, json and NumPy's parser of headers
            # raise whatever they meet.
            raise at_line(
                ValueError(f"load: {path} is not a file of tensors, or is damaged: {error}")
            ) from error
