# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Data sets in files of arrays and of tables: .npy, .npz, idx, CSV."""

from __future__ import annotations

import contextlib
import csv
import gzip
import math
import os
import struct
import zlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any, BinaryIO, TypeAlias, cast

import numpy as np
import numpy.typing as npt

from .._errors import at_line
from .._typing import shown
from .dataset import Dataset, TensorDataset

__all__ = ["CsvDataset", "ImageRows", "NpyDataset", "NpzDataset", "read_idx"]

Path: TypeAlias = str | os.PathLike[str]
Function: TypeAlias = Callable[[Any], Any]

#: Types of elements by the third byte of an idx file.
_IDX_TYPES = {0x08: ">u1", 0x09: ">i1", 0x0B: ">i2", 0x0C: ">i4", 0x0D: ">f4", 0x0E: ">f8"}


class NpyDataset(TensorDataset):
    """Rows of .npy files, which are mapped: what is not used is not read.

    Parameters
    ----------
    *paths
        A file for each part of an item, of as many rows each.

    Raises
    ------
    ValueError
        If a file is no such one, has Python's objects, or the rows differ.
    """

    def __init__(self, *paths: Path) -> None:
        super().__init__(*(_load("NpyDataset", path, mmap_mode="r") for path in paths))


class NpzDataset(TensorDataset):
    """Rows of the arrays in a .npz file.

    Parameters
    ----------
    path
        The file.
    keys
        The names of the arrays, in the order of an item's parts; all by default.

    Raises
    ------
    ValueError
        If the file is no such one, or the rows differ.
    KeyError
        If it has no array of a name.
    """

    def __init__(self, path: Path, keys: Sequence[str] | None = None) -> None:
        archive = _load("NpzDataset", path)
        if not isinstance(archive, np.lib.npyio.NpzFile):
            raise at_line(ValueError(f"NpzDataset: {shown(path)} is no .npz file"))
        with archive:
            self.keys = list(archive.files if keys is None else keys)
            missing = [key for key in self.keys if key not in archive.files]
            if missing:
                raise at_line(
                    KeyError(f"NpzDataset: {shown(path)} has no {missing}, but {archive.files}")
                )
            try:
                arrays = [archive[key] for key in self.keys]
            except Exception as error:
                raise at_line(ValueError(f"NpzDataset: {shown(path)}: {error}")) from error
        super().__init__(*arrays)


def _load(what: str, path: Path, mmap_mode: Any = None) -> Any:
    try:
        return np.load(path, mmap_mode=mmap_mode, allow_pickle=False)
    except OSError:
        raise
    except Exception as error:
        raise at_line(ValueError(f"{what}: {shown(path)} cannot be read: {error}")) from error


@contextlib.contextmanager
def _open(path: Path) -> Iterator[BinaryIO]:
    """Yield the bytes of a file, unpacked if they are packed."""
    with open(os.fspath(path), "rb") as file:
        is_packed = file.read(2) == b"\x1f\x8b"
        file.seek(0)
        if is_packed:
            with gzip.GzipFile(fileobj=file) as unpacked:
                yield cast("BinaryIO", unpacked)
        else:
            yield file


def read_idx(path: Path) -> npt.NDArray[Any]:
    """Return the array in an idx file, as those of MNIST are; packed by gzip or not.

    Parameters
    ----------
    path
        The file.

    Raises
    ------
    ValueError
        If it is no such file, or has fewer or more bytes than its shape tells.
    """
    with _open(path) as file:
        try:
            start = file.read(4)
            if len(start) < 4 or start[:2] != b"\0\0" or start[2] not in _IDX_TYPES:
                raise ValueError(f"it begins with {start!r}")
            dtype = np.dtype(_IDX_TYPES[start[2]])
            extents = file.read(4 * start[3])
            shape = struct.unpack(f">{start[3]}I", extents)
            # Not more is read than there should be, whatever the file has.
            size = math.prod(shape) * dtype.itemsize
            parts, left = [], size + 1
            while left > 0 and (part := file.read(min(left, 1 << 24))):
                parts.append(part)
                left -= len(part)
            data = b"".join(parts)
            if len(data) != size:
                found = f"{len(data)}" if len(data) < size else "more"
                raise ValueError(f"shape {shape} takes {size} bytes, and there are {found}")
        except (ValueError, EOFError, struct.error, gzip.BadGzipFile, zlib.error) as error:
            message = f"read_idx: {shown(path)} is no whole idx file: {error}"
            raise at_line(ValueError(message)) from error
    return np.frombuffer(data, dtype).reshape(shape).astype(dtype.newbyteorder("="))


