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
import threading
from collections.abc import Callable, Mapping
from types import MappingProxyType, TracebackType
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from . import _execute
from ._signatures import Structure, build, read_structure, take_apart

__all__ = ["Program", "TensorType", "load_program"]

Array = np.ndarray[Any, Any]
#: Code that was compiled for this process: its target, program and image.
Supplied: TypeAlias = tuple[str, bytes, bytes]
#: Compiles a program that was loaded without code.
Compile: TypeAlias = Callable[[_execute.Program], Supplied]


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
        The extents. Of a function that has programs for several sizes, those of inputs that
        are not fixed are names, and those of outputs that differ None.
    """

    name: str
    dtype: str
    shape: tuple[int | str | None, ...]

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


def _to_dtype(tensor: TensorType) -> np.dtype[Any]:
    """Return the dtype of an input's array."""
    return np.dtype("float32" if tensor.dtype == "bfloat16" else tensor.dtype)


def _to_array(tensor: TensorType, value: npt.ArrayLike) -> Array:
    """Return an input as an array, which it may be."""
    return value if isinstance(value, np.ndarray) else np.asarray(value, _to_dtype(tensor))


def _to_runtime(tensor: TensorType, array: Array) -> Array:
    """Return an input as the runtime takes it; arrays as they are where that is so."""
    dtype = _to_dtype(tensor)
    if array.dtype != dtype or array.shape != tensor.shape:
        raise ValueError(
            f"the input {tensor.name!r} is {tensor.dtype} {tensor.shape}, "
            f"given {array.dtype} {array.shape}"
        )
    # Another byte order is equal to none of these; row-major, and aligned.
    array = np.require(array, requirements=["C_CONTIGUOUS", "ALIGNED"])
    return _to_bfloat16(array) if tensor.dtype == "bfloat16" else array


class _Sized:
    """The program of a function for one size, or its only one."""

    def __init__(self, program: _execute.Program) -> None:
        self.program = program
        self.inputs = tuple(TensorType(*each) for each in program.inputs)
        self.outputs = tuple(TensorType(*each) for each in program.outputs)

    def run(self, arrays: list[Array]) -> dict[str, Array]:
        """Run the program; return results by name."""
        given = [_to_runtime(t, array) for t, array in zip(self.inputs, arrays, strict=True)]
        return {
            t.name: _from_runtime(t, result)
            for t, result in zip(self.outputs, self.program.run(given), strict=True)
        }


class _Sizes:
    """The programs of a function for several sizes, of which the last ones stay open."""

    #: So many.
    MOST = 16

    def __init__(self, program: _execute.Program) -> None:
        self._program = program
        self.extents = {name: tuple(sorted(sizes)) for name, _, sizes in program.extents}
        self._dims = [dims for _, dims, _ in program.extents]
        self._lock = threading.Lock()
        self._open: dict[tuple[int, ...], _Sized] = {}

    def get(self, sizes: tuple[int, ...]) -> _Sized:
        """Return the program for sizes of the extents, in their order."""
        with self._lock:
            found = self._open.pop(sizes, None) or _Sized(self._program.open_sizes(list(sizes)))
            self._open[sizes] = found
            if len(self._open) > self.MOST:
                del self._open[next(iter(self._open))]
            return found

    def find(self, inputs: tuple[TensorType, ...], arrays: list[Array]) -> _Sized:
        """Return the program for inputs."""
        for tensor, array in zip(inputs, arrays, strict=True):
            if array.ndim != len(tensor.shape):
                raise ValueError(
                    f"the input {tensor.name!r} is {tensor.dtype} {tensor.shape}, given"
                    f" {array.dtype} {array.shape}"
                )
        names = zip(self.extents, self._dims, strict=True)
        return self.get(tuple(_read_size(name, dims, inputs, arrays) for name, dims in names))


def _read_size(
    extent: str,
    dims: list[tuple[int, int]],
    inputs: tuple[TensorType, ...],
    arrays: list[Array],
) -> int:
    """Return the size of an extent that dimensions of inputs have."""
    (first, dim), *others = dims
    size = arrays[first].shape[dim]
    for number, other in others:
        if arrays[number].shape[other] != size:
            raise ValueError(
                f"the input {inputs[number].name!r} has {arrays[number].shape[other]} along"
                f" dimension {other}, which is {extent!r}, and that is {size} by dimension {dim}"
                f" of {inputs[first].name!r}"
            )
    return size


