# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Exported programs compute what they were exported from, without a compiler."""

from __future__ import annotations

import random
import subprocess
import sys

import metaops as mo
import numpy as np
import pytest
from metaops import execute, nn

pytestmark = pytest.mark.processor


@pytest.fixture
def path(tmp_path):
    return tmp_path / "program.metaops"


def sections(path):
    """Return the kind, the place and the size of each section of a file."""
    data = path.read_bytes()
    for i in range(int.from_bytes(data[12:16], "little")):
        entry = data[64 + 64 * i : 128 + 64 * i]
        numbers = (entry[0:4], entry[8:16], entry[16:24])
        yield tuple(int.from_bytes(number, "little") for number in numbers)


def rng(seed=0):
    return np.random.default_rng(seed)


def test_a_module(path):
    model = mo.nn.Sequential(
        mo.nn.Conv2d(3, 8, 3, padding=1), mo.nn.ReLU(), mo.nn.Flatten(), mo.nn.Linear(8 * 36, 5)
    )
    mo.export(model, [np.zeros((2, 3, 6, 6), "float32")], path, metadata={"made for": "a test"})
    program = mo.load_program(path)
    assert [(t.name, t.dtype, t.shape) for t in program.inputs] == [
        (program.inputs[0].name, "float32", (2, 3, 6, 6))
    ]
    for seed in range(3):
        x = rng(seed).standard_normal((2, 3, 6, 6)).astype("float32")
        np.testing.assert_allclose(program(x), model(mo.array(x)).numpy(), rtol=1e-5, atol=1e-5)


def test_weights_have_their_names(path):
    model = mo.nn.Linear(4, 3)
    mo.export(model, [mo.zeros((2, 4))], path)
    weights = {name: value.shape for name, value in mo.load_program(path).weights.items()}
    assert weights == {name: tuple(value.shape) for name, value in model.state_dict().items()}


def test_later_updates_do_not_reach_the_file(path):
    model = mo.nn.Linear(4, 3)
    x = rng().random((2, 4), dtype="float32")
    optimizer = mo.optim.SGD(model.parameters(), lr=0.1)
    optimizer.step((model(mo.array(x)) ** 2).sum())
    before = model(mo.array(x)).numpy()
    mo.export(model, [x], path)
    optimizer.step((model(mo.array(x)) ** 2).sum())
    np.testing.assert_allclose(mo.load_program(path)(x), before, rtol=1e-6)


def test_several_inputs_and_outputs(path):
    def fn(first, second, unused):
        return {"sum": first + second, "first": first, "largest": second.max()}

    mo.export(fn, [mo.zeros((3,)), np.zeros((3,), "float32"), np.zeros((2,), "int64")], path)
    program = mo.load_program(path)
    assert [t.name for t in program.inputs] == ["first", "second", "unused"]
    assert [t.name for t in program.outputs] == ["sum", "first", "largest"]
    x, y = rng(1).random((2, 3), dtype="float32")
    result = program(x, y, np.zeros(2, "int64"))
    assert list(result) == ["sum", "first", "largest"]
    total, first, largest = result.values()
    np.testing.assert_array_equal(total, x + y)
    np.testing.assert_array_equal(first, x)
    assert largest == y.max()


def test_gradients(path):
    def fn(w, x):
        loss = (x @ w).tanh().sum()
        return loss, mo.grad(loss, w)

    mo.export(fn, [mo.zeros((4, 3)), mo.zeros((5, 4))], path)
    w, x = (rng(2).standard_normal(s).astype("float32") for s in ((4, 3), (5, 4)))
    loss, gradient = mo.load_program(path)(w, x)
    np.testing.assert_allclose(loss, np.tanh(x @ w).sum(), rtol=1e-5)
    np.testing.assert_allclose(gradient, x.T @ (1 - np.tanh(x @ w) ** 2), rtol=1e-4, atol=1e-5)


