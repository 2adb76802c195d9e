# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions that are recorded once: the calls of what `jit` returns.

A call's key is what its arguments are beside the values of tensors. Of each key there are
recordings, each with guards of what it has read in Python. A call whose key and guards are
known launches what was recorded, and no code of the function runs.
"""

from __future__ import annotations

import functools
import heapq
import threading
from collections import deque
from collections.abc import Callable, Sequence
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import TYPE_CHECKING, Any, Concatenate, Generic, ParamSpec, TypeVar, overload
from weakref import WeakSet

import numpy as np

from .. import _flags
from .._core import Var, array, call_key, compute_initial, give_away, is_tracing
from .._defaults import get_default_dtype
from .._errors import at_line, refuse_recorded
from .._precision import low_dtype
from .._typing import shown
from .arguments import describe_call, find_number, flatten, rebuild_call
from .comparing import find_difference, warn
from .donating import check_names, find_donated
from .effects import NotRecordedError, are_recorded
from .recorder import Entry, record
from .recordings import Recordings, find_family, tick

if TYPE_CHECKING:
    from ..nn import Module
    from ..tools.explaining import Explanation

__all__ = ["jit"]

M = TypeVar("M", bound="Module")
P = ParamSpec("P")
Q = ParamSpec("Q")
R = TypeVar("R")

#: Keys that differ in one number, at which there is a warning, and the most that are counted.
_MANY_NUMBERS = 8
_MOST_NUMBERS = 1024
#: Recordings from which on a function is said to miss mostly, and keys whose first call is
#: remembered then.
_MANY_MISSES = 16
#: The recordings used last, of which the nearest tells what was new.
_MOST_NEAR = 16
_MOST_SEEN = 1024

_functions: WeakSet[Jitted[..., Any]] = WeakSet()


class OutsideHistoryError(RuntimeError):
    """A call differentiates by a tensor of which it is given another one that is made of it."""


def _take_apart(args: Any, kwargs: Any) -> tuple[Any, list[Var], list[Any]]:
    """Return the key of a call, its tensors, and objects that the key has by identity."""
    leaves: list[Var] = []
    spec: list[Any] = []
    kept: list[Any] = []
    for arg in args:
        if type(arg) is Var:
            leaves.append(arg)
            spec.append(Var)
        else:
            flatten(arg, leaves, spec, kept)
    if kwargs:
        for name in sorted(kwargs):
            spec.append(name)
            flatten(kwargs[name], leaves, spec, kept)
    scopes = get_default_dtype(), low_dtype()
    key = (tuple(spec), call_key(leaves), *scopes, _flags.recording_kind)
    return key, leaves, kept


class Jitted(Generic[P, R]):
    """A function that is recorded once for each key; `jit` makes it."""

    def __init__(self, function: Callable[P, R], recheck: bool, donate: Any) -> None:
        functools.update_wrapper(self, function)
        self._function = function
        self._recheck = recheck
        self._lock = threading.Lock()
        self._recordings = Recordings()
        self._entries = self._recordings.by_key
        self._parameters = _find_parameters(function)
        self.name: str = getattr(function, "__qualname__", type(function).__name__)
        keywords = _find_keywords(function)
        self._donate = check_names(donate, self.name, [*self._parameters, *keywords])
        self.hits = 0
        self.calls = 0
        self.records: deque[tuple[int, str, str, str]] = deque(maxlen=256)
        #: Recordings that differ from all before in more than extents.
        self._others = 0
        self._misses_mostly = False
        self._is_warned = False
        #: Keys that were seen lately, while most calls miss.
        self._seen: dict[Any, None] = {}
        #: The count of values that a number had beside arguments that were the same.
        self._varied: dict[Any, int] = {}
        _functions.add(self)

    @overload
    def __get__(self, instance: None, owner: type | None = None) -> Jitted[P, R]: ...
    @overload
    def __get__(
        self: Jitted[Concatenate[Any, Q], R], instance: object, owner: type | None = None
    ) -> Callable[Q, R]: ...
    def __get__(self, instance: object, owner: type | None = None) -> Any:
        return self if instance is None else MethodType(self, instance)

    def __repr__(self) -> str:
        return f"<jit of {self.name}>"

    def lower(self, *args: P.args, **kwargs: P.kwargs) -> Explanation:
        """Return what a call with these arguments would run; see `explain`.

        Nothing is run, and no Var, generator or optimiser is changed. What is recorded
        for it, where no recording can be used, is not kept. Of a method, the object is
        the first argument: ``Model.step.lower(model, x)``.

        Raises
        ------
        RuntimeError
            If the function is recorded in another one, or operators run one by one.

        Examples
        --------
        >>> import metaops as mo
        >>> norm = mo.jit(lambda x: mo.sqrt(mo.sum(x * x)))
        >>> norm.lower(mo.ones((64, 128))).kernels[0].stages[0].space
        '64x128'
        """
        from .lowering import explain_call

        refuse_recorded("lower is called")
        key, leaves, kept = _take_apart(args, kwargs)
        for entry in self._recordings.find(key):
            bound = None if entry.differs else entry.bind(leaves)
            if bound is not None and are_recorded(entry.effects):
                return explain_call(entry, bound)
        made = self._record(args, kwargs, leaves, kept)
        return explain_call(made, made.guards.gather(leaves))

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        if _flags.jit_mode == "off" or is_tracing():
            return self._call_plainly(args, kwargs)
        try:
            return self._call(args, kwargs)
        except OutsideHistoryError:
            # A recording knows nothing of what its arguments were made of.
            pass
        return self._call_with_arrays(args, kwargs)

    def _call(self, args: Any, kwargs: Any) -> Any:
        """Call what was recorded for such arguments, or record it."""
        key, leaves, kept = _take_apart(args, kwargs)
        self.calls += 1
        entries = self._entries.get(key)
        if entries is not None and _flags.jit_mode == "on":
            entry = entries[0]
            number = entry.calls + 1
            if number != entry.next_check:
                bound = entry.bind(leaves)
                if bound is not None:
                    try:
                        result = entry.call(bound, leaves)
                    except NotRecordedError:
                        return self._call_slowly(key, args, kwargs, leaves, kept)
                    entry.calls = number
                    entry.used = tick()
                    self.hits += 1
                    return result
        return self._call_slowly(key, args, kwargs, leaves, kept)

    def _call_slowly(
        self, key: Any, args: Any, kwargs: Any, leaves: list[Var], kept: list[Any]
    ) -> Any:
        """Call it where the first recording cannot be called as it is."""
        entries = self._recordings.find(key)
        if any(entry.differs for entry in entries):
            made = self._record(args, kwargs, leaves, kept)
            return made.call(made.guards.gather(leaves), leaves)
        for entry in entries:
            bound = entry.bind(leaves)
            if bound is None:
                continue
            if entry.effects and not are_recorded(entry.effects):
                continue
            self._recordings.use(key, entry)
            if not entry.is_confirmed:
                self._confirm(entry)
            if entry.calls + 1 == entry.next_check or _flags.jit_mode == "check":
                return self._compare(entry, args, kwargs, leaves, kept)
            try:
                result = entry.call(bound, leaves)
            except NotRecordedError:
                continue
            entry.calls += 1
            self.hits += 1
            return result
        if self._misses_mostly and key not in self._seen:
            return self._call_once(key, args, kwargs)
        return self._add(key, args, kwargs, leaves, kept)

    def _call_once(self, key: Any, args: Any, kwargs: Any) -> Any:
        """Call the function as it is, for a key that may not come again soon."""
        with self._lock:
            self._seen[key] = None
            if len(self._seen) > _MOST_SEEN:
                del self._seen[next(iter(self._seen))]
        return self._call_with_arrays(args, kwargs)

    def _call_with_arrays(self, args: Any, kwargs: Any) -> Any:
        """Call the function as it is, with tensors for arrays, as it is recorded with them."""
        given = [array(arg) if type(arg) is np.ndarray else arg for arg in args]
        return self._call_plainly(given, kwargs)

    def _call_plainly(self, args: Any, kwargs: Any) -> Any:
        """Call the function as it is; what is donated has no value behind that."""
        if not self._donate or is_tracing():
            return self._function(*args, **kwargs)
        leaves: list[Var] = []
        flatten([*args, *(kwargs[name] for name in sorted(kwargs))], leaves, [], [])
        donated = find_donated(self._donate, args, kwargs, self._parameters)
        # The function may return what it is given.
        own = [leaf.copy() if place in donated else leaf for place, leaf in enumerate(leaves)]
        new_args, new_kwargs, _ = rebuild_call(args, kwargs, own, self._parameters)
        result = self._function(*new_args, **new_kwargs)
        give_away([leaves[place] for place in donated])
        return result

    def _record(
        self, args: Any, kwargs: Any, leaves: list[Var], kept: list[Any], is_kept: bool = False
    ) -> Entry:
        names, donate = self._parameters, self._donate
        given = (args, kwargs, leaves, kept, donate)
        return record(self._function, self.name, names, *given, is_kept=is_kept)

    def _add(self, key: Any, args: Any, kwargs: Any, leaves: list[Var], kept: list[Any]) -> Any:
        """Record it where no recording can be used, and call that."""
        items = describe_call(key, args, kwargs, self._parameters)
        reason = self._find_reason(key, items, leaves)
        made = self._record(args, kwargs, leaves, kept, is_kept=True)
        made.items = items
        made.family = find_family(key, leaves)
        kin = self._recordings.find_kin(made)
        self._recordings.add(key, made, kept)
        with self._lock:
            self.records.append((self.calls, *reason))
            self._others += kin is None
        self._warn_of_misses(reason)
        self._warn_of_numbers(key, args, kwargs)
        return made.call(made.guards.gather(leaves), leaves)

    def _confirm(self, entry: Entry) -> None:
        """Have a recording count as compared where one for other extents has been."""
        kin = self._recordings.find_kin(entry, confirmed=True)
        if kin is not None:
            entry.is_confirmed = True
            entry.next_check = _find_next_check(2, self._recheck)

    def _compare(
        self, entry: Entry, args: Any, kwargs: Any, leaves: list[Var], kept: list[Any]
    ) -> Any:
        """Record it again, and call what was recorded first as long as both agree."""
        made = self._record(args, kwargs, leaves, kept)
        bound = made.guards.gather(leaves)
        if not entry.is_confirmed:
            _compute_captured(bound, leaves)
        last = entry.compared
        entry.calls = entry.compared = number = entry.calls + 1
        difference = find_difference(entry, made, leaves)
        if difference is None:
            entry.is_confirmed = True
            if number == entry.next_check:
                entry.next_check = _find_next_check(number, self._recheck)
        else:
            entry.differs = True
            entry.next_check = number + 1
            for kin in self._recordings.list_kin(entry):
                # They were taken for what this one was.
                kin.is_confirmed = False
                kin.next_check = kin.calls + 1
            warn(
                f"jit: {self.name} is recorded in each call from now on: {difference}, in call"
                f" {number} with such arguments. It was compared last in call {last}: calls"
                " since then may have used what was recorded before"
            )
        return made.call(bound, leaves)

    def _find_reason(
        self, key: Any, items: list[tuple[str, str]], leaves: list[Var]
    ) -> tuple[str, str, str]:
        """Return why no recording could be used: what was new, and both values."""
        entries = self._entries.get(key)
        if entries:
            guards = entries[0].guards
            row = guards.check(leaves)
            return guards.explain(row) if row >= 0 else ("a step's option", "another", "new")
        known = self._recordings.list_all()
        if not known:
            # With what it was for, or for want of room.
            gone = ("the recording", "one that is gone", "a new one")
            return gone if self.records else ("", "", "")
        known = heapq.nlargest(_MOST_NEAR, known, key=lambda entry: entry.used)
        nearest = min(known, key=lambda entry: (len(set(entry.items) ^ set(items)), -entry.used))
        before, after = dict(nearest.items), dict(items)
        for label in [*after, *before]:
            if before.get(label) != after.get(label):
                return label, before.get(label, "nothing"), after.get(label, "nothing")
        return "an object given", "another one", "a new one"

    def _warn_of_misses(self, reason: tuple[str, str, str]) -> None:
        recorded = len(self.records)
        if recorded < _MANY_MISSES or 2 * recorded < self.calls:
            return
        self._misses_mostly = True
        # Of other extents there is nothing to say.
        if self._is_warned or self._others < _MANY_MISSES:
            return
        self._is_warned = True
        label, before, after = reason
        warn(
            f"jit: {self.name} was recorded {recorded} times in {self.calls} calls; the last time"
            f" {label} was new: {before} before, and {after}. From now on what is new is recorded"
            " at its second call; see jit_info"
        )

    def _warn_of_numbers(self, key: Any, args: Any, kwargs: Any) -> None:
        """Warn of an argument that is another number in many keys."""
        spec = key[0]
        for place in range(1, len(spec)):
            if spec[place - 1] is not int and spec[place - 1] is not float:
                continue
            rest = (place, spec[:place], spec[place + 1 :], *key[1:])
            count = self._varied[rest] = self._varied.get(rest, 0) + 1
            if count == _MANY_NUMBERS:
                name = find_number(place, args, kwargs, self._parameters)
                warn(
                    f"jit: {self.name} was recorded for {count} values of the number {name};"
                    f" give it as a tensor, mo.array({name}), and it is recorded once"
                )
        if len(self._varied) > _MOST_NUMBERS:
            self._varied.clear()

    def get_last(self) -> Entry | None:
        """Return the recording that was used last."""
        return self._recordings.get_last()

    def list_entries(self) -> list[Entry]:
        """Return the recordings that are kept."""
        return self._recordings.list_all()


def _compute_captured(bound: Sequence[Var], leaves: Sequence[Var]) -> None:
    """Compute constants that a call reads beside its arguments.

    Running statistics that nobody has trained, say: what is asked for by calls alone would
    be a part of each program, and its call be recorded each time.
    """
    given = {id(leaf) for leaf in leaves}
    compute_initial([var for var in bound if id(var) not in given])


def _find_next_check(number: int, recheck: bool) -> int:
    """Return the call at which a recording is compared next: 2, 4, 16, 64 and so on."""
    if not recheck:
        return -1
    return 4 if number == 2 else 4 * number


def _find_code(fn: Any) -> Any:
    """Return the code that runs when a function, a method or an object is called, or None."""
    routine = isinstance(fn, (FunctionType, MethodType, BuiltinFunctionType))
    return getattr(fn if routine else type(fn).__call__, "__code__", None)


def _find_parameters(function: Callable[..., Any]) -> list[str]:
    """Return the names of a function's parameters by position, in the order of arguments."""
    code = _find_code(function)
    if code is None:
        return []
    names: tuple[str, ...] = code.co_varnames[: code.co_argcount]
    return list(names if isinstance(function, FunctionType) else names[1:])


