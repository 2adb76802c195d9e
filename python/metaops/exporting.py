# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs for processes without a compiler."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from . import _core
from ._core import Var
from ._flags import flag_scope
from .tools.info import last_program

__all__ = ["export"]

#: What there is code for where nothing else is asked for, by this machine's name.
TARGETS = {"x86_64": ("x86-64-v3", "x86-64-v4"), "aarch64": ("aarch64",)}


def export(
    fn: Callable,
    args: Sequence,
    path: str | os.PathLike,
    *,
    targets: Sequence[str] | None = None,
    metadata: Mapping[str, str] | None = None,
    code: bool = True,
    schedules: Mapping[str, str | os.PathLike] | None = None,
) -> None:
    """Write a file with a program that computes what a function does.

    The function is called once, and what it records is compiled. The file has machine
    code for each target, the program as MLIR, all values that the function reads beside
    its arguments (such as parameters), and the names and types of its inputs and outputs.
    `metaops.execute.load_program`, or the C interface, runs it without a compiler.

    Parameters
    ----------
    fn : callable
        Takes as many tensors as there are arguments; returns one, or a list, a tuple or a
        dict of tensors. A module's parameters and buffers keep their names in the file.
        It is to ask for no values (by `numpy()`, `item()`, `print`), nor to draw random
        numbers: both raise.
    args : sequence of array_like
        Tensors of the shapes and types that the program will be given. Shapes are fixed;
        the values do not matter.
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

    Raises
    ------
    TypeError
        The function returned something else.
    ValueError
        An unknown target; a value that was asked for, or random numbers; schedules that
        are wrong, or for what is no target.

    Examples
    --------
    >>> import metaops as mo
    >>> model = mo.nn.Linear(3, 2)
    >>> mo.export(model, [mo.zeros((8, 3))], "/tmp/linear.metaops")
    """
    names = _choose_targets(targets, code)
    if schedules is not None and not isinstance(schedules, Mapping):
        raise TypeError(
            f"export: given schedules of {type(schedules).__name__}; expected a dict of files by "
            "target"
        )
    files = {str(name): os.fspath(file) for name, file in (schedules or {}).items()}
    if unknown := sorted(files.keys() - set(names)):
        raise ValueError(
            f"export: schedules are given for {', '.join(unknown)}; "
            f"targets are {', '.join(names) or 'none'}"
        )
    inputs = [_as_input(arg) for arg in args]
    weights = _name_weights(fn)
    outputs = _name_outputs(_trace(fn, inputs, weights))
    _core.export_program(
        os.fspath(path),
        list(zip(_name_inputs(fn, len(inputs)), inputs, strict=True)),
        outputs,
        weights,
        [(name, files.get(name, "")) for name in names],
        {str(key): str(value) for key, value in (metadata or {}).items()},
    )


def _handle(var: Var) -> Var:
    """Return another Var of the same value, which stays when the first one is updated."""
    return var.reshape(var.shape)


def _trace(fn: Callable, inputs: list[Var], weights: list[tuple[str, Var]]) -> Any:
    """Return what a function returns, if it has asked for no values and updated none.

    Its arguments are Vars of its own, so that it may rebind them.
    """
    former = [_handle(var) for _, var in weights]
    numbers = [_core.recorded_at(var) for _, var in weights]
    before = _core.stats()
    with flag_scope(lazy_execution=True):
        result = fn(*map(_handle, inputs))
    updated = []
    for (name, var), old, number in zip(weights, former, numbers, strict=True):
        if _core.recorded_at(var) != number:
            updated.append(name)
            var.assign(old)
    if updated:
        raise ValueError(
            f"export: the module updates {', '.join(updated)} when it is called, as a layer in"
            " training mode does; call eval() on it before"
        )
    after = _core.stats()
    if after["updates_pending"] > before["updates_pending"]:
        raise ValueError(
            "export: the function updates values when it is called, which a program in a file"
            " cannot; expected it to return them (or a module in it to be in eval() mode)"
        )
    if after["programs_run"] == before["programs_run"]:
        return result
    lines = [line for call in last_program().kernels for line in call.lines]
    raise ValueError(
        "export: the function asked for a value, which would be the same for all inputs; "
        f"expected it to record operations only; what was computed last is of {', '.join(lines)}"
    )


def _as_input(arg: Any) -> Var:
    """Return a tensor in memory that is nothing else.

    A NumPy array sees its memory, so its values are not taken for known ones: indices
    among them are checked.
    """
    given = arg if isinstance(arg, Var) else _core.array(arg)
    made = _core.array(np.zeros(given.shape, "bool"), given.dtype)
    np.asarray(made)
    return made


def _name_inputs(fn: Callable, count: int) -> list[str]:
    """Return the names of a function's first parameters."""
    from .nn import Module

    called = fn.execute if isinstance(fn, Module) and hasattr(fn, "execute") else fn
    try:
        parameters = list(inspect.signature(called).parameters.values())
    except (TypeError, ValueError):
        parameters = []
    names = [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    return [names[i] if i < len(names) else f"input_{i}" for i in range(count)]


def _name_outputs(result: Any) -> list[tuple[str, Var]]:
    """Return a function's results and their names."""
    if isinstance(result, Var):
        return [("output", result)]
    if isinstance(result, Mapping):
        pairs = [(str(name), value) for name, value in result.items()]
    elif isinstance(result, (list, tuple)):
        pairs = [(f"output_{i}", value) for i, value in enumerate(result)]
    else:
        pairs = []
    if not pairs or not all(isinstance(value, Var) for _, value in pairs):
        raise TypeError(
            "export: the function returned "
            f"{type(result).__name__}; expected a tensor, or a list, a tuple or a dict of tensors"
        )
    return pairs


def _name_weights(fn: Callable) -> list[tuple[str, Var]]:
    """Return what a module, or that of a method, has by name."""
    from .nn import Module

    owner = fn if isinstance(fn, Module) else getattr(fn, "__self__", None)
    return list(owner.state_dict().items()) if isinstance(owner, Module) else []


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
