# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Program files of several functions, and of functions of containers."""

from __future__ import annotations

import gc
import json
import random
import weakref
from collections import namedtuple

import metaops as mo
import numpy as np
import pytest
from metaops import _signatures, execute, nn

pytestmark = pytest.mark.processor

Pair = namedtuple("Pair", "first, second")


@pytest.fixture
def path(tmp_path):
    return tmp_path / "program.metaops"


def some(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype("float32")


# Several functions


def export_coder(path, **options):
    """Export two modules, and what both do; return that."""
    encoder, decoder = nn.Linear(6, 3), nn.Linear(3, 6)

    def both(x):
        return decoder(encoder(x))

    functions = {
        "encode": (encoder, [mo.zeros((4, 6))]),
        "decode": (decoder, [mo.zeros((4, 3))]),
        "both": (both, [mo.zeros((2, 6))]),
    }
    mo.export(functions, path, **options)
    return {name: function for name, (function, _) in functions.items()}


@pytest.mark.parametrize("load", [mo.load_program, execute.load_program])
def test_functions_are_chosen_by_name(path, load):
    expected = export_coder(path)
    inputs = {"encode": some(4, 6), "decode": some(4, 3), "both": some(2, 6)}
    first = load(path)
    assert (first.function, first.functions) == ("encode", ("encode", "decode", "both"))
    for name, x in inputs.items():
        for program in (first[name], load(path, function=name), load(path.read_bytes())[name]):
            assert program.function == name
            y = expected[name](mo.array(x)).numpy()
            np.testing.assert_allclose(program(x), y, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("has_code", [False, True])
def test_functions_are_compiled_as_they_are_asked_for(path, has_code):
    expected = export_coder(path, code=has_code)
    program = mo.load_program(path, code=False, function="decode", threads=2)
    x = some(2, 6)
    y = expected["both"](mo.array(x)).numpy()
    np.testing.assert_allclose(program["both"](x), y, rtol=1e-5, atol=1e-6)
    assert program["both"].threads == 2
    assert "metaop.reduce" in program.ir


def test_functions_share_weights(path):
    export_coder(path)
    program = mo.load_program(path)
    names = ["encode.weight", "encode.bias", "decode.weight", "decode.bias"]
    assert list(program.weights) == list(program["both"].weights) == names
    for name in names:
        assert np.shares_memory(program.weights[name], program["both"].weights[name])


def test_methods_of_one_module_keep_its_names(path):
    class Model(nn.Module):
        def __init__(self):
            self.inner = nn.Linear(3, 3)

        def execute(self, x):
            return self.inner(x)

        def twice(self, x):
            return self.inner(self.inner(x))

    model = Model()
    mo.export({"once": (model, [mo.zeros(3)]), "twice": (model.twice, [mo.zeros(3)])}, path)
    program = mo.load_program(path)
    assert list(program.weights) == ["inner.weight", "inner.bias"]
    x = some(3)
    np.testing.assert_allclose(
        program["twice"](x), program["once"](program["once"](x)), rtol=1e-5, atol=1e-6
    )


def test_a_function_is_loaded_once_and_closed_with_the_others(path):
    export_coder(path)
    with mo.load_program(path) as program:
        decode = program["decode"]
        decode.threads = 3
        assert program["decode"].threads == 3
    for closed in (program, decode):
        with pytest.raises(RuntimeError, match="has been closed"):
            closed(some(4, 6) if closed is program else some(4, 3))
    with pytest.raises(RuntimeError, match="has been closed"):
        program["both"]


def test_programs_are_no_cycles(path):
    export_coder(path)
    program = mo.load_program(path)
    program["decode"](some(4, 3))
    died = weakref.ref(program)
    gc.disable()
    try:
        del program
        assert died() is None
    finally:
        gc.enable()


def test_wrong_names(path):
    export_coder(path)
    program = mo.load_program(path)
    with pytest.raises(KeyError, match="no function 'other' among encode, decode, both"):
        program["other"]
    with pytest.raises(TypeError, match="have names, given 1"):
        program[1]
    for load in (mo.load_program, execute.load_program):
        with pytest.raises(
            ValueError, match="no function 'other'; it has 'encode', 'decode', 'both'"
        ):
            load(path, function="other")
        with pytest.raises(ValueError, match="given the function ''; expected its name"):
            load(path, function="")


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (({}, "p"), ValueError, "given no functions"),
        (({"f": 3}, "p"), TypeError, "'f' is 3; expected a function and its arguments"),
        (({"f": (abs, mo.ones(3))}, "p"), TypeError, "the arguments of 'f' are .*; expected a seq"),
        (({"": (abs, [])}, "p"), TypeError, "a function has the name ''; expected a text"),
        (({"f": (abs, [])}, [mo.ones(3)], "p"), TypeError, "arguments beside a dict"),
        ((abs, [mo.ones(3)]), TypeError, "given the path None; expected a file's name"),
        ((abs, "p"), TypeError, "given the path None; expected a file's name"),
    ],
)
def test_wrong_requests(arguments, error, message):
    with pytest.raises(error, match=message):
        mo.export(*arguments)


