# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The search for schedules: what it tries is legal and right, what it keeps is used."""

import itertools
import math
import re
import warnings

import metaops as mo
import numpy as np
import pytest
from metaops import _core
from metaops.tools.tuning import _entries

pytestmark = pytest.mark.processor


@pytest.fixture(autouse=True)
def folder(tmp_path):
    """Give each test a cache folder of its own."""
    with mo.flag_scope(cache_dir=str(tmp_path / "cache")):
        yield tmp_path


def data(shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def softmax(x):
    e = mo.exp(x - x.max(dims=1, keepdims=True))
    return e / e.sum(dims=1, keepdims=True)


CASES = {
    "softmax": (softmax, [(37, 129)]),
    "rows": (lambda x: (x * 2).sum(dims=1), [(24, 100)]),
    "columns": (lambda x: x.sum(dims=0), [(50, 33)]),
    "transpose": (lambda x: x.transpose(1, 0) + 1, [(40, 70)]),
    "product": (mo.matmul, [(56, 96), (96, 80)]),
    "packed": (lambda x, w: mo.matmul(x, w.transpose(1, 0)), [(64, 300), (64, 300)]),
    "attached": (mo.matmul, [(96, 512), (512, 512)]),
    "long": (lambda x: x.sum(), [(700, 300)]),
    "strips": (lambda x: x.sum(dims=0), [(17, 32771)]),
}


#: Those of GPUs: a kernel that shares rows, one with an epilogue, rows that a
#: cluster has, and pieces of which there are many.
GPU_CASES = {
    "softmax": (softmax, [(37, 129)]),
    "rows": (lambda x: (x * 2).sum(dims=1), [(24, 100)]),
    "columns": (lambda x: x.sum(dims=0), [(50, 33)]),
    "transpose": (lambda x: x.transpose(1, 0) + 1, [(40, 70)]),
    "product": (mo.matmul, [(56, 96), (96, 80)]),
    "epilogue": (lambda x, w, b: mo.relu(mo.matmul(x, w) + b), [(40, 24), (24, 72), (72,)]),
    "cluster": (softmax, [(2, 8192)]),
    "elements": (lambda x: mo.exp(x), [(20, 111)]),
    "runs": (lambda x: mo.flip(mo.exp(x), (1,)) / mo.exp(x).sum(1, keepdims=True), [(80_001, 8)]),
}


def check_neighbours(function, shapes, device, folder):
    """Run a function by each schedule that is near to its own."""
    arrays = [data(shape, seed) for seed, shape in enumerate(shapes)]
    with mo.flag_scope(backend="interpreter"):
        expected = function(*map(mo.array, arrays)).numpy()

    def compute():
        with mo.device(device):
            return function(*map(mo.array, arrays))

    _core.share_kernels(False)
    try:
        (program,) = _core.plan_programs(compute())
    finally:
        _core.share_kernels(True)
    stages = [stage for call in program.describe()[1] for stage in call["stages"]]
    own = {stage["identity"]: stage["schedule"] for stage in stages}
    neighbours = program.neighbours()
    entries = [_entries(lines.splitlines()) for lines in neighbours]
    # Each stage has some, each differs from its own, and none is drawn twice.
    assert set().union(*entries) == set(own)
    assert len(set(neighbours)) == len(neighbours)
    assert all(own[name] != schedule for entry in entries for name, schedule in entry.items())
    assert neighbours == program.neighbours()
    path = folder / "neighbour.txt"
    for lines in neighbours:
        path.write_text(lines)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with mo.flag_scope(schedule_file=str(path)):
                y = compute().numpy()
        scale = np.abs(expected).max()
        np.testing.assert_allclose(y / scale, expected / scale, atol=2e-5, err_msg=lines)
    return entries


@pytest.mark.parametrize("name", CASES)
def test_neighbours_are_legal_and_right(name, folder):
    function, shapes = CASES[name]
    # One decision is one stage's.
    assert all(len(entry) == 1 for entry in check_neighbours(function, shapes, "cpu:0", folder))


@pytest.mark.gpu_code
@pytest.mark.parametrize("name", GPU_CASES)
def test_neighbours_on_a_gpu_are_legal_and_right(name, folder):
    function, shapes = GPU_CASES[name]
    # For the smaller chip, few blocks are many.
    device = "emulator:sm_87" if name == "runs" else "emulator:sm_90a"
    entries = check_neighbours(function, shapes, device, folder)
    # Stages that share blocks change together.
    most = {"softmax": 3, "cluster": 3, "epilogue": 2, "runs": 2}.get(name, 1)
    assert max(map(len, entries)) == most
    # Both more and fewer threads are near.
    spans = {
        span
        for entry in entries
        for schedule in entry.values()
        for span in re.findall(r"(?:block|step)\(\d+, (\d+)\)", schedule)
    }
    assert len(spans) > 1


def test_no_budget_leaves_everything():
    x = mo.array(data((64, 65)))
    result = mo.tune(softmax, x, budget=0)
    (kernel,) = result.kernels
    assert kernel.schedules == [] and kernel.measured == 0 and kernel.speedup == 1.0
    assert len(kernel.before) == 3 and kernel.names == ["kernel_0"]
    assert any("test_tune.py:" in line for line in kernel.lines)
    assert result.schedules == [] and result.errors == [] and result.path is None
    assert mo.tuned_schedules() == "" and mo.flags.schedule_file == ""
    assert "kernel_0" in str(result) and "0 lines of schedules" in str(result)


def test_candidates_are_measured_and_right():
    x, w = mo.array(data((64, 128))), mo.array(data((128, 96), 1))
    result = mo.tune(lambda: (mo.matmul(x, w), softmax(x)), budget=3)
    assert result.errors == []
    assert sum(kernel.measured for kernel in result.kernels) > 0
    first = result.kernels[0]
    assert first.seconds_before > 0 and first.seconds_after > 0
    for kernel in result.kernels:
        assert kernel.seconds_after <= kernel.seconds_before
        assert bool(kernel.schedules) == (kernel.seconds_after < kernel.seconds_before)


def test_a_length_that_shares_kernels_has_its_own_to_be_tuned():
    def compute(length):
        x = mo.array(data((length, 33)))
        return mo.softmax(x @ x.transpose(), -1)

    for length in (21, 38):
        compute(length).sync()
    assert "metaop.varying" in mo.last_program().ir("kernels")
    result = mo.tune(compute, 38, budget=0)
    assert len(result.kernels) == 1
    compute(38).sync()
    assert "metaop.varying" not in mo.last_program().ir("kernels")
    compute(50).sync()
    assert "metaop.varying" in mo.last_program().ir("kernels")


def test_the_session_goes_on_as_it_was():
    arrays = data((32, 64)), data((64, 48), 1)
    function = lambda: mo.matmul(*map(mo.array, arrays))  # noqa: E731
    before = function().numpy()
    mo.tune(function, budget=1)
    np.testing.assert_array_equal(function().numpy(), before)
    stages = mo.explain(function()).kernels[0].stages
    assert all(stage.override_line == 0 for stage in stages)


def keep_first_neighbours(monkeypatch):
    """Have the search take whatever is near, so that what it keeps is known."""

    class Profiler:
        def __init__(self, profiler):
            self.profiler = profiler

        def __getattr__(self, name):
            return getattr(self.profiler, name)

        def tune(self, index, milliseconds):
            kernels, errors = self.profiler.tune(index, 0)
            neighbours = mo.last_program()._info.neighbours()
            for kernel in kernels:
                kernel["schedules"] = neighbours[0].splitlines()
            return kernels, errors

    make = _core.make_profiler
    monkeypatch.setattr(_core, "make_profiler", lambda keep: Profiler(make(keep)))


def test_files_and_the_cache_are_taken(monkeypatch, folder):
    keep_first_neighbours(monkeypatch)
    array = data((48, 100))
    function = lambda: (mo.array(array) * 3).sum(dims=1)  # noqa: E731
    expected = function().numpy()
    path = folder / "tuned.txt"
    result = mo.tune(function, budget=1, path=path)
    (line,) = result.schedules
    assert path.read_text() == f"version = 1\n{line}\n" and result.path == path
    stage, _, schedule = line.partition(" = ")
    # Nothing is used that is not asked for.
    assert mo.explain(function()).kernels[0].stages[0].schedule != schedule
    assert mo.tuned_schedules() != ""
    for file in (str(path), mo.tuned_schedules()):
        with mo.flag_scope(schedule_file=file):
            (kernel,) = mo.explain(function()).kernels
            assert (kernel.stages[0].identity, kernel.stages[0].schedule) == (stage, schedule)
            np.testing.assert_allclose(function().numpy(), expected, rtol=1e-5, atol=1e-4)


def test_the_cache_collects_what_is_found(monkeypatch):
    keep_first_neighbours(monkeypatch)
    functions = [
        lambda: mo.array(data((48, 100))).sum(dims=1),
        lambda: mo.array(data((30, 64))).max(dims=1),
    ]
    lines = list(itertools.chain(*(mo.tune(f, budget=1).schedules for f in functions)))
    assert len(lines) == 2
    with open(mo.tuned_schedules()) as file:
        assert _entries(file) == _entries(lines)
    # What no program of this process uses is not told of: others do.
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with mo.flag_scope(schedule_file=mo.tuned_schedules()):
            (stage,) = mo.explain(functions[0]()).kernels[0].stages
            assert stage.override_line > 0


def test_later_findings_take_the_place_of_earlier_ones(monkeypatch):
    keep_first_neighbours(monkeypatch)
    function = lambda: mo.array(data((48, 100))).sum(dims=1)  # noqa: E731
    (line,) = mo.tune(function, budget=1).schedules
    name = line.partition(" = ")[0]
    with open(mo.tuned_schedules(), "w") as file:
        file.write(f"# by hand\n{name} = #metaop.schedule<[step(0), step(1)]>\n")
    mo.tune(function, budget=1)
    with open(mo.tuned_schedules()) as file:
        assert file.read() == f"version = 1\n{line}\n"


def test_functions_that_return_structures_or_nothing():
    x = mo.array(data((8, 8)))
    parts = mo.tune(lambda: {"a": x + 1, "b": [x * 2, (3, None)]}, budget=0).kernels
    assert parts
    assert mo.tune(lambda: None, budget=0).kernels == []


@pytest.mark.parametrize("budget", [-1, math.nan, math.inf])
def test_bad_budgets(budget):
    with pytest.raises(ValueError, match="budget"):
        mo.tune(lambda: None, budget=budget)


def test_schedules_of_ones_own_are_no_beginning(folder):
    x = mo.array(data((8, 9)))
    path = folder / "own.txt"
    path.write_text("ab.0 = #metaop.schedule<[]>\n")
    with (
        pytest.warns(RuntimeWarning, match="no kernel had the stage"),
        mo.flag_scope(schedule_file=str(path)),
        pytest.raises(ValueError, match="schedule_file"),
    ):
        mo.tune(lambda: x + 1, budget=1)


def test_the_interpreter_has_nothing_to_tune():
    x = mo.array(data((8, 10)))
    with mo.flag_scope(backend="interpreter"), pytest.raises(RuntimeError, match="no kernels"):
        mo.tune(lambda: x + 1, budget=1)


def test_without_a_folder_nothing_is_kept(monkeypatch):
    keep_first_neighbours(monkeypatch)
    with mo.flag_scope(cache_dir=""):
        result = mo.tune(lambda: mo.array(data((48, 100))).sum(dims=1), budget=1)
        assert len(result.schedules) == 1 and result.path is None
        assert mo.tuned_schedules() == ""


def test_errors_of_the_compiler_are_told_of(monkeypatch):
    class Wrong:
        def __init__(self, profiler):
            self.profiler = profiler

        def __getattr__(self, name):
            return getattr(self.profiler, name)

        def tune(self, index, milliseconds):
            kernels, _ = self.profiler.tune(index, 0)
            return kernels, ["result 0: elements differ"]

    make = _core.make_profiler
    monkeypatch.setattr(_core, "make_profiler", lambda keep: Wrong(make(keep)))
    x = mo.array(data((8, 11)))
    with pytest.warns(RuntimeWarning, match="error of the compiler.* elements differ"):
        result = mo.tune(lambda: x + 1, budget=0)
    assert result.errors == ["result 0: elements differ"] and result.schedules == []


def test_devices_have_files_of_their_own(monkeypatch, folder):
    keep_first_neighbours(monkeypatch)
    found = {}
    for device in ("cpu:0", "cpu:1"):
        with mo.device(device):
            assert (mo.tuned_schedules() != "") == (device == "cpu:1")
            x = mo.array(data((48, 100)))
            mo.tune(lambda x=x: x.sum(dims=1), budget=1)
            found[device] = mo.tuned_schedules()
    # The same processor's.
    assert found["cpu:0"] == found["cpu:1"] != ""
    with mo.device("emulator:sm_90a"):
        assert mo.tuned_schedules() == ""
        assert _core.target_name()[:32] not in found["cpu:0"]


def test_the_emulator_tells_no_times():
    with mo.device("emulator:sm_90a"):
        x = mo.array(np.ones((8, 8), "float32"))
    with pytest.raises(RuntimeError, match="emulator does not tell how fast kernels are"):
        mo.tune(lambda: mo.exp(x), budget=0.1)
