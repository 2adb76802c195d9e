# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How things are called: signatures, and what is told of wrong calls."""

import abc
import copy
import inspect
import pickle
import weakref

import metaops as mo
import numpy as np
import pytest
from metaops import _core
from public import CALLABLES

A = np.arange(6, dtype="float32").reshape(2, 3)

# NamedTuples that the package returns, and classes without
# parameters, have the messages of Python; flags are named by keywords.
RESULTS = {
    "KernelExplanation",
    "KernelProfile",
    "MemoryHolder",
    "ProgramProfile",
    "TunedKernel",
    "Tuning",
}


def test_the_sweep_sees_the_package():
    names = set(CALLABLES)
    assert {"metaops.mean", "metaops.grad", "metaops.nn.Linear", "metaops.optim.Adam"} <= names
    assert {"Var.mean", "Var.softmax", "Var.to", "Linear.execute", "Adam.step"} <= names
    assert len(names) > 400


def parameters_of(function):
    """Return what `inspect` tells, without self."""
    parameters = dict(inspect.signature(function).parameters)
    parameters.pop("self", None)
    return parameters


@pytest.mark.parametrize("name", CALLABLES)
def test_signatures(name):
    parameters = parameters_of(CALLABLES[name])
    for parameter in parameters.values():
        # Names of their own, not pybind's arg0 and the like.
        assert not parameter.name.startswith("arg") or parameter.name in ("args", "argnums")
    if not isinstance(CALLABLES[name], type):
        assert CALLABLES[name].__doc__, "without a word of what it does"


def slip(name):
    """Return a name with a slip: two letters exchanged, or one more."""
    return name[:-2] + name[-1] + name[-2] if len(name) > 3 and name[-1] != name[-2] else name + "_"


def has_own_message(function):
    kinds = {parameter.kind for parameter in inspect.signature(function).parameters.values()}
    if inspect.Parameter.VAR_KEYWORD in kinds:
        return False
    if not isinstance(function, type) or function is mo.dtype:
        return True
    made = (getattr(function, name, None) for name in ("__init__", "__new__"))
    return any(isinstance(method, _core.Function) for method in made)


@pytest.mark.parametrize("name", CALLABLES)
def test_wrong_keywords(name):
    function = CALLABLES[name]
    if name.split(".")[-1] in RESULTS or name == "metaops.load_program":  # needs no extension
        return
    own = has_own_message(function)
    parameters = parameters_of(function)
    known = {
        parameter.name
        for parameter in parameters.values()
        if parameter.kind is not inspect.Parameter.POSITIONAL_ONLY
    }
    before = mo.stats()
    x = mo.array(A) + 1  # pending: a message that shows it would compute it
    recorded = mo.stats()
    wrong = [slip(known_name) for known_name in known] + ["entirely_wrong"]
    if not own:
        kinds = {parameter.kind for parameter in parameters.values()}
        assert not known or inspect.Parameter.VAR_KEYWORD in kinds, f"{name} is not published"
        wrong = [] if inspect.Parameter.VAR_KEYWORD in kinds else ["entirely_wrong"]
    for keyword in wrong:
        if keyword in known:
            continue
        takes_none = isinstance(function, type) or not inspect.signature(function).parameters
        arguments = [] if takes_none else [x]
        with pytest.raises(TypeError) as raised:
            function(*arguments, **{keyword: x})
        message = str(raised.value)
        assert "\n" not in message and len(message) < 400 + 20 * max(0, len(known) - 8)
        assert name.split(".")[-1] in message
        if own:
            assert keyword in message
            for known_name in known:
                assert known_name in message
            if keyword != "entirely_wrong" and known:
                assert "did you mean" in message
    after = mo.stats()
    for count in ("programs_run", "programs_compiled"):
        assert after[count] == recorded[count], count
    # Nothing was recorded; what earlier tests have left may be dropped.
    assert after["ops_in_block"] <= recorded["ops_in_block"]
    assert recorded["programs_run"] == before["programs_run"]
    del x


def test_what_is_wrong_is_named_well():
    x = mo.array(A)
    with pytest.raises(
        TypeError, match=r"^Var\.mean: .*'keepdims_' \(did you mean 'keepdims'\?\); the"
    ):
        x.mean(0, keepdims_=True)
    # Another spelling may be what was meant, too.
    with pytest.raises(TypeError, match=r"did you mean 'axis'\?"):
        mo.softmax(x, axs=0)
    # A word that is like none has no nearest.
    with pytest.raises(TypeError, match=r"^Linear: .* 'xyzzy'; the parameters are in_"):
        mo.nn.Linear(3, 4, xyzzy=1)

    class Own(mo.nn.Linear):
        pass

    with pytest.raises(TypeError, match=r"^Own: .*'out_feature'"):
        Own(3, out_feature=4)
    with pytest.raises(TypeError, match=r"^Linear\.execute: .*'y'"):
        mo.nn.Linear(3, 4)(x, y=1)
    with pytest.raises(TypeError, match=r"test_calls\.py:\d+\)$"):
        mo.grad(x, target=x)


def test_numbers_of_arguments():
    x = mo.array(A)
    with pytest.raises(
        TypeError, match=r"^iota: given 4 arguments by position, expected at most 3"
    ):
        mo.iota((2, 3), 0, "int64", 1)
    with pytest.raises(TypeError, match=r"^item: given 1 argument by position, expected at most 0"):
        x.item(0)
    with pytest.raises(TypeError, match=r"^iota: dim is not given; the parameters are shape, "):
        mo.iota((2,))
    with pytest.raises(TypeError, match=r"^mean: self is an array of shape .*, expected a Var"):
        mo.Var.mean(A)
    with pytest.raises(TypeError, match="dim is given twice, by position and by name"):
        mo.iota((2,), 0, dim=1)


