# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Names that other libraries have for the same things.

`docs/Names.md` is the table for users. Each function has one name for each of its
parameters, which its signature shows; the spellings here are looked up when a call
gives a keyword that is none of these names.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterable, Mapping, Sequence
from types import FunctionType, ModuleType
from typing import Any

from .. import _core
from .._precision import RULE_OF, Rule, rule_of
from ._elsewhere import FUNCTIONS, METHODS

__all__ = [
    "ABSENT",
    "READ_ONLY",
    "SPELLINGS",
    "Absent",
    "hide_files",
    "missing",
    "nearest",
    "publish",
    "published",
]

#: Other spellings of parameters, for every function that has one of the name.
SPELLINGS: dict[str, tuple[str, ...]] = {
    "a": ("input", "x1"),
    "axes": ("dim", "dims"),
    "b": ("other", "x2"),
    "correction": ("ddof", "unbiased"),
    "destination": ("device", "dtype", "other"),
    "dim": ("axis", "dims"),
    "dim1": ("axis1",),
    "dim2": ("axis2",),
    "dims": ("axis", "dim"),
    "eps": ("epsilon",),
    "exponent": ("n",),
    "first": ("axis1", "dim0"),
    "high": ("a_max", "max"),
    "index": ("indices",),
    "indexes": ("indices",),
    "indices": ("index",),
    "is_train": ("training",),
    "keepdims": ("keepdim",),
    "log_probabilities": ("input",),
    "loss": ("outputs",),
    "low": ("a_min", "min"),
    "lr": ("learning_rate",),
    "m": ("M",),
    "n": ("N",),
    "num": ("steps",),
    "obj": ("data", "object"),
    "offset": ("diagonal", "k"),
    "order": ("ord", "p"),
    "parameters": ("params",),
    "probability": ("p",),
    "rate": ("lam",),
    "reps": ("dims",),
    "second": ("axis2", "dim1"),
    "sections": ("indices_or_sections",),
    "shape": ("size",),
    "shift": ("shifts",),
    "slope": ("negative_slope",),
    "stop": ("end",),
    "t_0": ("T_0",),
    "t_max": ("T_max",),
    "t_mult": ("T_mult",),
    "targets": ("inputs",),
    "tensors": ("arrays",),
    "value": ("constant_values", "end_values", "fill_value"),
    "widths": ("pad_width",),
    "x": ("a", "arr", "input", "input1", "x1"),
    "y": ("b", "input2", "other", "x2"),
}

_core.set_spellings(SPELLINGS)


class Absent:
    """An attribute that other libraries have, whose error says what to use here."""

    def __init__(self, advice: str) -> None:
        self.advice = advice

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, instance: object, owner: type) -> Absent:
        if instance is None:
            return self
        raise self._error(owner)

    def _error(self, owner: type) -> AttributeError:
        return AttributeError(f"{owner.__name__} has no {self.name}: {self.advice}")


class AbsentOfVar(Absent):
    """An attribute that other libraries' tensors have, which they let users assign, too."""

    def __set__(self, instance: object, value: object) -> None:
        raise self._error(type(instance))


#: Attributes of Var that other libraries' tensors have.
ABSENT = {name: AbsentOfVar(advice) for name, advice in METHODS.items()}

#: Attributes of Var that other libraries let users assign, and what to write here.
READ_ONLY = {
    "data": "x.update(y) gives x another value, and x.assign(y) others for all of its elements",
    "dtype": "x.cast(dtype) is a Var of that type",
    "shape": "x.reshape(shape) is a Var of that shape",
}

#: The names that users see, by the modules that have them.
_PUBLIC: dict[str, list[str]] = {}


def _folded(name: str) -> str:
    return name.replace("_", "").lower()


def _closest(name: str, names: Iterable[str]) -> str | None:
    import difflib

    words = list(names)
    alike = [word for word in words if _folded(word) == _folded(name)]
    found = difflib.get_close_matches(name, alike or words, 1, cutoff=0.0 if alike else 0.76)
    return found[0] if found else None


def _hint(found: str | None) -> str:
    return f" (did you mean {found!r}?)" if found else ""


def nearest(name: str, names: Iterable[str]) -> str:
    """Return the hint at the name that was probably meant, or nothing."""
    return _hint(_closest(name, names))


def _rank(module: str) -> int:
    """Return which of two modules' names for one word is meant: that of the higher rank."""
    return 0 if module.startswith("metaops.transforms") else 1 + (module == "metaops")


def missing(module: str, name: str, own: Iterable[str] | None = None) -> str:
    """Return what to say where a module has no such attribute.

    `own` are the names that it has, unless it is a package of public names.
    """
    message = f"{module} has no {name}"
    if name.startswith("_"):
        return message
    from ._absent import find_advice

    # All that have names.
    for package in ("metaops.nn", "metaops.optim", "metaops.amp", "metaops.transforms"):
        importlib.import_module(package)
    elsewhere = {
        word: f"{owner.replace('metaops', 'mo', 1)}.{word}"
        for owner in sorted(_PUBLIC, key=_rank)
        for word in _PUBLIC[owner]
    }
    # Advice on a name of one module goes before that on the name anywhere.
    if advice := FUNCTIONS.get(f"{module}.{name}") or FUNCTIONS.get(name):
        return f"{message}: {advice}"
    if name in elsewhere:
        return f"{message}: use {elsewhere[name]}"
    base = name[:-1] if name.endswith("_") else ""
    if value := elsewhere.get(base):
        use = f"p.assign({value}(p.shape)) gives p another value"
        is_initial = value.startswith("mo.nn.init.")
        return f"{message}: {use if is_initial else f'{value} returns a new tensor'}"
    told = find_advice()
    if advice := told.get(name) or FUNCTIONS.get(base) or told.get(base):
        return f"{message}: {advice}"
    hint = nearest(name, _PUBLIC.get(module, ()) if own is None else own)
    return message + (hint or _hint(elsewhere.get(_closest(name, elsewhere) or "")))


