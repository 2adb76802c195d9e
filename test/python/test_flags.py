# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Flags and their scopes, and scopes that stop gradients."""

import asyncio
import pathlib
import threading

import metaops as mo
import numpy as np
import pytest
from metaops import nn
from util import close, same


@pytest.fixture(autouse=True)
def restored():
    before = {name: getattr(mo.flags, name) for name in mo.flags}
    yield
    assert {name: getattr(mo.flags, name) for name in mo.flags} == before


# Attributes


def test_flags_are_listed():
    names = list(mo.flags)
    assert {"backend", "rules", "saved_values_budget"} <= set(names)
    assert len(mo.flags) == len(names)
    assert set(names) <= set(dir(mo.flags))
    assert "rules" in mo.flags and "nonsense" not in mo.flags
    assert "rules='extended'" in repr(mo.flags)
    for name in names:
        assert f"    {name}=" in repr(mo.flags)
        assert f"    {name} " in type(mo.flags).__doc__, "the table says what each is"
    documented = [
        line.split()[0] for line in type(mo.flags).__doc__.splitlines()[9:] if line[4:5].isalpha()
    ]
    assert set(names) <= set(documented)


def test_unknown_flags():
    with pytest.raises(AttributeError, match=r"no flag 'nonsense'; the flags are .*rules"):
        mo.flags.nonsense
    with pytest.raises(AttributeError, match="no flag 'nonsense'"):
        mo.flags.nonsense = 1
    with pytest.raises(ValueError, match=r"no flag 'nonsense'; the flags are .*rules"):
        mo.flag_scope(rules="paper", nonsense=1)
    assert mo.flags.rules == "extended"


@pytest.mark.parametrize(
    "name, value, message",
    [
        ("rules", 3, "flag rules: given 3, which is of type int, expected str"),
        ("rules", None, "given None, which is of type NoneType, expected str"),
        ("saved_values_budget", "1", "given '1', which is of type str, expected int"),
        ("saved_values_budget", 1.0, "of type float, expected int"),
        ("saved_values_budget", True, "of type bool, expected int"),
        ("lazy_execution", "yes", "of type str, expected bool"),
        ("lazy_execution", 2, "of type int, expected bool"),
        ("asynchronous", None, "of type NoneType, expected bool"),
    ],
)
def test_values_of_another_type(name, value, message):
    before = getattr(mo.flags, name)
    with pytest.raises(TypeError, match=message):
        setattr(mo.flags, name, value)
    with pytest.raises(TypeError, match=message):
        mo.flag_scope(**{name: value})
    assert getattr(mo.flags, name) == before


def test_values_that_a_flag_does_not_take():
    with pytest.raises(ValueError, match="flag rules: given 'nonsense'"):
        mo.flags.rules = "nonsense"
    with pytest.raises(ValueError, match="saved_values_budget: given -1"):
        mo.flags.saved_values_budget = -1
    with pytest.raises(ValueError, match="history_bytes: given -1, expected a number of bytes"):
        mo.flags.history_bytes = -1


def test_a_former_name_leads_to_the_present_one():
    for use in (lambda: mo.flags.history_depth, lambda: setattr(mo.flags, "history_depth", 4)):
        with pytest.raises(AttributeError, match="no flag 'history_depth'; it is history_bytes"):
            use()
    with pytest.raises(ValueError, match="no flag 'history_depth'; it is history_bytes"):
        mo.flag_scope(history_depth=4)


def test_booleans_are_booleans():
    for name in mo.flags:
        value = getattr(mo.flags, name)
        if not isinstance(value, bool):
            continue
        for given in (False, True, 0, 1, np.False_, np.True_, value):
            setattr(mo.flags, name, given)
            assert getattr(mo.flags, name) is bool(given)


def test_numbers_and_paths():
    with mo.flag_scope(saved_values_budget=np.int64(12)):
        assert mo.flags.saved_values_budget == 12
        assert type(mo.flags.saved_values_budget) is int


