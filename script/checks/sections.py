# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sections of script/test: what each runs, in which tier, and after which changes."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from checks.changes import concerns_objects, matches
from checks.comments import find_comment_faults
from checks.landings import PARTS, ROOT, seed
from checks.layers import find_faults
from checks.results import TALLY

PYTHON = ROOT / ".venv/bin/python"
RESULTS = ROOT / "build/results"
LIT = "/usr/lib/llvm-22/bin/lit"
#: Folder of assembled kernels, for all checkouts.
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")


@dataclass(frozen=True)
class Request:
    """What a call of script/test asks for."""

    #: Everything, in place of the first tier.
    full: bool
    #: The part of what the first tier leaves out that is run beside it, or None.
    part: int | None
    #: Files that differ from the last landing's; None for all.
    changed: frozenset[str] | None
    #: Python tests that do, by name.
    changed_tests: Sequence[str] = ()
    #: It is what a landing runs.
    lands: bool = False


@dataclass(frozen=True)
class Plan:
    """What a section does in a run."""

    #: "all", "first", or "none"; "first" is with the part, if there is one.
    extent: str
    #: The cause of that, for the summary.
    why: str = ""
    #: Code of GPUs is concerned, which adds tests to the first tier of pytest.
    has_gpu_code: bool = False


class Section:
    """A section of the checks. Its tests write results into a folder of its own."""

    name: str
    #: A build it needs; it is not run where that failed.
    needs_build = True
    #: Its tests are counted.
    has_tests = False

    def plan(self, request: Request) -> Plan:
        """Return what is run at a request."""
        return Plan("all")

    def run(self, request: Request, plan: Plan) -> bool:
        """Run it; return whether all of it passed."""
        raise NotImplementedError

    @property
    def results(self) -> Path:
        """The folder of its results."""
        return RESULTS / self.name


def call(*command: str | Path, **environment: str) -> bool:
    """Run a command in the root; return whether it passed."""
    done = subprocess.run(
        [str(word) for word in command], cwd=ROOT, env=os.environ | environment, check=False
    )
    return done.returncode == 0


# --- Always -------------------------------------------------------------------------------


class Command(Section):
    """A command that is run at each request."""

    def __init__(self, name: str, *command: str | Path, needs_build: bool = False) -> None:
        self.name, self.command, self.needs_build = name, command, needs_build

    def run(self, request: Request, plan: Plan) -> bool:
        return call(*self.command)


class Layering(Section):
    """The order of the folders of lib/, by what they include and link."""

    name = "layers"

    def run(self, request: Request, plan: Plan) -> bool:
        faults = find_faults()
        print("\n".join(faults))
        return not faults


class Comments(Section):
    """Openings of comments."""

    name = "comments"

    def run(self, request: Request, plan: Plan) -> bool:
        faults = find_comment_faults(request.changed)
        print("\n".join(faults))
        return not faults


#: Processors that this process may use.
JOBS = str(len(os.sched_getaffinity(0)))


def run_ctest(preset: str, results: Path, **environment: str) -> bool:
    """Run GoogleTest's programs of a preset."""
    output = f"xml:{results}/"
    return call("ctest", "--preset", preset, "-j", JOBS, GTEST_OUTPUT=output, **environment)


def run_lit(preset: str, results: Path, **environment: str) -> bool:
    """Run the lit tests with the tools of a preset."""
    output = f"--xunit-xml-output={results}/lit.xml"
    return call(LIT, "-sv", "--no-progress-bar", output, f"build/{preset}/test", **environment)


class Unit(Section):
    name, has_tests = "unit", True

    def run(self, request: Request, plan: Plan) -> bool:
        return run_ctest("release", self.results)


class Lit(Section):
    name, has_tests = "lit", True

    def run(self, request: Request, plan: Plan) -> bool:
        return run_lit("release", self.results)


# --- In tiers -----------------------------------------------------------------------------


def run_pytest(results: Path, *arguments: str | Path, **environment: str) -> bool:
    """Run Python tests, in a process per processor, which takes file after file.

    What tests of a file share, they share here, too. In alphabetical order, for the last
    ones are short. A process that crashes ends the section: where no file is left, xdist
    would wait for ever for another one.
    """
    return call(
        *(PYTHON, "-m", "pytest", "-q", "-n", JOBS, "--dist", "loadfile"),
        *("--no-loadscope-reorder", "--max-worker-restart=0"),
        f"--junitxml={results}/pytest{len(list(results.glob('pytest*')))}.xml",
        f"--tally={results}/{TALLY}",
        *arguments,
        **environment,
    )


