# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Running exported programs, without the compiler.

`load_program` opens a file in which a program is complete: machine code, weights, and
what it takes and gives. Neither this module nor what it loads needs LLVM, and it can be
imported where the rest of the package cannot.
"""

from __future__ import annotations

import operator
import os
from collections.abc import Mapping
from types import MappingProxyType, TracebackType
from typing import Any, NamedTuple, overload

import numpy as np
import numpy.typing as npt

from . import _execute

__all__ = ["Program", "TensorType", "load_program"]

Array = np.ndarray[Any, Any]


class TensorType(NamedTuple):
    """What a program takes or gives.

    Attributes
    ----------
    name : str
        Its name.
    dtype : str
        The name of the element type. Of "bfloat16", which NumPy lacks, arrays come and
        go as float32.
    shape : tuple of int
        The extents.
    """

    name: str
    dtype: str
    shape: tuple[int, ...]

    def __str__(self) -> str:
        return f"{self.name}: {self.dtype} {self.shape}"


def _to_bfloat16(values: Array) -> Array:
    """Return the bits of float32 numbers, rounded to nearest even."""
    bits = values.view(np.uint32)
    rounded = (bits + (0x7FFF + ((bits >> 16) & 1))) >> 16
    return np.where(np.isnan(values), 0x7FC0, rounded).astype(np.uint16)


def _from_bfloat16(bits: Array) -> Array:
    return (bits.astype(np.uint32) << 16).view(np.float32)


def _from_runtime(tensor: TensorType, array: Array) -> Array:
    return _from_bfloat16(array) if tensor.dtype == "bfloat16" else array


def _to_runtime(tensor: TensorType, value: npt.ArrayLike) -> Array:
    """Return an input as the runtime takes it; arrays as they are where that is so."""
    dtype = np.dtype("float32" if tensor.dtype == "bfloat16" else tensor.dtype)
    array = value if isinstance(value, np.ndarray) else np.asarray(value, dtype)
    if array.dtype != dtype or array.shape != tensor.shape:
        raise ValueError(
            f"the input {tensor.name!r} is {tensor.dtype} {tensor.shape}, "
            f"given {array.dtype} {array.shape}"
        )
    # Another byte order is equal to none of these; row-major, and aligned.
    array = np.require(array, requirements=["C_CONTIGUOUS", "ALIGNED"])
    return _to_bfloat16(array) if tensor.dtype == "bfloat16" else array


class Program:
    """A program of a file; see `load_program`.

    Calling it runs it. All of it may be used from several threads at once: runs beside
    each other have memory of their own and share the program's threads. It can be used
    in a ``with`` statement, which closes it.
    """

    def __init__(self, program: _execute.Program) -> None:
        self._program = program
        self._inputs = tuple(TensorType(*each) for each in program.inputs)
        self._outputs = tuple(TensorType(*each) for each in program.outputs)

    @property
    def inputs(self) -> tuple[TensorType, ...]:
        """What it takes, in the order of positional arguments."""
        return self._inputs

    @property
    def outputs(self) -> tuple[TensorType, ...]:
        """What it gives."""
        return self._outputs

    @property
    def weights(self) -> Mapping[str, Array]:
        """The weights by name: read-only arrays, in memory that is the file's.

        Those of bfloat16 are copies.
        """
        types = [TensorType(*each) for each in self._program.weights]
        arrays = self._program.weight_arrays()
        return MappingProxyType(
            {t.name: _from_runtime(t, array) for t, array in zip(types, arrays, strict=True)}
        )

    @property
    def ir(self) -> str | None:
        """The program as MLIR, where the file has it."""
        return self._program.read_ir()

    @property
    def keys(self) -> Mapping[str, str]:
        """Texts of whoever wrote the file."""
        return MappingProxyType(self._program.keys)

    @property
    def producer(self) -> str:
        """The build that wrote the file."""
        return self._program.producer

    @property
    def signature(self) -> str:
        """What the program takes and gives, and more, as the file has it: JSON."""
        return self._program.signature

    @property
    def targets(self) -> tuple[str, ...]:
        """The kinds of processors that the file has machine code for."""
        return tuple(self._program.targets)

    @property
    def target(self) -> str:
        """The processors that the loaded code is for; empty where no code was loaded."""
        return self._program.target

    @property
    def scratch_bytes(self) -> int:
        """The memory that each run takes beside its results."""
        return self._program.scratch_bytes

    @property
    def threads(self) -> int:
        """Threads of a run. Assigning waits for runs to end."""
        return self._program.threads

    @threads.setter
    def threads(self, value: int) -> None:
        self._program.threads = _count(value)

    @overload
    def __call__(self, *arrays: npt.ArrayLike) -> list[Array]: ...
    @overload
    def __call__(self, **named: npt.ArrayLike) -> dict[str, Array]: ...
    def __call__(
        self, *arrays: npt.ArrayLike, **named: npt.ArrayLike
    ) -> list[Array] | dict[str, Array]:
        """Run the program.

        Parameters
        ----------
        *arrays
            The inputs in their order: arrays of their dtypes and shapes, or numbers and
            lists that become such. Arrays in row-major order are not copied.
        **named
            The same by name, instead.

        Returns
        -------
        list or dict of numpy.ndarray
            The outputs in their order, or, where inputs were given by name, by name.

        Raises
        ------
        TypeError
            If inputs are missing, or too many.
        ValueError
            If one has another dtype or shape.
        RuntimeError
            If what the data says cannot be done, as where an index is out of range, or
            if the program was closed.
        """
        values = self._bind(arrays, named)
        given = [_to_runtime(t, value) for t, value in zip(self._inputs, values, strict=True)]
        results = [
            _from_runtime(t, result)
            for t, result in zip(self._outputs, self._program.run(given), strict=True)
        ]
        if not named:
            return results
        return {t.name: result for t, result in zip(self._outputs, results, strict=True)}

    def _bind(
        self, arrays: tuple[npt.ArrayLike, ...], named: dict[str, npt.ArrayLike]
    ) -> list[npt.ArrayLike]:
        names = [t.name for t in self._inputs]
        expected = f"the program takes {len(names)} inputs ({', '.join(names) or 'none'})"
        if arrays and named:
            raise TypeError(f"{expected}, all by position or all by name; given both")
        if not named:
            if len(arrays) != len(names):
                raise TypeError(f"{expected}, given {len(arrays)}")
            return list(arrays)
        if set(named) != set(names):
            raise TypeError(f"{expected}, given {', '.join(named)}")
        return [named[name] for name in names]

    def close(self) -> None:
        """Wait for runs to end, and give the code and memory back.

        Later runs raise a RuntimeError; arrays stay.
        """
        self._program.close()

    def __enter__(self) -> Program:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def _repr_html_(self) -> str:
        from . import _html

        kinds = (("input", self._inputs), ("output", self._outputs))
        rows = [(kind, t.name, t.dtype, str(t.shape)) for kind, types in kinds for t in types]
        title = f"program for {self.target or 'no processor: its code was not loaded'}"
        return _html.page(title, _html.table(rows, ("", "name", "dtype", "shape")))

    def __repr__(self) -> str:
        inputs = ", ".join(map(str, self._inputs))
        outputs = ", ".join(map(str, self._outputs))
        return f"<metaops.execute.Program ({inputs}) -> ({outputs})>"


def _count(threads: int | None) -> int:
    count = 0 if threads is None else operator.index(threads)
    if threads is not None and not 1 <= count <= 4096:
        raise ValueError(f"a program has 1 to 4096 threads, given {threads}")
    return count


def load_program(
    path: str | os.PathLike[str] | bytes,
    *,
    threads: int | None = None,
    verify: bool = False,
    code: bool = True,
) -> Program:
    """Open an exported program.

    Weights are mapped from the file, which must not be changed meanwhile. A file with
    machine code is trusted like any other program: load none that you would not run.

    Parameters
    ----------
    path : str, os.PathLike or bytes
        The file, or its contents.
    threads : int, optional
        How many threads a run uses; as many as processors may be used by default.
    verify : bool
        Whether weights are compared with their checksums, too, which reads all of them.
    code : bool
        Whether the program is to run. If not, no machine code is loaded: only the
        signature, the weights and the IR. `metaops.load_program` compiles that.

    Returns
    -------
    Program
        The program.

    Raises
    ------
    OSError
        If there is no such file.
    ValueError
        If it is no program file, damaged, or for other processors.
    """
    return _load(path, threads, verify, code, None)


def load_compiled(
    path: str | os.PathLike[str] | bytes,
    supplied: tuple[str, bytes, bytes],
    threads: int | None = None,
) -> Program:
    """Open an exported program with code that was compiled for this process."""
    return _load(path, threads, False, False, supplied)


def _load(
    path: str | os.PathLike[str] | bytes,
    threads: int | None,
    verify: bool,
    code: bool,
    supplied: tuple[str, bytes, bytes] | None,
) -> Program:
    options = _count(threads), bool(verify), bool(code), supplied
    if isinstance(path, bytes):
        return Program(_execute.load_bytes(path, *options))
    name = os.fspath(path)
    os.stat(name)
    return Program(_execute.load_file(name, *options))
