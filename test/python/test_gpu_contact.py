# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a bundle for GPUs does, as far as it goes without one."""

import ctypes
import json
import os
import re
import shutil
import signal
import struct
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from metaops.tools import toolkits

BENCH = Path(__file__).resolve().parents[2] / "bench"
sys.path.insert(0, str(BENCH))

import gpu_kept  # noqa: E402
from contact import cache, compare, differences, exchange, pythons, rates, table, troubles  # noqa: E402
from contact.activities import Activities, Activity, ActivityError  # noqa: E402
from contact.answers import count_tests  # noqa: E402
from contact.child import without_folders  # noqa: E402
from contact.controller import rows  # noqa: E402
from contact.driver import DriverError, Gpu  # noqa: E402

without_gpu = pytest.mark.skipif(os.path.exists("/dev/nvidiactl"), reason="there is a GPU")


def start(folder, *arguments):
    command = [sys.executable, BENCH / "gpu_contact.py", *arguments, "--output", folder]
    # Without a Python that has PyTorch.
    environment = {**os.environ, "PATH": "/usr/bin/absent"}
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)


def contact(folder, *arguments):
    process = start(folder, *arguments)
    output, _ = process.communicate(timeout=300)
    records = [json.loads(line) for line in (folder / "contact.jsonl").read_text().splitlines()]
    return process.returncode, output, records


def of(part, records):
    return [record for record in records if record["part"] == part]


def test_all_parts_run_on_the_emulator(tmp_path, monkeypatch):
    names = ["--workloads", "chain of 1", "softmax both"]
    code, output, records = contact(
        tmp_path, "checks", "rates", "tests", "--emulate", "--tests", "reindex", *names
    )
    assert code == 0, output
    assert "checks: 2 of 2 right" in output
    assert [record["difference"] for record in of("checks", records)] == ["", ""]
    for record in of("rates", records):
        assert record["seconds"] > 0 and record["bytes"] > 0 and record["kernels"]
    (tests,) = of("tests", records)
    assert tests["passed"] > 0 and tests["failed"] == 0 and tests["finished"]
    assert (tmp_path / "contact.txt").read_text() in output
    # Nothing says where the machine has its files.
    assert str(BENCH.parent) not in output + (tmp_path / "contact.jsonl").read_text()
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == ["contact.jsonl", "contact.txt", "culprits.tar.gz", "log.txt", "rates.csv"]
    kept = tmp_path / "kept"
    kept.mkdir()
    monkeypatch.setattr(gpu_kept, "KEPT", kept)
    (kept / "README.md").write_text("<!-- headlines of run -->\nold\n<!-- end of headlines -->\n")
    gpu_kept.keep(tmp_path, "run")
    gpu_kept.write_tables()
    assert "checks: 2 of 2 right" in (kept / "run" / "contact.txt").read_text()
    assert [line["workload"] for line in gpu_kept.read(kept / "run" / "rates.csv")] == [
        "chain of 1",
        "softmax both",
    ]
    assert "| memory | 2 |" in (kept / "README.md").read_text()


def test_tables_of_kept_runs_have_predictions_then_and_now(tmp_path, monkeypatch):
    shutil.copytree(gpu_kept.KEPT, tmp_path / "gpu")
    monkeypatch.setattr(gpu_kept, "KEPT", tmp_path / "gpu")
    page = tmp_path / "gpu" / "README.md"
    before = page.read_text()
    gpu_kept.write_tables()
    assert page.read_text() == before, "run bench/gpu_kept.py tables"
    line = {"group": "norms", "size": "large", "host_us": 0.0, "blocks": "8", "threads": "64"}
    lines = [
        {**line, "workload": "softmax", "us": 8.0, "predicted_us": 2.0},
        {**line, "workload": "RMS norm", "us": 18.0, "predicted_us": 2.0},
        # Its kernels are others now.
        {**line, "workload": "layer norm", "us": 1.0, "predicted_us": 2.0, "threads": "32"},
        {**line, "workload": "batch norm", "us": 1.0, "predicted_us": 2.0, "host_us": 1.0},
    ]
    (tmp_path / "gpu" / gpu_kept.PREDICTED).write_text(
        "workload,size,predicted_us,bound,grids\n"
        "softmax,large,8,waiting,8x64\nRMS norm,large,4.5,memory,1x1 8x64\n"
        "layer norm,large,1,memory,8x64\nbatch norm,large,1,memory,8x64\n"
    )
    _, _, norms, whole = gpu_kept.predictions(lines)
    told = "2 | 6.00 | 1.50 | 2.00 | 2.00 | 1 | 1.00 | 4.00 | RMS norm | memory |"
    assert norms == f"| norms | {told}" and whole == f"| all | {told}"


