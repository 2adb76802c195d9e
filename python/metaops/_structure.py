# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Values as members of an archive.

The archive is that of a .npz file: a .npy member for each tensor, and at the end
the member `STRUCTURE`, JSON that says how these make up the value. In it, None,
booleans, integers, strings and finite floats are themselves, and all else is an
object of one key::

    {"list": [...]}  {"tuple": [...]}  {"dict": [[key, value], ...]}
    {"float": "nan"}
    {"var": [name, dtype]}  {"array": name}  {"scalar": name}
    {"complex": [real half, imaginary half]}

where the name is that of the tensor's member, less ".npy". The archive's comment
says that there is a structure, so that one which is lost is missed.
"""

from __future__ import annotations

import json
import math
import zipfile
from collections.abc import Callable, Mapping
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from ._core import Var, array
from ._errors import at_line
from .complex_numbers.pair import Complex

__all__ = ["STRUCTURE", "Reader", "Writer"]

STRUCTURE = "metaops.json"
_COMMENT = b"metaops"
_VERSION = 1

#: Kinds of NumPy's dtypes that members may have: numbers, times and strings.
_KINDS = "biufcmMSU"
#: JSON's integers are parsed in quadratic time, and Python refuses long ones.
_MOST_BITS = 10_000
#: More than zlib's best.
_MOST_COMPRESSION = 1100


def _is_tensor(value: Any) -> bool:
    return isinstance(value, Var | np.generic) or type(value) in (np.ndarray, np.memmap)


class Writer:
    """Writes one value."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive
        self._names: set[str] = set()
        #: Tensors that are written, by identity, and what the structure says.
        self._written: dict[int, tuple[Any, Any]] = {}
        #: The containers around what is being written.
        self._around: set[int] = set()

    def write(self, value: Any) -> None:
        """Write the members.

        Raises
        ------
        TypeError, ValueError
            As `metaops.save`.
        """
        structure = {"version": _VERSION, "value": self._describe(value, "")}
        self._archive.writestr(STRUCTURE, json.dumps(structure, allow_nan=False))
        self._archive.comment = _COMMENT

    def _describe(self, value: Any, path: str) -> Any:
        """Return the structure of a value; the path to it is for errors."""
        if value is None or type(value) in (bool, str):
            return value
        if type(value) is int:
            if value.bit_length() > _MOST_BITS:
                raise at_line(ValueError(f"save: {_shown(path)} has more than {_MOST_BITS} bits"))
            return value
        if type(value) is float:
            return value if math.isfinite(value) else {"float": repr(value)}
        if type(value) is Complex:
            parts = ((name, getattr(value, name)) for name in ("real", "imag"))
            return {"complex": [self._describe(half, _joined(path, name)) for name, half in parts]}
        if _is_tensor(value):
            if id(value) not in self._written:
                self._written[id(value)] = (value, self._describe_tensor(value, path))
            return self._written[id(value)][1]
        if type(value) in (list, tuple) or isinstance(value, Mapping):
            return self._describe_container(value, path)
        raise at_line(
            TypeError(
                f"save: {_shown(path)} is a {type(value).__name__}, expected tensors, numbers,"
                " strings, None, and lists, tuples and dicts of these"
            )
        )

    def _describe_container(self, value: Any, path: str) -> Any:
        if id(value) in self._around:
            raise at_line(ValueError(f"save: {_shown(path)} contains itself"))
        self._around.add(id(value))
        if isinstance(value, Mapping):
            pairs = [
                [self._describe_key(key, path), self._describe(item, _joined(path, key))]
                for key, item in value.items()
            ]
            description = {"dict": pairs}
        else:
            items = [self._describe(item, _joined(path, key)) for key, item in enumerate(value)]
            description = {type(value).__name__: items}
        self._around.remove(id(value))
        return description

    def _describe_key(self, key: Any, path: str) -> Any:
        if type(key) is tuple:
            return {"tuple": [self._describe_key(part, path) for part in key]}
        if key is None or type(key) in (bool, int, float, str):
            return self._describe(key, path)
        raise at_line(
            TypeError(
                f"save: a key of {_shown(path)} is a {type(key).__name__}, expected numbers,"
                " strings, None and tuples of these"
            )
        )

    def _describe_tensor(self, value: Any, path: str) -> Any:
        if isinstance(value, Var):
            elements = value.numpy()
            if value.dtype == "bfloat16":
                # The upper half of the float32 that numpy() returns.
                elements = (elements.view("uint32") >> 16).astype("uint16")
            return {"var": [self._add(elements, path), value.dtype]}
        elements = np.asarray(value)
        if elements.dtype.kind not in _KINDS:
            raise at_line(
                TypeError(
                    f"save: {_shown(path)} has dtype {elements.dtype}, expected numbers, booleans"
                    " or strings"
                )
            )
        kind = "array" if isinstance(value, np.ndarray) else "scalar"
        return {kind: self._add(elements, path)}

    def _add(self, elements: npt.NDArray[Any], path: str) -> str:
        """Write a member and return its name: the path, where it can be one."""
        name = path
        if not path or not path.isprintable() or len(path) > 200 or path in self._names:
            number = len(self._names)
            while (name := f"tensor.{number}") in self._names:
                number += 1
        self._names.add(name)
        with self._archive.open(f"{name}.npy", "w", force_zip64=True) as member:
            np.lib.format.write_array(member, elements, allow_pickle=False)
        return name


