# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Answers: what a child does with its items, by the part of the contact that it is for."""

from __future__ import annotations

import glob
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from .activities import Activities, Activity, ActivityError
from .cache import Eviction, FirstLaunch, split_evictions
from .child import Record, file_name, first_line, serve

ROOT = Path(__file__).resolve().parents[2]
#: Exit statuses of pytest if it has run a file: all passed, some failed, there are none.
PYTEST_RAN = (0, 1, 5)
#: Places of CUPTI beside a Python's packages.
TOOLKITS = ("/usr/local/cuda", "/usr/local/cuda-*", "/opt/cuda")


def find_cupti() -> list[str]:
    """Return the CUPTIs of this Python's packages and of toolkits, best first."""
    folders = [f"{path}/nvidia/*" for path in sys.path if path]
    folders += [folder for toolkit in TOOLKITS for folder in (toolkit, f"{toolkit}/extras/CUPTI")]
    found = [
        name
        for folder in folders
        for lib in ("lib", "lib64")
        for name in sorted(glob.glob(f"{folder}/{lib}/libcupti.so.1[23]*"), reverse=True)
    ]
    return list(dict.fromkeys(map(os.path.realpath, found)))


def open_activities(library: str) -> Activities | None:
    """Return CUPTI, if there is to be one."""
    return Activities(library) if library else None


# Ours


def ours_is_well(device: str) -> bool:
    """Return whether the device still computes."""
    import metaops as mo

    try:
        with mo.device(device):
            return bool((mo.ones(3) + 1).sum().item() == 6)
    except Exception:
        return False


def answer_kind(item: Record, options: Record) -> Iterator[Record]:
    """Check a kind of kernel."""
    from . import kinds

    yield kinds.check(item["kind"], options["device"], options["reference"], options["folder"])


def results_on(device: str, name: str, size: str) -> list[Any]:
    """Return what a workload computes on a device, each time from the same numbers."""
    import metaops as mo
    import numpy as np
    from ops.metaops_ops import MetaOps
    from workloads import WORKLOADS

    workload = WORKLOADS[name]
    mo.seed(0)
    with mo.device(device):
        results = MetaOps().prepare(workload, workload.arrays(size))()
        return [np.array(result.numpy()) for result in results]


def answer_check(item: Record, options: Record) -> Iterator[Record]:
    """Compare a workload's results on two devices, at odd extents."""
    import kernels
    from workloads import WORKLOADS

    from . import differences

    name = item["workload"]
    mine = results_on(options["device"], name, "odd")
    expected = results_on(options["reference"], name, "odd")
    difference = kernels.agree(mine, expected, WORKLOADS[name])
    record: Record = {"difference": difference}
    record["same_bits"] = [a.tobytes() for a in mine] == [b.tobytes() for b in expected]
    if not record["same_bits"]:
        record["bits"] = differences.describe_bits(mine, expected)
    if difference:
        record["where"] = differences.describe(mine, expected)
        differences.keep(options["folder"], file_name(name), mine)
    yield record


def answer_listing(item: Record, options: Record) -> Iterator[Record]:
    """Write down the kernels of what went wrong; nothing is run."""
    import metaops as mo
    from ops.metaops_ops import MetaOps
    from workloads import WORKLOADS

    chip = options["reference"].partition(":")[2] or "sm_90a"
    chip = chip if chip.startswith("sm_") else "sm_90a"
    if "kind" in item:
        from . import kinds

        kind = kinds.KINDS[item["kind"]]
        values = kind.record(kind.arrays())
    else:
        workload = WORKLOADS[item["workload"]]
        tensors = [mo.asarray(array) for array in workload.arrays(item.get("size", "odd"))]
        values = MetaOps().recorder(workload, tensors)()
    explanation = mo.explain(values, target=f"cuda:{chip}")
    title = item.get("kind") or item["workload"]
    file = Path(options["folder"], "culprits", file_name(title) + ".txt")
    file.parent.mkdir(exist_ok=True)
    texts = [f"{item}\n", str(explanation), *explanation.ir("ptx")]
    file.write_text("\n\n".join(texts))
    yield {"written": file.name}


def answer_rate(item: Record, options: Record) -> Iterator[Record]:
    """Time a workload."""
    from . import rates

    activities, first_launch = options["activities"], options["first launch"]
    record = rates.measure(item, options["device"], options["lock"], activities, first_launch)
    yield record | options["cold"]


def answer_step(item: Record, options: Record) -> Iterator[Record]:
    """Time training steps, of ours or of PyTorch."""
    from . import steps

    if "peer" in item:
        yield steps.theirs(item, options["lock"], options["activities"])
    else:
        yield steps.ours(item, options["device"], options["lock"], options["activities"])


def answer_exchange(item: Record, options: Record) -> Iterator[Record]:
    """Check an exchange of tensors with others."""
    from . import exchange

    yield from exchange.check(item, options["device"])


def answer_probe(item: Record, options: Record) -> Iterator[Record]:
    """Return whether a CUPTI tells of our kernels, and whether they can be timed cold."""
    import metaops as mo

    activities = Activities(item["cupti"])
    activities.begin()

    def compute() -> list[Activity]:
        with mo.device(options["device"]):
            total = (mo.ones(1000) * 2.0).sum()
            total.sync()
        return activities.since()

    found = compute()
    if not found:
        raise ActivityError("no activity of our kernels was told")
    if item.get("cold"):
        from .driver import Gpu

        first_launch = FirstLaunch(item["cupti"], Eviction(Gpu()).evict)
        activities.since()
        first_launch.arm()
        evictions = [one.seconds for one in split_evictions(compute())[1]]
        if len(evictions) != 1:
            raise ActivityError(f"the second cache was freed {len(evictions)} times in a call")
        yield {"cold": True, "eviction seconds": evictions[0]}
    else:
        yield {"cupti": item["cupti"], "found": [[a.name, a.seconds] for a in found]}
    activities.end()


