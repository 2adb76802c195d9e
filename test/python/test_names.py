# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Other spellings of parameters, other names of functions, and names that are not there."""

import collections
import inspect
import pathlib
import re
import subprocess
import sys

import coverage_of_names as coverage
import metaops as mo
import numpy as np
import pytest
from metaops import _core, _exports
from metaops.compat._absent import find_advice
from metaops.compat._elsewhere import FUNCTIONS, METHODS
from metaops.compat._names import SPELLINGS, Absent
from metaops.optim import lr_scheduler
from public import CALLABLES
from util import same

A = np.arange(6, dtype="float32").reshape(2, 3)


def spelled():
    """Return functions, and which parameters they take by which other spellings."""
    seen = {}
    for name, function in CALLABLES.items():
        target = function.__init__ if isinstance(function, type) else function
        if isinstance(target, _core.Function) and target.spellings:
            seen[name] = function, dict(target.spellings)
    return seen


SPELLED = spelled()


def test_spellings_are_many():
    assert len(SPELLED) > 200
    spellings = {spelling for _, others in SPELLED.values() for spelling in others}
    assert spellings >= {"axis", "keepdim", "input", "size", "p"}


@pytest.mark.parametrize("name", SPELLED)
def test_both_spellings_raise(name):
    function, spellings = SPELLED[name]
    takes_none = isinstance(function, type) or "self" not in inspect.signature(function).parameters
    given = [] if takes_none else [mo.array(A)]
    for spelling, parameter in spellings.items():
        with pytest.raises(TypeError, match=f"{parameter} is given twice; {spelling} is another"):
            function(*given, **{parameter: 1, spelling: 1})


B = A + 1.5
# Calls with the names that signatures have, and the same calls with each other
# spelling of one of the parameters.
CALLS = [
    (mo.mean, {"x": A, "dim": 1, "keepdims": True}),
    (mo.Var.mean, {"dim": 1, "keepdims": True}),
    (mo.softmax, {"x": A, "dim": 0}),
    (mo.var, {"x": A, "dim": 1, "correction": 1}),
    (mo.norm, {"x": A, "order": 1, "dim": 1}),
    (mo.add, {"x": A, "y": B}),
    (mo.matmul, {"a": A, "b": B.T}),
    (mo.clip, {"x": A, "low": 1, "high": 3}),
    (mo.full, {"shape": (2, 3), "value": 5}),
    (mo.zeros, {"shape": (2, 3)}),
    (mo.rand, {"shape": (2, 3)}),
    (mo.uniform, {"shape": (2, 3), "low": 1, "high": 2}),
    (mo.bernoulli, {"probability": 0.5, "shape": (7,)}),
    (mo.leaky_relu, {"x": A - 3, "slope": 0.5}),
    (mo.pad, {"x": A, "widths": [(1, 1), (0, 0)], "value": 2}),
    (mo.concat, {"tensors": [A, A], "dim": 1}),
    (mo.split, {"x": A, "sections": 3, "dim": 1}),
    (mo.linspace, {"start": 0, "stop": 1, "num": 5}),
    (mo.arange, {"start": 0, "stop": 3}),
    (mo.swapaxes, {"x": A, "first": 0, "second": 1}),
    (mo.transpose, {"x": A, "axes": (1, 0)}),
    (mo.Var.transpose, {"axes": (1, 0)}),
    (mo.broadcast, {"x": A, "shape": (4, 2, 3), "dims": (0,)}),
    (mo.reindex, {"x": A, "shape": (3, 2), "indexes": ("i1", "i0")}),
    (mo.take, {"x": A, "indices": [1, 0], "dim": 1}),
    (mo.gather, {"x": A, "dim": 1, "index": np.array([[0, 1], [2, 0]])}),
    (mo.diagonal, {"x": A, "offset": 1, "dim1": 1, "dim2": 0}),
    (mo.eye, {"n": 2, "m": 3, "offset": 1}),
    (mo.tile, {"x": A, "reps": (2, 1)}),
    (mo.roll, {"x": A, "shift": 1, "dim": 1}),
    (mo.array, {"obj": A}),
    (mo.Var.to, {"destination": "float64"}),
    (mo.nn.dropout, {"x": A, "p": 0.5, "is_train": False}),
    (mo.nn.LeakyReLU, {"slope": 0.5}),
    (mo.nn.LayerNorm, {"eps": 1.0}),
    (mo.optim.SGD, {"lr": 0.5}),
    (mo.nn.margin_ranking_loss, {"x": A, "y": B, "target": A}),
]