def test_what_became_faster_is_told():
    old = [
        {"workload": "softmax", "size": "large", "us": 10.0},
        {"workload": "exp", "size": "large", "us": 30.0, "warm_us": 20.0, "cold": "yes"},
        {"workload": "erf", "size": "large", "us": 5.0},
    ]
    new = [
        {"workload": "softmax", "size": "large", "us": 8.0, "warm_us": 5.0, "cold": "yes"},
        {"workload": "exp", "size": "large", "us": 60.0, "warm_us": 1.0, "cold": "yes"},
    ]
    lines = compare.compare(compare.of_lines(old), compare.of_lines(new))
    assert lines[1] == "1 of 2 rows are cold. Only in one: 1"
    # Warm over warm, and cold over cold.
    table_of = {line.split("  ")[0]: line.split()[-6:] for line in lines[3:6]}
    assert table_of["all"] == ["2", "1.00", "1", "1", "0.50", "2.00"]
    assert table_of["norms"] == ["1", "2.00", "1", "0", "2.00", "2.00"]
    assert lines[-1].split() == ["softmax,", "large", "10.00", "5.00", "2.00"]
    assert compare.compare({}, compare.of_lines(new)) == ["No row was timed in both."]


def test_another_bundle_is_timed_in_turns(tmp_path, monkeypatch, capsys):
    other = tmp_path / "other"
    other.mkdir()
    program = f'exec {sys.executable} {BENCH}/gpu_contact.py "$@"'
    (other / "contact").write_text(f"#!/bin/sh\necho called >>{other}/calls\n{program}\n")
    (other / "contact").chmod(0o755)
    names = ["--workloads", "chain of 1", "softmax"]
    results = tmp_path / "results"
    code, output, records = contact(results, "rates", "--emulate", "--beside", other, *names)
    assert code == 0, output
    ours, theirs = of("rates", records), of("beside", records)
    assert len(ours) == len(theirs) == 2 and all(record["seconds"] > 0 for record in theirs)
    assert (other / "calls").read_text() == "called\n"
    assert "0 of 2 rows are cold. Only in one: 0" in output
    names = [results, results]
    monkeypatch.setattr(sys, "argv", ["gpu_kept.py", "compare", *map(str, names)])
    gpu_kept.main()
    assert "No row is faster by 5%." in capsys.readouterr().out


def test_a_child_that_crashes_or_hangs_loses_its_item_alone(tmp_path):
    code, output, records = contact(tmp_path, "kinds", "--emulate", "--faults", "--patience", "6")
    assert code == 1
    kinds = of("kinds", records)
    wrong = {record["fault"]: record["error"] for record in kinds if "error" in record}
    assert wrong == {
        "crash": "ended by SIGABRT",
        "hang": "no answer in 6 s",
        "error": "ValueError: a fault called error",
    }
    right = [record for record in kinds if record.get("difference") == ""]
    assert len(right) == len(kinds) - 3 > 50
    assert f"kinds: {len(right)} of {len(kinds)} right" in output


def test_a_budget_that_ends_leaves_a_summary(tmp_path):
    begin = time.monotonic()
    _, output, _ = contact(tmp_path, "checks", "--emulate", "--budget", "11")
    assert time.monotonic() - begin < 25
    line = next(line for line in output.splitlines() if line.startswith("checks  "))
    assert int(line.split()[3]) > 0


def test_tensors_are_exchanged_without_a_copy(tmp_path):
    code, output, records = contact(tmp_path, "exchange", "--emulate")
    assert code == 0, output
    told = {record["exchange"]: record for record in of("exchange", records)}
    assert told["structs of ours"]["difference"] == told["structs by hand"]["difference"] == ""
    assert told["ours to PyTorch"]["skipped"] == "no libtorch_cpu.so in any Python"
    assert "exchange: 2 of 5 right: structs by hand, structs of ours" in output


