# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Ways in which Python changes behind a recorded function: none of them goes unnoticed.

Each is a row of the table in docs/Jit.md. A case returns a function of a tensor, and what
changes something that it depends on.
"""

from __future__ import annotations

import enum
import functools
import itertools
import os
import pathlib
import random
import sys
import time
import types
import warnings
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import metaops as mo
import numpy as np
import pytest
from metaops import nn

Case = Callable[[], tuple[Callable[..., Any], Callable[[], Any]]]

#: Outcomes of the call behind the change.
RECORDED = "recorded anew"
USED = "used as it is"
RAISED = "raised"


def compared(call: int) -> str:
    """Return what becomes of a change that is found by comparing."""
    return f"found in call {call}"


class Way(NamedTuple):
    """A row of the table."""

    what: str
    outcome: str
    case: Case


WAYS: list[Way] = []


def way(what: str, outcome: str = RECORDED) -> Callable[[Case], Case]:
    """Add a case to the table."""

    def add(case: Case) -> Case:
        WAYS.append(Way(what, outcome, case))
        return case

    return add


X = np.array([1.0, -2.0, 3.0], "float32")


def leaf() -> mo.Var:
    """Return the tensor that all functions are given."""
    return mo.array(X)


class Holder:
    """An object with attributes, as users' classes have."""

    factor: float = 2.0

    def __init__(self, **fields: Any) -> None:
        self.__dict__.update(fields)

    def scaled(self, x: mo.Var) -> mo.Var:
        """Return x times the factor."""
        return x * self.factor


def setter(target: Any, name: str, value: Any) -> Callable[[], None]:
    """Return what sets an attribute."""
    return lambda: setattr(target, name, value)


def module_of(text: str) -> types.ModuleType:
    """Return a module of a source."""
    module = types.ModuleType("helpers_of_test")
    exec(compile(text, "helpers_of_test.py", "exec"), {**vars(module), "mo": mo}, module.__dict__)
    exec(compile(text, "helpers_of_test.py", "exec"), module.__dict__)
    return module


# Variables of modules and of functions


@way("a global number")
def _() -> Any:
    module = module_of("scale = 2.0\ndef f(x): return x * scale\n")
    return module.f, setter(module, "scale", 3.0)


@way("a global text that chooses a branch")
def _() -> Any:
    module = module_of("mode = 'a'\ndef f(x): return -x if mode == 'a' else x\n")
    return module.f, setter(module, "mode", "b")


@way("a global tensor is another Var")
def _() -> Any:
    module = module_of("def f(x): return x + w\n")
    module.w = leaf()
    return module.f, setter(module, "w", leaf() * 2)


@way("a captured Var is assigned a value", USED)
def _() -> Any:
    module = module_of("def f(x): return x + w\n")
    module.w = leaf()
    return module.f, lambda: module.w.assign(leaf() * 5)


@way("a captured Var is rebound to another shape")
def _() -> Any:
    module = module_of("def f(x): return x + w\n")
    module.w = leaf()

    return module.f, lambda: module.w.assign(mo.ones((1,)))


@way("a global of a helper's module")
def _() -> Any:
    other = module_of("bias = 1.0\ndef helper(x): return x + bias\n")
    module = module_of("def f(x): return other.helper(x)\n")
    module.other = other
    return module.f, setter(other, "bias", 4.0)


@way("a helper is another function")
def _() -> Any:
    module = module_of("def helper(x): return x + 1\ndef f(x): return helper(x)\n")
    return module.f, setter(module, "helper", lambda x: x + 2)


@way("a helper's code is replaced")
def _() -> Any:
    module = module_of("def helper(x): return x + 1\ndef f(x): return helper(x)\n")
    return module.f, setter(module.helper, "__code__", (lambda x: x + 2).__code__)


@way("a helper's default")
def _() -> Any:
    module = module_of("def helper(x, d=2): return x + d\ndef f(x): return helper(x)\n")
    return module.f, setter(module.helper, "__defaults__", (5,))