def _shown(path: str) -> str:
    return repr(path) if path else "the value"


def _joined(path: str, key: object) -> str:
    return f"{path}.{key}" if path else str(key)


class Reader:
    """Reads the value of an archive that may be damaged.

    Parameters
    ----------
    archive
        What was opened.
    size
        That of the file, in bytes.
    """

    def __init__(self, archive: zipfile.ZipFile, size: int) -> None:
        self._archive = archive
        self._size = size
        self._tensors: dict[tuple[str, str], Any] = {}
        self._makers: dict[str, Callable[[Any], Any]] = {
            "list": self._list,
            "tuple": lambda items: tuple(self._list(items)),
            "dict": lambda pairs: {self._make(key): self._make(item) for key, item in pairs},
            "float": float,
            "var": lambda what: self._once("var", *what),
            "array": lambda name: self._once("array", name),
            "scalar": lambda name: self._once("scalar", name),
            "complex": lambda halves: Complex(*self._list(halves)),
        }

    def read(self) -> Any:
        """Return the value.

        Raises
        ------
        Exception
            Of whatever kind, if the archive is damaged.
        """
        names = self._archive.namelist()
        if not names:
            raise ValueError("it is empty")
        if STRUCTURE not in names and self._archive.comment != _COMMENT:
            return {name.removesuffix(".npy"): self._elements(name) for name in names}
        structure = json.loads(self._bytes(STRUCTURE))
        if structure["version"] != _VERSION:
            raise ValueError(f"it has version {structure['version']}, expected {_VERSION}")
        return self._make(structure["value"])

    def _make(self, node: Any) -> Any:
        if not isinstance(node, dict):
            if isinstance(node, list):
                raise ValueError("a list in its structure has no kind")
            return node
        ((kind, content),) = node.items()
        return self._makers[kind](content)

    def _list(self, items: list[Any]) -> list[Any]:
        return [self._make(item) for item in items]

    def _once(self, kind: str, name: str, dtype: str = "") -> Any:
        """Return the tensor of a member, the same one each time."""
        if (kind, name) not in self._tensors:
            elements = self._elements(f"{name}.npy")
            value: Any = elements
            if kind == "var":
                value = _var(elements, name, dtype)
            elif kind == "scalar":
                value = elements[()]
            self._tensors[kind, name] = value
        return self._tensors[kind, name]

    def _member(self, name: str) -> zipfile.ZipInfo:
        """Return what is known of a member, whose size can be believed."""
        info = self._archive.getinfo(name)
        if info.compress_size > self._size or info.file_size > _MOST_COMPRESSION * (
            info.compress_size + 1
        ):
            raise ValueError(f"{name!r} is larger than the file")
        return info

    def _bytes(self, name: str) -> bytes:
        return self._archive.read(self._member(name))

    def _elements(self, name: str) -> npt.NDArray[Any]:
        info = self._member(name)
        with self._archive.open(info) as member:
            shape, is_fortran, dtype = _read_header(member)
            if dtype.hasobject:
                raise ValueError(f"{name!r} holds Python objects")
            size = info.file_size - member.tell()
            if min(shape, default=0) < 0 or math.prod(shape) * dtype.itemsize != size:
                raise ValueError(
                    f"{name!r} has {size} bytes, which is not shape {shape} of {dtype}"
                )
            # To the end: only then is the sum checked.
            elements = bytearray(member.read())
        if not size:
            return np.empty(shape, dtype)
        return np.ndarray(shape, dtype, elements, order="F" if is_fortran else "C")


def _read_header(member: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    version = np.lib.format.read_magic(member)
    if version == (1, 0):
        return np.lib.format.read_array_header_1_0(member)
    if version == (2, 0):
        return np.lib.format.read_array_header_2_0(member)
    raise ValueError(f"version {version} of NumPy's format is unknown")


def _var(elements: npt.NDArray[Any], name: str, dtype: str) -> Var:
    stored = "uint16" if dtype == "bfloat16" else dtype
    if elements.dtype.name != stored:
        raise ValueError(f"{name!r} is {elements.dtype}, expected {stored}")
    if dtype == "bfloat16":
        elements = (elements.astype("uint32") << 16).view("float32")
    return array(elements, dtype)