def test_what_is_exchanged_wrongly_is_told(monkeypatch):
    # A dtype and an address that are not so.
    monkeypatch.setitem(exchange.CODES, "int32", (0, 64))
    (told,) = exchange.check({"exchange": "structs of ours"}, "cpu:0")
    assert told["difference"] == "int32 of shape (), dtype: (0, 32, 1), expected (0, 64, 1)"
    monkeypatch.setattr(exchange, "address", lambda var: 12)
    (told,) = exchange.check({"exchange": "structs by hand"}, "cpu:0")
    assert told["difference"].startswith("address of what was imported: 12, expected ")


def test_who_stops_it_has_a_summary(tmp_path):
    process = start(tmp_path, "checks", "--emulate")
    lines = tmp_path / "contact.jsonl"
    while not lines.exists() or '"checks"' not in lines.read_text():
        time.sleep(0.1)
    process.send_signal(signal.SIGTERM)
    output, _ = process.communicate(timeout=30)
    assert "stopped from outside" in output
    assert (tmp_path / "contact.txt").read_text() in output


def test_what_went_wrong_is_listed(tmp_path):
    options = json.dumps({"reference": "emulator:sm_90a", "folder": str(tmp_path)})
    command = [sys.executable, BENCH / "gpu_contact.py", "--child", "listings", options]
    item = json.dumps({"kind": "rows, short"})
    done = subprocess.run(command, input=item, capture_output=True, text=True, timeout=60)
    assert json.loads(done.stdout.splitlines()[-1]) == {"done": True, "goes_on": True}
    text = (tmp_path / "culprits" / "rows_short.txt").read_text()
    assert "#metaop.schedule" in text and ".target sm_90a" in text


@without_gpu
def test_without_a_gpu_what_needs_none_is_done(tmp_path):
    code, output, records = contact(tmp_path, "checks", "exchange", "--budget", "60")
    assert code == 1
    assert "libcuda.so.1" in of("device", records)[0]["error"]
    told = sorted(record["trouble"] for record in of("trouble", records))
    assert told[0].startswith("no kernel runs here: ") and "NVIDIA's driver" in told[0]
    assert told[1:] == ["no peers: no Python on the path"]
    assert " ".join(output.split()).count("contact --emulate runs all without a GPU") == 2
    assert not of("checks", records) and "exchange: 2 of 5 right" in output


def test_results_go_elsewhere_where_they_may_not_be_written(tmp_path):
    (tmp_path / "file").write_text("")
    folder, told = troubles.writable(tmp_path / "file" / "results")
    assert folder.is_dir() and len(told) == 1
    assert f"no results can be in {tmp_path}/file/results (Not a directory)" in told[0]
    assert troubles.writable(tmp_path / "results") == (tmp_path / "results", [])


def test_what_cannot_be_asked_for_is_said_in_a_line():
    for arguments, told in (
        (["--budget", "nan"], "nan seconds are no time"),
        (["--budget", "-5"], "-5 seconds are no time"),
        (["--workloads", "softmax", "nosuch"], "no workload is called nosuch"),
        (["--tests", "nosuch"], "no file of tests is called test_nosuch.py"),
        (["--chip", "sm_75"], "sm_75 is no chip that is known"),
    ):
        command = [sys.executable, BENCH / "gpu_contact.py", "kinds", *arguments]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 2 and told in done.stderr, done.stderr


def test_without_a_temporary_folder_one_is_made_among_the_results(tmp_path, monkeypatch):
    made = troubles.tempfile.mkdtemp

    def only_there(prefix, dir=None):
        if dir is None:
            raise FileNotFoundError("No usable temporary directory found")
        return made(prefix=prefix, dir=dir)

    monkeypatch.setattr(troubles.tempfile, "mkdtemp", only_there)
    monkeypatch.setattr(troubles.tempfile, "tempdir", None)
    monkeypatch.setenv("TMPDIR", "/absent")
    folder, told = troubles.scratch(tmp_path)
    assert folder.parent == tmp_path and len(told) == 1
    assert os.environ["TMPDIR"] == str(folder)
    (tmp_path / "file").write_text("")
    with pytest.raises(troubles.NoRoomError, match="nor in any temporary folder"):
        troubles.writable(tmp_path / "file" / "results")