def test_norms_of_orders_and_of_signed_powers(path):
    def lengths(x):
        signed = mo.nn.lp_pool1d(x.unsqueeze(0), 3, 2)
        return mo.norm(x, 2, 1), mo.norm(x, 3, 1), mo.norm(x, 1.5, 0), signed

    mo.export(lengths, [mo.zeros((3, 4))], path)
    program = mo.load_program(path)
    for seed in range(2):
        x = rng(seed).standard_normal((3, 4)).astype("float32")
        wide = x.astype("float64")
        total = (wide**3).reshape(1, 3, 2, 2).sum(-1)
        expected = [
            *((np.abs(wide) ** p).sum(axis) ** (1 / p) for p, axis in ((2, 1), (3, 1), (1.5, 0))),
            np.where(total < 0, np.nan, np.abs(total) ** (1 / 3)),
        ]
        for found, wanted in zip(program(x), expected, strict=True):
            np.testing.assert_allclose(found, wanted, rtol=1e-5)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_sine_and_a_cosine_of_one_number(path, dtype):
    # LLVM makes one call of both.
    x = mo.array(rng().random(5), dtype)
    mo.export(lambda x: mo.sin(x) * mo.cos(x), [x], path)
    expected = np.sin(x.numpy()) * np.cos(x.numpy())
    np.testing.assert_allclose(mo.load_program(path)(x.numpy()), expected, rtol=1e-6)


def test_indices_are_checked(path):
    table = mo.array(rng(3).random((10, 4), dtype="float32"))
    mo.export(lambda indices: table[indices], [np.zeros(3, "int64")], path)
    program = mo.load_program(path)
    np.testing.assert_array_equal(program(np.array([1, 9, -10])), table.numpy()[[1, 9, -10]])
    for bad in ([1, 10, 2], [0, -11, 0]):
        with pytest.raises(Exception, match=r"index -?1\d is out of range for dimension 0 of ext"):
            program(np.array(bad))
    # The program goes on.
    np.testing.assert_array_equal(program(np.array([0, 0, 5])), table.numpy()[[0, 0, 5]])


def test_indices_of_indices_are_checked(path):
    table = mo.array(rng(3).random((10, 4), dtype="float32"))
    order = mo.array(np.array([3, 12, 5]))
    mo.export(lambda indices: table[order[indices]], [np.zeros(2, "int64")], path)
    program = mo.load_program(path)
    np.testing.assert_array_equal(program(np.array([0, 2])), table.numpy()[[3, 5]])
    with pytest.raises(Exception, match="index 12 is out of range"):
        program(np.array([0, 1]))
    with pytest.raises(Exception, match="index 3 is out of range"):
        program(np.array([0, 3]))


@pytest.mark.parametrize("target", ["x86-64-v3", "x86-64-v4"])
def test_each_target(path, target):
    mo.export(lambda x: mo.softmax(x.sin(), dim=1), [mo.zeros((7, 33))], path, targets=[target])
    x = rng(4).standard_normal((7, 33)).astype("float32")
    try:
        program = mo.load_program(path)
    except Exception as error:
        if "avx" not in str(error):
            raise
        pytest.skip(f"a processor without {target}")
    expected = np.exp(np.sin(x)) / np.exp(np.sin(x)).sum(1, keepdims=True)
    np.testing.assert_allclose(program(x), expected, rtol=1e-5)


def test_aarch64_is_compiled_and_refused_here(path):
    mo.export(lambda x: x.exp().sum(), [mo.zeros((64,))], path, targets=["aarch64"])
    with pytest.raises(ValueError, match="no code for this processor: aarch64 needs"):
        mo.load_program(path)
    assert execute.load_program(path, code=False).outputs[0].shape == ()


# Files without machine code


def exported_network(path, **options):
    """Export a network; return the module."""
    model = mo.nn.Sequential(mo.nn.Linear(12, 30), mo.nn.ReLU(), mo.nn.Linear(30, 5))
    mo.export(model, [mo.zeros((7, 12))], path, **options)
    return model


@pytest.mark.parametrize("has_code", [False, True])
def test_ir_alone_is_compiled(path, has_code):
    model = exported_network(path, code=has_code)
    x = rng(5).standard_normal((7, 12)).astype("float32")
    for given in (path, path.read_bytes()):
        program = mo.load_program(given, code=False)
        np.testing.assert_allclose(program(x), model(mo.array(x)).numpy(), rtol=1e-5, atol=1e-5)
        assert program.target.startswith(("x86-64", "aarch64"))
        assert set(program.weights) >= set(model.state_dict())