@way("a helper's default of a keyword")
def _() -> Any:
    module = module_of("def helper(x, *, d=2): return x + d\ndef f(x): return helper(x)\n")
    return module.f, setter(module.helper, "__kwdefaults__", {"d": 5})


@way("the function's own default")
def _() -> Any:
    def f(x: mo.Var, d: float = 2.0) -> mo.Var:
        return x * d

    return f, setter(f, "__defaults__", (5.0,))


@way("an attribute of a function")
def _() -> Any:
    module = module_of("def helper(x): return x * helper.by\ndef f(x): return helper(x)\n")
    module.helper.by = 2.0
    return module.f, setter(module.helper, "by", 3.0)


@way("a variable of the function around it")
def _() -> Any:
    scale = 2.0

    def f(x: mo.Var) -> mo.Var:
        return x * scale

    def change() -> None:
        nonlocal scale
        scale = 3.0

    return f, change


@way("a variable in the closure of a helper")
def _() -> Any:
    by = 2.0

    def helper(x: mo.Var) -> mo.Var:
        return x * by

    def change() -> None:
        nonlocal by
        by = 7.0

    return lambda x: helper(x) + 1, change


@way("a variable of a decorator around a helper")
def _() -> Any:
    by = [2.0]

    def decorated(function: Any) -> Any:
        @functools.wraps(function)
        def wrapper(x: mo.Var) -> mo.Var:
            return function(x) * by[0]

        return wrapper

    helper = decorated(lambda x: x + 1)
    return lambda x: helper(x), lambda: by.__setitem__(0, 3.0)


@way("a built-in name is hidden by a global")
def _() -> Any:
    module = module_of("def f(x): return x * max(1, 2)\n")
    return module.f, setter(module, "max", min)


@way("an environment variable")
def _() -> Any:
    os.environ["METAOPS_TEST_OF_JIT"] = "2.0"
    return (
        lambda x: x * float(os.environ["METAOPS_TEST_OF_JIT"]),
        lambda: os.environ.update(METAOPS_TEST_OF_JIT="3.0"),
    )


@way("an environment variable that os.getenv reads")
def _() -> Any:
    os.environ["METAOPS_TEST_OF_JIT"] = "2.0"
    return (
        lambda x: x * float(os.getenv("METAOPS_TEST_OF_JIT", "1.0")),
        lambda: os.environ.update(METAOPS_TEST_OF_JIT="3.0"),
    )


# Classes and objects


@way("an attribute of an object")
def _() -> Any:
    holder = Holder(factor=2.0)
    return lambda x: x * holder.factor, setter(holder, "factor", 3.0)


@way("an attribute of an object in an object")
def _() -> Any:
    holder = Holder(inner=Holder(factor=2.0))
    return lambda x: x * holder.inner.factor, setter(holder.inner, "factor", 3.0)


@way("an attribute, by object.__setattr__ or __dict__")
def _() -> Any:
    holder = Holder(factor=2.0)
    return lambda x: x * holder.factor, lambda: holder.__dict__.update(factor=4.0)


@way("an attribute of a class")
def _() -> Any:
    cls = type("Local", (), {"factor": 2.0})
    return lambda x: x * cls.factor, setter(cls, "factor", 3.0)


@way("an attribute of a base class")
def _() -> Any:
    base = type("Base", (), {"factor": 2.0})
    made = type("Local", (base,), {})()
    return lambda x: x * made.factor, setter(base, "factor", 3.0)


@way("an attribute of the class is hidden by the object's")
def _() -> Any:
    made = type("Local", (), {"factor": 2.0})()
    return lambda x: x * made.factor, setter(made, "factor", 3.0)


@way("a method of a class")
def _() -> Any:
    cls = type("Local", (), {"scaled": lambda self, x: x * 2})
    made = cls()
    return lambda x: made.scaled(x), setter(cls, "scaled", lambda self, x: x * 3)


@way("a method is hidden by a function of the object")
def _() -> Any:
    made = Holder()
    return lambda x: made.scaled(x), setter(made, "scaled", lambda x: x * 3)