def test_a_gpu_has_as_many_children_as_it_has_memory_and_processes_for():
    assert troubles.most_children({}, 16) == 16
    assert troubles.most_children({"memory free bytes": 84_000_000_000}, 16) == 16
    assert troubles.most_children({"memory free bytes": 84_000_000_000}, 128) == 33
    assert troubles.most_children({"memory free bytes": 10_000_000_000}, 16) == 4
    assert troubles.most_children({"memory free bytes": 1_000_000_000}, 16) == 1
    exclusive = DEVICE | {"compute mode": 3}
    assert troubles.most_children(exclusive, 16) == 1
    assert "one process at a time" in troubles.of_gpu(exclusive, "sm_90a")[0]
    with pytest.raises(troubles.NoGpuError, match="closed to all processes"):
        troubles.of_gpu(DEVICE | {"compute mode": 2}, "sm_90a")


def test_what_there_is_little_of_is_told(tmp_path, monkeypatch):
    monkeypatch.setattr(troubles, "FLAGS", tmp_path / "flags")
    (tmp_path / "flags").write_text("flags : fpu sse avx avx2\n")
    room = shutil.disk_usage(tmp_path)
    monkeypatch.setattr(shutil, "disk_usage", lambda place: room._replace(free=400 * 10**6))
    assert troubles.of_machine(tmp_path) == []
    monkeypatch.setattr(shutil, "disk_usage", lambda place: room._replace(free=17 * 10**6))
    assert troubles.of_machine(tmp_path)[0].endswith(": 17 MB, of 100 wanted")
    (tmp_path / "flags").write_text("flags : fpu sse avx\n")
    assert "AVX2" in troubles.of_machine(tmp_path)[-1]


DEVICE = {"gpu": "NVIDIA H100", "driver": "580.1", "driver CUDA": 13000, "multiprocessors": 132}
DEVICE |= {"capability major": 9, "capability minor": 0, "clusters of 16": 7}


@pytest.mark.parametrize(
    ("device", "told"),
    [
        ({}, ""),
        ({"clusters of 16": 0}, "no cluster of 16 blocks fits"),
        ({"gpu": "NVIDIA H100 MIG 1g.10gb", "multiprocessors": 16}, "a slice of 16 multiproc"),
        ({"capability major": 8}, "kernels for sm_90a: those for sm_80 are compiled here"),
    ],
)
def test_what_a_gpu_lacks_is_told(device, told):
    lines = troubles.of_gpu(DEVICE | device, "sm_90a")
    assert [told in line for line in lines] == [True] * bool(told)


@pytest.mark.parametrize(
    ("device", "told"),
    [
        ({"driver CUDA": 11080}, "driver 580.1 is for CUDA 11.8, and one for CUDA 12.0 is needed"),
        ({"capability major": 7, "capability minor": 5}, "of capability 7.5, and code is made"),
        ({"capability major": 10}, "of capability 10.0, and code is made for sm_80, sm_86"),
    ],
)
def test_what_no_kernel_runs_on_is_told(device, told):
    with pytest.raises(troubles.NoGpuError, match=re.escape(told)):
        troubles.of_gpu(DEVICE | device, "sm_90a")


def test_the_chip_is_the_best_that_the_gpu_runs():
    chips = {(8, 0): "sm_80", (8, 6): "sm_86", (8, 8): "sm_87", (9, 0): "sm_90a"}
    for (major, minor), chip in chips.items():
        device = DEVICE | {"capability major": major, "capability minor": minor}
        assert troubles.chip_of(device) == chip


def test_one_row_of_each_group_comes_first():
    order = [row["workload"] for row in rows(["softmax*", "transpose*"], emulate=False)]
    assert order[0].startswith("transpose") and order[1].startswith("softmax")
    assert {row["size"] for row in rows([], emulate=False)} == {"large", "million", "own"}