def test_no_code_is_in_a_file_without(path):
    model = exported_network(path, code=False)
    program = execute.load_program(path, code=False)
    assert (program.targets, program.target) == ((), "")
    assert "metaop.reduce" in program.ir
    weights = program.weights
    for name, value in model.state_dict().items():
        np.testing.assert_array_equal(weights[name], value.numpy())
    # Sections of programs and code have kinds 2 and 3.
    assert {kind for kind, _, _ in sections(path)} == {1, 4, 5}
    with pytest.raises(ValueError, match=r"has no machine code.*metaops.load_program has one"):
        execute.load_program(path)
    # It is compiled where there is a compiler, without being asked.
    x = rng(6).standard_normal((7, 12)).astype("float32")
    np.testing.assert_allclose(
        mo.load_program(path, threads=1)(x), model(mo.array(x)).numpy(), rtol=1e-5, atol=1e-5
    )


def test_the_code_of_a_file_is_not_looked_at(path):
    exported_network(path)
    data = bytearray(path.read_bytes())
    for kind, offset, size in sections(path):
        if kind in (2, 3):
            data[offset : offset + size] = bytes(size)
    with pytest.raises(ValueError, match="checksum"):
        mo.load_program(bytes(data))
    assert mo.load_program(bytes(data), code=False)(np.ones((7, 12), "float32")).shape == (7, 5)


def test_indices_are_checked_without_code(path):
    table = mo.array(rng(3).random((10, 4), dtype="float32"))
    mo.export(lambda indices: table[indices], [np.zeros(3, "int64")], path, code=False)
    program = mo.load_program(path)
    np.testing.assert_array_equal(program(np.array([1, 9, -10])), table.numpy()[[1, 9, -10]])
    for bad in ([1, 10, 2], [0, -11, 0]):
        with pytest.raises(
            RuntimeError, match=r"index -?1\d is out of range for dimension 0 .*test_export.py:\d+"
        ):
            program(np.array(bad))


SIGNATURE = (
    '{"producer": "", "keys": {}, "targets": [], "weights": [], "functions": [{"name": "f", '
    '"arguments": [{"name": "x", "dtype": "float32", "shape": [4]}], '
    '"outputs": [{"name": "y", "dtype": "float32", "shape": [4]}]}]}'
)
MAIN = "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {{ {} }}"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no function @main"),
        ("ML\u00efR", "the slice could not be read"),
        (MAIN.format("return %y : tensor<4xf32>"), "undeclared SSA value"),
        (MAIN.replace("@main", "@other").format("return %x : tensor<4xf32>"), "no function @main"),
        (
            MAIN.format("return %x : tensor<4xf32>") + " func.func private @system(i64)",
            "expected a function @main and nothing else",
        ),
        (
            "func.func @main(%x: tensor<5xf32>) -> tensor<5xf32> { return %x : tensor<5xf32> }",
            r"the argument 'x' of @main is tensor<5xf32>, and tensor<4xf32> by the signature",
        ),
        (
            "func.func @main(%x: tensor<4xf32>) { return }",
            "@main has 0 results, and 1 by the signature",
        ),
        (
            "func.func @main() -> tensor<4xf32> { %0 = metaop.constant dense<0.0> : tensor<4xf32> "
            "return %0 : tensor<4xf32> }",
            "@main has 0 arguments, and 1 by the signature",
        ),
        (
            MAIN.format(
                "%0 = metaop.kernel(%a = %x : tensor<4xf32>) -> tensor<4xf32> { %1 = "
                "metaop.fused(%b = %a : tensor<4xf32>) -> tensor<4xf32> { %2 = metaop.exp %b "
                ": tensor<4xf32> metaop.yield %2 : tensor<4xf32> } metaop.yield %1 : "
                "tensor<4xf32> } return %0 : tensor<4xf32>"
            ),
            "not yet in kernels",
        ),
        (MAIN.format("llvm.unreachable"), "llvm"),
        ("#a = " + "[" * 100_000, "line 1 is nested too deeply"),
        ("\n#m = affine_map<(d0) -> (" + "d0 + " * 100_000, "line 2 has an expression that is too"),
        ("(" * 100 + "tensor<" * 100, "line 1 is nested too deeply"),
        ('"' + "[" * 100_000, "the slice could not be read"),
        ("a->" * 50 + "[" * 50 + '"]]]]]]]]"' + "[" * 79, "line 1 is nested too deeply"),
    ],
)
def test_hostile_ir(text, message):
    with pytest.raises(ValueError, match=message):
        mo._core.compile_ir(text, SIGNATURE, "f")


