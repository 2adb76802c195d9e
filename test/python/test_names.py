# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Other spellings of parameters, and other names of functions; see docs/Names.md."""

import inspect
import pathlib
import re

import metaops as mo
import numpy as np
import pytest
from metaops import _core
from metaops._names import SPELLINGS
from public import CALLABLES
from util import same

A = np.arange(6, dtype="float32").reshape(2, 3)


def spelled():
    """Return every function with every other spelling that it takes."""
    seen = {}
    for name, function in CALLABLES.items():
        target = function.__init__ if isinstance(function, type) else function
        if isinstance(target, _core.Function):
            for spelling, parameter in target.spellings.items():
                seen[name, spelling] = function, parameter
    return seen


SPELLED = spelled()


def test_spellings_are_many():
    assert len(SPELLED) > 200
    assert {spelling for _, spelling in SPELLED} >= {"axis", "keepdim", "input", "size", "p"}


@pytest.mark.parametrize("name, spelling", SPELLED)
def test_both_spellings_raise(name, spelling):
    function, parameter = SPELLED[name, spelling]
    with pytest.raises(TypeError, match=f"{parameter} is given twice; {spelling} is another"):
        arguments = {parameter: 1, spelling: 1}
        if isinstance(function, type) or "self" not in inspect.signature(function).parameters:
            function(**arguments)
        else:
            function(mo.array(A), **arguments)


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
    published = {parameter for _, parameter in SPELLED.values()}
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