@pytest.mark.parametrize("function, arguments", CALLS)
def test_each_spelling_means_the_same(function, arguments):
    target = function.__init__ if isinstance(function, type) else function
    first = {
        mo.nn.LayerNorm: [3],
        mo.optim.SGD: [[mo.zeros(3)]],
    }.get(function, [])
    if "self" in inspect.signature(function).parameters:
        first = [mo.array(A)]

    def result(**keywords):
        mo.seed(1)
        value = function(*first, **keywords)
        if isinstance(function, type):
            return [
                str({k: v for k, v in vars(value).items() if not isinstance(v, (list, mo.Var))})
            ]
        return [part.numpy() for part in (value if isinstance(value, list) else [value])]

    expected = result(**arguments)
    used = 0
    for spelling, parameter in target.spellings.items():
        if parameter not in arguments:
            continue
        renamed = {spelling if k == parameter else k: v for k, v in arguments.items()}
        assert all(map(np.array_equal, result(**renamed), expected)), spelling
        used += 1
    assert used > 0


def test_gradients_by_other_names():
    x = mo.array(A)
    same(mo.grad(outputs=(x * x).sum(), inputs=x), 2 * A)


DOCUMENT = pathlib.Path(__file__).parents[2] / "docs" / "Names.md"


def test_the_table_of_spellings_is_documented():
    text = DOCUMENT.read_text()
    rows = dict(
        (cells[1].strip(" `"), tuple(cell.strip(" `") for cell in cells[2].split(",")))
        for line in text.split("## Parameters")[1].split("## ")[0].splitlines()
        if line.startswith("| `") and (cells := line.split("|"))
    )
    assert rows == SPELLINGS
    published = {parameter for _, others in SPELLED.values() for parameter in others.values()}
    assert published == set(SPELLINGS), "a row that no function uses"


def test_the_table_of_names_is_documented():
    section = DOCUMENT.read_text().split("## Functions and methods")[1].split("## ")[0]
    rows = [line.split("|")[1:3] for line in section.splitlines() if line.startswith("| `")]
    assert len(rows) > 15
    x = mo.array(A)
    for cells in rows:
        here, others = (re.findall("`([^`]+)`", cell) for cell in cells)
        for other in others:
            (name,) = here
            if name.startswith("mo."):
                own, alias = (getattr(mo, word[3:]) for word in (name, other))
            else:
                own, alias = (getattr(x, word[2:].split("(")[0]) for word in (name, other))
            if inspect.ismethod(own) and inspect.ismethod(alias):
                assert own.__func__.__doc__ and alias.__func__.__doc__
            elif isinstance(own, _core.Function) and hasattr(own, "__wrapped__"):
                assert own.__wrapped__ is alias.__wrapped__
            elif not callable(own):
                assert own == alias(), name


# Names that are not there

MODULES = [mo, mo.nn, mo.nn.init, mo.nn.utils, mo.optim, mo.optim.lr_scheduler]
MODULES += [mo.amp, mo.fft, mo.linalg, mo.transforms, mo.transforms.functional]


def said(value, name):
    """Return the message of the error that an attribute raises."""
    with pytest.raises(AttributeError) as caught:
        getattr(value, name)
    return str(caught.value)


def assert_named(advice):
    """Fail unless what the advice names is there."""
    for name in re.findall(r"\bmo\.([\w.]*\w)", advice):
        value = mo
        for part in name.split("."):
            assert part in dir(value), name
            value = getattr(value, part)
    for name in re.findall(r"\bx\.(\w+)", advice):
        assert name in dir(mo.zeros(3)), name


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_of_other_names(name):
    for module in MODULES:
        if name not in module.__all__:  # as `sparse` of mo.nn.init
            assert said(module, name) == f"{module.__name__} has no {name}: {FUNCTIONS[name]}"
    assert name not in mo.__all__, "it is there now, and needs no advice"
    assert_named(FUNCTIONS[name])


