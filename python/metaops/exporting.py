# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Program files, for processes without a compiler."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, TypeAlias, overload

from . import _core
from ._core import Var
from ._errors import refuse_recorded
from ._typing import shown

__all__ = ["export"]

#: Processors that there is code for where nothing else is asked for, by this machine's name.
TARGETS = {"x86_64": ("x86-64-v3", "x86-64-v4"), "aarch64": ("aarch64",)}

#: Functions and their arguments, by names in the file.
_Functions: TypeAlias = dict[str, tuple[Callable[..., Any], Sequence[Any]]]


@overload
def export(
    fn: Callable[..., Any],
    args: Sequence[Any],
    path: str | os.PathLike[str],
    *,
    targets: Sequence[str] | None = None,
    metadata: Mapping[str, str] | None = None,
    code: bool = True,
    schedules: Mapping[str, str | os.PathLike[str]] | None = None,
    state: Literal["outputs"] | None = None,
    dynamic: Mapping[str, Any] | None = None,
) -> None: ...
@overload
def export(
    fn: Mapping[str, tuple[Callable[..., Any], Sequence[Any]]],
    path: str | os.PathLike[str],
    /,
    *,
    targets: Sequence[str] | None = None,
    metadata: Mapping[str, str] | None = None,
    code: bool = True,
    schedules: Mapping[str, str | os.PathLike[str]] | None = None,
    state: Literal["outputs"] | None = None,
    dynamic: Mapping[str, Any] | None = None,
) -> None: ...
def export(
    fn: Callable[..., Any] | Mapping[str, tuple[Callable[..., Any], Sequence[Any]]],
    args: Sequence[Any] | str | os.PathLike[str] | None = None,
    path: str | os.PathLike[str] | None = None,
    *,
    targets: Sequence[str] | None = None,
    metadata: Mapping[str, str] | None = None,
    code: bool = True,
    schedules: Mapping[str, str | os.PathLike[str]] | None = None,
    state: Literal["outputs"] | None = None,
    dynamic: Mapping[str, Any] | None = None,
) -> None:
    """Write a file with programs that compute what functions do.

    Each function is called once, in a trace: nothing of the session or of a module changes.
    What it records is compiled. The file has machine
    code for each target, the programs as MLIR, all values that the functions read beside
    their arguments (such as parameters), each once, and the names and types of inputs and
    outputs. `metaops.execute.load_program`, or the C interface, runs it without a compiler.

    Parameters
    ----------
    fn : callable or dict
        Takes as many arguments as there are; returns a tensor, or lists, tuples, named
        tuples and dicts of tensors within each other. A module's parameters and buffers
        keep their names in the file; those of modules and optimisers that a function knows
        by a name begin with that. It is to ask for no values (by `numpy()`, `item()`,
        `if x`), nor, without `state`, to update Vars from outside or to draw random numbers:
        that raises. Or, by their names in the file,
        functions and their arguments: ``{"encode": (fn, args), ...}``, of which the first
        is the one that is loaded where none is named. Where they are of several modules,
        the names of parameters begin with that of the function.
    args : sequence
        Tensors of the shapes and types that the program will be given, and lists, tuples,
        named tuples and dicts of these. Shapes are fixed; the values do not matter. Left
        out where `fn` is a dict.
    path : str or path
        The file, which is replaced as a whole, if it is there.
    targets : sequence of str, optional
        Kinds of processors: "x86-64-v3" (AVX2), "x86-64-v4" (AVX-512), "aarch64". By
        default the first two, or the last one on such a machine. Whoever loads the file
        takes the best one that the processor has.
    metadata : dict of str, optional
        Texts to keep in the file.
    code : bool, optional
        Whether there is machine code. If not, the file has MLIR and weights alone, and
        `load_program` compiles it: for those who trust no code of others.
    schedules : dict, optional
        Files of schedules by target, as ``flags.schedule_file`` takes one. Kernels for
        other targets have those of the flag.
    state : "outputs", optional
        Has the Vars that functions update be inputs and outputs, by their names, and so
        what random numbers are made of ("random.key", "random.counter"): a step of training
        can be run where there is no session. In Python such a program takes ``state`` as
        its last argument, a dict, and gives ``(result, state)``; `Program.state` is what it
        begins with, the present values, which are weights of the file.
    dynamic : dict, optional
        Dimensions of inputs that are not fixed: by the names of inputs (as `Program.inputs`
        has them) and by dimension the name of an extent and its sizes,
        ``{"x": {0: ("batch", 1, 64)}}`` for 1 to 64, or ``("batch", [1, 8, 64])``. Of
        dimensions of one name, one has the sizes: they are equal in each call. The function
        is called, and has a program, for each combination of sizes, 4,096 at most; programs
        share kernels and weights. For a dict of functions, such dicts by the names of these.

    Raises
    ------
    RuntimeError
        A value was asked for, with the line.
    TypeError
        A function returned something else, or was given it.
    ValueError
        An unknown target; updates or random numbers, with the line; two tensors of one
        name; an input, a dimension or sizes of `dynamic` that cannot be; a value of the
        function that something keeps; schedules that are wrong, or
        for what is no target.

    Examples
    --------
    >>> import metaops as mo
    >>> import numpy as np
    >>> model = mo.nn.Linear(3, 2)
    >>> mo.export(model, [mo.zeros((8, 3))], "/tmp/linear.metaops")

    A file of two functions, which share the weights:

    >>> functions = {"one": (model, [mo.zeros(3)]), "all": (model, [mo.zeros((8, 3))])}
    >>> mo.export(functions, "/tmp/linear.metaops")
    >>> mo.load_program("/tmp/linear.metaops")["all"].inputs[0].shape
    (8, 3)

    One of all batches up to 16:

    >>> mo.export(model, [mo.zeros((1, 3))], "/tmp/linear.metaops",
    ...           dynamic={"x": {0: ("batch", 1, 16)}})
    >>> mo.load_program("/tmp/linear.metaops")(np.ones((5, 3), "float32")).shape
    (5, 2)
    """
    # The session's start imports this module, and that one parts that need a session.
    from ._export_functions import VarNames, record

    refuse_recorded("export is called")
    functions, path = _read_request(fn, args, path)
    names = _choose_targets(targets, code)
    files = _choose_schedules(schedules, names)
    if state not in (None, "outputs"):
        raise ValueError(f"export: given the state {state!r}; expected None or 'outputs'")
    sizes = _read_dynamic(dynamic, functions, code=code, are_named=isinstance(fn, Mapping))
    known = VarNames({name: each for name, (each, _) in functions.items()})
    recorded = [
        record(name, each, given, known, has_state=state is not None, dynamic=sizes.get(name))
        for name, (each, given) in functions.items()
    ]
    _core.export_program(
        os.fspath(path),
        recorded,
        list(known.vars.items()),
        [(name, files.get(name, "")) for name in names],
        {str(key): str(value) for key, value in (metadata or {}).items()},
    )


