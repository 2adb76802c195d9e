# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a profile tells: numbers, timelines, pictures; and dumps of programs."""

import inspect
import itertools
import json
import os
import re
import shutil
import subprocess
import sys
import threading
import warnings
import xml.etree.ElementTree as ET
from pathlib import Path

import metaops as mo
import numpy as np
import pytest
from util import on_processor

OPT = Path(__file__).parents[2] / "build/release/bin/metaop-opt"

needs_dot = pytest.mark.skipif(shutil.which("dot") is None, reason="needs Graphviz")


def here(offset=0):
    """Return "file.py:N" of the caller's line, or one some lines after it."""
    return f"{__file__}:{inspect.currentframe().f_back.f_lineno + offset}"


def tensors(rng, *shapes):
    """Return tensors that are in memory."""
    return [mo.array(rng.uniform(-1, 1, shape).astype("float32")) for shape in shapes]


# Numbers


def test_a_matrix_product(compiled, rng):
    a, b = tensors(rng, (24, 40), (40, 56))
    with mo.profile_scope() as report:
        for _ in range(3):
            line = here(1)
            c = mo.matmul(a, b)
            c.sync()
    np.testing.assert_allclose(c.numpy(), a.numpy() @ b.numpy(), rtol=1e-4, atol=1e-5)
    (kernel,) = report.kernels
    assert kernel.calls == 3
    assert kernel.flops == 2 * 24 * 40 * 56
    assert kernel.bytes_read == 4 * (24 * 40 + 40 * 56)
    assert kernel.bytes_written == 4 * 24 * 56
    assert kernel.lines == (line,)
    assert {"mul", "reduce"} <= set(kernel.operators)
    assert kernel.share == 1
    (program,) = report.programs
    assert (program.runs, program.kernel_calls, kernel.program) == (3, 1, program.index)


def test_an_elementwise_chain(compiled, rng):
    x, y = tensors(rng, (7, 11), (7, 11))
    with mo.profile_scope() as report:
        z = mo.exp(x * y + 2.0)
        mo.where(z > 1.5, z, -x).cast("float64").sync()
    (kernel,) = report.kernels
    # mul, add, exp and neg; not the comparison, the selection and the cast.
    assert kernel.flops == 4 * 77
    assert kernel.bytes_read >= 2 * 4 * 77
    assert kernel.bytes_written == 8 * 77


def test_integers_are_no_flops(compiled):
    x = mo.array(np.arange(10, dtype="int32"))
    with mo.profile_scope() as report:
        (x * 3 + 1).sum().sync()
    assert sum(kernel.flops for kernel in report.kernels) == 0


def test_times_fit_together(compiled, rng):
    x, w = tensors(rng, (16, 32), (32, 8))
    with mo.profile_scope() as report:
        for _ in range(5):
            y = mo.exp(mo.matmul(x, w)).sum()
            mo.sync([y, *mo.grad(y, [x, w])])
    kernels = report.kernels
    assert len(kernels) > 2
    assert sum(kernel.share for kernel in kernels) == pytest.approx(1)
    assert sum(kernel.seconds for kernel in kernels) == pytest.approx(report.total_seconds)
    assert sum(program.seconds for program in report.programs) == pytest.approx(
        report.total_seconds
    )
    assert [kernel.seconds for kernel in kernels] == sorted(
        (kernel.seconds for kernel in kernels), reverse=True
    )
    for kernel in kernels:
        assert kernel.calls % 5 == 0
        assert 0 <= kernel.min_seconds <= kernel.mean_seconds <= kernel.max_seconds
        assert kernel.max_seconds <= kernel.seconds
        assert kernel.seconds == pytest.approx(kernel.mean_seconds * kernel.calls)
        moved = (kernel.bytes_read + kernel.bytes_written) * kernel.calls
        assert kernel.gigabytes_per_second * kernel.seconds * 1e9 == pytest.approx(moved)
        assert kernel.gigaflops_per_second * kernel.seconds * 1e9 == pytest.approx(
            kernel.flops * kernel.calls
        )


def test_equal_kernels_of_one_line_are_one_row(compiled, rng):
    (x,) = tensors(rng, (5, 5))
    with mo.profile_scope() as report:
        y = x
        for _ in range(4):
            y = mo.stop_fuse(mo.exp(y))
        y.sync()
        z = mo.stop_fuse(mo.exp(x))
        z.sync()
    first, second = report.kernels if report.kernels[0].calls == 4 else report.kernels[::-1]
    assert (first.calls, second.calls) == (4, 1)
    assert first.lines != second.lines
    assert [program.kernel_calls for program in report.programs] == [4, 1]