GUESSES = [
    (module, name)
    for library in coverage.libraries()
    for module in coverage.MODULES[library.module][:1]
    for name in library.names
    if name not in module.__all__
]


@pytest.mark.parametrize("module", [mo, mo.nn, mo.nn.init, mo.optim, lr_scheduler, mo.transforms])
def test_first_guesses(module):
    """No name of another library gets one that is like it by chance, as `trunc` for `func`.

    The message says what to use here, or that there is none, or just that the name is not
    there, as of what is of no use beside the other library.
    """
    told = find_advice()
    elsewhere = {name for owner in MODULES for name in owner.__all__}
    outcomes = collections.Counter()
    for name in {name for owner, name in GUESSES if owner is module}:
        is_file = isinstance(vars(module).get(name), type(mo)) and name not in _exports.MODULES
        assert not is_file, f"{name} is a file of ours"
        if hasattr(module, name):  # as `pi`, which `__all__` does not list
            continue
        message, start = said(module, name), f"{module.__name__} has no {name}"
        base = name[:-1] if name.endswith("_") else ""
        advice = FUNCTIONS.get(name) or told.get(name) or FUNCTIONS.get(base) or told.get(base)
        assert "did you mean" not in message
        if name in elsewhere:
            kind, part = "elsewhere", FUNCTIONS.get(name) or f"use mo.(\\w+\\.)*{name}$"
        elif base in elsewhere:
            kind, part = "in place", f"mo.(\\w+\\.)*{base}( returns|\\(p.shape\\))"
        elif advice:
            kind, part = "advice", re.escape(advice)
        else:
            kind, part = "none", ""
        assert re.match(f"{start}: .*{part}" if part else f"{start}$", message), message
        outcomes[kind] += 1
    if module is mo:
        assert outcomes["advice"] > 600 and outcomes["elsewhere"] > 30


@pytest.mark.parametrize("name", METHODS)
def test_methods_of_other_names(name):
    assert isinstance(inspect.getattr_static(mo.Var, name), Absent)
    assert said(mo.array(A), name) == f"Var has no {name}: {METHODS[name]}"
    assert name not in dir(mo.array(A))
    assert_named(METHODS[name])