def _read_request(fn: Any, args: Any, path: Any) -> tuple[_Functions, str | os.PathLike[str]]:
    """Return functions and their arguments by name, and the path."""
    if isinstance(fn, Mapping):
        if path is None:
            args, path = None, args
        if args is not None:
            raise TypeError("export: given arguments beside a dict; expected them in it")
        functions = dict(fn)
    else:
        functions = {"main": (fn, args)}
    if not isinstance(path, str | os.PathLike):
        raise TypeError(f"export: given the path {shown(path)}; expected a file's name")
    if not functions:
        raise ValueError("export: given no functions; expected one or more by name")
    for name, pair in functions.items():
        if not isinstance(name, str) or not name:
            raise TypeError(f"export: a function has the name {name!r}; expected a text")
        if not isinstance(pair, Sequence) or len(pair) != 2 or not callable(pair[0]):
            raise TypeError(
                f"export: {name!r} is {shown(pair)}; expected a function and its arguments"
            )
        if isinstance(pair[1], str | Mapping | Var) or not isinstance(pair[1], Iterable):
            raise TypeError(
                f"export: the arguments of {name!r} are {shown(pair[1])}; expected a sequence"
            )
    return functions, path


def _read_dynamic(
    dynamic: Any, functions: _Functions, *, code: bool, are_named: bool
) -> dict[str, Any]:
    """Return what is given for dimensions by the names of functions."""
    if dynamic is None:
        return {}
    if not code:
        raise ValueError("export: given dynamic with code=False; such a file has fixed shapes")
    if not are_named:
        return {name: dynamic for name in functions}
    if not isinstance(dynamic, Mapping):
        raise TypeError(
            f"export: given dynamic={shown(dynamic)}; expected a dict by names of functions"
        )
    if unknown := [name for name in dynamic if name not in functions]:
        raise ValueError(
            f"export: dynamic names the function {unknown[0]!r}; there are"
            f" {', '.join(map(repr, functions))}"
        )
    return dict(dynamic)


def _choose_schedules(schedules: Any, targets: list[str]) -> dict[str, str]:
    """Return the files of schedules by target."""
    if schedules is not None and not isinstance(schedules, Mapping):
        raise TypeError(
            f"export: given schedules of {type(schedules).__name__}; expected a dict of files by "
            "target"
        )
    files = {str(name): os.fspath(file) for name, file in (schedules or {}).items()}
    if unknown := sorted(files.keys() - set(targets)):
        raise ValueError(
            f"export: schedules are given for {', '.join(unknown)}; "
            f"targets are {', '.join(targets) or 'none'}"
        )
    return files


def _choose_targets(targets: Sequence[str] | None, code: bool) -> list[str]:
    """Return what there is to be code for."""
    if not code:
        if targets is not None:
            raise ValueError(
                f"export: given targets {list(targets)!r}; a file without code has none"
            )
        return []
    if targets is not None:
        if isinstance(targets, str) or not targets:
            raise ValueError(
                f"export: given targets {targets!r}; expected one name or more in a list, "
                "or code=False"
            )
        return list(targets)
    machine = os.uname().machine
    if machine not in TARGETS:
        raise ValueError(f"export: no target is known for {machine}; name targets")
    return list(TARGETS[machine])