def test_ratios_are_of_the_same_row():
    ours = {"part": "rates", "workload": "softmax", "size": "large", "seconds": 1e-3}
    ours |= {"by events": 1.1e-3, "predicted": 9e-4, "bytes": 10**9, "flops": 0}
    theirs = {"part": "peers", "workload": "softmax", "size": "large", "seconds": 2e-3}
    (row,) = table.timed([ours, {**theirs, "peer": "PyTorch"}])
    assert row["ratios"] == {"PyTorch": 2.0}
    # Launches that are late are in no time, but routines of the host are.
    late = {**ours, "by events": 4e-3, "activities": []}
    (row,) = table.timed([late, {**theirs, "peer": "PyTorch"}])
    assert row["ratios"] == {"PyTorch": 2.0} and row["size"] == "large"
    late["kernels"] = [{"operators": ["sort"], "seconds": 3e-3}]
    (row,) = table.timed([late, {**theirs, "peer": "PyTorch"}])
    assert row["ratios"] == {"PyTorch": 0.5} and row["size"] == "large (h)"
    # Rows are cold if both sides are.
    peer = {**theirs, "peer": "PyTorch", "cold": 4e-3}
    (row,) = table.timed([{**ours, "cold": 2e-3}, peer])
    assert row["ratios"] == {"PyTorch": 2.0} and row["seconds"] == 2e-3 and row["warm"] == 1e-3
    assert row["is cold"] and row["size"] == "large (c)"
    (row,) = table.timed([{**ours, "cold": 2e-3}, {**theirs, "peer": "PyTorch"}])
    assert row["ratios"] == {"PyTorch": 2.0} and row["seconds"] == 1e-3 and not row["is cold"]
    text = "\n".join(table.rate_lines([{**ours, "cold": 2e-3}, {**peer, "triton": 5e-3}]))
    assert "1 of 1 rows are cold (c); times cold over warm: ours 2.00, eager 2.00" in text
    assert " 5000        4000        2000   1.25" in text
    (row,) = table.timed([{**late, "seconds": 0.0}])
    assert row["seconds"] == 3e-3


def test_reports_have_no_folders():
    text = "No module at /opt/a.b/lib/libx.so, '/home/me/x.py', https://a.org/b/c or a/b/c: 1/2"
    told = "No module at libx.so, 'x.py', https://a.org/b/c or a/b/c: 1/2"
    assert without_folders({"a": [text], "b": 1}) == {"a": [told], "b": 1}


def test_the_first_test_that_failed_is_told():
    lines = ["a.py::test_a PASSED [ 1%]", "a.py::test_b FAILED [ 2%]", "E   AssertionError"]
    counts = count_tests(lines, 1)
    assert "error" not in counts and "error" not in count_tests(lines, None)
    # A file that could not be collected has nothing that fails, and is bad.
    assert table.is_bad({"part": "tests", **count_tests(["E   NoSuchModule"], 4)})
    assert counts["passed"] == counts["failed"] == 1
    assert counts["first"] == ["a.py::test_b"] and counts["why"] == ["E   AssertionError"]


def test_the_gpu_needs_the_driver():
    with pytest.raises(DriverError, match=r"libcuda-absent\.so is a part of NVIDIA's driver"):
        Gpu("libcuda-absent.so")


class Written(Activities):
    """Activities that are told of with each call."""

    def __init__(self, *found):
        self.found = found
        self.calls = []

    def begin(self):
        self.calls.append("begin")

    def end(self):
        self.calls.append("end")

    def since(self):
        return list(self.found)


def test_the_time_of_a_call_is_that_of_its_kernels():
    kernel = Activity("kernel", "kernel_0", 1000, 3000, (3, 1, 1), (256, 1, 1), 128, 40)
    written = Written(kernel, Activity("fill", "fill", 3000, 9000), kernel)
    record = rates.by_activities(written, lambda: None)
    assert record["seconds"] == record["fastest"] == pytest.approx(4e-6)
    assert written.calls == ["begin", "end"]
    told = record["activities"][0]
    assert told["name"] == "kernel_0" and told["grid"] == (3, 1, 1) and told["shared"] == 128


class FakeCupti:
    """CUPTI, whose callback is called as it would be."""

    def cuptiSubscribe(self, subscriber, callback, given):
        self.callback = callback
        subscriber._obj.value = 5
        return 0

    def cuptiGetCallbackName(self, domain, number, name):
        names = {6: b"cuMemcpyAsync", 7: b"cuLaunchKernel", 8: b"cuLaunchKernelEx"}
        name._obj.value = names.get(number)
        return 0 if number in names else 1

    def cuptiEnableCallback(self, enable, subscriber, domain, number):
        self.enabled = (enable.value, subscriber.value, domain, number.value)
        return 0

    def tell(self, site):
        data = ctypes.create_string_buffer(struct.pack("i4xQQQQQIIQI", site, *[0] * 9), 72)
        self.callback(None, 1, 7, ctypes.addressof(data))


