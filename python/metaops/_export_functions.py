# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Recording of functions for program files.

A function is recorded in a trace: nothing of the session or of modules changes, and what
it would update is noted. Its arguments are inputs. Vars that it captures are weights or, if
it updates them and may do so, a state: inputs that are outputs, too.
"""

from __future__ import annotations

import gc
import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from . import _core
from ._core import RecordedFunction, Var
from ._errors import at_line
from ._export_sizes import read_extents
from ._promotion import is_number
from ._signatures import Structure, Tree, flatten, is_container, write_structure
from .complex_numbers.pair import Complex, halves_of
from .nn.module import Module
from .optim.keeping import Keeper
from .optim.recorded_steps import RecordedStep
from .tracing.effects import Recording, Registered
from .trees import tree_map

__all__ = ["VarNames", "record"]

_EXPECTED = "expected a tensor, or lists, tuples and dicts of tensors"
#: The parameters of a program that a state is, and the numbers of its effects.
_STATE = "state"
_NUMBERS = "numbers"
#: The key and the counter of random numbers, by the names that the session gives it.
_RANDOM = ("random.key", "random.counter")


# Names


class VarNames:
    """The names of Vars in a file: those of the modules and optimisers that have them.

    Parameters
    ----------
    functions
        Functions by their names: modules, methods of such, and functions that know some by
        names of their own, with which the names of their Vars begin.
    """

    def __init__(self, functions: Mapping[str, Callable[..., Any]]) -> None:
        self.vars: dict[str, Var] = {}
        self._names: dict[int, str] = {}
        #: The names of optimisers, by identity.
        self.owners: dict[int, str] = {}
        own = {name: _owner(fn) for name, fn in functions.items()}
        are_several = len({id(owner) for owner in own.values() if owner is not None}) > 1
        for name, owner in own.items():
            if owner is not None:
                self._add_all(f"{name}." if are_several else "", owner, name)
        for name, fn in functions.items():
            for variable, value in _known(fn):
                self.owners.setdefault(id(value), variable)
                self._add_all(f"{variable}.", value, name)

    def _add_all(self, prefix: str, owner: Any, function: str) -> None:
        for key, var in owner.state_dict().items():
            if not isinstance(var, Var) or id(var) in self._names:
                continue
            name = f"{prefix}{key}"
            if name in self.vars:
                name = f"{function}.{name}"
            if name not in self.vars:
                self.add(name, var)

    def add(self, name: str, var: Var) -> None:
        """Give a Var a name that no other one has."""
        self.vars[name] = var
        self._names[id(var)] = name

    def get(self, var: Var) -> str | None:
        """Return the name of a Var, if it has one."""
        return self._names.get(id(var))

    def number(self, var: Var) -> str:
        """Return the name of a Var, which is given one if it has none."""
        if id(var) not in self._names:
            count = 0
            while f"{_STATE}_{count}" in self.vars:
                count += 1
            self.add(f"{_STATE}_{count}", var)
        return self._names[id(var)]


def _owner(fn: Callable[..., Any]) -> Module | None:
    """Return a module, or that of a method."""
    owner = fn if isinstance(fn, Module) else getattr(fn, "__self__", None)
    return owner if isinstance(owner, Module) else None


def _known(fn: Callable[..., Any]) -> Iterator[tuple[str, Any]]:
    """Yield the modules and optimisers that a function or its object knows by name."""
    own = getattr(fn, "__self__", None)
    known = dict(vars(own)) if hasattr(own, "__dict__") and not isinstance(own, Module) else {}
    code = getattr(fn, "__func__", fn)
    if inspect.isfunction(code):
        found = inspect.getclosurevars(code)
        known |= {**found.globals, **found.nonlocals}
        for parameter in inspect.signature(code).parameters.values():
            known.setdefault(parameter.name, parameter.default)
    for name, value in known.items():
        if isinstance(value, Module | Keeper) and hasattr(value, "state_dict"):
            yield name, value


class _Named:
    """Tensors by their names."""

    def __init__(self, what: str) -> None:
        self._what = what
        self.tensors: dict[str, Var] = {}
        self.names: list[str] = []

    def add_input(self, value: Any, path: str) -> str:
        """Take what an input is like; return its name."""
        return self._add(value if isinstance(value, Var) else _core.array(value), path)

    def add_output(self, value: Any, path: str) -> str:
        """Take a result; return its name."""
        if not isinstance(value, Var):
            where = f" at {path!r}" if path else ""
            raise TypeError(
                f"export: the function returned {type(value).__name__}{where}; {_EXPECTED}"
            )
        return self._add(value, f"output_{path}" if path.isdecimal() else path or "output")

    def forget(self) -> None:
        """Let go of the tensors, but not of their names."""
        self.names = list(self.tensors)
        self.tensors = {}

    def _add(self, value: Var, name: str) -> str:
        if name in self.tensors:
            raise ValueError(
                f"export: two tensors of the {self._what} have the name {name!r}; expected names"
                " of their own"
            )
        self.tensors[name] = value
        return name


def _joined(path: str, key: Any) -> str:
    return f"{path}.{key}" if path else str(key)


def _name_parameters(fn: Callable[..., Any], count: int) -> list[str]:
    """Return names of a function's first parameters; those that it has not are numbered."""
    called: Any = fn
    if isinstance(fn, Module):
        base: Any = Module
        called = called.forward if type(called).execute is base.execute else called.execute
    try:
        parameters = list(inspect.signature(called).parameters.values())
    except (TypeError, ValueError):
        parameters = []
    names = [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    return [names[i] if i < len(names) else f"input_{i}" for i in range(count)]


# Arguments


def _as_leaves(arg: Any) -> Any:
    """Return an argument, with arrays in the place of sequences that have no tensors."""
    if isinstance(arg, Mapping):
        return {key: _as_leaves(each) for key, each in arg.items()}
    if isinstance(arg, list | tuple) and arg and not _holds_tensors(arg):
        return _core.array(arg)
    if (halves := halves_of(arg)) is not None:
        return Complex._of(*map(_as_leaves, halves.values()))
    if hasattr(arg, "_fields"):
        return type(arg)(*map(_as_leaves, arg))
    if isinstance(arg, list | tuple):
        return type(arg)(map(_as_leaves, arg))
    return arg


def _holds_tensors(value: Iterable[Any]) -> bool:
    """Return whether a sequence is a container, and not an array of numbers."""
    return any(
        _holds_tensors(each) if isinstance(each, list | tuple) else not is_number(each)
        for each in value
    )


# Recording


def record(
    name: str,
    fn: Callable[..., Any],
    args: Sequence[Any],
    names: VarNames,
    *,
    has_state: bool,
    dynamic: Any = None,
) -> dict[str, Any]:
    """Return a function of a file as the session takes it.

    Parameters
    ----------
    name
        That of the function in the file.
    fn
        What is called.
    args
        Its arguments.
    names
        The names of Vars.
    has_state
        Whether it may update Vars from outside, and draw random numbers.
    dynamic
        Names and sizes of dimensions, as `export` takes them; None for fixed shapes.
    """
    trees = [_as_leaves(arg) for arg in args]
    if dynamic is None:
        recording, structure = _record_once(fn, trees, names, has_state=has_state)
        return {
            "name": name,
            "structure": structure,
            "extents": [],
            "recordings": [{**recording, "sizes": []}],
        }
    inputs, _ = _take_apart(fn, trees)
    shapes = {each: var.shape for each, var in inputs.tensors.items()}
    extents = read_extents(dynamic, shapes, name)
    recordings, structures = [], []
    for sizes in extents.combine():
        resized = extents.resize(trees, sizes)
        recording, structure = _record_once(fn, resized, names, has_state=has_state)
        recordings.append({**recording, "sizes": sizes})
        structures.append(structure)
        if structure != structures[0]:
            first = extents.describe(recordings[0]["sizes"])
            raise ValueError(
                f"export: {name!r} returns another structure of tensors, updates other ones, or"
                f" draws random numbers at one of them alone, with {extents.describe(sizes)} than"
                f" with {first}; expected the same"
            )
    return {
        "name": name,
        "structure": structures[0],
        "extents": list(extents.dims.items()),
        "recordings": recordings,
    }


def _take_apart(fn: Callable[..., Any], trees: list[Any]) -> tuple[_Named, dict[str, Any]]:
    """Return the tensors of arguments by name, and the structure of each parameter."""
    inputs = _Named("arguments")
    arguments = {
        parameter: flatten(tree, parameter, inputs.add_input, _joined)
        for parameter, tree in zip(_name_parameters(fn, len(trees)), trees, strict=True)
    }
    return inputs, arguments


def _record_once(
    fn: Callable[..., Any], trees: list[Any], names: VarNames, *, has_state: bool
) -> tuple[dict[str, Any], str]:
    """Return a recording of a function, and the structure of what it takes and gives."""
    inputs, arguments = _take_apart(fn, trees)
    outputs = _Named("result")
    trace = _Trace(fn, trees, list(inputs.tensors.values()), outputs)
    recorded = trace.recorded
    given = [*inputs.tensors.items(), *(("", var) for var in trace.captured)]
    rebinds = {n: line for n, line in _core.find_rebinds(recorded) if n >= len(inputs.tensors)}
    if rebinds and not has_state:
        _refuse([(given[number][1], line) for number, line in rebinds.items()], names)
    state = {number: names.number(given[number][1]) for number in rebinds}
    for number, label in state.items():
        given[number] = label, given[number][1]
    numbers = _name_numbers(trace.effects, names)
    given += numbers.items()
    structure = Structure(arguments, trace.result)
    if numbers:
        structure = _add_parameter(structure, _NUMBERS, list(numbers))
    if has_state:
        drawn = _RANDOM if _core.draws_random(recorded) else ()
        structure = _add_state(structure, [*state.values(), *drawn])
    recording = {
        "recorded": recorded,
        "arguments": given,
        "outputs": outputs.names,
        "state": list(state),
        "draws_from_state": has_state,
    }
    return recording, write_structure(structure)


class _Trace:
    """What a function does.

    Parameters
    ----------
    fn, trees
        The function and its arguments.
    like
        The tensors of the arguments.
    outputs
        Takes the names of the results.
    """

    #: The structure of the result, and Vars from outside that are used.
    result: Tree
    captured: list[Var]
    recorded: RecordedFunction

    def __init__(
        self, fn: Callable[..., Any], trees: list[Any], like: list[Var], outputs: _Named
    ) -> None:
        trace = _core.begin_trace(like)
        try:
            recording = Recording(trace)
            with recording:
                results = self._call(trace, fn, trees, outputs)
            self.effects = recording.effects
            self.captured = trace.captured()
            self.recorded = trace.finish(results)
            del results
            outputs.forget()
            _check_nothing_is_held(trace)
        finally:
            trace.close()

    def _call(
        self, trace: _core.Trace, fn: Callable[..., Any], trees: list[Any], outputs: _Named
    ) -> list[Var]:
        """Call the function, and return its results as Vars of the trace."""
        result = _call(fn, trees, trace.arguments)
        if not is_container(result) and not isinstance(result, Var):
            raise TypeError(f"export: the function returned {type(result).__name__}; {_EXPECTED}")
        self.result = flatten(result, "", outputs.add_output, _joined)
        if not outputs.tensors:
            raise TypeError(
                f"export: the function returned {type(result).__name__} of no tensors; {_EXPECTED}"
            )
        # A Var from outside is captured by what reads it.
        return [
            value if trace.owns(value) else _core.stop_grad(value)
            for value in outputs.tensors.values()
        ]


def _call(fn: Callable[..., Any], trees: list[Any], arguments: list[Var]) -> Any:
    leaves = iter(arguments)
    return fn(*[tree_map(lambda _: next(leaves), tree) for tree in trees])


def _check_nothing_is_held(trace: _core.Trace) -> None:
    """Raise an error where a value of the function lives on, which has no elements."""
    if trace.held_lines():
        gc.collect()
    if lines := trace.held_lines():
        raise ValueError(
            f"export: the value that is computed at {', '.join(sorted(set(lines)))} is kept when"
            " the function has returned, as in an attribute or a list, and has no elements;"
            " expected the function to return it"
        )


# States


def _refuse(rebinds: list[tuple[Var, str]], names: VarNames) -> None:
    """Raise an error that tells which Vars are rebound, and at which lines."""
    told = dict[str, list[str]]()
    for var, line in rebinds:
        told.setdefault(line, []).append(names.get(var) or f"a tensor of shape {var.shape}")
    raise ValueError(
        "export: the function updates "
        + "; ".join(f"{', '.join(each)} at {line}" for line, each in told.items())
        + ", as a layer in training mode does; expected it to return new values, or eval() to be"
        " called before, or state='outputs'"
    )


def _add_parameter(structure: Structure, name: str, tensors: list[str]) -> Structure:
    """Return the structure of a function that has one more parameter, a dict."""
    if name in structure.arguments:
        raise at_line(
            ValueError(
                f"export: a parameter of the function has the name {name!r}, which is that of what"
                " a program with a state takes; expected another one"
            )
        )
    node = {"dict": [[each, {"tensor": each}] for each in tensors]}
    return Structure({**structure.arguments, name: node}, structure.result)


def _add_state(structure: Structure, state: list[str]) -> Structure:
    """Return the structure of a function that takes and gives a state, too."""
    taken = _add_parameter(structure, _STATE, state)
    result = {"tuple": [structure.result, taken.arguments[_STATE]]}
    return Structure(taken.arguments, result, tuple(state))


def _name_numbers(effects: list[Registered], names: VarNames) -> dict[str, Var]:
    """Return what stands for the numbers of effects, by owner and name.

    Those of several kinds of parameters, of a second dtype, or of another step of the owner
    have numbers in their names.
    """
    numbers: dict[str, Var] = {}
    for each in effects:
        owner = names.owners.get(id(each.effect.owner), type(each.effect.owner).__name__.lower())
        for label, dtype in zip(_labels(each), each.dtypes, strict=True):
            name, count = f"{owner}.{label}", 1
            while name in numbers:
                name, count = f"{owner}.{label}.{count}", count + 1
            numbers[name] = _core.array(0, dtype)
    return numbers


def _labels(registered: Registered) -> list[str]:
    """Return the names of an effect's numbers."""
    count = len(registered.dtypes)
    if not isinstance(registered.effect, RecordedStep):
        return [f"number_{i}" for i in range(count)]
    kinds = registered.effect.formula[0]
    labels = [
        f"{kind}.{name}" if len(kinds) > 1 else name
        for kind, own in enumerate(kinds)
        for name in own
    ]
    return labels * (count // len(labels)) if labels else []