def test_a_path_is_a_string(tmp_path):
    with mo.flag_scope(cache_dir=pathlib.Path(tmp_path)):
        assert mo.flags.cache_dir == str(tmp_path)
    with mo.flag_scope(cache_dir="123"):
        assert mo.flags.cache_dir == "123"


# Scopes


def test_a_scope_sets_and_restores():
    budget = mo.flags.saved_values_budget
    with mo.flag_scope(rules="paper", saved_values_budget=0):
        assert (mo.flags.rules, mo.flags.saved_values_budget) == ("paper", 0)
        with mo.flag_scope(rules="extended"):
            assert (mo.flags.rules, mo.flags.saved_values_budget) == ("extended", 0)
        assert mo.flags.rules == "paper"
        mo.flags.rules = "extended"
    assert (mo.flags.rules, mo.flags.saved_values_budget) == ("extended", budget)
    with mo.flag_scope():
        pass


def test_a_scope_restores_after_an_exception():
    with pytest.raises(KeyError), mo.flag_scope(rules="paper"):
        with pytest.raises(ValueError), mo.flag_scope(saved_values_budget=1):
            raise ValueError
        raise KeyError
    assert mo.flags.rules == "extended"


def test_a_scope_with_a_bad_value_sets_nothing():
    with (
        pytest.raises(ValueError, match="flag rules"),
        mo.flag_scope(saved_values_budget=5, rules="nonsense"),
    ):
        pass
    # The fixture compares all flags.


def test_a_scope_is_used_again_and_within_itself():
    scope = mo.flag_scope(rules="paper")
    for _ in range(2):
        with scope:
            mo.flags.rules = "extended"
            with scope:
                assert mo.flags.rules == "paper"
            assert mo.flags.rules == "extended"
        assert mo.flags.rules == "extended"


def test_a_scope_decorates():
    @mo.flag_scope(rules="paper")
    def factorial(n):
        """Say what it does."""
        assert mo.flags.rules == "paper"
        if n < 0:
            raise ArithmeticError
        return n * factorial(n - 1) if n else 1

    assert factorial(4) == 24
    assert factorial.__name__ == "factorial" and factorial.__doc__ == "Say what it does."
    assert mo.flags.rules == "extended"
    with pytest.raises(ArithmeticError):
        factorial(-1)
    assert mo.flags.rules == "extended"


def test_a_scope_changes_what_runs(compiled):
    x = mo.array(np.arange(12, dtype="float32").reshape(3, 4))

    def run():
        same((x * 2 + 1).sum(1), (np.arange(12, dtype="float32").reshape(3, 4) * 2 + 1).sum(1))

    run()
    with mo.flag_scope(backend="interpreter", lazy_execution=False):
        run()
    run()


@pytest.mark.parametrize("scope", [lambda: mo.flag_scope(rules="paper"), mo.no_grad])
def test_what_a_scope_cannot_decorate(scope):
    with pytest.raises(TypeError, match="cannot decorate numbers, whose body runs after"):

        @scope()
        def numbers():
            yield 1

    with pytest.raises(TypeError, match="cannot decorate wait"):

        @scope()
        async def wait():
            pass

    with pytest.raises(TypeError, match="given a int, expected a function"):
        scope()(3)


# no_grad


def test_no_grad_makes_constants():
    x = mo.array([1.0, 2.0, 3.0])
    assert mo.is_grad_enabled()
    with mo.no_grad():
        assert not mo.is_grad_enabled()
        y = x * x
        z = y.exp().sum() + x
    assert mo.is_grad_enabled()
    close(mo.grad((x * y).sum(), x), [1, 4, 9])
    with pytest.raises(ValueError, match="does not depend on any of the targets"):
        mo.grad(z.sum(), x)
    close(mo.grad(z.sum(), x, allow_unused=True), [0, 0, 0])
    close(mo.grad(y.sum(), y), [1, 1, 1])
    close(mo.grad((y * y).sum(), y), [2, 8, 18])
    # x is as it was.
    close(mo.grad((x * x).sum(), x), [2, 4, 6])