def test_the_first_launch_of_a_call_is_told(monkeypatch):
    cupti = FakeCupti()
    monkeypatch.setattr(cache.ctypes, "CDLL", lambda library: cupti)
    done = []

    def launch_another():
        done.append("done")
        cupti.tell(0)

    first = cache.FirstLaunch("libcupti.so", launch_another)
    assert cupti.enabled == (1, 5, 1, 7)
    cupti.tell(0)
    assert not done
    first.arm()
    cupti.tell(1)
    assert not done
    for _ in range(2):
        cupti.tell(0)
        assert done == ["done"]
    first.arm()
    first.disarm()
    cupti.tell(0)
    assert done == ["done"]
    # What fails is told later.
    first = cache.FirstLaunch("libcupti.so", lambda: 1 / 0)
    first.arm()
    cupti.tell(0)
    with pytest.raises(ActivityError, match="division by zero"):
        first.arm()


class FakeGpu:
    """A GPU that writes down what it is asked for."""

    def __init__(self):
        self.launched = []

    def attribute(self, number):
        return {38: 1000, 16: 3}[number]

    def allocate(self, size):
        assert size == 2992
        return 1 << 40

    def kernel(self, text, name):
        assert f".entry {name}(".encode() in text
        return name

    def launch(self, function, blocks, threads, arguments):
        self.launched.append((function, blocks, threads, [one.value for one in arguments]))

    def wait(self):
        pass


def test_the_second_cache_is_freed_by_reading_more():
    gpu = FakeGpu()
    cache.Eviction(gpu).evict()
    assert gpu.launched == [("metaops_evict", 24, 256, [1 << 40, 2992])] * 2


def test_cold_calls_are_those_before_which_the_cache_was_freed(monkeypatch):
    cupti = FakeCupti()
    monkeypatch.setattr(cache.ctypes, "CDLL", lambda library: cupti)
    written = Written()
    evicting = Activity("kernel", cache.NAME, 0, 900)
    kernel = Activity("kernel", "kernel_0", 1000, 3000, (3, 1, 1), (256, 1, 1))
    written.found = (evicting, kernel)
    first = cache.FirstLaunch("libcupti.so", lambda: None)
    assert rates.cold(written, lambda: None, first) == {"cold": pytest.approx(2e-6)}
    written.found = (kernel,)
    told = rates.cold(written, lambda: None, first)
    assert told == {"cold error": "RuntimeError: the second cache was freed 0 times in a call"}
    assert rates.by_activities(written, lambda: None)["seconds"] == pytest.approx(2e-6)


def test_memory_bounds_what_computes_little():
    assert cache.is_timed_cold(workload_of("softmax"), "large")
    assert cache.is_timed_cold(workload_of("depthwise 3x3 32 at 112, batch 16"), "own")
    assert not cache.is_timed_cold(workload_of("product 1024"), "own")
    for name, size in cache.CHECKED:
        assert size in workload_of(name).shapes
        assert cache.is_timed_cold(workload_of(name), size)


def workload_of(name):
    return table.WORKLOADS[name]


def test_activities_are_read_from_their_records():
    activities = object.__new__(Activities)
    activities._found, activities._memory = [], os.open("/proc/self/mem", os.O_RDONLY)
    name = ctypes.create_string_buffer(b"kernel_0")
    record = ctypes.create_string_buffer(256)
    address = ctypes.addressof(record)
    struct.pack_into("I", record, 0, 10)
    struct.pack_into("H", record, 6, 40)
    struct.pack_into("QQ", record, 16, 5000, 7000)
    struct.pack_into("8i", record, 52, 3, 2, 1, 256, 1, 1, 100, 28)
    struct.pack_into("Q", record, 104, ctypes.addressof(name))
    activities._add(address)
    # A name that is nowhere is none.
    struct.pack_into("Q", record, 104, 12345)
    activities._add(address)
    struct.pack_into("QQ", record, 16, 7000, 5000)
    with pytest.raises(ActivityError, match="from 7000 to 5000 cannot be"):
        activities._add(address)
    # Copies count within the GPU.
    struct.pack_into("IB", record, 0, 1, 1)
    struct.pack_into("QQ", record, 16, 1, 2)
    activities._add(address)
    struct.pack_into("IB", record, 0, 1, 8)
    activities._add(address)
    kernel = Activity("kernel", "kernel_0", 5000, 7000, (3, 2, 1), (256, 1, 1), 128, 40)
    assert activities._found == [kernel, replace(kernel, name=""), Activity("copy", "copy", 1, 2)]


