# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Files of `torch.save`, without PyTorch.

A file is a zip archive: ``data.pkl``, a pickle in which tensors are views of storages, and a
member for each storage. The pickle is read by an interpreter that calls nothing but what makes
tensors, dicts and numbers (`pickles`). The layout is that of ``torch/serialization.py`` from
PyTorch 1.6 on.
"""

from __future__ import annotations

import zipfile
from collections import OrderedDict
from collections.abc import Callable
from math import prod
from typing import Any, BinaryIO

import numpy as np

from .._core import Var
from .mapping import ITEM_SIZES, Bytes, as_tensor, is_row_major, open_bytes
from .pickles import Known, Placeholder, check_keys, read_pickle

__all__ = ["find_pickle", "read_pytorch"]

#: dtypes by the classes of storages that have them.
_STORAGES = {
    "DoubleStorage": "float64",
    "FloatStorage": "float32",
    "HalfStorage": "float16",
    "BFloat16Storage": "bfloat16",
    "LongStorage": "int64",
    "IntStorage": "int32",
    "ShortStorage": "int16",
    "CharStorage": "int8",
    "ByteStorage": "uint8",
    "BoolStorage": "bool",
    "UntypedStorage": "uint8",
}
_ALIASES = {"double": "float64", "float": "float32", "half": "float16", "long": "int64"}
_ALIASES |= {"int": "int32", "short": "int16"}
_MOST_RANK = 64
#: So many times its own size a file may take in copies of tensors.
_MOST_COPIES = 8
#: Names of what NumPy's scalars are made by, in its versions.
_NUMPY = ("numpy.core.multiarray", "numpy._core.multiarray")


class _Storage:
    """The memory of tensors: bytes, and the dtype of views of it."""

    def __init__(self, data: Bytes, dtype: str) -> None:
        self.data, self.dtype = data, dtype


class _DType(str):
    """A dtype of PyTorch's, by its name here."""


def find_pickle(archive: zipfile.ZipFile) -> str | None:
    """Return the name of the pickle in an archive of `torch.save`, or None."""
    names = [name for name in archive.namelist() if name.rpartition("/")[2] == "data.pkl"]
    return names[0] if len(names) == 1 and names[0].count("/") <= 1 else None


def read_pytorch(
    file: BinaryIO, archive: zipfile.ZipFile, *, is_mapped: bool, takes_objects: bool
) -> Any:
    """Return what a file holds: tensors as Vars, in dicts, lists, tuples and sets.

    Raises
    ------
    ValueError
        If the file is not sound; without `takes_objects`, if there is anything else in it: the
        message has the names of all.
    """
    reader = _Reader(open_bytes(file, is_mapped=is_mapped), archive)
    value, unknown = reader.read()
    if unknown and not takes_objects:
        raise ValueError(
            f"it has objects of {', '.join(unknown)}; expected tensors, dicts, lists and numbers,"
            " as of torch.save(model.state_dict(), ...). objects='placeholder' gives placeholders"
            " for them"
        )
    return value