@pytest.mark.parametrize(
    "module, name, message",
    [
        (mo, "relu6x", "metaops has no relu6x (did you mean 'relu6'?)"),
        (mo, "sofmax", "metaops has no sofmax (did you mean 'softmax'?)"),
        (mo, "float23", "metaops has no float23 (did you mean 'float32'?)"),
        (mo.nn, "Conv2D", "metaops.nn has no Conv2D (did you mean 'Conv2d'?)"),
        (mo.nn, "batchnorm2d", "metaops.nn has no batchnorm2d (did you mean 'BatchNorm2d'?)"),
        (mo.optim, "Adamm", "metaops.optim has no Adamm (did you mean 'Adam'?)"),
        # In another module.
        (mo, "conv2d", "metaops has no conv2d: use mo.nn.conv2d"),
        (mo, "Adam", "metaops has no Adam: use mo.optim.Adam"),
        (mo.nn, "relu", "metaops.nn has no relu: use mo.relu"),
        (mo, "Compose", "metaops has no Compose: use mo.transforms.Compose"),
        (mo, "normalize", "metaops has no normalize: use mo.nn.normalize"),
        (
            mo.transforms,
            "RandomGray",
            "metaops.transforms has no RandomGray: use mo.transforms.RandomGrayscale",
        ),
        (mo, "StepLR", "metaops has no StepLR: use mo.optim.lr_scheduler.StepLR"),
        (mo.nn, "relu_", "metaops.nn has no relu_: mo.relu returns a new tensor"),
        (
            mo.nn.init,
            "zeros_",
            "metaops.nn.init has no zeros_: mo.zeros returns a new tensor",
        ),
        (
            mo.nn.init,
            "xavier_normal_",
            "metaops.nn.init has no xavier_normal_: p.assign(mo.nn.init.xavier_normal(p.shape))"
            " gives p another value",
        ),
        # Words of more than one meaning.
        (mo, "sparse", "metaops has no sparse: there are no sparse tensors"),
        (mo, "jacrev", "metaops has no jacrev: use mo.jacobian(fn, mode='reverse')"),
        (mo, "autocast", "metaops has no autocast: use mo.amp.autocast"),
        (mo, "shuffle", f"metaops has no shuffle: {FUNCTIONS['shuffle']}"),
        (mo, "utils", f"metaops has no utils: {FUNCTIONS['utils']}"),
        (mo, "conjugate", "metaops has no conjugate: use mo.conj"),
        (mo, "svd", "metaops has no svd: use mo.linalg.svd"),
        (mo, "eig", "metaops has no eig: use mo.linalg.eig"),
        (mo, "lobpcg", "metaops has no lobpcg: there is none in this version"),
        (mo, "ctc_loss", "metaops has no ctc_loss: use mo.nn.ctc_loss"),
        (mo, "clamp_min_", "metaops has no clamp_min_: use mo.maximum"),
        # Rooms, and a function whose name is that of another library's module.
        (mo.random, "seed", "metaops.random has no seed: use mo.seed"),
        (
            mo.random,
            "permutations",
            "metaops.random has no permutations (did you mean 'mo.permutation'?)",
        ),
        (mo.random, "default_rng", f"metaops.random has no default_rng: {FUNCTIONS['Generator']}"),
        (mo.random, "quux", "metaops.random has no quux"),
        (mo.export, "export", "metaops.export has no export: use mo.export"),
        # Nothing is like it.
        (mo, "foo", "metaops has no foo"),
        (mo, "quux", "metaops has no quux"),
        (mo, "_relu", "metaops has no _relu"),
    ],
)
def test_the_nearest_name(module, name, message):
    assert said(module, name) == message


@pytest.mark.parametrize("cls", [mo.nn.Conv2d, mo.nn.BatchNorm2d, mo.optim.AdamW])
def test_constructors_name_their_class(cls):
    """Not the class whose constructor they have inherited, as `_Conv`."""
    first = next(iter(inspect.signature(cls).parameters))
    with pytest.raises(TypeError, match=rf"^{cls.__name__}\.__init__\(\) missing.*'{first}'"):
        cls()


def test_what_asks_for_names_finds_none():
    assert not hasattr(mo, "relu6x") and getattr(mo.nn, "Conv2D", None) is None
    assert not hasattr(mo, "__wrapped__")
    with pytest.raises(ImportError):
        exec("from metaops import relu6x")
    # Files of layers, which are no functions.
    assert not hasattr(mo.nn, "linear")
    assert said(mo.nn, "softmax") == "metaops.nn has no softmax: use mo.softmax"
    from metaops.nn.linear import Linear

    assert Linear is mo.nn.Linear


def test_a_wrong_name_of_a_method():
    """Python's own hint costs nothing where the name is right."""
    code = "import metaops as mo; mo.zeros(3).sumx"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "has no attribute 'sumx'. Did you mean: 'sum'?" in done.stderr


@pytest.mark.parametrize(
    "call, hint",
    [
        (lambda: mo.sum(A, axs=0), "no parameter 'axs' (did you mean 'axis'?)"),
        (lambda: mo.array(A).sum(keepdim5=True), "(did you mean 'keepdims'?)"),
        (lambda: mo.nn.Conv2d(1, 2, 3, strid=1), "(did you mean 'stride'?)"),
        (lambda: mo.array(A, dtyp="int8"), "(did you mean 'dtype'?)"),
    ],
)
def test_the_nearest_parameter(call, hint):
    with pytest.raises(TypeError, match=re.escape(hint)):
        call()


def test_the_nearest_flag():
    for call in (lambda: mo.flags.memory_limt, lambda: setattr(mo.flags, "memory_limt", 1)):
        with pytest.raises(AttributeError, match=r"\(did you mean 'memory_limit'\?\); the flags"):
            call()
    with pytest.raises(ValueError, match=r"no flag 'fus' \(did you mean 'fuse'\?\).*test_names"):
        mo.flag_scope(fus=False)