# Containers


def test_arguments_and_results_are_containers(path):
    def fn(batch, pair, rest):
        assert type(rest) is list and rest[1] is None and isinstance(pair, Pair)
        total = batch["x"] + batch["more"][0] * pair.second
        return {"sum": total, 3: (pair.first, [rest[0] * 2, None]), "pair": Pair(total, total)}

    arrays = [some(3, seed=i) for i in range(5)]
    make = lambda a: [{"x": a[0], "more": (a[1],)}, Pair(a[2], a[3]), [a[4], None]]  # noqa: E731
    mo.export(fn, make(arrays), path)
    program = mo.load_program(path)
    assert [t.name for t in program.inputs] == [
        "batch.x", "batch.more.0", "pair.first", "pair.second", "rest.0"
    ]  # fmt: skip
    assert [t.name for t in program.outputs] == [
        "sum", "3.0", "3.1.0", "pair.first", "pair.second"
    ]  # fmt: skip
    for given in (make(arrays), [make(arrays)[0], tuple(arrays[2:4]), (arrays[4], None)]):
        named = dict(zip(["batch", "pair", "rest"], given, strict=True))
        for result in (program(*given), program(**named)):
            assert list(result) == ["sum", 3, "pair"]
            total = arrays[0] + arrays[1] * arrays[3]
            np.testing.assert_allclose(result["sum"], total, rtol=1e-6)
            first, rest = result[3]
            np.testing.assert_array_equal(first, arrays[2])
            assert type(rest) is list and rest[1] is None
            np.testing.assert_array_equal(rest[0], arrays[4] * 2)
            assert (type(result["pair"]).__name__, result["pair"]._fields) == (
                "Pair", ("first", "second")
            )  # fmt: skip


@pytest.mark.parametrize(
    ("fn", "names", "kind"),
    [
        (lambda x: x, ["output"], np.ndarray),
        (lambda x: (x, x), ["output_0", "output_1"], tuple),
        (lambda x: [x, {"y": x}], ["output_0", "1.y"], list),
        (lambda x: {"y": [x]}, ["y.0"], dict),
    ],
)
def test_names_of_results(path, fn, names, kind):
    mo.export(fn, [mo.zeros(3)], path)
    program = mo.load_program(path)
    assert [t.name for t in program.outputs] == names
    assert type(program(some(3))) is kind


def test_lists_of_numbers_are_arrays(path):
    mo.export(lambda x, y: x * y[1], [[1.0, 2.0], [[1.0], [2.0]]], path)
    program = mo.load_program(path)
    assert [t.shape for t in program.inputs] == [(2,), (2, 1)]
    np.testing.assert_array_equal(program([3.0, 4.0], [[1.0], [2.0]]), [6, 8])


def test_wrong_structures(path):
    mo.export(lambda b, p: b["x"] + p[0], [{"x": some(3)}, (some(3), None)], path)
    program = mo.load_program(path)
    x = some(3)
    for given, message in (
        (([x], (x, None)), r"'b' is a dict of keys \['x'\], given list"),
        (({"y": x}, (x, None)), r"'b' is a dict of keys \['x'\], given keys \['y'\]"),
        (({"x": x}, x), "'p' is a tuple of 2, given ndarray"),
        (({"x": x}, (x,)), "'p' is a tuple of 2, given tuple of 1"),
        (({"x": x}, (x, 3)), r"'p\.1' is a int, expected None"),
    ):
        with pytest.raises(TypeError, match=message):
            program(*given)
    with pytest.raises(ValueError, match=r"the input 'b\.x' is float32 \(3,\), given"):
        program({"x": some(4)}, (x, None))
    with pytest.raises(TypeError, match=r"takes 2 inputs \(b, p\), given 1"):
        program({"x": x})


