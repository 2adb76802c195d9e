# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The session's settings as attributes and as scopes."""

from __future__ import annotations

import operator
import os
import site
import sys
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from . import _core
from ._errors import at_line, refuse_recorded
from ._typing import shown
from .compat._names import nearest
from .scopes import Scope

__all__ = ["flag_scope", "flags"]


def _checked(name: str, value: Any) -> Any:
    """Return a value as the flag's type, which is that of its present value.

    Raises
    ------
    TypeError
        If it is of another type.
    """
    expected = type(_core.get_flag(name))
    if expected is bool:
        if isinstance(value, (bool, np.bool_)):
            return bool(value)
        if type(value) is int and value in (0, 1):
            return bool(value)
    elif expected is int:
        if not isinstance(value, (bool, np.bool_)):
            try:
                return operator.index(value)
            except TypeError:
                pass
    elif isinstance(value, (str, os.PathLike)):
        path = os.fspath(value)
        if isinstance(path, str):
            return path
    raise TypeError(
        f"flag {name}: given {shown(value)}, which is of type {type(value).__name__}, "
        f"expected {expected.__name__}"
    )


#: Former names of flags, and what they are called now.
_FORMER = {
    "compile_options": "an argument of mo.code, flags=[...], of one string for each option",
    "history_depth": "history_bytes, in bytes and not in programs",
}


def _no_flag(name: str) -> str:
    names = _core.flag_names()
    hint = f"; it is {_FORMER[name]}" if name in _FORMER else nearest(name, names)
    return f"no flag {name!r}{hint}; the flags are {', '.join(names)}"


def find_onednn(environment: Mapping[str, str] = os.environ) -> tuple[str, str]:
    """Load oneDNN, and return its path and version.

    It is the library of ``METAOPS_ONEDNN``, or else the one of the packages
    ``onednn-cpu-gomp`` of this Python, or of the system.

    Raises
    ------
    ValueError
        If there is none of version 3.
    """
    folders = [os.path.join(prefix, "lib") for prefix in (sys.prefix, site.getuserbase())]
    return _core.find_products(environment.get("METAOPS_ONEDNN", ""), folders)


#: The flag `jit`, but "off" where each operator runs at once.
jit_mode: str = "on"
#: A number for each combination of flags that changes what is recorded.
recording_kind: int = 0
_kinds: dict[tuple[Any, Any], int] = {}


def _find_recording_kind(new: int) -> int:
    """Return the number of the flags that are set, which is `new` if they are new."""
    kind = _core.get_flag("convolution"), _core.get_flag("saved_values_budget")
    return _kinds.setdefault(kind, new)


def _set(name: str, value: Any) -> None:
    """Set a flag that there is to a value of its type."""
    global jit_mode, recording_kind
    refuse_recorded(f"flag {name} is set")
    # Those of the beginning are 0.
    _find_recording_kind(recording_kind)
    if name == "libraries" and value == "rules":
        find_onednn()
    _core.set_flag(name, value)
    jit_mode = _core.get_flag("jit") if _core.get_flag("lazy_execution") else "off"
    recording_kind = _find_recording_kind(len(_kinds))