def test_flags_of_other_kinds():
    x = mo.array(A)
    for keep in (True, 1, np.bool_(True)):
        assert x.sum(1, keepdims=keep).shape == (2, 1)
    for keep in (None, "True", 1.0, np.ones(1), x):
        with pytest.raises(TypeError, match=r"sum: keepdims is .*, expected True or False"):
            x.sum(1, keepdims=keep)


# Wrong types of arguments.

WRONG = {
    "name": (lambda x: x.reindex_reduce(3, (2,), ("i0",)), "op is an int, expected a str"),
    "flag": (lambda x: x.sum(0, x), "keepdims is a Var of shape (2, 3) and dtype float32"),
    "number": (lambda x: mo.seed("a"), "n is a str, expected an integer"),
    "a Var": (lambda x: mo.Var.exp(3), "self is an int, expected a Var"),
    "in place": (lambda x: mo.Var.__iadd__(3, x), "self is an int, expected a Var"),
    "dtype": (lambda x: x.cast(x), "given a Var of shape (2, 3) and dtype float32 as a dtype"),
    "no dtype": (lambda x: mo.iota((2,), 0, dtype=None), "given None as a dtype"),
    "a flag's value": (lambda x: setattr(mo.flags, "fuse", x), "a Var of shape (2, 3)"),
    "dims": (lambda x: mo.softmax(x, x), "a dimension is a Var of shape (2, 3)"),
    "dim": (lambda x: mo.squeeze(x, "a"), "a dimension is a str, expected an integer"),
    "loss": (lambda x: mo.grad(3, x), "the loss: given an int, expected a Var"),
    "target": (lambda x: mo.grad(x, [x, A]), "given an array of shape (2, 3) and dtype float32"),
    "phase": (
        lambda x: ((x * 2).sync(), mo.last_program().ir(x)),
        "phase is a Var of shape (2, 3)",
    ),
    "delete": (lambda x: x.__delitem__(0), "cannot be deleted"),
    "key": (lambda x: x["a"], "an index is a str"),
}


@pytest.mark.parametrize("name", WRONG)
def test_arguments_of_a_wrong_type(name):
    action, expected = WRONG[name]
    x = mo.array(A) if name == "phase" else mo.array(A) + 1
    before = mo.stats()["programs_run"]
    with pytest.raises(TypeError) as raised:
        action(x)
    message = str(raised.value)
    assert expected in message
    assert "\n" not in message and len(message) < 300
    if name != "phase":
        assert mo.stats()["programs_run"] == before


# Attributes that are not there.


@pytest.mark.parametrize("name", ["backward", "grad"])
def test_gradients_are_no_attributes(name):
    x = mo.array(A)
    with pytest.raises(AttributeError, match=r"^Var has no .*mo\.grad.*optimizer\.step\(loss\)"):
        getattr(x.sum(), name)
    assert not hasattr(x, name)


@pytest.mark.parametrize(
    "name, words",
    [
        ("requires_grad", r"^Var has no requires_grad: .*module\.requires_grad_\(False\)"),
        ("grad", r"^Var has no grad: .*mo\.grad"),
        ("data", r"^Var\.data cannot be assigned: x\.update\(y\)"),
        ("shape", r"^Var\.shape cannot be assigned: x\.reshape"),
        ("dtype", r"^Var\.dtype cannot be assigned: x\.cast"),
    ],
)
def test_assigned_attributes_say_what_to_write(name, words):
    x = mo.array(A)
    with pytest.raises(AttributeError, match=words):
        setattr(x, name, None)
    np.testing.assert_array_equal(x.numpy(), A)


def test_other_attributes_that_are_not_there():
    x = mo.array(A)
    with pytest.raises(AttributeError, match=r"^Var has no requires_grad: .*detach"):
        x.requires_grad
    optimizer = mo.optim.Adam([x])
    with pytest.raises(AttributeError, match=r"^Adam has no zero_grad: .*step\(loss\)"):
        optimizer.zero_grad()
    # From these Python suggests the nearest name that there is.
    with pytest.raises(AttributeError) as raised:
        x.shap
    assert raised.value.name == "shap" and raised.value.obj is x
    assert "shape" in dir(x) and "softmax" in dir(mo)


# Functions as objects.


def test_functions_are_functions():
    assert pickle.loads(pickle.dumps(mo.relu)) is mo.relu
    assert pickle.loads(pickle.dumps([mo.grad, mo.nn.conv2d, mo.nn.init.fans]))[0] is mo.grad
    assert copy.deepcopy({"f": mo.relu})["f"] is mo.relu
    assert repr(mo.relu) == "<function metaops.relu>"
    assert weakref.ref(mo.relu)() is mo.relu
    assert inspect.isroutine(mo.relu) and inspect.isroutine(mo.grad)
    assert mo.relu.__annotations__["return"] == "Var"
    assert mo.softmax.__defaults__ == (-1,)
    assert inspect.getsource(mo.relu).startswith("def relu")

    class Holder:
        act = mo.relu

    # As a function, it is a method of the class that has it.
    with pytest.raises(TypeError):
        Holder().act(mo.array(A))


def test_abstract_classes_stay_abstract():
    with pytest.raises(TypeError, match="abstract"):
        mo.optim.Optimizer([mo.zeros(2)], 0.1)
    assert isinstance(mo.optim.Optimizer, abc.ABCMeta)