@pytest.mark.parametrize("synced", [False, True])
def test_no_grad_after_a_sync(synced):
    x = mo.array([1.0, 2.0])
    outer = x * 3
    with mo.no_grad():
        inner = outer * x
        if synced:
            mo.sync([inner, outer])
    loss = (inner * outer).sum()
    if synced:
        loss.sync()
    close(mo.grad(loss, x), 3 * 3 * np.float32([1, 4]))


@pytest.mark.parametrize(
    "identity",
    [
        lambda x: x.reshape(2, 3),
        lambda x: x.cast("float32"),
        lambda x: x.transpose(0, 1),
        lambda x: x.broadcast((2, 3)),
        lambda x: x[...],
        lambda x: mo.array(x),
        lambda x: +x * 1,
        lambda x: x.detach(),
        lambda x: mo.stop_fuse(x),
    ],
)
def test_no_grad_for_operators_that_change_nothing(identity):
    x = mo.array(np.arange(6, dtype="float32").reshape(2, 3))
    with mo.no_grad():
        y = identity(x)
    close(mo.grad((y * x).sum(), x), x.numpy())
    same(y, x.numpy())


def test_enable_grad_inside():
    x = mo.array([1.0, 2.0])
    with mo.no_grad():
        constant = x * 2
        with mo.enable_grad():
            assert mo.is_grad_enabled()
            y = x * constant
            with mo.no_grad():
                z = x * 5
            assert mo.is_grad_enabled()
        assert not mo.is_grad_enabled()
        w = y * x
    close(mo.grad(y.sum(), x), [2, 4])
    close(mo.grad((y * z).sum(), x), 2 * np.float32([1, 2]) * 5 * np.float32([1, 2]))
    close(mo.grad(w.sum(), x, allow_unused=True), [0, 0])


def test_no_grad_ends_with_an_exception():
    scope = mo.no_grad()
    with pytest.raises(ZeroDivisionError), scope, scope:
        assert not mo.is_grad_enabled()
        1 / 0
    assert mo.is_grad_enabled()


def test_no_grad_decorates():
    @mo.no_grad()
    def double(x):
        assert not mo.is_grad_enabled()
        return x * 2

    x = mo.array([3.0])
    close(mo.grad((double(x) * x).sum(), x), [6])
    assert mo.is_grad_enabled()


def test_in_place_inside_of_no_grad():
    x = mo.array([1.0, 2.0, 3.0])
    w = mo.array([2.0, 2.0, 2.0])
    product = x * w
    with mo.no_grad():
        w += x
        product[1:] = 0
        x.assign(x * 1)
        alias = mo.array([0.0, 0.0, 0.0])
        alias.assign(product)
    same(w, np.float32([3, 4, 5]))
    same(product, np.float32([2, 0, 0]))
    # From here on they are new constants.
    close(mo.grad((w * x).sum(), x), [3, 4, 5])
    close(mo.grad((w * x).sum(), w), [1, 2, 3])
    close(mo.grad((product + alias).sum(), x, allow_unused=True), [0, 0, 0])


def test_gradients_taken_inside_of_no_grad():
    x = mo.array([1.0, 2.0])
    loss = (x**3).sum()
    with mo.no_grad():
        first = mo.grad(loss, x)
    close(first, [3, 12])
    close(mo.grad(first.sum(), x, allow_unused=True), [0, 0])
    close(mo.grad(mo.grad(loss, x).sum(), x), [6, 12])


def test_no_grad_keeps_no_history():
    x = mo.array(np.ones(10, "float32"))
    with mo.no_grad():
        y = x
        for _ in range(20):
            y = y * 1.5
            y.sync()
        ops = mo.stats()["ops_in_block"]
        for _ in range(20):
            y = y * 1.5
            y.sync()
    assert mo.stats()["ops_in_block"] <= ops
    close(y, np.full(10, 1.5**40), rtol=1e-5)