def test_one_program_at_two_places_is_two_rows(compiled, own_kernels, rng):
    (x,) = tensors(rng, (6,))
    mo.exp(x).sync()
    with mo.profile_scope() as report:
        first = here(1)
        mo.exp(x).sync()
        second = here(1)
        mo.exp(x).sync()
    assert [kernel.lines for kernel in sorted(report.kernels, key=lambda k: k.program)] == [
        (first,),
        (second,),
    ]
    assert [program.compilations for program in report.programs] == [0, 0]
    assert report.compile_seconds == 0


def test_compilations_are_counted(compiled, own_kernels, rng):
    (x,) = tensors(rng, (3, 17))
    with mo.profile_scope() as report:
        for _ in range(3):
            (mo.tanh(x) * 0.125 - x).sync()
    (program,) = report.programs
    assert (program.runs, program.compilations) == (3, 1)
    assert program.compile_seconds > 0


# Scopes


def test_an_empty_scope():
    with mo.profile_scope() as report:
        pass
    assert (report.kernels, report.programs, report.total_seconds) == ([], [], 0)
    assert "0 kernel calls" in str(report)
    with pytest.raises(IndexError, match="given program -1, but 0"):
        report.graph("none.dot")


def test_only_what_runs_inside_is_measured(rng):
    (x,) = tensors(rng, (4,))
    before, after = mo.exp(x), mo.sin(x)
    before.sync()
    with mo.profile_scope() as report:
        recorded = mo.cos(x)
        after.sync()
    mo.sync([recorded, mo.tanh(x)])
    assert [program.meta_operators for program in report.programs] == [1]
    assert sum(program.runs for program in report.programs) == 1


def test_nested_scopes_see_what_runs_in_them(rng):
    (x,) = tensors(rng, (4,))

    def runs(report):
        return sum(program.runs for program in report.programs)

    with mo.profile_scope() as outer:
        mo.exp(x).sync()
        with mo.profile_scope() as inner:
            mo.sin(x).sync()
            mo.cos(x).sync()
        mo.tanh(x).sync()
        assert runs(outer) == 4
    mo.exp(x).sync()
    assert (runs(outer), runs(inner)) == (4, 2)


def test_an_exception_ends_the_scope(rng):
    (x,) = tensors(rng, (4,))
    with pytest.raises(ZeroDivisionError), mo.profile_scope() as report:
        mo.exp(x).sync()
        raise ZeroDivisionError
    mo.exp(x).sync()
    assert sum(program.runs for program in report.programs) == 1


@pytest.mark.parametrize("asynchronous", [False, True])
def test_runs_that_are_on_their_way_are_waited_for(rng, asynchronous):
    p = mo.array(np.zeros(50, "float32"))
    (x,) = tensors(rng, (50,))
    with mo.flag_scope(asynchronous=asynchronous):
        with mo.profile_scope() as report:
            for _ in range(30):
                p.update(p + x)
            mo.sync_all()
        assert sum(program.runs for program in report.programs) == 30
    np.testing.assert_allclose(p.numpy(), 30 * x.numpy(), rtol=1e-5)


def test_other_threads_are_measured(compiled, rng):
    (x,) = tensors(rng, (64,))

    def work():
        for _ in range(25):
            (x * 2.0).sync()

    with mo.profile_scope() as report:
        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert sum(kernel.calls for kernel in report.kernels) == 100


def test_the_interpreter_has_programs_without_kernels(rng):
    (x,) = tensors(rng, (4,))
    with mo.flag_scope(backend="interpreter"), mo.profile_scope() as report:
        mo.exp(x).sync()
    assert [program.runs for program in report.programs] == [1]
    assert report.kernels == []


# Reports


def test_the_table(compiled, rng):
    a, b = tensors(rng, (8, 8), (8, 8))
    with mo.profile_scope() as report:
        mo.matmul(a, b).sync()
        mo.exp(a).sync()
    text = str(report)
    summary, head, *rows = text.splitlines()
    assert summary.startswith("2 kernel calls in 2 runs of 2 programs: ")
    assert head.split()[:2] == ["kernel", "calls"]
    assert len(rows) == 2
    for row, kernel in zip(rows, report.kernels, strict=True):
        assert row.startswith(f"{kernel.program}.{kernel.name} ")
        assert row.endswith(" ".join(kernel.lines))
        assert f"{kernel.share:.1%}" in row
    *_, row, rest = report.table(1).splitlines()
    assert row.split() == rows[0].split()
    assert rest == "and 1 more kernel"