@way("an object's class")
def _() -> Any:
    made = type("Local", (), {"factor": 2.0})()
    other = type("Local", (), {"factor": 3.0})
    return lambda x: x * made.factor, setter(made, "__class__", other)


@way("what a property computes")
def _() -> Any:
    class Local:
        _hidden = 2.0

        @property
        def factor(self) -> float:
            return self._hidden + 1

    made = Local()
    return lambda x: x * made.factor, setter(made, "_hidden", 3.0)


@way("a slot of an object")
def _() -> Any:
    class Local:
        __slots__ = ("factor",)

    made = Local()
    made.factor = 2.0
    return lambda x: x * made.factor, setter(made, "factor", 3.0)


@way("an attribute that the function asks for is there now")
def _() -> Any:
    made = Holder()
    return lambda x: x * 5 if hasattr(made, "fresh") else x, setter(made, "fresh", 1)


@way("a member of an enumeration")
def _() -> Any:
    mode = enum.Enum("Mode", ["PLUS", "MINUS"])
    holder = Holder(mode=mode.PLUS)
    return (
        lambda x: x + 1 if holder.mode is mode.PLUS else x - 1,
        setter(holder, "mode", mode.MINUS),
    )


# Containers


@way("an item of a list")
def _() -> Any:
    items = [1.0, 2.0]
    return lambda x: x * items[1], lambda: items.__setitem__(1, 3.0)


@way("an item of a list in a list")
def _() -> Any:
    items = [[1.0], [2.0]]
    return lambda x: x * items[1][0], lambda: items[1].__setitem__(0, 3.0)


@way("a list has another length")
def _() -> Any:
    items = [1.0, 2.0]
    return lambda x: x * sum(items), lambda: items.append(3.0)


@way("a value of a dict")
def _() -> Any:
    options = {"scale": 2.0}
    return lambda x: x * options["scale"], lambda: options.update(scale=3.0)


@way("a dict has another key")
def _() -> Any:
    options = {"scale": 2.0}
    return lambda x: x * options.get("more", 1.0), lambda: options.update(more=3.0)


@way("a set has another member")
def _() -> Any:
    active = {"a", "b"}

    def change() -> None:
        active.remove("a")
        active.add("c")

    return lambda x: x * 2 if "a" in active else x, change


@way("an argument of functools.partial")
def _() -> Any:
    module = module_of("def f(x): return part(x)\n")
    module.part = functools.partial(lambda by, x: x * by, 2.0)
    return module.f, setter(module, "part", functools.partial(lambda by, x: x * by, 3.0))


# Changes that no code names


@way("an iterator goes on", compared(2))
def _() -> Any:
    numbers = itertools.count(1)
    return lambda x: x * next(numbers), lambda: None


@way("a generator goes on", compared(2))
def _() -> Any:
    def numbers() -> Iterator[float]:
        yield from map(float, range(1, 1000))

    source = numbers()
    return lambda x: x * next(source), lambda: None


@way("the clock", compared(2))
def _() -> Any:
    return lambda x: x * (time.perf_counter() * 1e6 % 1.0), lambda: None


@way("random numbers of Python", compared(2))
def _() -> Any:
    return lambda x: x * random.random(), lambda: None


@way("an array of random numbers of NumPy", compared(2))
def _() -> Any:
    generator = np.random.default_rng(0)
    return lambda x: x + generator.normal(size=3).astype("float32"), lambda: None


@way("a count that the function advances", compared(2))
def _() -> Any:
    holder = Holder(calls=0)

    def f(x: mo.Var) -> mo.Var:
        holder.calls += 1
        return x + 1

    return f, lambda: None


@way("an array of NumPy is written to", compared(4))
def _() -> Any:
    table = np.ones(3, "float32")
    return lambda x: x * table, lambda: table.__setitem__(0, 5.0)


@way("an attribute whose name is computed", compared(4))
def _() -> Any:
    made = Holder(w1=2.0)
    number = 1
    return lambda x: x * getattr(made, f"w{number}"), setter(made, "w1", 3.0)