def _find_keywords(function: Callable[..., Any]) -> list[str]:
    """Return the names of a function's parameters that are given by keyword alone."""
    code = _find_code(function)
    if code is None:
        return []
    first = code.co_argcount
    return list(code.co_varnames[first : first + code.co_kwonlyargcount])


#: Kinds of functions whose bodies run later, by the flags of their code.
_LATER = {0x20: "a generator", 0x80: "a coroutine", 0x200: "an asynchronous generator"}


def _check_function(fn: Any) -> None:
    """Raise an error unless the function can be recorded."""
    if not callable(fn) or isinstance(fn, type):
        raise at_line(TypeError(f"jit: given {shown(fn)}, expected a function or a module"))
    flags = getattr(_find_code(fn), "co_flags", 0)
    for flag, kind in _LATER.items():
        if flags & flag:
            raise at_line(
                TypeError(
                    f"jit: {getattr(fn, '__qualname__', shown(fn))} is {kind}, whose body runs"
                    " after the call has returned; expected a function that returns tensors"
                )
            )


def _jit_module(module: Module, recheck: bool, donate: Any) -> Module:
    """Return a module with the attributes of another, whose calls are recorded once.

    Both have one dictionary of attributes, and so one state.
    """
    cls: Any = type(module)
    call = Jitted(cls.__call__, recheck, donate)
    members = {
        "__call__": call,
        "lower": lambda self, *args, **kwargs: call.lower(self, *args, **kwargs),
        "__module__": cls.__module__,
        "__qualname__": cls.__qualname__,
        "__doc__": cls.__doc__,
        "__reduce_ex__": lambda self, protocol: (jit, (_to_plain(self, cls),)),
    }
    call.name = cls.__qualname__
    made: Any = type(cls)(cls.__name__, (cls,), members)
    return _with_attributes(made, module)


