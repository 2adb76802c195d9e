# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The controller: has children answer the parts of a contact, within a budget of seconds.

It touches no GPU itself. Every result is written down as it comes, one a line, and the
summary again and again, so that whoever stops it has what there was by then.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import sys
import tarfile
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from workloads import WORKLOADS, select

from . import pythons, table, troubles
from .answers import THEIRS, find_cupti
from .child import Record, first_line, without_folders
from .pool import Job, Pool

SCRIPT = Path(__file__).resolve().parents[1] / "gpu_contact.py"
BUNDLE = SCRIPT.parents[1]
#: Parts that need no GPU.
OF_HOST = ("exchange",)
DEFAULT_CHIP = "sm_90a"
#: In the order of their worth.
PARTS = ("kinds", "checks", "steps", "exchange", "rates", "tests")
TIMED = ("rates", "peers", "steps", "peer steps")
#: The part of the budget that each may take at most, and seconds that are enough.
SHARES = {
    "device": (0.1, 25),
    "kinds": (0.25, 75),
    "checks": (0.25, 75),
    "steps": (0.08, 40),
    "exchange": (0.06, 30),
    "tests": (0.18, 80),
}
#: Seconds of the first parts, however small the budget is.
LEAST = {"device": 8, "kinds": 30}
#: Seconds for the end: children are killed, and what there is is packed.
END = 8
REFRESH = 10
SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
MOST_CULPRITS = 24
#: Of what is packed, before it is.
ARCHIVE_BYTES = 40_000_000
#: Tests that compute on whichever device is current; the slowest first.
TESTS = (
    "norm", "conv", "reduce", "elementwise", "dtypes", "halves", "sorting", "gather",
    "cumulative", "pool", "losses", "einsum", "embedding", "activations", "reindex", "placement",
)  # fmt: skip
FAULTS = [{"fault": fault} for fault in ("crash", "hang", "error")]


@dataclass
class Options:
    """What is asked for."""

    parts: Sequence[str]
    folder: Path
    budget: float
    emulate: bool = False
    #: By default that of the GPU.
    chip: str = ""
    patterns: Sequence[str] = ()
    tests: Sequence[str] = TESTS
    #: Seconds for one item; by default as each part has it.
    patience: float = 0.0
    faults: bool = False
    #: The folder of another bundle, whose rates are taken in turns with ours.
    beside: Path | None = None

    @property
    def device(self) -> str:
        """What is checked and timed."""
        return f"emulator:{self.chip or DEFAULT_CHIP}" if self.emulate else "cuda:0"

    @property
    def reference(self) -> str:
        """What it is compared with."""
        return "cpu:0" if self.emulate else f"emulator:{self.chip or DEFAULT_CHIP}"


@dataclass
class Part:
    """What became of the items of a part."""

    title: str
    items: int
    unbegun: int = 0
    seconds: float = 0.0
    begun: float = field(default_factory=time.monotonic)


class Stopped(Exception):
    """Somebody ends the contact."""


def rows(patterns: Sequence[str], emulate: bool) -> list[Record]:
    """Return workloads and sizes, one of each group first."""
    groups: dict[str, list[Record]] = {}
    for name in select(patterns):
        workload = WORKLOADS[name]
        sizes = ("odd",) if emulate else ("large", "million", "own")
        for size in sizes:
            if size in workload.shapes:
                groups.setdefault(workload.kind or workload.group, []).append(
                    {"workload": name, "size": size}
                )
    longest = max(map(len, groups.values()), default=0)
    return [group[k] for k in range(longest) for group in groups.values() if k < len(group)]