@way("a file", compared(4))
def _() -> Any:
    path = pathlib.Path(f"/tmp/metaops_jit_{os.getpid()}.txt")
    path.write_text("2.0")
    return lambda x: x * float(path.read_text()), lambda: path.write_text("3.0")


# Models


@way("a layer is another one")
def _() -> Any:
    model = nn.Sequential(nn.Linear(3, 3), nn.ReLU())
    return lambda x: model(x), lambda: model.__setitem__(1, nn.Tanh())


@way("a model is used and not trained, and has layers that differ")
def _() -> Any:
    model = nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1d(3))
    return lambda x: model(x.reshape(1, 3).broadcast_to((4, 3)) * mo.arange(4).reshape(4, 1)), (
        model.eval
    )


@way("weights are loaded", USED)
def _() -> Any:
    model = nn.Linear(3, 2)
    state = {name: var.numpy() * 2 + 1 for name, var in model.state_dict().items()}
    return lambda x: model(x), lambda: model.load_state_dict(state)


@way("a parameter is another Var")
def _() -> Any:
    model = nn.Linear(3, 2)
    return lambda x: model(x), setter(model, "weight", mo.ones((2, 3)))


@way("a model has another dtype")
def _() -> Any:
    model = nn.Linear(3, 2)
    return lambda x: model(x), model.double


@way("a model of the same shapes has the name of another")
def _() -> Any:
    module = module_of("def f(x): return model(x)\n")
    module.model = nn.Linear(3, 2)

    def change() -> None:
        del module.model
        module.model = nn.Linear(3, 2)

    return module.f, change


@way("parameters are frozen")
def _() -> Any:
    model = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 2))
    return (
        lambda x: sum(mo.sum(p) * 1.0 for p in model.parameters()) + model(x),
        lambda: model[0].requires_grad_(False),
    )


@way("a layer has a hook")
def _() -> Any:
    model = nn.Linear(3, 2)
    return (
        lambda x: model(x),
        lambda: model.register_forward_hook(lambda module, args, result: result * 2),
    )


@way("a number in the closure of a hook")
def _() -> Any:
    by = 2.0

    def change() -> None:
        nonlocal by
        by = 3.0

    model = nn.Linear(3, 2)
    model.register_forward_hook(lambda module, args, result: result * by)
    return lambda x: model(x), change


@way("an option of a layer")
def _() -> Any:
    layer = nn.LeakyReLU(0.1)
    return lambda x: layer(x), lambda: vars(layer).update(
        {name: 0.5 for name, value in vars(layer).items() if value == 0.1}
    )


# The package


@way("the type of floats that are made")
def _() -> Any:
    return lambda x: x + mo.ones(3), lambda: mo.set_default_dtype("float64")


@way("a flag that changes what is recorded")
def _() -> Any:
    layer = nn.Conv2d(1, 1, 3)
    image = mo.ones((1, 1, 8, 8))

    def change() -> None:
        mo.flags.convolution = "winograd"

    return lambda x: layer(image) + mo.sum(x), change


# Tensors of a recording that are held afterwards


@way("a tensor is left in a global", RAISED)
def _() -> Any:
    module = module_of("def f(x):\n    global last\n    last = x * 2\n    return x\n")
    return module.f, lambda: None


@way("a tensor is left in an attribute", RAISED)
def _() -> Any:
    holder = Holder(last=None)

    def f(x: mo.Var) -> mo.Var:
        holder.last = x * 2
        return x + 1

    return f, lambda: None


@way("a tensor is left in a list", RAISED)
def _() -> Any:
    seen: list[mo.Var] = []

    def f(x: mo.Var) -> mo.Var:
        seen.append(x * 2)
        return x + 1

    return f, lambda: None


@way("a tensor is left in a variable of the function around it", RAISED)
def _() -> Any:
    last: Any = None

    def f(x: mo.Var) -> mo.Var:
        nonlocal last
        last = x * 2
        return x + 1

    return f, lambda: last


@way("a value is asked for", RAISED)
def _() -> Any:
    return lambda x: x * float(mo.sum(x)), lambda: None


