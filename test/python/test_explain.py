# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What `explain` says of kernels, and schedules that users give."""

import re
import warnings

import metaops as mo
import numpy as np
import pytest
from metaops import _core
from metaops.tools import calibration

pytestmark = pytest.mark.processor


def make(seed=0, shape=(37, 129)):
    data = np.random.default_rng(seed).standard_normal(shape).astype(np.float32)
    return data, mo.array(data)


def test_says_what_a_kernel_does():
    data, x = make()
    y = mo.exp(x).sum(dims=1)
    explanation = mo.explain(y)
    (kernel,) = explanation.kernels
    (stage,) = kernel.stages
    assert stage.space == "37x129"
    assert [loop.is_reduced for loop in stage.loops] == [False, True]
    assert stage.loops[0].is_parallel and stage.loops[1].vector_width > 1
    read, write = stage.accesses
    assert (read.kind, read.is_guarded, read.is_write) == ("unit stride", False, False)
    assert (write.kind, write.is_write, write.reduction) == ("invariant", True, "add")
    assert kernel.bytes_read == data.nbytes and kernel.bytes_written == 37 * 4
    assert kernel.flops == 2 * data.size
    assert kernel.intensity == kernel.flops / (kernel.bytes_read + kernel.bytes_written)
    assert kernel.instructions["exp"] >= data.size // 16
    assert kernel.predicted_seconds > 0
    assert any("test_explain.py:" in line for line in kernel.lines)
    before, after = explanation.fusion_cost
    assert before > after
    text = str(explanation)
    for part in ("S = 37x129", "reduced by add", "test_explain.py", "predicted", "cost"):
        assert part in text


def assert_calls_of_each(kernel, count):
    """Asserts that a function of the library takes each number, or vectors of at most 8 of them."""
    calls, vectors = (kernel.instructions[kind] for kind in ("library_call", "erf"))
    assert calls == count or (calls == 0 and count / 8 <= vectors <= count)


@pytest.mark.parametrize("name", ["exp2", "expm1", "log2", "log1p"])
def test_functions_by_polynomials_are_no_calls(name):
    """A program that is taken for a long one waits for another thread."""
    data, x = make()
    kind = "exp" if "exp" in name else "log"
    (kernel,) = mo.explain(getattr(mo, name)(x)).kernels
    assert kernel.instructions["library_call"] == 0
    assert kernel.instructions[kind] >= data.size // 16
    (kernel,) = mo.explain(getattr(mo, name)(x.cast("float64"))).kernels
    assert_calls_of_each(kernel, data.size)


def test_a_power_that_is_rounded_is_no_call():
    """It is as long as some logarithms of vectors; with all digits it is one of the library."""
    data, x = make()
    power = mo.pow(x.cast("float64"), 1 / 3)
    (rounded,) = mo.explain(power.cast("float32")).kernels
    (whole,) = mo.explain(power).kernels
    assert rounded.instructions["library_call"] == 0 and whole.instructions["log"] == 0
    assert data.size // 16 <= rounded.instructions["log"] <= data.size
    assert_calls_of_each(whole, data.size)


def test_runs_nothing_and_keeps_the_program():
    data, x = make(1)
    y = x * 2 + 1
    ran = mo.stats()["programs_run"]
    mo.explain(y)
    assert mo.stats()["programs_run"] == ran
    compiled = mo.stats()["programs_compiled"] + mo.stats()["programs_loaded"]
    np.testing.assert_array_equal(y.numpy(), data * 2 + 1)
    assert mo.stats()["programs_compiled"] + mo.stats()["programs_loaded"] == compiled


def test_several_values_and_none():
    _, x = make(2)
    a, b = x + 1, mo.tanh(x).sum()
    assert mo.explain([a, b]).kernels
    mo.sync([a, b])
    nothing = mo.explain([a, b])
    assert nothing.kernels == [] and "no kernels" in str(nothing)


def test_of_the_last_program():
    _, x = make(3)
    (x + 3).sync()
    (kernel,) = mo.last_program().explain().kernels
    assert kernel.stages[0].operators[-1] == "add"
    assert mo.last_program().kernels[0].predicted_seconds == kernel.predicted_seconds


