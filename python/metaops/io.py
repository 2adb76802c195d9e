# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Values in files: written atomically, read without pickle."""

from __future__ import annotations

import os
from typing import Any, BinaryIO, Literal, TypeAlias, Union

from ._errors import at_line, refuse_recorded
from .files.background import Saving, begin, finish_all, held

__all__ = ["load", "save"]

Path: TypeAlias = Union[str, "os.PathLike[str]"]

#: A pickle of the number that PyTorch's files before 1.6 begin with.
_LEGACY = b"\x80\x02\x8a\x0al\xfc\x9cF\xf9 j\xa8P\x19."


def save(value: Any, path: Path, *, wait: bool = True) -> Saving:
    """Write a value to a file, from which `load` returns its like.

    Parameters
    ----------
    value
        Vars, which are computed, and NumPy arrays; numbers, strings and None;
        and lists, tuples and dicts of all these, such as `Module.state_dict` and
        `Optimizer.state_dict` return.
    path
        The file, replaced as a whole once everything is on the disk. `numpy.load`
        reads its tensors, those of bfloat16 as their bits in uint16; those of a
        dict are named by their keys, what is further inside by keys with dots
        between. A tensor that is there under several names is written once.
        A name that ends in ``.safetensors`` makes a file of that format, of a dict of
        tensors by texts; other names of a tensor are in its metadata.
    wait
        Whether to return when the file is written. If not, the values that there are now
        are written beside the program, which may go on and change them; what tensors have
        in memory stays there meanwhile, where steps would write over it. Files are
        written one after another; while many wait, so does the call.

    Returns
    -------
    An object whose ``wait(timeout=None)`` waits for the file, and raises what went wrong;
    ``done()`` tells whether it is there.

    Raises
    ------
    TypeError
        If there is anything else in the value; the message says where.
    ValueError
        If a list or dict contains itself, or is nested too deeply.
    """
    path = os.fspath(path)
    if not wait:
        refuse_recorded("save is called")
        # The program may be in another folder when it is written.
        path = os.path.abspath(path)
        try:
            kept = held(value)
        except RecursionError:
            raise _too_deep() from None
        return begin(path, lambda: _write(kept, path))
    # Of two that write a file, the last is the later one.
    finish_all()
    _write(value, path)
    saving = Saving(path)
    saving.finish()
    return saving


def _too_deep() -> ValueError:
    return at_line(ValueError("save: the value is nested too deeply"))


def _write(value: Any, path: str) -> None:
    from .files.replacing import replaced

    with replaced(path) as file:
        if path.endswith(".safetensors"):
            from .files.safetensors import write_safetensors

            write_safetensors(file, value)
        else:
            _write_archive(file, value)


def _write_archive(file: BinaryIO, value: Any) -> None:
    import zipfile

    from ._structure import Writer

    with zipfile.ZipFile(file, "w") as archive:
        try:
            Writer(archive).write(value)
        except RecursionError:
            raise _too_deep() from None


def load(
    path: Path, *, mmap: bool = True, objects: Literal["error", "placeholder"] = "error"
) -> Any:
    """Read the value from a file, of which the contents say what kind it is.

    Nothing in a file is executed, whoever wrote it. It may be one that `save` wrote; a .npz
    file of NumPy's; a .safetensors file, or the ``index.json`` of several; or a file of
    `torch.save`, from PyTorch 1.6 on, of tensors, dicts, lists and numbers.

    Parameters
    ----------
    path
        The file.
    mmap
        Whether tensors of .safetensors and PyTorch's files stay in the file, whose pages are
        read when they are used. It must not be changed then as long as they are in use; it may
        be replaced, as `save` does. If not, it is read at once.
    objects
        What objects of other classes in a PyTorch file become: an error with all their
        names, or placeholders with a ``name``, ``arguments`` and a ``state``.

    Returns
    -------
    Any
        What was saved: Vars as Vars, arrays as arrays, and dicts of any kind as
        dicts. Of a .npz file that NumPy wrote, a dict of arrays by name. Tensors of others'
        files are Vars; those that share memory there are one.

    Raises
    ------
    ValueError
        If the file is damaged, is no such file, or holds Python objects; the
        message names it.
    OSError
        If it cannot be opened.
    """
    if objects not in ("error", "placeholder"):
        raise at_line(
            ValueError(f"load: given objects={objects!r}; expected 'error' or 'placeholder'")
        )
    path = os.fspath(path)
    with open(path, "rb") as file:
        try:
            return _read(file, path, is_mapped=mmap, takes_objects=objects == "placeholder")
        except MemoryError:
            raise
        except Exception as error:
            # Damaged bytes make zipfile, zlib, json and NumPy's parser of headers
            # raise whatever they meet.
            raise at_line(
                ValueError(f"load: {path} is not a file of tensors, or is damaged: {error}")
            ) from error


def _read(file: BinaryIO, path: str, *, is_mapped: bool, takes_objects: bool) -> Any:
    """Read a file by what it begins with."""
    import zipfile

    from ._structure import Reader
    from .files.pytorch import find_pickle, read_pytorch
    from .files.safetensors import is_safetensors, read_index, read_safetensors

    size = os.fstat(file.fileno()).st_size
    start = file.read(16)
    file.seek(0)
    if is_safetensors(start, size):
        return read_safetensors(file, is_mapped=is_mapped)
    if start[:1] == b"{":
        return read_index(file, os.path.dirname(path), is_mapped=is_mapped)
    if start.startswith(_LEGACY):
        raise ValueError(
            "it is of PyTorch before 1.6; expected what a later one saves of torch.load's result"
        )
    with zipfile.ZipFile(file) as archive:
        if find_pickle(archive) is not None:
            return read_pytorch(file, archive, is_mapped=is_mapped, takes_objects=takes_objects)
        return Reader(archive, size).read()