def test_notes_of_passes_are_not_trusted(path):
    """An argument that may be overwritten would be a weight, or the caller's memory."""
    text = """
module {
  func.func @main(%x: tensor<4xf32> {metaop.donatable, metaop.varying = array<i64: 0>})
      -> tensor<4xf32> attributes {metaop.arena_bytes = 7 : i64,
                                   metaop.results = [#metaop.slot<argument, 0>]} {
    %0 = metaop.exp %x : tensor<4xf32> loc("node":99999999:1)
    return %0 : tensor<4xf32>
  }
}"""
    exported_network(path, code=False)
    supplied = mo._core.compile_ir(text, SIGNATURE, "f")
    assert supplied == mo._core.compile_ir(
        MAIN.format("%0 = metaop.exp %x : tensor<4xf32> return %0 : tensor<4xf32>"), SIGNATURE, "f"
    )


@pytest.mark.parametrize(
    ("notes", "message"),
    [
        ("metaop.arena_bytes = -1 : i64", "`metaop.arena_bytes` to be a number of bytes"),
        ("metaop.results = [3]", "`metaop.results` to be an array of slots"),
        ("metaop.results = [#metaop.slot<argument, 9>]", "the function has 1 arguments"),
        ("metaop.entry = #metaop.entry<buffers = 7>", "has 7 buffers by `metaop.entry`"),
        ("metaop.other", "which the dialect does not have"),
    ],
)
def test_damaged_notes_are_errors(notes, message):
    text = (
        f"func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> attributes {{{notes}}} {{ "
        "%0 = metaop.exp %x : tensor<4xf32> return %0 : tensor<4xf32> }"
    )
    with pytest.raises(ValueError, match=message):
        mo._core.compile_ir(text, SIGNATURE, "f")


def test_mutants_of_ir(path):
    """What is wrong is an error, and no crash."""
    exported_network(path, code=False)
    program = execute.load_program(path, code=False)
    draw, outcomes = random.Random(7), []
    for _ in range(150):
        text = program.ir
        for _ in range(draw.randrange(1, 4)):
            at, to = sorted(draw.randrange(len(text)) for _ in range(2))
            to = min(to, at + draw.randrange(1, 40))
            other = draw.randrange(len(text))
            text = draw.choice(
                [
                    text[:at] + text[to:],
                    text[:at] + text[other : other + to - at] + text[at:],
                    text[:at] + draw.choice("0123456789-[]<>(){}%@#x") + text[at + 1 :],
                    text.replace(*draw.choice([("7", "0"), ("12", "-1"), ("f32", "i64")]), 1),
                ]
            )
        try:
            mo._core.compile_ir(text, program.signature, "main")
            outcomes.append("compiled")
        except ValueError as error:
            assert "the IR of the program file" in str(error)
            outcomes.append("refused")
        except RuntimeError as error:
            assert "could not be compiled" in str(error)
            outcomes.append("not compiled")
    assert outcomes.count("refused") > 50, outcomes


# Schedules for targets


def code_of(path):
    """Return the machine code for each target of a file."""
    data = path.read_bytes()
    return [data[offset : offset + size] for kind, offset, size in sections(path) if kind == 3]


# The flag's schedules are noted as used by runs, of which there are none.
@pytest.mark.filterwarnings("ignore:.*no kernel had the stage")
def test_each_target_has_its_schedules(path, tmp_path, compiled):
    def fn(x):
        return (x * x).sum(dim=1)

    def export(**options):
        mo.export(fn, [mo.zeros((64, 256))], path, targets=targets, **options)
        return code_of(path)

    targets = ["x86-64-v3", "x86-64-v4"]
    both = export()
    narrow = tmp_path / "narrow.sched"
    (kernel,) = mo.explain(fn(mo.array(rng().random((64, 256), dtype="float32")))).kernels
    loops = "[parallel(0), step(1, 8)], tile = [1: 8], lanes = 1: 8"
    narrow.write_text(f"{kernel.stages[0].identity} = #metaop.schedule<{loops}>\n")
    first, second = export(schedules={"x86-64-v4": narrow})
    assert first == both[0]
    assert second != both[1]
    x = rng(1).random((64, 256), dtype="float32")
    np.testing.assert_allclose(mo.load_program(path)(x), (x * x).sum(1), rtol=1e-5)
    with mo.flag_scope(schedule_file=str(narrow)):
        by_flag = export()
        assert by_flag[0] != both[0]
        assert by_flag[1] == second