#: Random programs for metaop-opt and metaop-run: they are for the sanitizers.
FUZZERS = [
    f"test/python/test_{name}.py"
    for name in ("contraction_fuzz", "control_flow", "gpu_schedule_fuzz", "schedule_fuzz")
]


def select_tier(request: Request, plan: Plan) -> list[str]:
    """Return the options of pytest for a tier."""
    if plan.extent == "all":
        return ["--tier=all"]
    options = ["--tier=first"]
    if request.part:
        options.append(f"--part={request.part}/{PARTS}")
    return options


#: Sources of the compiler and the runtime that only GPUs have.
GPU_CODE = (
    r"^(include|lib|unittests)/.*(GPU|Gpu|gpu|CUDA|Emulator|Emulated|NVVM|Ptx|PTX|Description/C(hip|ard))"
    r"|^bench/gpu_"
)


class Pytest(Section):
    name, has_tests = "pytest", True

    def plan(self, request: Request) -> Plan:
        if request.full:
            return Plan("all")
        if request.changed is None:
            return Plan("first", "nothing is known of what changed", has_gpu_code=True)
        if code := matches(GPU_CODE, request.changed):
            return Plan("first", f"{code[0]} changed", has_gpu_code=True)
        return Plan("first", "none of code of GPUs")

    def run(self, request: Request, plan: Plan) -> bool:
        options = [*select_tier(request, plan), *(f"--ignore={file}" for file in FUZZERS)]
        # Of a test that has changed no row waits for its turn.
        options += [f"--whole={name}" for name in request.changed_tests]
        if plan.has_gpu_code:
            options.append("--gpu-code")
        return run_pytest(self.results, *options, "test/python")


#: Chooses the tests of the first tier of `devices`.
COVER = ROOT / "test/python/kernel_cover.py"


class Devices(Section):
    """The Python tests on a device that is not the first.

    Its memory the host does not look into: it is an emulated GPU, which tells itself what
    reads memory that nobody wrote. Each kernel is assembled, as well; where no code of GPUs
    has changed, for one chip. The first tier has the fewest tests that reach every kernel
    (test/python/kernel_cover.py).
    """

    name, has_tests = "devices", True
    CHIPS = ("sm_80", "sm_90a")
    #: Files that have nothing to do with devices, are about code of processors alone, or
    #: name GPUs themselves, in this order. All are in pytest, random programs in asan.
    LEFT_OUT = (
        *("bench_report", "bench_run", "calls", "coverage", "docs", "docs_claims", "guides"),
        *("imports", "listings", "names", "schedulers", "stubs", "tiers", "wrong_calls"),
        *("comments", "first_use", "layers", "rooms"),
        *("code_size", "export", "kernel_listings", "object_files", "tune"),
        *("gpu_audit", "gpu_contact", "gpu_programs"),
    )

    def plan(self, request: Request) -> Plan:
        if request.full:
            return Plan("all")
        if request.changed is None:
            return Plan("first", "nothing is known of what changed")
        if code := matches(GPU_CODE, request.changed):
            return Plan("first", f"{code[0]} changed")
        return Plan("first", "no code of GPUs changed")

    def list_chips(self, request: Request) -> Sequence[str]:
        """Return the chips that kernels are assembled for: all, if something is about them."""
        concerns = request.changed is None or matches(GPU_CODE, request.changed)
        return self.CHIPS if request.full or request.part or concerns else self.CHIPS[-1:]

    def run(self, request: Request, plan: Plan) -> bool:
        files = [f"test/python/test_{name}.py" for name in self.LEFT_OUT] + FUZZERS
        records = self.results / "kernels"
        records.mkdir()
        good = run_pytest(
            self.results,
            f"--device=emulator:{self.CHIPS[-1]}",
            f"--cover={COVER.with_suffix('.txt')}",
            *select_tier(request, plan),
            *[f"--ignore={file}" for file in files],
            "test/python",
            MALLOC_PERTURB_="0",
            METAOPS_EMULATOR_ASSEMBLES=os.environ.get(
                "METAOPS_EMULATOR_ASSEMBLES", ",".join(self.list_chips(request))
            ),
            METAOPS_EMULATOR_CUBINS=str(CACHE / "metaops-cubins"),
            METAOPS_TEST_RECORDS=str(records),
        )
        # Only all tests tell what those of the first tier do not reach.
        is_covered = call(PYTHON, COVER, "--check", records)
        return good and (is_covered or plan.extent != "all")