def hide_files() -> None:
    """Take from the packages the modules whose names mean something else elsewhere.

    A file is not what its name is for others, as nn/softmax.py is not `mo.softmax`.
    """
    functions = {name for words in _PUBLIC.values() for name in words} | FUNCTIONS.keys()
    for owner, words in _PUBLIC.items():
        attributes = vars(sys.modules[owner])
        files = {name for name, value in attributes.items() if isinstance(value, ModuleType)}
        for name in (files & functions) - {*words}:
            del attributes[name]


def _is_own(cls: type) -> bool:
    return cls.__module__.partition(".")[0] == "metaops"


def _rule_of_method(cls: type, name: str) -> Rule | None:
    """Return the rule of calls of a method: most layers' own calls have theirs."""
    if rule_of(f"{cls.__name__}.{name}") is None:
        return None
    if cls.__module__.startswith(("metaops.amp", "metaops.optim")) and name != "execute":
        return "given"
    return None if name.startswith("__") else RULE_OF.get(cls.__name__)


def _publish_class(cls: type) -> None:
    for name, member in list(vars(cls).items()):
        if name.startswith("_") and name not in ("__init__", "__new__"):
            continue
        qualname = f"{cls.__name__}.{name}"
        if isinstance(member, staticmethod | classmethod):
            wrapped = _core.wrap_function(member.__func__, cls.__module__, qualname)
            setattr(cls, name, type(member)(wrapped))
        elif isinstance(member, FunctionType) and not getattr(
            member, "__isabstractmethod__", False
        ):
            wrapped = _core.wrap_function(member, cls.__module__, qualname)
            setattr(cls, name, _core.set_rule(wrapped, _rule_of_method(cls, name)))


def _name_constructor(cls: type) -> None:
    """Have errors of the constructor name the class, where it is that of a base class."""
    inherited = cls.__init__  # type: ignore[misc]
    function = getattr(inherited, "__wrapped__", None)
    if "__init__" in vars(cls) or not isinstance(function, FunctionType):
        return
    own = FunctionType(
        function.__code__,
        function.__globals__,
        function.__name__,
        function.__defaults__,
        function.__closure__,
    )
    for name in ("__annotations__", "__doc__", "__kwdefaults__"):
        setattr(own, name, getattr(function, name))
    own.__module__, own.__qualname__ = cls.__module__, f"{cls.__qualname__}.__init__"
    cls.__init__ = _core.wrap_function(own, own.__module__, own.__qualname__)  # type: ignore[misc]


class Namesake:
    """A function whose name is that of a module elsewhere, whose names it is asked for.

    It says what to use for them, as the package does.
    """

    def __init__(self, function: FunctionType, name: str) -> None:
        self.__wrapped__ = function
        self.__doc__ = function.__doc__
        self._name = name

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.__wrapped__(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            return getattr(self.__wrapped__, name)
        raise AttributeError(missing(self._name, name))


#: `mo.export` is a function, and torch.export a module.
_NAMESAKES = ("export",)


def published(module: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return what users see of a module, such that it takes all spellings of parameters.

    A call with a keyword that is none of them raises a ``TypeError`` of one line with
    the parameters and the nearest of their names. Calls with arguments by position,
    or with the names of the signature, only pass through. Within the package
    functions call each other directly.

    Parameters
    ----------
    module
        Its name.
    values
        Its functions, classes and others, by the names that users see.
    """
    _PUBLIC[module] = list(values)
    results = dict(values)
    classes: dict[type, None] = {}
    for name, value in values.items():
        if isinstance(value, FunctionType):
            function = Namesake(value, f"{module}.{name}") if name in _NAMESAKES else value
            results[name] = _core.set_rule(
                _core.wrap_function(function, module, name), rule_of(name)
            )
        elif isinstance(value, type) and _is_own(value):
            classes.update(dict.fromkeys(value.__mro__))
    for cls in classes:
        if _is_own(cls):
            _publish_class(cls)
    for value in values.values():
        if isinstance(value, type):
            _name_constructor(value)
    return results


def publish(namespace: dict[str, Any], names: Sequence[str]) -> None:
    """Have the functions and classes of a module take all spellings of parameters.

    What the module does not have raises an ``AttributeError`` that says what to use.

    Parameters
    ----------
    namespace
        The module's variables.
    names
        Those of the module that users see.
    """
    module = namespace["__name__"]
    namespace.update(published(module, {name: namespace[name] for name in names}))

    def __getattr__(name: str) -> Any:  # noqa: N807 (Python's name)
        raise AttributeError(missing(module, name))

    namespace["__getattr__"] = __getattr__
    hide_files()