def test_no_grad_shares_programs(compiled):
    x = mo.array(np.arange(5, dtype="float32"))
    ((x * 3).sin() + x).sync()
    before = mo.stats()["programs_compiled"]
    with mo.no_grad():
        ((x * 3).sin() + x).sync()
    assert mo.stats()["programs_compiled"] == before


def test_training_with_a_no_grad_part():
    mo.seed(3)
    layer, target = nn.Linear(4, 4), nn.Linear(4, 4)
    x = mo.array(np.random.default_rng(0).normal(size=(8, 4)).astype("float32"))
    optimizer = mo.optim.SGD(layer.parameters(), 0.1)
    losses = []
    fixed = [p.numpy() for p in target.parameters()]
    for _ in range(20):
        with mo.no_grad():
            wanted = target(x)
        loss = ((layer(x) - wanted) ** 2).mean()
        optimizer.step(loss)
        losses.append(loss.item())
    assert losses[-1] < 0.7 * losses[0]
    for parameter, value in zip(target.parameters(), fixed, strict=True):
        same(parameter, value)
        close(mo.grad(loss, parameter, allow_unused=True), np.zeros_like(value))


def test_threads_have_their_own_scopes():
    inside, checked = threading.Event(), threading.Event()
    seen = {}

    def other():
        inside.wait(60)
        seen["enabled"] = mo.is_grad_enabled()
        x = mo.array([2.0])
        seen["gradient"] = mo.grad((x * x).sum(), x).item()
        checked.set()

    thread = threading.Thread(target=other)
    thread.start()
    with mo.no_grad():
        inside.set()
        assert checked.wait(60)
        assert not mo.is_grad_enabled()
    thread.join()
    assert seen == {"enabled": True, "gradient": 4.0}


def test_tasks_have_their_own_scopes():
    async def stopped(turn, other):
        with mo.no_grad():
            turn.set()
            await other.wait()
            return mo.is_grad_enabled()

    async def flowing(turn, other):
        await turn.wait()
        enabled = mo.is_grad_enabled()
        other.set()
        return enabled

    async def both():
        turn, other = asyncio.Event(), asyncio.Event()
        return await asyncio.gather(stopped(turn, other), flowing(turn, other))

    assert asyncio.run(both()) == [False, True]


@pytest.mark.host_memory
def test_detach_shares_memory_and_stops_gradients():
    x = mo.array([1.0, 2.0])
    y = x.detach()
    close(mo.grad((x * y).sum(), x), [1, 2])
    assert np.shares_memory(np.asarray(y), np.asarray(x))
    product = x * 3
    cut = mo.stop_grad(product)
    assert np.shares_memory(np.asarray(cut), np.asarray(product))
    close(mo.grad((cut * x + product).sum(), x), [6, 9])
    x += 1
    same(y, np.float32([1, 2]))
    same(x, np.float32([2, 3]))


# Messages


def test_messages_say_what_was_given():
    x = mo.array([1.0])
    with pytest.raises(TypeError, match="grad: the loss: given an int, expected a Var"):
        mo.grad(3, x)
    with pytest.raises(TypeError, match="set_num_threads: n is a str, expected an integer"):
        mo.set_num_threads("x")
    with pytest.raises(TypeError, match="seed: n is a float, expected an integer"):
        mo.seed(1.5)
    with pytest.raises(TypeError, match="SGD: given the module Linear, expected its parameters"):
        mo.optim.SGD(nn.Linear(2, 2), 0.1)
    with pytest.raises(TypeError, match="Adam: given a Var, expected a sequence of Vars"):
        mo.optim.Adam(x, 0.1)
    with pytest.raises(TypeError, match="SGD: given a float, expected a sequence of Vars"):
        mo.optim.SGD(0.1, 0.1)