def test_guarded_and_invariant_accesses():
    _, x = make(4)
    padded = mo.explain(mo.pad(x, [(1, 1), (2, 2)])).kernels[0].stages[0]
    assert padded.accesses[0].is_guarded
    row = mo.array(np.arange(129, dtype=np.float32))
    row.sync()
    column = mo.array(np.arange(37, dtype=np.float32).reshape(37, 1))
    kinds = {a.tensor: a.kind for a in mo.explain(x + row + column).kernels[0].stages[0].accesses}
    assert kinds["tensor<37x129xf32>"] == "unit stride"


def test_the_interpreter_has_no_kernels():
    _, x = make(5)
    with mo.flag_scope(backend="interpreter"), pytest.raises(RuntimeError, match="no kernels"):
        mo.explain(x + 5)


#
# Schedules from files
#


def test_schedules_are_saved_and_taken(tmp_path):
    data, x = make(6)
    expected = np.exp(data).sum(axis=1)
    explanation = mo.explain(mo.exp(x).sum(dims=1))
    path = tmp_path / "schedules.txt"
    explanation.save_schedules(path)
    with mo.flag_scope(schedule_file=str(path)):
        again = mo.explain(mo.exp(x).sum(dims=1))
        stage, before = again.kernels[0].stages[0], explanation.kernels[0].stages[0]
        assert stage.schedule == before.schedule and stage.identity == before.identity
        assert stage.override_line == 5 and before.override_line == 0
    # A file from before there were versions is read as the first one.
    path.write_text(path.read_text().removeprefix("version = 1\n"))
    with mo.flag_scope(schedule_file=str(path)):
        stage = mo.explain(mo.exp(x).sum(dims=1)).kernels[0].stages[0]
        assert stage.override_line == 4
    scalar = "#metaop.schedule<[parallel(0), step(1)]>"
    path.write_text(re.sub(r"#metaop\.schedule<.*>", scalar, path.read_text()))
    with mo.flag_scope(schedule_file=str(path)):
        y = mo.exp(x).sum(dims=1)
        (stage,) = mo.explain(y).kernels[0].stages
        assert all(loop.vector_width == 1 for loop in stage.loops)
        np.testing.assert_allclose(y.numpy(), expected, rtol=1e-5)
    y = mo.exp(x).sum(dims=1)
    assert mo.explain(y).kernels[0].stages[0].override_line == 0
    np.testing.assert_allclose(y.numpy(), expected, rtol=1e-5)


def test_roles_of_stages_around_a_contraction(tmp_path):
    rng = np.random.default_rng(1)
    x = mo.array(rng.standard_normal((560, 1024), dtype=np.float32)).sync()
    w = mo.array(rng.standard_normal((1024, 1024), dtype=np.float32)).sync()
    explanation = mo.explain(mo.exp(x @ w))
    (stages,) = (k.stages for k in explanation.kernels if any(s.role for s in k.stages))
    roles = [stage.role for stage in stages]
    number = roles.index("contraction")
    assert set(roles[:number]) <= {"packing"} and set(roles[number + 1 :]) <= {"epilogue"}
    assert stages[number].contraction.startswith("m d0, n d")
    assert f"role: contraction of {stages[number].contraction}" in str(explanation)
    # A file of them leads to the same stages.
    path = tmp_path / "schedules.txt"
    explanation.save_schedules(path)
    with mo.flag_scope(schedule_file=str(path)):
        again = mo.explain(mo.exp(x @ w))
    (taken,) = (k.stages for k in again.kernels if any(s.role for s in k.stages))
    assert all(stage.override_line for stage in taken)
    assert [(s.identity, s.schedule, s.role) for s in taken] == [
        (s.identity, s.schedule, s.role) for s in stages
    ]
    assert all(not s.role for k in mo.explain(x + w.sum()).kernels for s in k.stages)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("\nhello", ":2: expected IDENTITY = #metaop.schedule"),
        ("a.0 = 7", ":1: expected #metaop.schedule"),
        ("a.0 = #metaop.schedule<order = 1>", ":1: expected '['"),
        ("a.0 = #metaop.schedule<[step(0)], width = 1>", ":1: expects `tile`, `lanes`, "),
        ("a b = 7", "expected the identity of a stage"),
        ("ab = forbid haste", ":1: there is no rewrite 'haste'; expected one of recompute"),
        ("version = 2\nab = 7", ":1: the file is of version 2, which a later MetaOps has written"),
        ("ab = fore join-stages", ":1: expected 'force PASS' or 'forbid PASS'"),
    ],
)
def test_malformed_files(tmp_path, text, reason):
    path = tmp_path / "bad.txt"
    path.write_text(text)
    with pytest.raises(ValueError, match=r"bad\.txt") as raised:
        mo.flags.schedule_file = str(path)
    assert reason in str(raised.value)
    assert mo.flags.schedule_file == ""