@pytest.mark.parametrize(
    ("result", "error", "message"),
    [
        (lambda x: {"a": 3}, TypeError, "returned int at 'a'; expected a tensor"),
        (lambda x: [x, ["text"]], TypeError, r"returned str at '1\.0'"),
        (lambda x: {(1, 2): x}, TypeError, r"has the key \(1, 2\); expected strings"),
        (
            lambda x: {1: x, "1": x},
            ValueError,
            "two tensors of the result have the name 'output_1'",
        ),
        (lambda x: (None, []), TypeError, "returned tuple of no tensors"),
        (lambda x: None, TypeError, "returned NoneType of no tensors"),
    ],
)
def test_results_that_cannot_be(path, result, error, message):
    with pytest.raises(error, match=message):
        mo.export(result, [mo.zeros(3)], path)
    assert not path.exists()


def test_a_container_that_holds_itself(path):
    loop = [mo.zeros(3)]
    loop.append(loop)
    with pytest.raises((ValueError, RecursionError), match="deep"):
        mo.export(lambda x: loop, [mo.zeros(3)], path)


# Hostile structures

STRUCTURE = {
    "version": 1,
    "arguments": [["a", {"dict": [["x", {"tensor": "a.x"}]]}], ["b", None]],
    "result": {"named": ["Pair", [["first", {"tensor": "y"}], ["second", {"list": []}]]]},
}


def read(given):
    text = given if isinstance(given, str) else json.dumps(given)
    return _signatures.read_structure(text, ["a.x"], ["y"])


@pytest.mark.parametrize(
    "given",
    [
        "",
        "[]",
        "[" * 100_000,
        {},
        {**STRUCTURE, "version": 2},
        {**STRUCTURE, "arguments": [["a", {"tensor": "a.x"}], ["a", None]]},
        {**STRUCTURE, "arguments": [[1, {"tensor": "a.x"}]]},
        {**STRUCTURE, "arguments": []},
        {**STRUCTURE, "result": {"tensor": "z"}},
        {**STRUCTURE, "result": {"list": [{"tensor": "y"}, {"tensor": "y"}]}},
        {**STRUCTURE, "result": {"tensor": ["y"]}},
        {**STRUCTURE, "result": {"other": "y"}},
        {**STRUCTURE, "result": {"list": 3}},
        {**STRUCTURE, "result": {"dict": [[["key"], {"tensor": "y"}]]}},
        {**STRUCTURE, "result": {"named": ["class", [["a", {"tensor": "y"}]]]}},
        {**STRUCTURE, "result": {"named": ["A", [["_a", {"tensor": "y"}]]]}},
        {**STRUCTURE, "result": {"named": ["A", [["a)+f(", {"tensor": "y"}]]]}},
        '{"version": 1, "arguments": [["a", {"tensor": "a.x"}]], "result": '
        + '{"list": [' * 100 + '{"tensor": "y"}' + "]}" * 100 + "}",
    ],
)  # fmt: skip
def test_damaged_structures_are_errors(given):
    with pytest.raises(ValueError, match="the structure of the program file is damaged"):
        read(given)


def test_mutants_of_structures():
    draw, outcomes = random.Random(3), []
    text = json.dumps(STRUCTURE)
    assert read(text).arguments["b"] is None
    for _ in range(3000):
        mutant = text
        for _ in range(draw.randrange(1, 4)):
            at, to = sorted(draw.randrange(len(mutant)) for _ in range(2))
            to = min(to, at + draw.randrange(1, 20))
            other = draw.randrange(len(mutant))
            mutant = draw.choice(
                [
                    mutant[:at] + mutant[to:],
                    mutant[:at] + mutant[other : other + to - at] + mutant[at:],
                    mutant[:at] + draw.choice('0123456789-[]{}",:') + mutant[at + 1 :],
                    mutant.replace(*draw.choice([("list", "tuple"), ('"y"', "1"), ("a", "b")]), 1),
                ]
            )
        try:
            structure = read(mutant)
        except ValueError as error:
            assert "is damaged" in str(error)
            outcomes.append(False)
            continue
        outcomes.append(True)
        _signatures.build(structure.result, {"y": 0}.__getitem__)
        for node in structure.arguments.values():
            _signatures.build(node, {"a.x": 0}.__getitem__)
    assert 50 < outcomes.count(True) < 2500