class Contact:
    """A run of all parts."""

    def __init__(self, options: Options) -> None:
        self.options = options
        self.begin = time.monotonic()
        self.end = self.begin + max(options.budget - END, 2)
        options.folder, told = troubles.writable(options.folder)
        self.scratch, of_scratch = troubles.scratch(options.folder)
        self.log = (options.folder / "log.txt").open("ab")
        self.lines = (options.folder / "contact.jsonl").open("w")
        self.lock = threading.Lock()
        self.records: list[Record] = []
        #: Why results are nowhere but in this process.
        self.is_full = ""
        self.parts: list[Part] = []
        self.cores = len(os.sched_getaffinity(0))
        self.python, self.torch, self.cupti, self.cupti_there = "", "", "", ""
        self.probed, self.has_gpu, self.may_be_cold = False, True, False
        #: Only one process at a time may use the GPU.
        self.is_exclusive = False
        for text in told + of_scratch + troubles.of_machine(options.folder):
            self.tell(text)

    # Results

    def report(self, part: str, item: Record, record: Record) -> None:
        """Keep a result."""
        at = round(time.monotonic() - self.begin, 2)
        whole = {"part": part, "at": at, **item, **record}
        with self.lock:
            self.records.append(whole)
            try:
                self.lines.write(json.dumps(without_folders(whole)) + "\n")
                self.lines.flush()
            except OSError as error:
                self.is_full = self.is_full or first_line(error)

    def tell(self, trouble: str) -> None:
        """Say at once what this machine lacks."""
        print(f"contact: {trouble}", flush=True)
        self.report("trouble", {}, {"trouble": trouble})

    def write_summary(self) -> str:
        """Write the table, and return it."""
        with self.lock:
            records = without_folders(self.records)
        text = table.summary(records, self.parts, time.monotonic() - self.begin, self.options)
        if self.is_full:
            text = f"! Results are here alone: {self.is_full}\n{text}"
        file = self.options.folder / "contact.txt"
        try:
            file.with_suffix(".part").write_text(text)
            file.with_suffix(".part").replace(file)
        except OSError as error:
            self.is_full = self.is_full or first_line(error)
        return text

    # Children

    def job(self, part: str, workers: int, seconds: float) -> Job:
        """Return how the children of a part are made."""
        theirs = part in THEIRS
        options = {
            "device": self.options.device if self.has_gpu else "cpu:0",
            "reference": self.options.reference,
            "emulate": self.options.emulate,
            "folder": str(self.scratch),
            "lock": str(self.scratch / "lock"),
        }
        if part in TIMED and not self.options.emulate:
            options["cupti"] = self.cupti_there if theirs else self.cupti
        options["may be cold"] = self.may_be_cold
        environment = pythons.environment() if theirs else dict(os.environ)
        threads = "8" if workers == 1 else "2"
        environment |= {"OMP_NUM_THREADS": threads, "TORCHINDUCTOR_COMPILE_THREADS": "1"}
        environment |= {"TORCHINDUCTOR_CACHE_DIR": str(self.scratch / "inductor")}
        environment |= {
            "PYTHONDONTWRITEBYTECODE": "1",
            "TRITON_CACHE_DIR": f"{self.scratch}/triton",
        }
        python = self.python if theirs else sys.executable
        command = [python, str(SCRIPT), "--child", part, json.dumps(options)]
        patience = self.options.patience or seconds
        return Job(command, environment, max(workers, 1), patience)

    def run(self, wanted: Sequence[tuple[str, Job, Sequence[Record]]], until: float) -> None:
        """Have items of parts answered, all parts at the same time if the GPU takes that."""
        if self.is_exclusive and len(wanted) > 1:
            for place, one in enumerate(wanted):
                left = until - time.monotonic()
                self.run([one], time.monotonic() + left / (len(wanted) - place))
            return
        running = []
        for title, job, items in wanted:
            part = Part(title, len(items))
            self.parts.append(part)
            pool = Pool(job, self.log, lambda item, record, t=title: self.report(t, item, record))
            pool.start(items)
            running.append((part, pool))
        refresh = time.monotonic() + REFRESH
        try:
            while any(pool.is_busy() for _, pool in running) and time.monotonic() < until:
                time.sleep(0.1)
                for part, pool in running:
                    if pool.is_busy():
                        part.seconds = time.monotonic() - part.begun
                if time.monotonic() > refresh:
                    self.write_summary()
                    print(table.progress(self.records, time.monotonic() - self.begin), flush=True)
                    refresh = time.monotonic() + REFRESH
        finally:
            for part, pool in running:
                part.unbegun = pool.stop()
                told = {"seconds": round(part.seconds, 1), "items": part.items}
                self.report("ended", {}, {"of": part.title, **told, "unbegun": part.unbegun})

    def until(self, part: str) -> float:
        """Return when a part ends that has just begun."""
        share, enough = SHARES[part]
        seconds = max(min(share * self.options.budget, enough), LEAST.get(part, 0))
        return min(self.end, time.monotonic() + seconds)

    # Parts

    def look(self) -> None:
        """Learn what the machine has: the GPU, PyTorch, CUPTI."""
        self.report("machine", {}, {**machine(), "budget": self.options.budget})
        until = self.until("device")
        looking = threading.Thread(target=self.find_python, daemon=True)
        looking.start()
        self.looking = looking
        if not self.options.emulate:
            self.run([("device", self.job("device", 1, 20), [{}])], until)
            self.look_at_gpu()

    def look_at_gpu(self) -> None:
        """Tell what the GPU lacks; without one, leave out what needs it."""
        records = [record for record in self.records if record["part"] == "device"]
        device = {key: v for record in records for key, v in record.get("device", {}).items()}
        try:
            for record in records:
                if "has no gpu" in record:
                    raise troubles.NoGpuError(record["error"])
            if "gpu" in device:
                file = BUNDLE / "chip.txt"
                made_for = file.read_text().strip() if file.exists() else ""
                for text in troubles.of_gpu(device, made_for):
                    self.tell(text)
                self.options.chip = self.options.chip or troubles.chip_of(device)
                self.is_exclusive = device.get("compute mode") == troubles.EXCLUSIVE
                self.cores = troubles.most_children(device, self.cores)
        except troubles.NoGpuError as error:
            self.tell(f"no kernel runs here: {error}; contact --emulate runs all without a GPU")
            self.has_gpu = False
            self.options.parts = [part for part in self.options.parts if part in OF_HOST]

    def find_python(self) -> None:
        """Find PyTorch."""
        found = pythons.find()
        if found.python:
            self.report("machine", {}, {"pytorch": found.what})
        else:
            self.tell(f"no peers: {found.what}")
        self.python, self.torch = found.python, found.folder

    def probe(self) -> None:
        """Find out which CUPTI can be used, by them and by us, once."""
        if self.probed:
            return
        self.probed = True
        self.looking.join(max(0.0, min(40.0, self.end - time.monotonic())))
        if self.options.emulate or not self.has_gpu:
            return
        if self.python:
            job = self.job("peer probe", 1, 40)
            self.run([("peer probe", job, [{}])], min(self.end, time.monotonic() + 45))
        known = [r for r in self.records if r["part"] == "peer probe"]
        self.cupti_there = next((r["cupti"] for r in known if "cupti" in r), "")
        candidates = [self.cupti_there, *(r["candidate"] for r in known if "candidate" in r)]
        names = list(dict.fromkeys(filter(None, [*candidates, *find_cupti()])))[:2]
        for name in names:
            until = min(self.end, time.monotonic() + 25)
            self.run([("probe", self.job("probe", 1, 20), [{"cupti": name}])], until)
            if any(r["part"] == "probe" and "found" in r for r in self.records):
                self.cupti = name
                break
        if self.cupti:
            # In a child of its own, as nothing else is lost with it.
            item = {"cupti": self.cupti, "cold": True}
            until = min(self.end, time.monotonic() + 25)
            self.run([("cold probe", self.job("probe", 1, 20), [item])], until)
            probes = [r for r in self.records if r["part"] == "cold probe"]
            self.may_be_cold = any("eviction seconds" in r for r in probes)

    def kinds(self) -> None:
        """Check a kernel of each kind."""
        from .kinds import KINDS

        items: list[Record] = [{"kind": name} for name in KINDS]
        if self.options.faults:
            items[1:1] = FAULTS
        job = self.job("kinds", min(self.cores, 8), 30)
        self.run([("kinds", job, items)], self.until("kinds"))

    def checks(self) -> None:
        """Check all workloads."""
        items = [{"workload": name} for name in select(self.options.patterns)]
        job = self.job("checks", min(self.cores, 12), 30)
        self.run([("checks", job, items)], self.until("checks"))

    def culprits(self) -> list[Record]:
        """Return what went wrong, and is to be listed."""
        found = [r for r in self.records if r["part"] in ("kinds", "checks") and table.is_bad(r)]
        names: list[Record] = [{k: r[k] for k in ("kind", "workload") if k in r} for r in found]
        return [name for name in names if name][:MOST_CULPRITS]

    def steps(self) -> None:
        """Time training steps."""
        from .steps import SUBJECTS

        self.probe()
        items = [{"subject": name} for name in SUBJECTS[: 2 if self.options.emulate else None]]
        wanted: list[tuple[str, Job, Sequence[Record]]] = [
            ("steps", self.job("steps", min(3, self.cores), 40), items)
        ]
        if self.python:
            eager = [{**item, "peer": "PyTorch"} for item in items]
            wanted.append(("peer steps", self.job("peer steps", min(2, self.cores), 40), eager))
        self.run(wanted, self.until("steps"))

    def exchange(self) -> None:
        """Exchange tensors with PyTorch."""
        self.probe()
        from .exchange import EXCHANGES

        items = [{"exchange": name, "library": self.torch} for name in EXCHANGES]
        self.run(
            [("exchange", self.job("exchange", min(2, self.cores), 25), items)],
            self.until("exchange"),
        )

    def rates(self) -> None:
        """Time our kernels, and the peers' or those of another bundle."""
        self.probe()
        left = self.end - time.monotonic()
        tests = min(SHARES["tests"][0] * self.options.budget, SHARES["tests"][1], left / 2)
        until = self.end - (tests if "tests" in self.options.parts else 0)
        items = rows(self.options.patterns, self.options.emulate)
        quarter = max(self.cores // 4, 1)
        wanted: list[tuple[str, Job, Sequence[Record]]] = [
            ("rates", self.job("rates", quarter, 60), items)
        ]
        if self.options.beside:
            job = self.job("rates", quarter, 60)
            command = [str(self.options.beside / "contact"), *job.command[2:]]
            wanted.append(("beside", replace(job, command=command), items))
        elif self.python:
            eager = [{**item, "peer": "PyTorch"} for item in items]
            compiled = [{**item, "peer": "torch.compile"} for item in items]
            wanted.append(("peers", self.job("peers", quarter, 60), [{"floors": True}, *eager]))
            wanted.append(
                ("compiled", self.job("peers", min(2 * quarter, self.cores), 100), compiled)
            )
        if listed := self.culprits():
            wanted.append(("listings", self.job("listings", quarter, 20), listed))
        self.run(wanted, until)

    def tests(self) -> None:
        """Run tests."""
        until = self.end
        seconds = max(until - time.monotonic() - 1, 5)
        items = [{"file": name, "seconds": seconds} for name in self.options.tests]
        self.run([("tests", self.job("tests", self.cores, seconds), items)], until)

    # All

    def go(self) -> int:
        """Do all, and return the exit status."""
        for name in SIGNALS:
            signal.signal(name, stop)
        try:
            self.step(self.look)
            for part in PARTS:
                if part in self.options.parts and time.monotonic() < self.end:
                    self.step(getattr(self, part))
            if "rates" not in self.options.parts and (listed := self.culprits()):
                job = self.job("listings", self.cores, 20)
                self.run([("listings", job, listed)], self.end)
        except Stopped:
            self.report("machine", {}, {"error": "stopped from outside"})
        return self.finish()

    def step(self, part: Callable[[], None]) -> None:
        """Do a part; the others go on if it fails."""
        try:
            part()
        except Stopped:
            raise
        except Exception as error:
            self.report("machine", {}, {"error": f"{part.__name__}: {first_line(error)}"})
        self.write_summary()
        with contextlib.suppress(OSError):
            self.pack()

    def finish(self) -> int:
        """Write and pack what there is."""
        for name in SIGNALS:
            signal.signal(name, signal.SIG_IGN)
        for last in (self.write_rates, self.pack):
            try:
                last()
            except OSError as error:
                self.is_full = self.is_full or first_line(error)
        print(self.write_summary(), flush=True)
        shutil.rmtree(self.scratch, ignore_errors=True)
        return int(not self.has_gpu or any(table.is_bad(record) for record in self.records))

    def write_rates(self) -> None:
        """Write all rows, if some were timed."""
        if table.timed(self.records):
            from gpu_kept import RATES, write_rates

            write_rates(self.options.folder / RATES, self.records)

    def pack(self) -> None:
        """Pack what is kept of what went wrong."""
        with tarfile.open(self.options.folder / "culprits.tar.gz", "w:gz") as archive:
            room = ARCHIVE_BYTES
            for folder, pattern in (("culprits", "*"), (".", "tests_*.log")):
                for file in sorted((self.scratch / folder).glob(pattern)):
                    room -= file.stat().st_size
                    if room > 0:
                        archive.add(file, f"{folder}/{file.name}".removeprefix("./"))


def stop(number: int, frame: Any) -> None:
    """Have the controller finish."""
    raise Stopped


def machine() -> Record:
    """Return what is known without a GPU."""
    import platform

    import metaops as mo

    system = (platform.system(), " ".join(platform.libc_ver()), platform.machine())
    commit = BUNDLE / "commit.txt"
    return {
        "system": ", ".join(system),
        "cores": len(os.sched_getaffinity(0)),
        "version": getattr(mo, "__version__", ""),
        "commit": commit.read_text().strip() if commit.exists() else "",
        "assemblers": os.environ.get("METAOPS_ASSEMBLERS", ""),
    }