def test_absent_file(tmp_path):
    with pytest.raises(ValueError, match="cannot read"):
        mo.flags.schedule_file = str(tmp_path / "none.txt")


def test_illegal_schedules_name_file_and_line(tmp_path):
    data, x = make(7)
    path = tmp_path / "illegal.txt"
    mo.explain(mo.exp(x).sum(dims=1)).save_schedules(path)
    path.write_text(path.read_text().replace("step(", "parallel("))
    with mo.flag_scope(schedule_file=str(path)):
        y = mo.exp(x).sum(dims=1)
        with pytest.raises(RuntimeError, match=r"illegal\.txt:5: \(P3\) loop 1 is not parallel"):
            y.sync()
    np.testing.assert_allclose(y.numpy(), np.exp(data).sum(axis=1), rtol=1e-5)


def test_what_the_lowering_refuses_names_file_and_line(tmp_path):
    _, x = make(8)
    path = tmp_path / "wide.txt"
    mo.explain(mo.exp(x).sum(dims=1)).save_schedules(path)
    wide = "#metaop.schedule<[parallel(0), step(1, 1024)], tile = [1: 1024], lanes = 1: 1024>"
    path.write_text(re.sub(r"#metaop\.schedule<.*>", wide, path.read_text()))
    with mo.flag_scope(schedule_file=str(path)):
        y = mo.exp(x).sum(dims=1)
        with pytest.raises(RuntimeError, match=r"wide\.txt:5: \(P2\) .*vectors of 1024 lanes"):
            y.sync()


def test_entries_of_no_use_are_told_of(tmp_path):
    _, x = make(9)
    path = tmp_path / "other.txt"
    mo.explain(x - 9).save_schedules(path)
    path.write_text(re.sub(r"(?m)^[0-9a-f]+\.", "0123.", path.read_text()))
    mo.flags.schedule_file = str(path)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        (x - 9).sync()
    with pytest.warns(RuntimeWarning, match=r"other\.txt:5: no kernel had the stage 0123\.0"):
        mo.flags.schedule_file = ""


#
# Rewrites that files force and forbid
#


def save_rewrites(path, explanation, rewrites):
    """Write a file that says the same of each kernel that fusion made."""
    stages = [stage for kernel in explanation.kernels for stage in kernel.stages]
    names = dict.fromkeys(name for stage in stages for name in stage.origins)
    path.write_text("".join(f"{name} = {rewrites}\n" for name in names))
    return str(path)


def softmax(x):
    e = mo.exp(x - x.max(dims=1, keepdims=True))
    return e / e.sum(dims=1, keepdims=True)


def test_joining_is_forbidden(tmp_path):
    _, x = make(20)
    y = softmax(x)
    (kernel,) = mo.explain(y).kernels
    assert len({name for stage in kernel.stages for name in stage.origins}) == 3
    expected = y.numpy()
    path = save_rewrites(tmp_path / "apart.txt", mo.explain(softmax(x)), "forbid join-stages")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with mo.flag_scope(schedule_file=path):
            y = softmax(x)
            assert len(mo.explain(y).kernels) == 3
            np.testing.assert_allclose(y.numpy(), expected, rtol=1e-6)


def test_splitting_is_forced_and_forbidden(tmp_path):
    data, x = make(21, (64, 64))
    small = lambda: (x * 21).sum()  # noqa: E731
    path = save_rewrites(tmp_path / "split.txt", mo.explain(small()), "force split-reductions")
    assert len(mo.explain(small()).kernels) == 1
    with mo.flag_scope(schedule_file=path):
        y = small()
        assert len(mo.explain(y).kernels) == 2
        np.testing.assert_allclose(y.numpy(), (data * 21).sum(dtype=np.float64), rtol=1e-4)
    _, x = make(22, (1024, 1024))
    path = save_rewrites(tmp_path / "whole.txt", mo.explain(x.sum()), "forbid split-reductions")
    assert len(mo.explain(x.sum()).kernels) == 2
    with mo.flag_scope(schedule_file=path):
        assert len(mo.explain(x.sum()).kernels) == 1