class _Reader:
    """Reads one archive."""

    def __init__(self, data: Bytes, archive: zipfile.ZipFile) -> None:
        self._data, self._archive = data, archive
        pickle = find_pickle(archive)
        assert pickle is not None
        self._names = set(archive.namelist())
        #: Bytes of tensors that are copies, as they are not in row-major order.
        self._copied = 0
        self._pickle, self._root = pickle, pickle[: -len("data.pkl")]
        self._storages: dict[str, Bytes] = {}
        #: Tensors that are views of the same memory are one.
        self._tensors: dict[Any, Var] = {}

    def read(self) -> tuple[Any, list[str]]:
        """Return the value, and the names that are not known."""
        order = self._root + "byteorder"
        if order in self._names and self._member(order).tobytes() != b"little":
            raise ValueError("its elements are not in little-endian byte order")
        return read_pickle(self._member(self._pickle).tobytes(), self._find, self._load)

    def _member(self, name: str) -> Bytes:
        """Return the bytes of a member, in the file's if it is not compressed."""
        info = self._archive.getinfo(name)
        if info.compress_type != zipfile.ZIP_STORED:
            if info.file_size > 2000 * max(info.compress_size, 1):
                raise ValueError(f"{name!r} would have {info.file_size} bytes")
            return np.frombuffer(self._archive.read(info), np.uint8)
        header = self._data[info.header_offset : info.header_offset + 30].tobytes()
        if header[:4] != b"PK\3\4" or info.file_size != info.compress_size:
            raise ValueError(f"{name!r} is not where the archive says")
        lengths = int.from_bytes(header[26:28], "little") + int.from_bytes(header[28:30], "little")
        begin = info.header_offset + 30 + lengths
        if begin + info.file_size > self._data.size:
            raise ValueError(f"{name!r} goes on behind the end")
        return self._data[begin : begin + info.file_size]

    # Names.

    def _find(self, module: str, name: str) -> Any:
        # Pickles of protocol 2 have Python 2's names.
        full = f"{module.replace('__builtin__', 'builtins')}.{name}"
        makers: dict[str, Callable[..., Any]] = {
            "torch._utils._rebuild_tensor_v2": self._make_tensor,
            "torch._utils._rebuild_tensor": self._make_tensor,
            "torch._utils._rebuild_tensor_v3": self._make_typed_tensor,
            "torch._utils._rebuild_parameter": lambda tensor, *_: tensor,
            "torch._utils._rebuild_parameter_with_state": lambda tensor, *_: tensor,
            "collections.OrderedDict": _make_dict,
            "torch.Size": lambda extents: _as_tuple(tuple(extents)),
            "torch.device": _make_device,
            "builtins.set": _make_set,
            "builtins.complex": complex,
            "_codecs.encode": _encode,
            "numpy.dtype": _make_dtype,
            **{f"{each}.scalar": _make_scalar for each in _NUMPY},
        }
        if full in makers:
            return Known(full, makers[full])
        if module in ("torch", "torch.storage") and name in _STORAGES:
            return _DType(_STORAGES[name])
        dtype = _ALIASES.get(name, name)
        if module == "torch" and dtype in ITEM_SIZES:
            return _DType(dtype)
        return None

    def _load(self, identity: Any) -> _Storage:
        match identity:
            case ("storage", _DType() as kind, str(key), str(), int()):
                pass
            case ("storage", Placeholder() as kind, *_):
                raise ValueError(f"it has a storage of {kind.name}, which is not known")
            case _:
                raise ValueError("it has a storage of a kind that is not known")
        if key not in self._storages:
            name = f"{self._root}data/{key}"
            if name not in self._names:
                raise ValueError(f"its storage {key!r} is not there")
            self._storages[key] = self._member(name)
        return _Storage(self._storages[key], str(kind))

    def _make_tensor(self, storage: Any, offset: Any, shape: Any, strides: Any, *rest: Any) -> Var:
        numbers = [offset, *_as_tuple(shape), *_as_tuple(strides)]
        if (
            not isinstance(storage, _Storage)
            or any(type(n) is not int or not 0 <= n < 1 << 62 for n in numbers)
            or len(shape) != len(strides)
            or len(shape) > _MOST_RANK
        ):
            raise ValueError("it makes a tensor of what is no storage, or of wrong numbers")
        key = (storage.data.__array_interface__["data"], storage.dtype, *numbers)
        if key not in self._tensors:
            if not is_row_major(shape, strides):
                self._copied += min(prod(shape) * ITEM_SIZES[storage.dtype], storage.data.size)
            if self._copied > _MOST_COPIES * self._data.size:
                raise ValueError("its tensors would be copies of overlapping parts, and too large")
            self._tensors[key] = as_tensor(
                storage.data, storage.dtype, shape, strides if _has_many(shape) else None, offset
            )
        return self._tensors[key]

    def _make_typed_tensor(
        self,
        storage: Any,
        offset: Any,
        shape: Any,
        strides: Any,
        _gradient: Any,
        _hooks: Any,
        dtype: Any,
        *rest: Any,
    ) -> Var:
        if not isinstance(storage, _Storage) or not isinstance(dtype, _DType):
            raise ValueError("it makes a tensor of what is no storage, or of no dtype")
        return self._make_tensor(_Storage(storage.data, str(dtype)), offset, shape, strides)


def _as_tuple(value: Any) -> tuple[Any, ...]:
    if not isinstance(value, tuple):
        raise ValueError("it makes a tensor of a shape that is no tuple")
    return value


def _has_many(shape: tuple[int, ...]) -> bool:
    """Return whether strides matter."""
    return any(extent > 1 for extent in shape)


def _make_dict(*items: Any) -> OrderedDict[Any, Any]:
    """Return an empty dict, which is filled later, or one of an older protocol's pairs."""
    made: OrderedDict[Any, Any] = OrderedDict()
    for pair in items[0] if items else ():
        if not isinstance(pair, list | tuple) or len(pair) != 2 or not isinstance(pair[0], str):
            raise ValueError("it makes a dict of what are no pairs")
        made[pair[0]] = pair[1]
    return made


def _make_set(items: Any = ()) -> set[Any]:
    check_keys(list(items))
    return set(items)


def _make_device(kind: Any, number: Any = None) -> str:
    if not isinstance(kind, str) or not isinstance(number, int | None):
        raise ValueError("it makes a device of what is no text and number")
    return kind if number is None else f"{kind}:{number}"


def _encode(text: Any, encoding: Any = "utf-8") -> bytes:
    """Return bytes that a pickle of protocol 2 has as a text."""
    if not isinstance(text, str) or encoding not in ("latin1", "latin-1", "utf-8"):
        raise ValueError("it encodes what is no text, or not as latin1")
    return text.encode(encoding)


def _make_dtype(name: Any, *_: Any) -> dict[str, Any]:
    """Return a NumPy dtype of numbers, in a dict that takes its state."""
    if not isinstance(name, str) or name.lstrip("<=|") not in (
        *("b1", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8"),
    ):
        given = repr(name[:80]) if isinstance(name, str) else f"of type {type(name).__name__}"
        raise ValueError(f"it has the NumPy dtype {given}; expected one of numbers")
    return {"dtype": np.dtype(name)}


def _make_scalar(dtype: Any, data: Any = b"") -> Any:
    """Return a number of NumPy's as Python's."""
    if not isinstance(dtype, dict) or "dtype" not in dtype or not isinstance(data, bytes):
        raise ValueError("it makes a number of what is no bytes")
    if len(data) != dtype["dtype"].itemsize:
        raise ValueError(f"it makes a number of {dtype['dtype']} of {len(data)} bytes")
    return np.frombuffer(data, dtype["dtype"])[0].item()