def test_the_timeline_nests(compiled, rng, tmp_path):
    x, w = tensors(rng, (16, 32), (32, 8))
    with mo.profile_scope() as report:
        for _ in range(4):
            y = mo.exp(mo.matmul(x, w)).sum()
            mo.sync([y, *mo.grad(y, [x, w])])
    report.chrome_trace(tmp_path / "t.json")
    events = json.loads((tmp_path / "t.json").read_text())["traceEvents"]
    tracks = {e["args"]["name"]: e["tid"] for e in events if e["name"] == "thread_name"}
    spans = [event for event in events if event["ph"] == "X"]
    assert len(spans) + 1 + len(tracks) == len(events)
    assert {event["pid"] for event in events} == {os.getpid()}

    def track(name):
        found = [event for event in spans if event["tid"] == tracks[name]]
        assert found
        # One after another.
        for event, following in itertools.pairwise(found):
            assert event["ts"] + event["dur"] <= following["ts"] + 1e-6
        return found

    programs = track("programs")
    assert set(tracks) >= {"programs", "kernels"}
    kernels = [kernel for name in tracks if name != "programs" for kernel in track(name)]
    assert len(programs) == 4
    assert len(kernels) == sum(kernel.calls for kernel in report.kernels)
    assert min(event["ts"] for event in spans) == 0
    for kernel in kernels:
        assert [
            program["ts"] <= kernel["ts"] + 1e-6
            and kernel["ts"] + kernel["dur"] <= program["ts"] + program["dur"] + 1e-6
            for program in programs
        ].count(True) == 1
        assert set(kernel["args"]) == {
            "operators",
            "lines",
            "bytes_read",
            "bytes_written",
            "flops",
        }
        assert all(line.startswith(__file__) for line in kernel["args"]["lines"])
    total = sum(kernel["dur"] for kernel in kernels)
    assert total * 1e-6 == pytest.approx(report.total_seconds, rel=1e-6)


def test_a_profile_without_a_timeline(compiled, rng, tmp_path):
    (x,) = tensors(rng, (4,))
    with mo.profile_scope(timeline=False) as report:
        mo.exp(x).sync()
    assert report.kernels[0].calls == 1
    with pytest.raises(ValueError, match="timeline=False"):
        report.chrome_trace(tmp_path / "t.json")


def profile_of_a_convolution(rng):
    x, p = tensors(rng, (2, 3, 8, 8), (4, 3, 3, 3))
    with mo.profile_scope() as report:
        shape = (2, 4, 8, 8, 3, 3, 3)
        xx = x.reindex(shape, ("i0", "i4", "i2-i5", "i3-i6"))
        y = (xx * p.broadcast(shape, dims=(0, 2, 3))).sum(dims=(4, 5, 6))
        mo.sync([y, *mo.grad(y.sum(), [x, p])])
    return report


@needs_dot
def test_the_picture_has_a_box_for_each_kernel(compiled, rng, tmp_path):
    report = profile_of_a_convolution(rng)
    report.graph(tmp_path / "f.svg")
    root = ET.parse(tmp_path / "f.svg").getroot()
    svg = "{http://www.w3.org/2000/svg}"
    kinds = [group.get("class") for group in root.iter(f"{svg}g")]
    assert kinds.count("cluster") == report.programs[-1].kernel_calls == 3
    texts = [text.text for text in root.iter(f"{svg}text")]
    for kernel in report.kernels:
        assert any(
            text.startswith(f"{kernel.name}: ") and f"{kernel.share:.1%}" in text for text in texts
        )
    titles = [link.get("{http://www.w3.org/1999/xlink}title") for link in root.iter(f"{svg}a")]
    for line in report.kernels[0].lines:
        assert line in titles
    report.graph(tmp_path / "f.png")
    assert (tmp_path / "f.png").read_bytes().startswith(b"\x89PNG")


def test_the_text_of_a_picture_needs_no_graphviz(compiled, rng, tmp_path, monkeypatch):
    report = profile_of_a_convolution(rng)
    monkeypatch.setenv("PATH", str(tmp_path))
    report.graph(tmp_path / "f.dot")
    text = (tmp_path / "f.dot").read_text()
    assert text.count("subgraph cluster_") == 3
    defined = set(re.findall(r"^ +(\w+) \[", text, re.M)) - {"graph", "node", "edge"}
    edges = re.findall(r"(\w+) -> (\w+)", text)
    assert {end for edge in edges for end in edge} == defined
    # The gradients' reductions read what is in their own boxes.
    for source, target in edges:
        if target.startswith("kernel"):
            assert source.startswith(("leaf", target.split("_")[0]))
    with pytest.raises(RuntimeError, match="graphviz"):
        report.graph(tmp_path / "f.svg")
    with pytest.raises(ValueError, match=r"expected a name with \.dot"):
        report.graph(tmp_path / "f.txt")


def test_pictures_show_what_no_kernel_computes(rng, tmp_path):
    (x,) = tensors(rng, (4, 6))
    with mo.profile_scope() as report:
        y = mo.exp(x).reshape((3, 8))
        mo.matmul(y, y.transpose()).sync()
    for program in range(len(report.programs)):
        report.graph(tmp_path / "f.gv", program)
        text = (tmp_path / "f.gv").read_text()
        assert "peripheries=2" in text
        assert text.count("{") == text.count("}")