# --- By what changed ----------------------------------------------------------------------


#: Files that decide how anything is built.
BUILD_FILES = r"(^|/)CMakeLists\.txt$|^(CMakePresets|cmake/|script/(bootstrap|checks/|test$))"


class ByChange(Section):
    """A section that is run where something that it is about has changed, or in its part."""

    #: The part of the other tier in which it is run anyway.
    part: int

    #: Patterns of the files that it is about, and of objects, with all that these include.
    files: str | None = None
    objects: str | None = None

    def find_cause(self, changed: frozenset[str]) -> str | None:
        """Return a changed file that the section is about, if there is one."""
        patterns = [self.files, BUILD_FILES] if self.files else [BUILD_FILES]
        for pattern in patterns:
            if found := matches(pattern, changed):
                return found[0]
        return concerns_objects(changed, self.objects) if self.objects else None

    def plan(self, request: Request) -> Plan:
        if request.full:
            return Plan("all")
        if request.changed is None:
            return Plan("all", "nothing is known of what changed")
        if cause := self.find_cause(request.changed):
            return Plan("all", f"{cause} changed")
        if request.part == self.part:
            return Plan("all", f"part {self.part}")
        return Plan("none", f"nothing changed that it is about; see part {self.part}")


class InTurn(ByChange):
    """A section that landings run in its part alone: it has a build, packages or a mode of its own.

    A landing has so many commits that nearly always one of them concerns it.
    """

    def plan(self, request: Request) -> Plan:
        if request.lands and request.part != self.part:
            return Plan("none", f"landings have it in part {self.part}")
        return super().plan(request)


class Website(ByChange):
    """The website, from the documents and from docstrings; each warning is an error."""

    name, part = "website", 1
    files = r"^(docs/|python/|script/website|[^/]*\.md$)|(^|/)README\.md$|\.svg$"

    def run(self, request: Request, plan: Plan) -> bool:
        return call("script/website")


class Interop(InTurn):
    """Tensors to and from PyTorch and JAX, which .venv does not have.

    Also the guides' programs for these, and the bench beside them: the tests that pytest
    skips. None may be skipped here.
    """

    name, has_tests, part = "interop", True, 2
    files = (
        r"^(bench/|docs/From|python/requirements"
        r"|test/python/(conftest|exchanged|util|test_(exchange_with_peers|bench_run|guides))"
        r"|python/metaops/(compat/|__init__|_exports|_rooms|_session))"
    )
    objects = r"bindings/(Exchange|DLPack)"

    def run(self, request: Request, plan: Plan) -> bool:
        tests = [
            f"test/python/test_{name}.py" for name in ("exchange_with_peers", "bench_run", "guides")
        ]
        return call("script/bootstrap", "--peers") and call(
            *(ROOT / ".venv-bench/bin/python", "-m", "pytest", "-q", "--tier=all"),
            *("-k", "torch or jax or bench", f"--junitxml={self.results}/pytest.xml", *tests),
            METAOPS_TEST_PEERS="1",
            PYTHONPATH="build/release/python",
        )


class Poison(InTurn):
    """Tests of what a session keeps, and writes over, with memory that is poisoned.

    Numbers that come of memory which should not be read are NaNs then
    (docs/Environment.md).
    """

    name, has_tests, part = "poison", True, 7
    TESTS = (
        *("people", "former_values", "history", "history_bound", "loops", "loop_histories"),
        *("laziness", "training", "jit_donate", "jit_training", "recorded_calls", "checks"),
        *("repeated_updates", "memory", "optim", "optimisers", "session", "stress", "inplace"),
        *("random_graphs", "session_fuzz"),
    )
    files = r"^python/metaops/optim/|^test/python/(people_loops/|random_(graphs|sessions))"
    objects = (
        r"^lib/Runtime/(Graph|Recording|Programs|Plan|Run|Session|Report|Memory|Program|Queue)/"
    )

    def run(self, request: Request, plan: Plan) -> bool:
        tests = [f"test/python/test_{name}.py" for name in self.TESTS]
        return run_pytest(self.results, "--tier=all", *tests, METAOPS_POISON="1")


def build_preset(preset: str) -> bool:
    """Configure and build a preset; what that prints is shown where it fails."""
    log = ROOT / f"build/{preset}.log"
    with log.open("w") as output:
        for command in (["cmake", "--preset", preset], ["cmake", "--build", "--preset", preset]):
            done = subprocess.run(command, cwd=ROOT, stdout=output, stderr=output, check=False)
            if done.returncode:
                break
    if done.returncode:
        print("".join(log.read_text().splitlines(keepends=True)[-30:]), end="", flush=True)
    return done.returncode == 0


