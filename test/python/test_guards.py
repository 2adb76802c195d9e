# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rows of guards, and watches: what a recording compares, and which functions it saw."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable
from typing import Any

import metaops as mo
import numpy as np
import pytest
from metaops import _core
from metaops.tracing.watching import Watch, names_of


class Plain:
    """An object with attributes."""

    kind = "class"

    def method(self) -> int:
        """Return a number."""
        return 1


class Slotted:
    """An object without a dictionary."""

    __slots__ = ("x",)


def single(access: str, key: Any, root: Any, match: str, expected: Any) -> Any:
    """Return guards of an object's root and one row."""
    guards = _core.make_guards()
    first = guards.add("root", -1, root, "any", None)
    guards.add(access, first, key, match, expected)
    return guards


def deleting(target: Any, key: Any) -> Callable[[], None]:
    """Return what deletes an item."""
    return lambda: target.pop(key)


def of_dict() -> Any:
    table = {"a": 1}
    return single("item", "a", table, "equal", 1), lambda: table.update(a=2)


def of_missing_item() -> Any:
    table: dict[str, int] = {}
    return single("item", "a", table, "missing", None), lambda: table.update(a=2)


def of_deleted_item() -> Any:
    table = {"a": 1}
    return single("item", "a", table, "equal", 1), deleting(table, "a")


def of_set() -> Any:
    members = {"a"}
    return single("item", "a", members, "same", True), lambda: members.remove("a")


def of_type_of_number() -> Any:
    table: dict[str, Any] = {"a": 1}
    return single("item", "a", table, "equal", 1), lambda: table.update(a=True)


def of_sign_of_zero() -> Any:
    table = {"a": 0.0}
    return single("item", "a", table, "equal", 0.0), lambda: table.update(a=-0.0)


def of_instance() -> Any:
    plain = Plain()
    plain.__dict__["x"] = "text"
    guards = single("instance", None, plain, "any", None)
    guards.add("item", 1, "x", "equal", "text")
    return guards, lambda: setattr(plain, "x", "another")


def of_class() -> Any:
    cls = type("Local", (Plain,), {})
    return single("class", "kind", cls(), "equal", "class"), lambda: setattr(cls, "kind", "other")


def of_attribute() -> Any:
    plain = Plain()
    guards = single("attribute", "kind", plain, "equal", "class")
    return guards, lambda: plain.__dict__.update(kind="own")


def of_attribute_of_the_class() -> Any:
    cls = type("Local", (Plain,), {})
    return single("attribute", "kind", cls(), "equal", "class"), lambda: setattr(cls, "kind", "x")


def of_attribute_behind_a_property() -> Any:
    found = property(lambda self: 3)
    cls = type("Local", (Plain,), {"x": found})
    made = cls()
    made.__dict__["x"] = 5
    return single("attribute", "x", made, "same", found), lambda: delattr(cls, "x")


def of_type() -> Any:
    cls = type("Local", (Plain,), {})
    return single("type", "kind", cls, "equal", "class"), lambda: setattr(cls, "kind", "other")


def of_slot() -> Any:
    made = Slotted()
    made.x = 5
    return single("slot", "x", made, "equal", 5), lambda: setattr(made, "x", 6)


def of_list() -> Any:
    items = [1, 2]
    return single("place", 1, items, "equal", 2), items.pop


def of_length() -> Any:
    items = [1, 2]
    return single("length", 2, items, "type_of", list), lambda: items.append(3)


def of_cell() -> Any:
    value = 1

    def f() -> int:
        return value

    def change() -> None:
        nonlocal value
        value = 2

    return single("cell", 0, f, "equal", 1), change


def of_code() -> Any:
    def f() -> int:
        return 1

    return single("code", None, f, "same", f.__code__), lambda: setattr(
        f, "__code__", Plain.method.__code__
    )


def of_defaults() -> Any:
    def f(x: int = 1) -> int:
        return x

    guards = single("defaults", None, f, "type_of", tuple)
    guards.add("place", 1, 0, "equal", 1)
    return guards, lambda: setattr(f, "__defaults__", (2,))