# Dumps


def dumped(folder):
    return sorted(path.name for path in Path(folder).iterdir())


def phases(tensor):
    """Return the phases of a program that computes a tensor."""
    last = ["loops", "llvm"] if on_processor(tensor) else ["gpu", "nvvm"]
    return ["graph", "fused", "scheduled", "kernels", *last]


def test_the_phases_of_each_program_are_dumped(compiled, rng, tmp_path):
    a, b = tensors(rng, (4, 5), (5, 6))
    folder = tmp_path / "new" / "dumps"
    with mo.flag_scope(dump_dir=folder):
        line = here(1)
        mo.relu(mo.matmul(a, b)).sync()
        mo.exp(b).sync()
    (mo.exp(b) * 2.0).sync()
    first, second = dumped(folder)
    number = line.rsplit(":")[-1]
    assert first == f"program_000_test_profiler_{number}"
    assert second.startswith("program_001_test_profiler_")
    for name in first, second:
        assert dumped(folder / name) == sorted(
            [f"{phase}.mlir" for phase in phases(a)] + ["summary.txt"]
        )
    summary = (folder / first / "summary.txt").read_text()
    assert "kernel_0" in summary
    assert line in summary
    assert f"floating-point operations: {2 * 4 * 5 * 6}" in summary
    for phase in phases(a):
        text = (folder / first / f"{phase}.mlir").read_text()
        assert __file__ in text
        if OPT.exists():
            done = subprocess.run([OPT, folder / first / f"{phase}.mlir"], capture_output=True)
            assert done.returncode == 0, done.stderr.decode()


def test_dumps_go_on_from_what_is_there(compiled, rng, tmp_path):
    (x,) = tensors(rng, (9,))
    (tmp_path / "program_041_train_3").mkdir()
    (tmp_path / "program_x").mkdir()
    with mo.flag_scope(dump_dir=str(tmp_path)):
        (mo.exp(x) - 3.0).sync()
    assert sum(name.startswith("program_042_") for name in dumped(tmp_path)) == 1


def test_the_interpreter_dumps_the_graph(rng, tmp_path):
    (x,) = tensors(rng, (13,))
    with mo.flag_scope(dump_dir=tmp_path, backend="interpreter"):
        (mo.exp(x) - 3.0).sync()
    (name,) = dumped(tmp_path)
    assert dumped(tmp_path / name) == ["graph.mlir", "summary.txt"]


def test_a_program_runs_where_its_dump_cannot_be_written(rng, tmp_path):
    (x,) = tensors(rng, (11,))
    (tmp_path / "file").write_text("in the way")
    with mo.flag_scope(dump_dir=tmp_path / "file" / "dumps"):
        y = mo.exp(x) - 5.0
        with pytest.warns(RuntimeWarning, match=r"dump_dir: cannot make the folder .*dumps"):
            result = y.numpy()
        np.testing.assert_allclose(result, np.exp(x.numpy()) - 5, rtol=1e-5)
        # It is said once.
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            (mo.exp(x) - 6.0).sync()


def test_the_environment_says_where_to_dump(compiled, tmp_path):
    script = "import metaops as mo; print(mo.flags.dump_dir); mo.exp(mo.array([1.0])).sync()"
    environment = {**os.environ, "METAOPS_DUMP": "dumps", "METAOPS_CACHE_DIR": ""}
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == str(tmp_path / "dumps")
    assert len(dumped(tmp_path / "dumps")) == 1


# Counts of emulated devices


def test_an_emulated_device_counts_what_kernels_move():
    data = np.random.default_rng(40).standard_normal((64, 256)).astype("float32")
    with mo.device("emulator:sm_90a"):
        x = mo.array(data)
    with mo.profile_scope() as report:
        y = (-x).numpy()
    np.testing.assert_array_equal(y, -data)
    (kernel,) = (kernel for kernel in report.kernels if kernel.counts)
    moved = kernel.counts.in_global
    assert moved.bytes == 2 * data.nbytes and moved.moved == moved.least == 2 * data.nbytes // 32
    assert moved.requests == 2 * data.size // (32 * 4)
    assert kernel.counts.in_shared.requests == 0 == kernel.counts.bank_conflicts
    assert kernel.counts.instructions["float"] >= data.size
    assert kernel.counts.instructions["global"] > 0
    load, store = (a for a in kernel.counts.accesses if a.requests)
    assert (load.operation, store.operation) == ("llvm.load", "llvm.store")


@pytest.mark.processor
def test_a_processor_counts_nothing():
    x = mo.random((16, 16))
    with mo.profile_scope() as report:
        (x + 1).sync()
        mo.sync_all()
    assert all(kernel.counts is None for kernel in report.kernels)