def build_target(preset: str, target: str) -> bool:
    """Build what a preset does not build by itself."""
    return call("cmake", "--build", f"build/{preset}", "--target", target)


class Tsan(InTurn):
    """Unit tests of the runtime, of GPUs and the emulator under ThreadSanitizer.

    The runtime is built anew for it; what it links of the compiler is the release build's.
    """

    name, has_tests, part = "tsan", True, 4
    PROGRAMS = ("Execute", "Runtime", "CUDA", "Emulator")
    objects = r"^(lib/Runtime|unittests/(Runtime|CUDA|Emulator))/"

    def run(self, request: Request, plan: Plan) -> bool:
        if not build_preset("tsan"):
            return False
        # A test starts threads in a forked child, which the sanitizer would refuse;
        # another one asks for more memory than there is.
        options = "die_after_fork=0 halt_on_error=0 allocator_may_return_null=1"
        return all(
            call(
                f"build/tsan/bin/MetaOps{program}Tests",
                "--gtest_brief=1",
                f"--gtest_output=xml:{self.results}/{program}.xml",
                TSAN_OPTIONS=options,
                METAOPS_TEST_MUTANTS="200",
            )
            for program in self.PROGRAMS
        )


class Asan(InTurn):
    """All C++ with assertions, under AddressSanitizer and UndefinedBehaviorSanitizer.

    That is unit tests, lit, and the Python tests that give random programs and schedules
    to metaop-opt and metaop-run, other ones for each commit.
    """

    name, has_tests, part = "asan", True, 6
    #: Sources, lit's tests, the random programs' and what makes these.
    files = (
        r"^(include|lib|tools|unittests)/|\.cpp$|^test/(?!python/).*\.(mlir|loops|py|in)$"
        rf"|^test/python/(random_|gpu_schedules)|^({'|'.join(FUZZERS)})$"
    )

    def run(self, request: Request, plan: Plan) -> bool:
        is_whole = request.full or request.part == self.part
        if not build_preset("asan") or (is_whole and not build_target("asan", "metaop-fuzz")):
            return False
        # LLVM's allocators mark memory as unused, but not in a libLLVM that was built
        # without.
        options = {"ASAN_OPTIONS": "allow_user_poisoning=0 allocator_may_return_null=1"}
        # The fixed seeds are those that were looked at, so more is asked of them.
        seeds = [str(seed()), "0"] if is_whole else [str(seed())]
        print(f"random programs: METAOPS_FUZZ_SEED={', '.join(seeds)}", flush=True)
        return (
            run_ctest("asan", self.results, METAOPS_TEST_MUTANTS="2000", **options)
            and run_lit("asan", self.results, **options)
            and all(
                run_pytest(
                    self.results,
                    "--tier=all",
                    "--dist=load",
                    *FUZZERS,
                    METAOPS_TOOLS=str(ROOT / "build/asan/bin"),
                    METAOPS_FUZZ_SEED=first,
                    **options,
                )
                for first in seeds
            )
        )


class Tidy(Section):
    """clang-tidy, on sources that have not passed it as they are now.

    The first tier has those that have changed and, until each header that has changed is
    read, sources that read it; a part has its share of the others.
    """

    name = "tidy"

    def plan(self, request: Request) -> Plan:
        if request.full or request.changed is None:
            return Plan("all", "" if request.full else "nothing is known of what changed")
        return Plan("first", "what changed, and a reader of each header")

    def run(self, request: Request, plan: Plan) -> bool:
        if plan.extent == "all" or request.changed is None:
            return call("script/tidy")
        # Landings leave out sources that, with their headers, an earlier one had.
        part = [f"--part={request.part}/{PARTS}"] if request.part and not request.lands else []
        listing = RESULTS / "changed.txt"
        listing.write_text("".join(f"{file}\n" for file in sorted(request.changed)))
        return call("script/tidy", f"--reading={listing}", *part)


SECTIONS: list[Section] = [
    Command("build", "script/bootstrap"),
    Command("format", "script/format", "--check"),
    Command("docs", "script/docs", "--check"),
    Layering(),
    Comments(),
    Command("mypy", PYTHON, "-m", "mypy"),
    Tidy(),
    Unit(),
    Lit(),
    Pytest(),
    Devices(),
    Website(),
    Interop(),
    Poison(),
    Tsan(),
    Asan(),
]
