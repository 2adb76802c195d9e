# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Values by names into a module's tensors."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

import numpy as np

from .._core import Var, array
from .._devices import device_of
from .._errors import at_line
from .._typing import VarLike

__all__ = ["IncompatibleKeys", "load_state"]

#: Prefixes that PyTorch's wrappers of models put before all names.
_PREFIXES = ("module.", "_orig_mod.")
#: A buffer that files of before PyTorch 0.4.1 lack; one that is not given stays as it is.
_YOUNGER = "num_batches_tracked"
#: So many names are told of each kind.
_MOST = 8


class IncompatibleKeys(NamedTuple):
    """The names in which a state and a module differ."""

    #: Of the module only, or of other shapes.
    missing_keys: list[str]
    #: Of the state only.
    unexpected_keys: list[str]


def load_state(
    own: Mapping[str, Var],
    state: Mapping[str, VarLike],
    strict: bool,
    rename: Mapping[str, str],
    ignore: Iterable[str],
) -> IncompatibleKeys:
    """Assign values of a state to tensors; see `Module.load_state_dict`."""
    state = _rename(state, rename, ignore, own)
    given_once = {id(own[name]) for name in own.keys() & state.keys()}
    missing = sorted(
        name
        for name in own.keys() - state.keys()
        if id(own[name]) not in given_once and name.rpartition(".")[2] != _YOUNGER
    )
    unknown = sorted(state.keys() - own.keys())
    common = [name for name in own if name in state]
    shapes = {name: _shape(state[name]) for name in common}
    differing = [name for name in common if shapes[name] != own[name].shape]
    if strict and (missing or unknown or differing):
        _fail(own, missing, unknown, {name: shapes[name] for name in differing})
    values: dict[int, tuple[str, Var]] = {}
    for name in common:
        if name in differing:
            continue
        target = own[name]
        value = _read(state[name], target)
        first, known = values.setdefault(id(target), (name, value))
        if known is not value and not _is_same(known, value):
            raise at_line(
                ValueError(
                    f"load_state_dict: {first!r} and {name!r} are one tensor, but their values"
                    " differ"
                )
            )
    for target in own.values():
        if id(target) in values:
            target.assign(values.pop(id(target))[1])
    return IncompatibleKeys(sorted([*missing, *differing]), unknown)


def _rename(
    state: Mapping[str, VarLike],
    rename: Mapping[str, str],
    ignore: Iterable[str],
    own: Mapping[str, Var],
) -> dict[str, VarLike]:
    """Return a state by the names that it is meant by."""
    renamed = dict(state)
    if wrong := [name for name in renamed if not isinstance(name, str)]:
        raise at_line(
            TypeError(f"load_state_dict: the state has the name {wrong[0]!r}; expected texts")
        )
    while prefix := _find_prefix(renamed, own):
        renamed = {name.removeprefix(prefix): value for name, value in renamed.items()}
    result: dict[str, VarLike] = {}
    origins: dict[str, str] = {}
    for name, value in renamed.items():
        new = name
        for pattern, text in rename.items():
            new = re.sub(pattern, text, new)
        if any(re.search(pattern, new) for pattern in _as_list(ignore)):
            continue
        if new in result:
            raise at_line(
                ValueError(
                    f"load_state_dict: rename makes {new!r} of both {origins[new]!r} and {name!r}"
                )
            )
        result[new], origins[new] = value, name
    return result


def _find_prefix(state: Mapping[str, VarLike], own: Mapping[str, Var]) -> str | None:
    """Return what a wrapper has put before all names, and the module's names do not have."""
    for prefix in _PREFIXES:
        is_before_all = bool(state) and all(name.startswith(prefix) for name in state)
        if is_before_all and not any(name.startswith(prefix) for name in own):
            return prefix
    return None


def _as_list(patterns: Iterable[str]) -> list[str]:
    return [patterns] if isinstance(patterns, str) else list(patterns)


def _shape(given: VarLike) -> tuple[int, ...]:
    return given.shape if isinstance(given, Var) else np.shape(given)


def _fail(
    own: Mapping[str, Var],
    missing: list[str],
    unknown: list[str],
    shapes: dict[str, tuple[int, ...]],
) -> None:
    """Raise an error that has all differences."""
    parts = []
    if missing or unknown:
        parts += [f"missing names {_listed(missing)}", f"unknown names {_listed(unknown)}"]
    nearest = [
        f"{name!r} may be {found[0]!r}"
        for name in unknown[:_MOST]
        if (found := difflib.get_close_matches(name, missing[:1000], 1))
    ]
    parts += [", ".join(nearest)] if nearest else []
    wrong = [
        f"{name!r} has shape {shape}, expected {own[name].shape}" for name, shape in shapes.items()
    ]
    parts += wrong[:_MOST]
    parts += [f"{len(wrong) - _MOST} more shapes"] if len(wrong) > _MOST else []
    kind = KeyError if missing or unknown else ValueError
    raise at_line(kind(f"load_state_dict: {'; '.join(parts)}"))


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - _MOST} more" if len(names) > _MOST else ""
    return f"{names[:_MOST]}{more}"


def _read(given: VarLike, target: Var) -> Var:
    """Return a value for a tensor, a leaf of its own: two modules share no history."""
    with device_of(target):
        if not isinstance(given, Var):
            return array(given, target.dtype)
        return given.detach().to(target.device).cast(target.dtype)


def _is_same(x: Var, y: Var) -> bool:
    """Return whether the values are the same, bit by bit."""
    return x.numpy().tobytes() == y.numpy().tobytes()