# PyTorch's


def answer_peer(item: Record, options: Record) -> Iterator[Record]:
    """Time a workload by PyTorch, or what the GPU does at best."""
    from . import peers

    if item.get("floors"):
        yield from peers.floors(options["lock"], options["activities"])
    else:
        activities, eviction = options["activities"], options["eviction"]
        for record in peers.measure(item, options["lock"], activities, eviction):
            yield record | options["cold"]


def answer_peer_probe(item: Record, options: Record) -> Iterator[Record]:
    """Return what PyTorch is, and whether a CUPTI tells of its kernels."""
    import torch

    yield {"torch": torch.__version__, "cuda": torch.cuda.is_available()}
    reasons = []
    for library in find_cupti():
        yield {"candidate": library}
        try:
            activities = Activities(library)
            activities.begin()
            (torch.ones(1000, device="cuda") * 2).sum().item()
            found = activities.since()
            activities.end()
            if found:
                yield {"cupti": library, "found": [[a.name, a.seconds] for a in found]}
                return
            reasons.append(f"{library} told of no kernel")
        except Exception as error:
            reasons.append(first_line(error))
    yield {"error": "; ".join(reasons) or "there is no CUPTI"}


# Others


def answer_device(item: Record, options: Record) -> Iterator[Record]:
    """Tell what the GPU is."""
    from . import driver

    yield from driver.describe()


def count_tests(lines: list[str], status: int | None) -> Record:
    """Return how many tests passed and failed by pytest's lines, and which failed first.

    A file that pytest could not run, by its exit status, is an error.
    """
    passed = sum(" PASSED" in line for line in lines)
    failed = [line.split(" ")[0] for line in lines if " FAILED" in line or " ERROR" in line]
    why = [line.strip() for line in lines if line.startswith("E  ")]
    counts = {"passed": passed, "failed": len(failed), "first": failed[:1], "why": why[:1]}
    if status not in (None, *PYTEST_RAN):
        counts["error"] = f"pytest ended with {status}"
    return counts


def answer_tests(item: Record, options: Record) -> Iterator[Record]:
    """Run a file of tests on the device, as far as there is time."""
    root = ROOT / "test" / "python"
    command = [sys.executable, "-m", "pytest", "-v", "--no-header", "-p", "no:cacheprovider"]
    command += ["--tb=short", "--device", options["device"], f"{root}/test_{item['file']}.py"]
    log = Path(options["folder"], f"tests_{item['file']}.log")
    end = time.monotonic() + item["seconds"] - 4
    with log.open("w") as output:
        tests = subprocess.Popen(command, stdout=output, stderr=output, cwd=root)
        while tests.poll() is None and time.monotonic() < end:
            time.sleep(0.2)
    finished = tests.poll() is not None
    if not finished:
        tests.kill()
    status = tests.poll() if finished else None
    counts = count_tests(log.read_text(errors="replace").splitlines(), status)
    yield {"finished": finished, "status": status, **counts}


def answer_fault(item: Record) -> Iterator[Record]:
    """Do what must not stop a contact."""
    if item["fault"] == "crash":
        os.abort()
    if item["fault"] == "hang":
        time.sleep(3600)
    raise ValueError(f"a fault called {item['fault']}")


ANSWERS = {
    "device": answer_device,
    "kinds": answer_kind,
    "checks": answer_check,
    "listings": answer_listing,
    "rates": answer_rate,
    "exchange": answer_exchange,
    "probe": answer_probe,
    "peers": answer_peer,
    "peer probe": answer_peer_probe,
    "steps": answer_step,
    "peer steps": answer_step,
    "tests": answer_tests,
}
OWN = ("kinds", "checks", "rates", "steps", "exchange")
THEIRS = ("peers", "peer probe", "peer steps")


def run_child(part: str, options: Record) -> None:
    """Answer the items of a part."""
    options["activities"] = open_activities(options.get("cupti", ""))
    function = ANSWERS[part]

    def answer(item: Record) -> Iterator[Record]:
        return answer_fault(item) if "fault" in item else function(item, options)

    serve(answer, prepare(part, options))


def open_cold(part: str, options: Record) -> None:
    """Have calls timed cold, where activities are told; results say if they cannot be."""
    options |= {"first launch": None, "eviction": None, "cold": {}}
    if not options["activities"] or not options.get("may be cold"):
        return
    from .driver import DriverError, Gpu

    try:
        options["eviction"] = Eviction(Gpu())
        if part == "rates":
            action = options["eviction"].evict
            options["first launch"] = FirstLaunch(options["cupti"], action)
    except (ActivityError, DriverError) as error:
        options["cold"] = {"cold error": first_line(error)}


def prepare(part: str, options: Record) -> Callable[[], bool]:
    """Do what all items need, so that none is charged for it; return what tells of faults."""
    if part in OWN:
        ours_is_well(options["device"])
        open_cold(part, options)
        return lambda: ours_is_well(options["device"])
    if part in ("peers", "peer steps"):
        from . import peers

        peers.set_up("cpu" if options["emulate"] else "cuda", options["lock"])
        peers.is_well()
        open_cold(part, options)
        return peers.is_well
    return lambda: True