def test_where_results_are_wrong_is_told():
    expected = np.arange(12, dtype="float32").reshape(3, 4)
    mine = expected.copy()
    mine[1, 2], mine[2, 3] = 7.0, np.nan
    (told,) = differences.describe([expected, mine], [expected, expected])
    assert told["result"] == 1 and told["wrong"] == 2
    assert told["first"] == [[1, 2], "7.0", "6.0"] and told["last"] == [[2, 3], "nan", "11.0"]


def test_other_bits_are_told():
    expected = np.array([1.0, 2.0, 0.0], "float32")
    mine = np.array([1.0, 2.0000002, -0.0], "float32")
    (told,) = differences.describe_bits([expected, mine], [expected, expected])
    assert told == {
        "result": 1,
        "of": 3,
        "differ": 2,
        "told": [["2.0000002", "2.0"], ["-0.0", "0.0"]],
    }
    record = {"part": "kinds", "kind": "rows", "difference": "", "same_bits": False, "bits": [told]}
    assert table.check_lines("kinds", [record])[-1] == (
        "    rows: result 1, 2 of 3, 2.0000002 for 2.0, -0.0 for 0.0"
    )


def test_activities_need_cupti():
    with pytest.raises(ActivityError, match=r"libcupti-absent\.so"):
        Activities("libcupti-absent.so")


def make_python(folder, text):
    folder.mkdir()
    python = folder / "python3"
    python.write_text(f"#!/bin/sh\n{text}\n")
    python.chmod(0o755)
    return str(python)


def test_the_first_python_that_has_pytorch_is_found(tmp_path, monkeypatch):
    make_python(tmp_path / "a", "exit 1")
    # What is ours is not seen by others.
    having = make_python(
        tmp_path / "b", 'test "$PYTHONPATH$LD_LIBRARY_PATH" = /theirs && echo 2.9.1 /site/torch'
    )
    monkeypatch.setenv("PYTHONPATH", "/ours")
    monkeypatch.setenv("LD_LIBRARY_PATH", "/ours")
    monkeypatch.setenv("METAOPS_BUNDLE_LIBRARIES", "/theirs")
    monkeypatch.setenv("PATH", f"{tmp_path / 'a'}:{tmp_path / 'b'}")
    assert pythons.find() == pythons.Found(having, "PyTorch 2.9.1", "/site/torch/lib")
    monkeypatch.setenv("PATH", str(tmp_path / "a"))
    assert pythons.find() == pythons.Found("", "PyTorch is in none of 1 Pythons on the path")
    monkeypatch.setenv("PATH", str(tmp_path / "none"))
    assert pythons.find() == pythons.Found("", "no Python on the path")


def test_assemblers_and_folders_are_told_to_the_session():
    given = {"METAOPS_ASSEMBLERS": " nvJitLink 13.0, ,ptxas 12.1"}
    assert toolkits.other_assemblers(given) == ["nvJitLink 13.0", "ptxas 12.1"]
    assert toolkits.other_assemblers({}) == []
    chips = {"METAOPS_EMULATOR_ASSEMBLES": "sm_80, sm_90a,"}
    assert toolkits.assembled_for(chips) == ["sm_80", "sm_90a"]
    assert toolkits.assembled_for({}) == []
    assert toolkits.package_folders(["", "/packages"]) == ["/packages"]


def test_emulated_devices_assemble_for_chips_that_there_are():
    program = "import metaops; metaops.array"
    environment = {**os.environ, "METAOPS_EMULATOR_ASSEMBLES": "sm_80,sm_75"}
    finished = subprocess.run(
        [sys.executable, "-c", program],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert finished.returncode == 1
    message = (
        "ValueError: METAOPS_EMULATOR_ASSEMBLES: the chip 'sm_75' is too old; code is made for"
    )
    assert message in finished.stderr