def _with_attributes(cls: Any, module: Any) -> Any:
    made = cls.__new__(cls)
    made.__dict__ = module.__dict__
    return made


def _to_plain(module: Any, cls: type) -> Any:
    return _with_attributes(cls, module)


def list_functions() -> list[Jitted[..., Any]]:
    """Return all functions that `jit` made and that live."""
    return [*_functions]


def find_jitted(fn: Any) -> Jitted[..., Any] | None:
    """Return what records a function or a module, if `jit` made it."""
    if isinstance(fn, MethodType):
        fn = fn.__func__
    if isinstance(fn, Jitted):
        return fn
    return next(
        (x for cls in type(fn).__mro__ if isinstance(x := vars(cls).get("__call__"), Jitted)), None
    )


@overload
def jit(  # type: ignore[overload-overlap]
    fn: M, *, recheck: bool = True, donate: str | Sequence[str] = ()
) -> M: ...
@overload
def jit(
    fn: Callable[P, R], *, recheck: bool = True, donate: str | Sequence[str] = ()
) -> Jitted[P, R]: ...
@overload
def jit(
    fn: None = None, *, recheck: bool = True, donate: str | Sequence[str] = ()
) -> Callable[[Callable[P, R]], Jitted[P, R]]: ...
def jit(fn: Any = None, *, recheck: bool = True, donate: str | Sequence[str] = ()) -> Any:
    """Return a function that is recorded once, and launched as a whole afterwards.

    It computes what the given function does, and rebinds what that rebinds: arguments
    that are changed in place, parameters that an optimiser moves, statistics of layers.
    Its code runs only where something is new: another shape, type or structure of an
    argument, another number or text, or another value of what the code has read in Python,
    such as a global variable or a layer's attribute. See docs/Jit.md.

    Parameters
    ----------
    fn
        A function, a method or a module. Without one, what is returned is a decorator.
    recheck
        Whether calls 4, 16, 64, 256 and so on with the same arguments are recorded again
        and compared, for what cannot be seen in Python. Calls 1 and 2 always are, but for
        arguments that differ from others in extents alone.
    donate
        The name of a parameter, or several: tensors in what is given for these have no
        value behind a call, which may write its results over theirs.

    Returns
    -------
    callable
        The function; of a module, a module with the same attributes. ``fn.lower(*args)``
        tells what a call would run.

    Raises
    ------
    TypeError
        If it is no function, or one whose body runs after the call has returned.
    ValueError
        If it has no parameter of a name in `donate`.

    Examples
    --------
    >>> import metaops as mo
    >>> @mo.jit
    ... def step(x, scale):
    ...     return mo.tanh(x) * scale
    >>> step(mo.zeros(3), 2.0).numpy()
    array([0., 0., 0.], dtype=float32)
    """
    from ..nn import Module

    if fn is None:
        return functools.partial(jit, recheck=recheck, donate=donate)
    if not isinstance(recheck, bool):
        raise at_line(TypeError(f"jit: recheck is {shown(recheck)}, expected a bool"))
    _check_function(fn)
    if isinstance(fn, Module):
        return _jit_module(fn, recheck, donate)
    return Jitted(fn, recheck, donate)