def test_packing_is_forced_and_forbidden(tmp_path):
    left, a = make(23, (96, 160))
    right, b = make(24, (160, 64))
    product = lambda: mo.matmul(a, b)  # noqa: E731
    expected = left @ right
    one = mo.explain(product())
    for rewrites, count in (
        ("force pack-operands, forbid attach-panels", 2),
        ("forbid pack-operands", 1),
    ):
        path = save_rewrites(tmp_path / f"{count}.txt", one, rewrites)
        with mo.flag_scope(schedule_file=path):
            y = product()
            assert len(mo.explain(y).kernels) == count
            np.testing.assert_allclose(y.numpy(), expected, rtol=1e-4, atol=1e-4)


def test_rewrites_that_cannot_be_name_file_and_line(tmp_path):
    data, x = make(25)
    path = save_rewrites(tmp_path / "no.txt", mo.explain(x + 25), "force join-stages")
    with mo.flag_scope(schedule_file=path):
        y = x + 25
        with pytest.raises(RuntimeError, match=r"no\.txt:1: join-stages is forced, but"):
            y.sync()
    np.testing.assert_array_equal(y.numpy(), data + np.float32(25))


def test_rewrites_of_no_use_are_told_of(tmp_path):
    _, x = make(26)
    path = tmp_path / "other.txt"
    path.write_text("0123 = forbid join-stages\n")
    mo.flags.schedule_file = str(path)
    (x - 26).sync()
    with pytest.warns(RuntimeWarning, match=r"other\.txt:1: there was no kernel 0123"):
        mo.flags.schedule_file = ""


#
# Predictions
#


@pytest.fixture
def figures():
    before = _core.machine_figures()
    yield before
    _core.set_machine_figures(before)


def test_predictions_follow_the_machine(figures):
    _, x = make(10)
    y = mo.exp(x)
    before = mo.explain(y).kernels[0]
    slower = {**figures, "nanoseconds": {**figures["nanoseconds"], "exp": 1000.0}}
    _core.set_machine_figures(slower)
    after = mo.explain(y).kernels[0]
    assert after.predicted_seconds > before.predicted_seconds
    assert after.stages == before.stages


def test_the_profile_has_predictions():
    _, x = make(11)
    with mo.profile_scope() as report:
        (x * 11).sync()
    assert report.kernels[0].predicted_seconds > 0
    assert "predicted us" in str(report)


def test_figures_are_kept(tmp_path, figures):
    changed = {**figures, "call_nanoseconds": 12345.0}
    assert calibration.save(changed, str(tmp_path)) == tmp_path / "machine.json"
    assert calibration.load(str(tmp_path))
    assert _core.machine_figures()["call_nanoseconds"] == 12345.0


@pytest.mark.parametrize("text", ["", "[]", '{"bandwidth": [1]}', '{"nanoseconds": {"exp": "x"}}'])
def test_damaged_figures_change_nothing(tmp_path, figures, text):
    (tmp_path / "machine.json").write_text(text)
    assert not calibration.load(str(tmp_path))
    assert _core.machine_figures() == figures


def test_nothing_is_kept_without_a_folder(figures):
    assert calibration.save(figures, "") is None
    assert not calibration.load("")


#
# For a GPU that is not there
#


def test_explains_for_a_gpu_wherever_the_values_are():
    data, x = make(30, (512, 1024))
    y = mo.exp(x).sum(dims=1)
    ran = mo.stats()["programs_run"]
    explanation = mo.explain(y, target="cuda:sm_90a")
    assert mo.stats()["programs_run"] == ran
    (kernel,) = explanation.kernels
    grid = kernel.grid
    assert grid.chip == "sm_90a" and list(grid.predicted_seconds) == ["H100", "H200"]
    assert grid.blocks * grid.threads == kernel.threads >= 512
    assert 24 < grid.registers <= 255 and 0 <= grid.shared_bytes < 227 << 10
    assert grid.resident_blocks >= 1 and 0 < grid.occupancy <= 1
    assert kernel.predicted_seconds == pytest.approx(grid.predicted_seconds["H100"], rel=1e-5)
    assert kernel.predicted_seconds > 1e-6
    owners = [loop.owner for loop in kernel.stages[0].loops]
    assert owners[0] == "block" and "thread" in owners and "" in owners
    assert kernel.flops == 2 * data.size and kernel.bytes_read == data.nbytes
    text = str(explanation)
    for part in ("a block each", "a thread each", "blocks a multiprocessor of sm_90a", "on H200"):
        assert part in text
    # The values' own device is as before.
    (own,) = mo.explain(y).kernels
    assert own.grid is None and own.stages[0].identity == kernel.stages[0].identity
    assert ".entry kernel_0" in explanation.ir("ptx")[0]
    with pytest.raises(ValueError, match=r"no phase 'llvm'; expected one of graph, .*, ptx"):
        explanation.ir("llvm")