class _Functions:
    """The functions of a file that are open, each once.

    Parameters
    ----------
    threads, code
        As `load_program` takes them.
    compiler
        Makes the code where that of the file is not to run.
    """

    def __init__(self, threads: int, code: bool, compiler: Compile | None) -> None:
        self._threads, self._code, self._compile = threads, code, compiler
        self._lock = threading.Lock()
        self._is_closed = False
        #: No Programs, which would be a cycle.
        self._open: dict[str, _execute.Program] = {}

    def add(self, program: _execute.Program) -> Program:
        """Return a program that was just opened, without code if that is compiled."""
        with self._lock:
            return Program(self._add(program), self)

    def get(self, name: str, other: _execute.Program) -> Program:
        """Return the program of a function, whose file has another one that is open."""
        with self._lock:
            if self._is_closed:
                raise RuntimeError("the program has been closed")
            found = self._open.get(name)
            if found is None:
                opened = other.open_function(name, self._threads, False, self._code, None)
                found = self._add(opened)
            return Program(found, self)

    def _add(self, program: _execute.Program) -> _execute.Program:
        name = program.function
        if self._compile is not None:
            supplied = self._compile(program)
            program = program.open_function(name, self._threads, False, False, supplied)
        self._open[name] = program
        return program

    def close(self) -> None:
        """Close all that are open."""
        with self._lock:
            self._is_closed = True
            for program in self._open.values():
                program.close()


class Program:
    """A function of a program file; see `load_program`.

    Calling it runs it. All of it may be used from several threads at once: runs beside
    each other have memory of their own and share the program's threads. It can be used
    in a ``with`` statement, which closes it.

    ``program["name"]`` is another function of the file, by its name. It shares the
    weights, and has threads of its own. It is opened once, and closed with this one.
    """

    def __init__(self, program: _execute.Program, siblings: _Functions) -> None:
        self._program = program
        self._siblings = siblings
        self._sizes = _Sizes(program) if program.extents else None
        self._only = _Sized(program)
        self._inputs, self._outputs = self._only.inputs, self._only.outputs
        if self._sizes is not None:
            self._inputs = _name_extents(self._inputs, program.extents)
            self._outputs = _name_extents(self._outputs, [])
        self._structure: Structure | None = None
        if program.structure:
            names = [[t.name for t in tensors] for tensors in (self._inputs, self._outputs)]
            self._structure = read_structure(program.structure, *names)

    def __getitem__(self, name: str) -> Program:
        if not isinstance(name, str):
            raise TypeError(f"the functions of a program have names, given {name!r}")
        if name not in self.functions:
            raise KeyError(f"there is no function {name!r} among {', '.join(self.functions)}")
        return self._siblings.get(name, self._program)

    @property
    def functions(self) -> tuple[str, ...]:
        """The names of the file's functions."""
        return tuple(self._program.functions)

    @property
    def function(self) -> str:
        """The name of the function that this is."""
        return self._program.function

    @property
    def inputs(self) -> tuple[TensorType, ...]:
        """What it takes, in the order of positional arguments."""
        return self._inputs

    @property
    def outputs(self) -> tuple[TensorType, ...]:
        """What it gives."""
        return self._outputs

    @property
    def extents(self) -> Mapping[str, tuple[int, ...]]:
        """The sizes of each extent that is not fixed, by name."""
        return MappingProxyType({} if self._sizes is None else self._sizes.extents)

    def at(self, **sizes: int) -> Program:
        """Return the program for a size of each extent, which has fixed shapes.

        It shares weights, code and threads with this one, and is closed with it.

        Parameters
        ----------
        **sizes : int
            The sizes by the names of extents.

        Raises
        ------
        TypeError
            If extents are missing, or there are no such.
        ValueError
            If there is no program for the sizes.

        Examples
        --------
        >>> import metaops as mo
        >>> mo.export(lambda x: x.sum(1), [mo.zeros((1, 3))], "/tmp/sums.metaops",
        ...           dynamic={"x": {0: ("batch", 1, 16)}})
        >>> program = mo.load_program("/tmp/sums.metaops")
        >>> program.inputs[0].shape, program.at(batch=4).outputs[0].shape
        (('batch', 3), (4,))
        """
        names = list(self.extents)
        if set(sizes) != set(names):
            raise TypeError(
                f"the program has the extents {', '.join(names) or 'none'}, given"
                f" {', '.join(sizes) or 'none'}"
            )
        if self._sizes is None:
            return self
        found = self._sizes.get(tuple(operator.index(sizes[name]) for name in names))
        return Program(found.program, self._siblings)

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
    def state(self) -> dict[str, Array]:
        """The state that the first run takes, of a function that has one, by name: copies."""
        names = () if self._structure is None else self._structure.state
        weights = self.weights
        return {name: weights[name].copy() for name in names}

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
        """The memory that each run takes beside its results; 0 where sizes decide."""
        return self._program.scratch_bytes

    @property
    def threads(self) -> int:
        """Threads of a run. Assigning waits for runs to end."""
        return self._program.threads

    @threads.setter
    def threads(self, value: int) -> None:
        self._program.threads = _count(value)

    def __call__(self, *arrays: Any, **named: Any) -> Any:
        """Run the program.

        Parameters
        ----------
        *arrays
            The arguments in their order: arrays of their dtypes and shapes, or numbers and
            lists that become such, in the containers that the function was exported with.
            Arrays in row-major order are not copied.
        **named
            The same by name, instead.

        Returns
        -------
        numpy.ndarray, or a container of these
            What the function returns. Where the file does not say how outputs make that
            up, a list of these, or, where inputs were given by name, a dict.

        Raises
        ------
        TypeError
            If arguments are missing, or too many, or of another structure.
        ValueError
            If one has another dtype or shape, or there is no program for the sizes.
        RuntimeError
            If what the data says cannot be done, as where an index is out of range, or
            if the program was closed.
        numpy.linalg.LinAlgError
            If a matrix cannot be factored.
        """
        values = self._bind(arrays, named)
        given = [_to_array(t, value) for t, value in zip(self._inputs, values, strict=True)]
        sized = self._only if self._sizes is None else self._sizes.find(self._inputs, given)
        results = sized.run(given)
        if self._structure is not None:
            return build(self._structure.result, results.__getitem__)
        return results if named else list(results.values())

    def _bind(self, arrays: tuple[Any, ...], named: dict[str, Any]) -> list[Any]:
        """Return the inputs, of arguments by position or by name."""
        tensors = [t.name for t in self._inputs]
        names = tensors if self._structure is None else list(self._structure.arguments)
        expected = f"the program takes {len(names)} inputs ({', '.join(names) or 'none'})"
        if arrays and named:
            raise TypeError(f"{expected}, all by position or all by name; given both")
        if not named:
            if len(arrays) != len(names):
                raise TypeError(f"{expected}, given {len(arrays)}")
            named = dict(zip(names, arrays, strict=True))
        elif set(named) != set(names):
            raise TypeError(f"{expected}, given {', '.join(named)}")
        if self._structure is None:
            return [named[name] for name in names]
        found: dict[str, Any] = {}
        for name, node in self._structure.arguments.items():
            take_apart(node, named[name], name, found.__setitem__)
        return [found[name] for name in tensors]

    def close(self) -> None:
        """Wait for runs to end, and give the code and memory back.

        Later runs raise a RuntimeError; arrays stay. So it is with the functions of the
        file that were opened from this one, or this one from.
        """
        self._siblings.close()

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


