# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Files of the safetensors format.

Eight bytes say how long a header of JSON is, which has the dtype, the shape and the place of
each tensor; the data follows (https://github.com/huggingface/safetensors, "Format"). Under
``__metadata__`` are texts; those who save shared tensors once note other names of a tensor
there. Nothing in a file is executed.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from math import prod
from typing import Any, BinaryIO, TypeGuard

import numpy as np

from .._core import Var
from .._errors import at_line
from .._typing import shown
from .mapping import ITEM_SIZES, Bytes, as_tensor, open_bytes

__all__ = ["is_safetensors", "read_index", "read_safetensors", "write_safetensors"]

#: The format's names of dtypes.
DTYPES = {
    "BOOL": "bool",
    "U8": "uint8",
    "I8": "int8",
    "U16": "uint16",
    "I16": "int16",
    "F16": "float16",
    "BF16": "bfloat16",
    "U32": "uint32",
    "I32": "int32",
    "F32": "float32",
    "U64": "uint64",
    "I64": "int64",
    "F64": "float64",
}
_NAMES = {ours: theirs for theirs, ours in DTYPES.items()}
_METADATA = "__metadata__"
#: The format's own limit.
_MOST_HEADER = 100_000_000
_MOST_RANK = 64


def is_safetensors(start: bytes, size: int) -> bool:
    """Return whether a file begins as such a one does."""
    length = int.from_bytes(start[:8], "little")
    return len(start) > 8 and start[8:9] == b"{" and length <= min(size - 8, _MOST_HEADER)


def read_safetensors(file: BinaryIO, *, is_mapped: bool) -> dict[str, Var]:
    """Return the tensors of a file by name, each under all its names.

    Raises
    ------
    ValueError
        If the file is not sound.
    """
    data = open_bytes(file, is_mapped=is_mapped)
    length = int.from_bytes(data[:8].tobytes(), "little")
    header = _parse(data[8 : 8 + length].tobytes())
    metadata = header.pop(_METADATA, {})
    body = data[8 + length :]
    places = {name: _read_place(name, entry, body.size) for name, entry in header.items()}
    _check_places(places, body.size)
    tensors = {name: _read(name, header[name], body[slice(*places[name])]) for name in header}
    for other, name in metadata.items() if isinstance(metadata, dict) else ():
        if other not in (*tensors, "format") and isinstance(name, str) and name in tensors:
            tensors[other] = tensors[name]
    return tensors


def _parse(text: bytes) -> dict[str, Any]:
    def make(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        made = dict(pairs)
        if len(made) != len(pairs):
            raise ValueError("a name is in its header twice")
        return made

    try:
        header = json.loads(text, object_pairs_hook=make, parse_int=_parse_integer)
    except RecursionError:
        raise ValueError("its header is nested too deeply") from None
    if not isinstance(header, dict):
        raise ValueError("its header is no object")
    return header


def _parse_integer(text: str) -> int:
    if len(text) > 20:
        raise ValueError("its header has a number of more than 64 bits")
    return int(text)


def _read_place(name: str, entry: Any, size: int) -> tuple[int, int]:
    offsets = entry.get("data_offsets") if isinstance(entry, dict) else None
    if not _are_sizes(offsets, 2) or not offsets[0] <= offsets[1] <= size:
        raise ValueError(f"{name!r} has the offsets {shown(offsets)} in {size} bytes of data")
    return offsets[0], offsets[1]


def _check_places(places: dict[str, tuple[int, int]], size: int) -> None:
    """Raise unless each byte belongs to one tensor."""
    end = 0
    for begin, after in sorted(places.values()):
        if begin != end:
            raise ValueError(f"bytes from {min(begin, end)} on belong to two tensors, or to none")
        end = after
    if end != size:
        raise ValueError(f"{size - end} bytes at its end belong to no tensor")


def _are_sizes(value: Any, count: int | None = None) -> TypeGuard[list[int]]:
    return (
        isinstance(value, list)
        and len(value) <= _MOST_RANK
        and count in (None, len(value))
        and all(type(each) is int and each >= 0 for each in value)
    )


def _read(name: str, entry: dict[str, Any], data: Bytes) -> Var:
    dtype, shape = entry.get("dtype"), entry.get("shape")
    if not isinstance(dtype, str) or dtype not in DTYPES:
        raise ValueError(f"{name!r} has the dtype {shown(dtype)}; expected {', '.join(DTYPES)}")
    if not _are_sizes(shape):
        raise ValueError(f"{name!r} has the shape {shown(shape)}; expected a list of extents")
    if prod(shape) * ITEM_SIZES[DTYPES[dtype]] != data.size:
        raise ValueError(
            f"{name!r} of shape {tuple(shape)} and dtype {dtype} has {data.size} bytes"
        )
    return as_tensor(data, DTYPES[dtype], shape)


def read_index(file: BinaryIO, folder: str, *, is_mapped: bool) -> dict[str, Var]:
    """Return the tensors of several files, which an index has by name.

    Raises
    ------
    ValueError
        If a file is not sound, or lacks a tensor.
    """
    weights = _parse(file.read()).get("weight_map")
    if not isinstance(weights, dict):
        raise ValueError("it has no object 'weight_map'")
    files: dict[str, dict[str, Var]] = {}
    tensors = {}
    for name, part in weights.items():
        if not isinstance(part, str) or os.path.basename(part) != part or part in ("", ".", ".."):
            raise ValueError(f"{name!r} is in {shown(part)}; expected a file's name")
        if part not in files:
            with open(os.path.join(folder, part), "rb") as shard:
                files[part] = read_safetensors(shard, is_mapped=is_mapped)
        if name not in files[part]:
            raise ValueError(f"{name!r} is not in {part}")
        tensors[name] = files[part][name]
    return tensors


def write_safetensors(file: BinaryIO, value: Any) -> None:
    """Write tensors by name. One that has several names is written once.

    Raises
    ------
    TypeError
        If the value is no dict of tensors by texts.
    """
    if not isinstance(value, Mapping):
        raise at_line(
            TypeError(f"save: given {shown(value)} for a .safetensors file; expected a dict")
        )
    # Tensors that are made when they are asked for live until all are written.
    value = dict(value)
    first: dict[int, str] = {}
    arrays: dict[str, tuple[str, np.ndarray[Any, Any]]] = {}
    metadata = {"format": "pt"}
    for name, tensor in value.items():
        if name == _METADATA:
            raise at_line(ValueError(f"save: no tensor of a .safetensors file is named {name!r}"))
        if not isinstance(name, str) or not isinstance(tensor, Var | np.ndarray):
            raise at_line(
                TypeError(
                    f"save: the entry {name!r} is {shown(tensor)}; a .safetensors file has"
                    " tensors by texts"
                )
            )
        if first.setdefault(id(tensor), name) != name and name not in metadata:
            metadata[name] = first[id(tensor)]
            continue
        arrays[name] = _to_array(name, tensor)
    _write(file, arrays, metadata)


def _to_array(name: str, tensor: Var | np.ndarray[Any, Any]) -> tuple[str, np.ndarray[Any, Any]]:
    """Return the format's dtype of a tensor, and its elements or their bits."""
    if isinstance(tensor, Var) and tensor.dtype == "bfloat16":
        bits = np.ascontiguousarray(tensor.numpy()).view(np.uint32) >> 16
        return "BF16", bits.astype("<u2").reshape(tensor.shape)
    array = tensor.numpy() if isinstance(tensor, Var) else tensor
    if array.dtype.name not in _NAMES:
        raise at_line(TypeError(f"save: {name!r} is {array.dtype}; expected {', '.join(_NAMES)}"))
    little = array.astype(array.dtype.newbyteorder("<"), copy=False)
    return _NAMES[array.dtype.name], np.ascontiguousarray(little).reshape(array.shape)


def _write(
    file: BinaryIO, arrays: dict[str, tuple[str, np.ndarray[Any, Any]]], metadata: dict[str, str]
) -> None:
    """Write a header, padded so that data is aligned, and data, the widest first."""
    order = sorted(arrays, key=lambda name: (-arrays[name][1].itemsize, name))
    header: dict[str, Any] = {_METADATA: metadata}
    begin = 0
    for name in order:
        dtype, array = arrays[name]
        header[name] = {
            "dtype": dtype,
            "shape": list(array.shape),
            "data_offsets": [begin, begin + array.nbytes],
        }
        begin += array.nbytes
    text = json.dumps(header, ensure_ascii=False, separators=(",", ":")).encode()
    text += b" " * (-(8 + len(text)) % 64)
    file.write(len(text).to_bytes(8, "little") + text)
    for name in order:
        file.write(arrays[name][1].data if arrays[name][1].size else b"")