class Flags:
    """Settings of the session, which the whole process shares.

    Reading or writing an unknown one raises ``AttributeError``, a value of
    another type ``TypeError``, and one that the flag does not take
    ``ValueError``. Iteration goes over the names.

    =====================  =====  ====================================================
    flag                   type   meaning
    =====================  =====  ====================================================
    asynchronous           bool   programs run on a thread of the session's own, and
                                  Python goes on; off, each call waits for what it runs
    backend                str    "compiled", or "interpreter" for the reference
                                  implementation
    cache_dir              str    the folder of what was compiled, which later
                                  processes find again; "" for none
    convolution            str    how convolutions are recorded: "direct", or "winograd",
                                  which is faster for kernels of 3 x 3, and rounds
                                  differently
    dump_dir               str    the folder that takes the IR of each program after
                                  each phase; "" for none
    float_atomics          bool   GPUs may add scattered floats in any order, which is
                                  cheaper, and may change last bits from run to run
    fuse                   bool   operators share kernels; off, each is a kernel
    history_bytes          int    bytes that histories may keep, an operator as 1 kB;
                                  past it the oldest histories end
    jit                    str    what `jit` does: "on" records functions once, "check"
                                  compares each call with its recording, "off" calls them
    keep_packed            bool   programs keep what they have packed of weights that stay
                                  the same, and do not pack them in each run
    lazy_execution         bool   operators are recorded and run when a value is asked
                                  for; off, each runs at once, for debugging
    libraries              str    "rules" has oneDNN compute products of bfloat16 for
                                  which it is faster, "off" none (docs/Libraries.md)
    memory_limit           int    bytes of tensors at most; 0 for no limit
    poison_memory          bool   memory is filled with NaNs when it is given out and
                                  given back, and arguments move from run to run:
                                  whoever reads what he should not has NaNs
    reuse_memory           bool   values share memory with those that have died
    rules                  str    how operators are fused: "extended", or "paper" for
                                  Rules 1 to 3 alone
    saved_values_budget    int    bytes that a program may keep of values that are
                                  asked for later, and for gradients, and a scan of
                                  its trips
    schedule_file          str    schedules that replace the compiler's own, read when
                                  the flag is set; "" for none
    =====================  =====  ====================================================
    """

    __slots__ = ()

    def __getattr__(self, name: str) -> Any:
        try:
            return _core.get_flag(name)
        except ValueError:
            raise at_line(AttributeError(_no_flag(name))) from None

    def __setattr__(self, name: str, value: Any) -> None:
        # An unknown name is told from a bad value, which is a ValueError.
        getattr(self, name)
        _set(name, _checked(name, value))

    def __iter__(self) -> Iterator[str]:
        return iter(_core.flag_names())

    def __len__(self) -> int:
        return len(_core.flag_names())

    def __contains__(self, name: object) -> bool:
        return name in _core.flag_names()

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self})

    def __repr__(self) -> str:
        return "".join(
            ["Flags(\n", *(f"    {name}={_core.get_flag(name)!r},\n" for name in self), ")"]
        )


flags = Flags()


class flag_scope(Scope):  # noqa: N801 (used like a function)
    """Set flags for a ``with`` block, or for each call of a function.

    At the end, also after an exception, each flag gets back the value that it
    had before. Flags belong to the process: threads see each other's scopes.

    Parameters
    ----------
    **values
        The flags by name; see `flags`.

    Raises
    ------
    ValueError
        If there is no such flag, or, when the scope is entered, if a flag does
        not take its value. No flag is changed then.
    TypeError
        If a value is of another type than the flag.

    Examples
    --------
    >>> with mo.flag_scope(rules="paper", saved_values_budget=0):
    ...     loss.sync()
    """

    def __init__(self, **values: Any) -> None:
        for name in values:
            if name not in flags:
                raise at_line(ValueError(_no_flag(name)))
        self._values = {name: _checked(name, value) for name, value in values.items()}
        self._outer: list[dict[str, Any]] = []

    def _enter(self) -> None:
        outer: dict[str, Any] = {}
        try:
            for name, value in self._values.items():
                before = _core.get_flag(name)
                _set(name, value)
                outer[name] = before
        except BaseException:
            _restore(outer)
            raise
        self._outer.append(outer)

    def _leave(self) -> None:
        _restore(self._outer.pop())


def default_dump_directory(environment: Mapping[str, str] = os.environ) -> str:
    """Return what ``dump_dir`` is in a new session: ``METAOPS_DUMP``, made absolute."""
    given = environment.get("METAOPS_DUMP")
    return os.path.abspath(os.path.expanduser(given)) if given else ""


def default_poison(environment: Mapping[str, str] = os.environ) -> bool:
    """Return what ``poison_memory`` is in a new session: whether ``METAOPS_POISON`` is 1."""
    return environment.get("METAOPS_POISON") == "1"


def _restore(values: dict[str, Any]) -> None:
    """Set flags back, the last one first."""
    for name, value in reversed(values.items()):
        _set(name, value)