def test_wrong_schedules(path, tmp_path):
    def export(**options):
        mo.export(lambda x: x + 1, [mo.zeros((3,))], path, **options)

    bad = tmp_path / "bad.sched"
    bad.write_text("\nnonsense\n")
    with pytest.raises(ValueError, match="given for x86-64-v4; targets are x86-64-v3"):
        export(targets=["x86-64-v3"], schedules={"x86-64-v4": bad})
    with pytest.raises(ValueError, match="schedules are given for x86-64-v3; targets are none"):
        export(code=False, schedules={"x86-64-v3": bad})
    with pytest.raises(RuntimeError, match=r"bad.sched:2"):
        export(targets=["x86-64-v3"], schedules={"x86-64-v3": bad})
    with pytest.raises(ValueError, match=r"cannot read '.*no.sched', the schedules for x86-64-v3"):
        export(targets=["x86-64-v3"], schedules={"x86-64-v3": tmp_path / "no.sched"})
    with pytest.raises(ValueError, match="a file without code has none"):
        export(targets=["x86-64-v3"], code=False)
    with pytest.raises(ValueError, match="expected one name or more in a list"):
        export(targets=[])
    with pytest.raises(ValueError, match="expected one name or more in a list"):
        export(targets="x86-64-v3")
    assert not path.exists()


def test_without_a_compiler(path):
    mo.export(lambda x: (x * 2).sort(), [mo.zeros((5,))], path)
    code = f"""
import sys
import numpy as np
from metaops.execute import load_program

x = np.array([3, 1, 2, 5, 4], "float32")
assert (load_program({str(path)!r})(x) == [2, 4, 6, 8, 10]).all()
assert "metaops._core" not in sys.modules
assert "libLLVM" not in open("/proc/self/maps").read()
"""
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize(
    ("fn", "error", "message"),
    [
        (lambda x: 3, TypeError, "returned int; expected a tensor"),
        (lambda x: [], TypeError, "returned list"),
    ],
)
def test_what_cannot_be_exported(path, fn, error, message):
    with pytest.raises(error, match=message):
        mo.export(fn, [mo.zeros((3,))], path)
    assert not path.exists()


def test_an_unknown_target(path):
    with pytest.raises(RuntimeError, match="no target 'z80'; there are: x86-64-v3"):
        mo.export(lambda x: x + 1, [mo.zeros((3,))], path, targets=["z80"])
    assert not path.exists()


def test_a_folder_that_is_not_there(tmp_path):
    with pytest.raises(RuntimeError, match="No such file"):
        mo.export(lambda x: x + 1, [mo.zeros((3,))], tmp_path / "no" / "program.metaops")


def test_a_file_is_replaced(path):
    for number in (1, 2):
        mo.export(lambda x, number=number: x + number, [mo.zeros((3,))], path)
        np.testing.assert_array_equal(mo.load_program(path)(np.zeros(3, "float32")), [number] * 3)
    assert [file.name for file in path.parent.iterdir()] == [path.name]


@pytest.mark.parametrize("name", ["sort", "reshape", "identity", "concat"])
def test_programs_without_kernels(name, path, rng):
    functions = {
        "sort": lambda x: mo.sort(x, 1),
        "reshape": lambda x: x.reshape(-1),
        "identity": nn.Identity(),
        "concat": lambda x: mo.concat([x, x]),
    }
    x = rng.standard_normal((3, 4)).astype("float32")
    mo.export(functions[name], [mo.array(x)], path)
    expected = functions[name](mo.array(x)).numpy()
    np.testing.assert_array_equal(mo.load_program(path)(x), expected)