@way("mo.seed is called inside", RAISED)
def _() -> Any:
    def f(x: mo.Var) -> mo.Var:
        mo.seed(3)
        return x + mo.randn(3)

    return f, lambda: None


# The checks


def same(x: Any, y: Any) -> bool:
    """Return whether two results are of one type and hardly differ."""
    return bool(x.dtype == y.dtype and np.allclose(x.numpy(), y.numpy(), equal_nan=True))


@pytest.fixture(autouse=True)
def settings() -> Iterator[None]:
    """Put back what cases set for the process."""
    mo.seed(0)
    yield
    mo.set_default_dtype("float32")
    mo.flags.convolution = "direct"


def case_of(outcome: str) -> Any:
    """Return a parameter for each case with an outcome."""
    found = [each for each in WAYS if each.outcome.startswith(outcome)]
    return pytest.mark.parametrize("each", found, ids=[x.what.replace(" ", "-") for x in found])


@case_of(RECORDED)
def test_recorded_anew(each: Way) -> None:
    function, change = each.case()
    jitted = mo.jit(function)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(3):
            assert same(jitted(leaf()), function(leaf()))
        info = mo.jit_info(jitted)
        assert len(info.records) == 1, str(info)
        assert info.hits == 1
        change()
        for _ in range(3):
            assert same(jitted(leaf()), function(leaf()))
    info = mo.jit_info(jitted)
    assert len(info.records) == 2, str(info)
    assert info.records[1].before != info.records[1].after


@case_of(USED)
def test_used_as_it_is(each: Way) -> None:
    function, change = each.case()
    jitted = mo.jit(function)
    before = [jitted(leaf()).numpy() for _ in range(3)]
    change()
    assert same(jitted(leaf()), function(leaf()))
    assert not np.allclose(before[-1], jitted(leaf()).numpy())
    assert len(mo.jit_info(jitted).records) == 1


@case_of("found")
def test_found_by_comparing(each: Way) -> None:
    function, change = each.case()
    jitted = mo.jit(function)
    last = int(each.outcome.split()[-1])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for call in range(1, last):
            if call == 3:
                change()
            jitted(leaf())
    with pytest.warns(RuntimeWarning, match=f"in call {last}"):
        jitted(leaf())
    # Each call is recorded from then on: it uses what there is.
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        if last > 2:
            assert same(jitted(leaf()), function(leaf()))
        else:
            jitted(leaf())
        for _ in range(20):
            jitted(leaf())
    info = mo.jit_info(jitted)
    assert info.hits == max(0, last - 3)
    assert len(info.records) == 1


@case_of(RAISED)
def test_raised(each: Way) -> None:
    function, _ = each.case()
    jitted = mo.jit(function)
    for _ in range(2):
        with pytest.raises((RuntimeError, ValueError, TypeError), match=r"\.py:\d+"):
            jitted(leaf())
    # The session goes on.
    assert (leaf() * 2).numpy().tolist() == (X * 2).tolist()


def test_attributes_are_as_before() -> None:
    holder = Holder(last=1)
    seen: list[Any] = [3]

    def f(x: mo.Var) -> mo.Var:
        holder.last = x * 2
        holder.fresh = x
        seen.append(x * 3)
        return x

    with pytest.raises(RuntimeError, match="return it"):
        mo.jit(f)(leaf())
    assert vars(holder) == {"last": 1}
    assert seen == [3]


def test_document_has_all() -> None:
    text = (pathlib.Path(__file__).parents[2] / "docs" / "Jit.md").read_text()
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in text.splitlines()
        if line.startswith("| ") and len(line.strip("|").split("|")) == 2
    ]
    outcomes = (RECORDED, USED, RAISED, "found in call")
    known = [[row[0], row[1]] for row in rows if row[1].startswith(outcomes)]
    assert known == [[each.what, each.outcome] for each in WAYS]
    assert len(WAYS) >= 40


def test_module_of_package_is_not_walked() -> None:
    model = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))
    jitted = mo.jit(lambda x: model(x))
    jitted(leaf())
    assert mo.jit_info(jitted).guards < 80
    assert "metaops" in sys.modules