def test_tells_what_stages_read_again_on_a_gpu():
    def explain(shape, axis):
        y = mo.asarray(np.zeros(shape, "float32")).var(dims=axis)
        explanation = mo.explain(y, target="cuda:sm_90a")
        (kernel,) = explanation.kernels
        return kernel, str(explanation)

    # A column is read for its mean, and then for what differs from it. All blocks
    # together have read 256 MB by then, which no second cache holds.
    columns, text = explain((16384, 4096), 0)
    size = 4 * 16384 * 4096
    assert columns.grid.bytes_again == size and f"again: {size} bytes read" in text
    assert columns.grid.predicted_seconds["H200"] > 2 * size / 4800e9
    # A row stays in the registers of a block.
    rows, text = explain((4096, 4096), 1)
    assert rows.grid.bytes_again == 0 and "again" not in text


def test_chips_have_cards():
    _, x = make(31, (64, 4096))
    for chip, card in {"sm_80": "A100", "sm_86": "A10", "sm_89": "L40S", "sm_90": "H100"}.items():
        (kernel,) = mo.explain(x + 1, target=f"cuda:{chip}").kernels
        assert kernel.grid.chip == chip and next(iter(kernel.grid.predicted_seconds)) == card


def test_large_tensors_take_as_long_as_memory_needs():
    x = mo.asarray(np.zeros((1 << 28,), np.float32))
    (kernel,) = mo.explain(x + 1, target="cuda:sm_90a").kernels
    seconds = kernel.grid.predicted_seconds
    moved = kernel.bytes_read + kernel.bytes_written
    assert seconds["H100"] == pytest.approx(moved / 3350e9 + 1e-6, rel=1e-6)
    assert seconds["H200"] == pytest.approx(moved / 4800e9 + 1e-6, rel=1e-6)
    assert kernel.grid.bounds == {"H100": "memory", "H200": "memory"}


@pytest.mark.parametrize("target", ["cuda:sm_70", "cuda", "cuda:", "tpu", "sm_90a", ""])
def test_unknown_targets_list_those_that_there_are(target):
    _, x = make(32)
    expected = f"there is no target '{target}'; expected one of cuda:sm_80, .*, cuda:sm_90a "
    with pytest.raises(ValueError, match=expected):
        mo.explain(x + 1, target=target)


GPU = "emulator:sm_90a"


def test_schedules_for_a_gpu_are_saved_and_taken(tmp_path):
    data, x = make(33, (24, 96))
    path = tmp_path / "schedules.txt"
    mo.explain(mo.softmax(x, -1), target="cuda:sm_90a").save_schedules(path)
    expected = np.exp(data - data.max(axis=1, keepdims=True))
    expected /= expected.sum(axis=1, keepdims=True)
    with mo.device(GPU):
        on_gpu = mo.array(data)
    with mo.flag_scope(schedule_file=str(path)):
        y = mo.softmax(on_gpu, -1)
        lines = [stage.override_line for kernel in mo.explain(y).kernels for stage in kernel.stages]
        assert all(lines) and len(set(lines)) == len(lines)
        np.testing.assert_allclose(y.numpy(), expected, rtol=1e-5)


def test_schedules_that_a_gpu_cannot_have_are_refused_at_their_line(tmp_path):
    data, x = make(34, (64, 128))
    path = tmp_path / "schedules.txt"
    mo.explain(mo.exp(x).sum(dims=1), target="cuda:sm_90a").save_schedules(path)
    wrong = {
        "[block(0, 64), step(1, 64), thread(0), thread(1)]": "G3",
        "[block(0), block(1, 64), thread(1)]": "G7",
        "[parallel(0), step(1)]": "G2",
        "[block(0), step(1, 128), thread(1, 8)], tile = [1: 8], lanes = 1: 8": "G6",
    }
    with mo.device(GPU):
        on_gpu = mo.array(data)
    for levels, label in wrong.items():
        text = re.sub(r"#metaop\.schedule<.*>", f"#metaop.schedule<{levels}>", path.read_text())
        path.write_text(text)
        with (
            mo.flag_scope(schedule_file=str(path)),
            pytest.raises(RuntimeError, match=rf"schedules\.txt:5: \({label}\)"),
        ):
            mo.exp(on_gpu).sum(dims=1).numpy()