def _name_extents(
    tensors: tuple[TensorType, ...], extents: list[tuple[str, list[tuple[int, int]], set[int]]]
) -> tuple[TensorType, ...]:
    """Return tensors with names in the place of extents that are not fixed, or None."""
    names = {place: name for name, dims, _ in extents for place in dims}
    return tuple(
        tensor._replace(
            shape=tuple(
                names.get((number, dim)) if extent == -1 else extent
                for dim, extent in enumerate(tensor.shape)
            )
        )
        for number, tensor in enumerate(tensors)
    )


def _count(threads: int | None) -> int:
    count = 0 if threads is None else operator.index(threads)
    if threads is not None and not 1 <= count <= 4096:
        raise ValueError(f"a program has 1 to 4096 threads, given {threads}")
    return count


def load_program(
    path: str | os.PathLike[str] | bytes,
    *,
    function: str | None = None,
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
    function : str, optional
        The name of the function to run, the file's first by default.
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
        If it is no program file, damaged, or for other processors; if there is no such
        function.
    """
    count = _count(threads)
    siblings = _Functions(count, bool(code), None)
    return siblings.add(_open(path, function, count, verify, code))


def load_compiled(
    path: str | os.PathLike[str] | bytes,
    compiler: Compile,
    function: str | None = None,
    threads: int | None = None,
    verify: bool = False,
) -> Program:
    """Open an exported program, and compile its functions as they are opened."""
    siblings = _Functions(_count(threads), False, compiler)
    return siblings.add(_open(path, function, 1, verify, code=False))


def _open(
    path: str | os.PathLike[str] | bytes,
    function: str | None,
    threads: int,
    verify: bool,
    code: bool,
) -> _execute.Program:
    if function is not None and (not isinstance(function, str) or not function):
        text = "''" if isinstance(function, str) else f"of type {type(function).__name__}"
        raise ValueError(f"load_program: given the function {text}; expected its name")
    options = function or "", threads, bool(verify), bool(code), None
    if isinstance(path, bytes):
        return _execute.load_bytes(path, *options)
    name = os.fspath(path)
    os.stat(name)
    return _execute.load_file(name, *options)