class ImageRows(TensorDataset):
    """Images and labels that are in memory, and functions that make items of them.

    Parameters
    ----------
    images, labels
        Arrays of as many rows.
    transform, target_transform
        Functions of an image and of a label. Without them batches are gathered.
    """

    def __init__(
        self,
        images: npt.NDArray[Any],
        labels: npt.NDArray[Any],
        transform: Function | None = None,
        target_transform: Function | None = None,
    ) -> None:
        super().__init__(images, labels)
        self.transform = transform
        self.target_transform = target_transform

    def get_rows(self) -> tuple[npt.NDArray[Any], ...] | None:
        """Return the arrays whose rows are the items; None with functions."""
        is_plain = self.transform is None and self.target_transform is None
        return self.tensors if is_plain else None

    def __getitem__(self, index: Any) -> tuple[Any, ...]:
        image, label = super().__getitem__(index)
        if self.transform is not None:
            image = self.transform(image)
        if self.target_transform is not None:
            label = self.target_transform(label)
        return image, label


class CsvDataset(Dataset[Any]):
    """Rows of a table in a text file: items are dicts of the columns.

    A column of integers is int64, one of numbers float64, where an empty field is NaN; any other
    is of texts, and so is one that has integers of over 64 bits.

    Parameters
    ----------
    path
        The file, in UTF-8.
    delimiter
        What is between two fields.
    has_header
        Whether the first row names the columns; else these are 0, 1, and so on.
    transform
        A function that makes an item of such a dict.

    Raises
    ------
    ValueError
        If a row has more or fewer fields than the first one, or two columns have one name.
    """

    def __init__(
        self,
        path: Path,
        delimiter: str = ",",
        has_header: bool = True,
        transform: Function | None = None,
    ) -> None:
        with open(os.fspath(path), newline="", encoding="utf-8-sig") as file:
            reader = csv.reader(file, delimiter=delimiter)
            rows: list[list[str]] = []
            for row in reader:
                if row and rows and len(row) != len(rows[0]):
                    raise at_line(
                        ValueError(
                            f"CsvDataset: {shown(path)}: line {reader.line_num} has {len(row)} "
                            f"fields, the first one {len(rows[0])}"
                        )
                    )
                if row:
                    rows.append(row)
        names: list[Any] = [*range(len(rows[0]))] if rows else []
        if has_header and rows:
            names = rows.pop(0)
            if doubles := sorted({name for name in names if names.count(name) > 1}):
                raise at_line(
                    ValueError(
                        f"CsvDataset: {shown(path)}: several columns are named {shown(doubles)}; "
                        "expected a name of its own for each"
                    )
                )
        self.columns = {name: _as_column([row[k] for row in rows]) for k, name in enumerate(names)}
        self.transform = transform
        self._count = len(rows)

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, index: Any) -> Any:
        item = {name: column[index] for name, column in self.columns.items()}
        return item if self.transform is None else self.transform(item)


def _as_column(fields: list[str]) -> Any:
    """Return the numbers in a column; the fields where they are none."""
    # One by one: an array of texts takes as much for each as for the longest.
    with contextlib.suppress(ValueError):
        integers = map(int, fields)
        try:
            return np.fromiter(integers, np.int64, len(fields))
        except OverflowError:
            # As other numbers they would be rounded.
            return fields
    with contextlib.suppress(ValueError):
        return np.fromiter((float(field or "nan") for field in fields), np.float64, len(fields))
    return fields
