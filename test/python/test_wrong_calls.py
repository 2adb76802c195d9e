# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""All functions with arguments of any kind: an exception, in words of ours or Python's."""

import collections
import inspect
import random
import re
import warnings

import metaops as mo
import numpy as np
import pytest
from metaops import nn
from public import CALLABLES
from test_hostile_numbers import CALLS as HOSTILE

#: Functions that wait, write files, or set what other tests count on.
LEFT_OUT = {
    "set_num_threads",
    "set_default_dtype",
    "seed",
    "reset_peak",
    "save",
    "load",
    "sync",
    "sync_all",
}
LEFT_OUT |= {"fetch", "fetch_sync", "explain", "estimate", "profile_scope", "flag_scope"}
LEFT_OUT |= {"last_program"}  # another error where nothing has run
#: Readers of files, which are not there, and would be downloaded.
LEFT_OUT |= {"CIFAR10", "CsvDataset", "FashionMNIST", "ImageFolder", "ImageNet", "MNIST"}
LEFT_OUT |= {"NpyDataset"}
LEFT_OUT |= {"NpzDataset", "load_image", "read_idx"}
#: Classes whose instances the package makes.
LEFT_OUT |= {"Explanation", "LastProgram", "ProfileReport"}

FUNCTIONS = {
    name: value
    for name, value in CALLABLES.items()
    if name.startswith(("metaops.", "Var.")) and name.split(".")[-1] not in LEFT_OUT
}
EXPECTED = (TypeError, ValueError, IndexError, KeyError, OverflowError, BufferError)


def values(x):
    """Return what may be given by mistake, tensors more often than the rest."""
    tensors = [x, x + 1, x[0], mo.array([1, 2]), mo.array(3), mo.Var.__new__(mo.Var), [x, x]]
    arrays = [np.array(["a"]), np.ones(3), np.ones((2, 3)), np.int64(1), np.float32(2)]
    types = [mo.float32, np.float32, int, "float32", mo.Var, mo]
    numbers = [-1, 0, 1, 2, 3, 2**70, 1.5, float("nan"), True, None]
    sequences = [[], {}, (1, 2), (0,), ["i0"], range(2), slice(1, 2), b"x", "mean", "i0*" * 50]
    others = [object(), lambda *a: None, mo.nn.Linear(3, 2), {"a": x}]
    return tensors + tensors + arrays + types + numbers + sequences + others


def wrong_call(rng, function, x):
    """Return arguments, some of them by name."""
    given = values(x)
    names = list(inspect.signature(function).parameters)
    positional = [rng.choice(given) for _ in range(rng.randrange(5))]
    if names[:1] == ["self"]:
        positional.insert(0, x if rng.random() < 0.9 else rng.choice(given))
        names = names[1:]
    named = {}
    if names and rng.random() < 0.4:
        named = {name: rng.choice(given) for name in rng.sample(names, min(len(names), 2))}
    return positional, named


@pytest.mark.parametrize("seed", range(8))
def test_wrong_calls(seed):
    rng = random.Random(seed)
    names = sorted(FUNCTIONS)
    outcomes = collections.Counter()
    for _ in range(500):
        name = rng.choice(names)
        x = mo.array(np.ones((2, 3), "float32"))
        positional, named = wrong_call(rng, FUNCTIONS[name], x)
        call = (
            f"{name} of {[*map(type, positional)]} and { {k: type(v) for k, v in named.items()} }"
        )
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                FUNCTIONS[name](*positional, **named)
            outcomes["done"] += 1
        except (*EXPECTED, RuntimeError) as error:
            if isinstance(error, RuntimeError):
                # A type that is given as a function reads what it is called with.
                assert "this needs numbers" in str(error), call
            message = str(error)
            outcomes[type(error)] += 1
            assert "incompatible function arguments" not in message, call
            assert "Unable to cast" not in message, call
            # No tensor is shown, for which it would be computed.
            assert not re.search(r"\b(Var|array)\([\[\d]", message), call
            assert "\n" not in message or "^" in message, call  # but a place in a string
            assert len(message) < 500, call
        except Exception as error:
            raise AssertionError(f"{call} raised {error!r}") from error
    assert outcomes[TypeError] > 200 and outcomes["done"] > 20


class Shown(BaseException):
    """A tensor was about to be computed for a message."""


@pytest.fixture
def unseen(monkeypatch):
    """No Var may be printed."""

    def show(*arguments):
        raise Shown

    for name in ("__repr__", "__str__", "__format__"):
        monkeypatch.setattr(mo.Var, name, show)


#: Digits that a message would show of these tensors.
DIGITS = 0.71234567


def tensors():
    """Return what is no number, no shape and no name; none of it is computed."""
    array = np.full((40, 30), DIGITS)
    x = mo.array(array)
    return [x + 1, array, array.tolist(), [x + 1, x + 2], {"a": x + 1}]


def bounded(function, /, *positional, **named):
    """Call; return whether that raised an error, whose message shows no tensor."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            function(*positional, **named)
        return False
    except Exception as error:
        message = str(error)
        assert str(DIGITS)[:6] not in message and len(message) < 500, message[:500]
        return True


def calls(function, given, filled):
    """Yield calls with a value for each parameter in turn, and the same for those before it."""
    parameters = [
        parameter
        for parameter in inspect.signature(function).parameters.values()
        if parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
    ]
    for parameter in parameters:
        named = {
            other.name: filled
            for other in parameters
            if other is not parameter and other.default is other.empty
        }
        yield {**named, parameter.name: given}


@pytest.mark.parametrize("filled", [3, (2, 3), "x"], ids=repr)
def test_no_message_shows_a_tensor(unseen, filled):
    outcomes = collections.Counter()
    filled = mo.ones((3, 3)) if filled == "x" else filled
    functions = {name: f for name, f in FUNCTIONS.items() if not name.startswith("Var.")}
    for given in tensors():
        for function in functions.values():
            for named in calls(function, given, filled):
                outcomes[bounded(function, **named)] += 1
    assert outcomes[True] > 1000


def test_no_message_of_a_method_shows_a_tensor(unseen):
    outcomes = collections.Counter()
    layers = [nn.ModuleDict({"a": nn.ReLU()}), nn.Conv2d(3, 3, 3), nn.Sequential(nn.Linear(3, 3))]
    layers += [nn.LSTM(3, 3), nn.Embedding(3, 2), mo.ones((3, 3)), mo.Key(3)]
    layers += [mo.optim.Adam([mo.ones(3)])]
    for given in tensors():
        for layer in layers:
            for name in dir(layer):
                method = getattr(layer, name, None)
                if callable(method) and not name.startswith("_") and name not in LEFT_OUT:
                    outcomes[bounded(method, given)] += 1
                    outcomes[bounded(method, 1, given)] += 1
        for name in HOSTILE.keys() - {"reindex constant"}:  # which prints it
            outcomes[bounded(HOSTILE[name], given)] += 1
        for name in mo.flags:
            assert bounded(setattr, mo.flags, name, given)
        bounded(lambda x, key: x[key], mo.ones((3, 3)), given)
        bounded(lambda x, key: x.at[key].set(key), mo.ones((3, 3)), given)
    assert outcomes[True] > 500