def of_receiver() -> Any:
    table = {"m": Plain().method}
    guards = _core.make_guards()
    guards.add("root", -1, table, "any", None)
    guards.add("item", 0, "m", "any", None)
    guards.add("receiver", 1, None, "weak", table["m"].__self__)
    return guards, lambda: table.update(m=Plain().method)


def of_identity() -> Any:
    table = {"a": Plain()}
    return single("item", "a", table, "weak", table["a"]), lambda: table.update(a=Plain())


def of_tensor() -> Any:
    x = mo.ones((2, 3))
    guards = _core.make_guards()
    guards.add("root", -1, weakref.ref(x), "any", None)
    guards.add("tensor", 0, x, "weak", x)
    return guards, lambda: x.assign(mo.ones((3, 2)))


CASES = [value for name, value in list(globals().items()) if name.startswith("of_")]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_rows(case: Any) -> None:
    guards, change = case()
    assert guards.check([]) == -1
    assert guards.bind([]) == []
    change()
    assert guards.check([]) == len(guards) - 1
    assert guards.bind([]) is None


def test_what_died_is_not_compared() -> None:
    plain = Plain()
    guards = _core.make_guards()
    guards.add("root", -1, weakref.ref(plain), "any", None)
    guards.add("class", 0, "kind", "equal", "class")
    guards.add("instance", 0, None, "any", None)
    guards.add("item", 2, "x", "missing", None)
    assert guards.check([]) == -1
    del plain
    assert guards.check([]) == -1


def test_objects_are_held_weakly() -> None:
    plain = Plain()
    table = {"a": plain}
    guards = single("item", "a", table, "weak", plain)
    gone = weakref.ref(plain)
    del plain
    table.clear()
    gc.collect()
    assert gone() is None
    assert guards.check([]) == 1
    assert guards.value(1, "nothing") == "nothing"
    assert guards.expected(1) == "an object that is gone"


def test_captured_tensors() -> None:
    x, w = mo.ones(2), mo.ones(3)
    guards = _core.make_guards()
    guards.capture(w, -1)
    guards.capture(x, 0)
    guards.give([0])
    assert guards.check([x]) == -1
    assert guards.bind([x])[0] is x
    assert guards.bind([x])[1] is w
    # Another argument, and one that is the Var from outside.
    assert guards.check([mo.ones(2)]) == 1
    assert guards.check([w]) == 0
    del w
    assert guards.check([x]) == 0
    with pytest.raises(RuntimeError, match="died"):
        guards.gather([x])


def test_wrong_rows_are_refused() -> None:
    guards = _core.make_guards()
    with pytest.raises(ValueError, match="no kind 'quux'"):
        guards.add("quux", -1, None, "any", None)
    with pytest.raises(ValueError, match="no kind 'quux'"):
        guards.add("root", -1, None, "quux", None)
    with pytest.raises(ValueError, match="no row 3"):
        guards.add("item", 3, "a", "any", None)
    with pytest.raises(TypeError):
        guards.add("root", -1, None, "weak", 3)
    assert len(guards) == 0


def test_keys_of_calls() -> None:
    x, y = mo.ones((2, 3)), mo.ones((2, 3))
    same = _core.call_key([x, y])
    assert same == _core.call_key([y, x])
    different = [
        _core.call_key([x, x]),
        _core.call_key([x]),
        _core.call_key([x, mo.ones((3, 2))]),
        _core.call_key([x, y.cast("int32")]),
    ]
    with mo.no_grad():
        different.append(_core.call_key([x, y]))
    assert len({same, *different}) == 6


def test_a_watch_sees_what_runs() -> None:
    plain = Plain()

    def helper() -> int:
        return plain.method()

    watch = Watch()
    with watch.scope:
        helper()
    helper()
    watch.finish()
    codes = [code for code, _ in watch.codes]
    assert codes[:2] == [helper.__code__, Plain.method.__code__]
    assert any(weak() is plain for weak in watch.receivers)


def test_names_in_code() -> None:
    def f(x: Any) -> Any:
        x.stored = np.pi
        return getattr(x, "asked", len(x.items))

    names = names_of(f.__code__)
    assert {"np", "len", "getattr"} <= names.globals
    assert {"stored", "pi", "items"} <= names.attributes
    assert "asked" in names.texts
