# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tiers of tests: parts, landings, changes and counts, as script/test has them."""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "script"))

import kernel_cover  # noqa: E402
import tiers  # noqa: E402
from checks import changes, landings, results, sections  # noqa: E402
from checks.sections import Plan, Request  # noqa: E402

# --- Landings -----------------------------------------------------------------------------


@pytest.fixture
def history(tmp_path, monkeypatch):
    """A repository; call it to commit files, and to land with a number."""

    def git(*arguments):
        subprocess.run(
            ["git", "-c", "user.name=a", "-c", "user.email=a@b", *arguments],
            cwd=tmp_path,
            check=True,
            capture_output=True,
        )

    def commit(name, text):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
        git("add", name)
        git("commit", "-m", name)
        return landings.git("rev-parse", "HEAD").strip()

    git("init", "-q")
    monkeypatch.setattr(landings, "ROOT", tmp_path)
    return commit


def land(history, number, *, changed=1):
    """Commit some changes, and the number of a landing."""
    for change in range(changed):
        history(f"file{change}", f"{number}")
    return history(landings.FILE, f"{number}\n")


def test_eight_landings_run_every_part(history):
    parts = []
    for number in range(40, 48):
        land(history, number, changed=number % 3 + 1)
        found = landings.read_landings()
        parts.append(landings.find_part(found))
        assert found[0].number == number
    assert sorted(parts) == list(range(1, landings.PARTS + 1))


def test_a_part_is_the_commits_own(history):
    land(history, 7)
    first = landings.find_part(landings.read_landings())
    assert landings.find_part(landings.read_landings()) == first
    assert landings.is_advanced(landings.read_landings())
    # A landing that does not advance the number has another part all the same.
    history("more", "1")
    assert not landings.is_advanced(landings.read_landings())
    assert landings.find_part(landings.read_landings()) == first % landings.PARTS + 1


def test_changes_are_counted_from_the_last_landing(history):
    first = land(history, 1)
    second = land(history, 2)
    # In a tree that lands, and where it ends in a landing.
    found = landings.read_landings()
    assert landings.find_base(found, lands=True) == first
    assert landings.find_base(found, lands=False) == first
    # Work that goes on, and what forgot to advance the number.
    history("work", "1")
    found = landings.read_landings()
    assert landings.find_base(found, lands=False) == second
    assert landings.find_base(found, lands=True) == first
    assert changes.list_changed(second) == {"work"}


def test_new_files_are_changes(history, tmp_path):
    base = land(history, 1)
    (tmp_path / "new").write_text("")
    (tmp_path / "file0").unlink()
    assert changes.list_changed(base) == {"new", "file0"}


def test_changed_tests_are_named(history, tmp_path, monkeypatch):
    monkeypatch.setattr(changes, "ROOT", tmp_path)
    (tmp_path / "test").mkdir()
    kept = "def test_kept():\n    assert 1\n"
    row = "import pytest\n\n@pytest.mark.parametrize('a', [{}])\ndef test_rows(a): pass\n"
    history("test/python/test_a.py", f"{kept}{row.format(1)}def test_gone(): pass\n")
    history("test/python/test_b.py", kept)
    base = history("test/python/test_removed.py", kept)
    (tmp_path / "test/python/test_removed.py").unlink()
    # A comment is no change, a row of parameters is one.
    (tmp_path / "test/python/test_a.py").write_text(f"# Tests\n{kept}{row.format('1, 2')}")
    (tmp_path / "test/python/test_b.py").write_text(f"{kept}def test_new(): pass\n")
    (tmp_path / "test/python/test_c.py").write_text(kept)
    changed = [f"test/python/test_{name}.py" for name in ("a", "b", "c", "removed")]
    named = ["test_a.py::test_rows", "test_b.py::test_new", "test_c.py"]
    assert changes.list_changed_tests(base, [*changed, "test/python/util.py"]) == named
    assert changes.list_changed_tests(None, None) == []


def test_a_shallow_clone_knows_what_it_has(history, tmp_path, monkeypatch):
    for number in (3, 4, 5):
        land(history, number)
    clone = tmp_path / "clone"
    for depth, known in [(1, []), (3, [5])]:
        subprocess.run(
            ["git", "clone", "-q", f"--depth={depth}", f"file://{tmp_path}", clone / str(depth)],
            check=True,
        )
        monkeypatch.setattr(landings, "ROOT", clone / str(depth))
        found = landings.read_landings()
        assert [landing.number for landing in found] == known
        assert landings.find_part(found) == 5 % landings.PARTS + 1
        assert landings.find_base(found, lands=True) is None


def test_without_a_history_all_has_changed(tmp_path, monkeypatch):
    monkeypatch.setattr(landings, "ROOT", tmp_path)
    assert landings.read_landings() == []
    assert landings.find_part([]) == 1
    (tmp_path / ".ci").mkdir()
    (tmp_path / landings.FILE).write_text("10\n")
    assert landings.find_part([]) == 3
    assert landings.find_base([], lands=True) is None
    assert changes.list_changed(None) is None
    assert changes.list_changed("0" * 40) is None
    assert landings.seed() == 0


def test_a_part_names_the_commits_since_it_was_run(history):
    earlier = land(history, 3)
    for number in range(4, 11):
        land(history, number, changed=2)
    land(history, 11)
    said = landings.describe_part(11 % 8 + 1, landings.read_landings())
    assert "landing 3 ran it last" in said
    assert f"23 commits of {earlier[:10]}..HEAD" in said
    assert "no landing" in landings.describe_part(3 % 8 + 2, landings.read_landings()[:2])


# --- Tiers of pytest ----------------------------------------------------------------------


@pytest.mark.parametrize("extents", [(4, 6), (2, 3, 4), (7, 5, 3), (2, 2, 2, 2, 2), (9, 8, 7, 2)])
def test_rows_have_all_values_and_are_few(extents):
    rows = {str(row): row for row in itertools.product(*map(range, extents))}
    taken = [rows[name] for name in tiers.cover_values(rows)]
    for grid, extent in enumerate(extents):
        assert {row[grid] for row in taken} == set(range(extent))
    assert len(set(taken)) == len(taken) == max(extents)


def test_rows_that_the_grid_leaves_out_are_not_asked_for():
    rows = {str(row): row for row in itertools.product(range(4), repeat=3) if row[0] != row[1]}
    taken = [rows[name] for name in tiers.cover_values(rows)]
    for grid in range(3):
        assert {row[grid] for row in taken} == set(range(4))
    assert len(taken) < 8


@pytest.mark.parametrize("extents", [(), (5,)])
def test_one_grid_is_whole(extents):
    rows = {str(row): row for row in itertools.product(*map(range, extents))}
    assert sorted(tiers.cover_values(rows)) == sorted(rows)


TESTS = """
import pytest
from tiers import draws

@pytest.mark.parametrize("a", range(4))
@pytest.mark.parametrize("b,c", [(1, 2), (3, 4), (5, 6)])
@pytest.mark.parametrize("d", range(5))
def test_grid(a, b, c, d): pass

@pytest.mark.parametrize("seed", draws(range(6)))
def test_seeds(seed): pass

@pytest.mark.rest
def test_long(): pass

@pytest.mark.gpu_code
def test_gpu(): pass

def test_plain(): pass
"""


def collect(folder, *options):
    """Return the names of the tests that pytest would run."""
    done = subprocess.run(
        [
            *(sys.executable, "-m", "pytest", "-q", "--collect-only", "-p", "tiers"),
            *("-p", "no:xdist", *options, str(folder)),
        ],
        env={"PYTHONPATH": str(ROOT / "test/python"), "PATH": ""},
        capture_output=True,
        text=True,
        cwd=folder,
        check=False,
    )
    assert done.returncode in (0, 5), done.stdout + done.stderr
    return [line for line in done.stdout.splitlines() if "::" in line]


@pytest.fixture
def files(tmp_path):
    for number in range(12):
        (tmp_path / f"test_file{number}.py").write_text(TESTS)
    return tmp_path


def test_parts_are_all_that_the_first_tier_leaves_out(files):
    everything = collect(files)
    first = collect(files, "--tier=first")
    assert len(everything) == 12 * (60 + 6 + 3)
    assert len(first) == 12 * (5 + 1 + 1)
    rests = [set(collect(files, "--tier=first", f"--part={k}/8")) - set(first) for k in range(1, 9)]
    assert sum(map(len, rests)) == len(everything) - len(first)
    assert set().union(*rests) == set(everything) - set(first)


def test_marks(files):
    names = {name.split("::")[1] for name in collect(files, "--tier=first")}
    assert {"test_plain", "test_seeds[0]"} <= names
    assert not names & {"test_long", "test_gpu", "test_seeds[1]", "test_seeds[5]"}
    with_gpus = {n.split("::")[1] for n in collect(files, "--tier=first", "--gpu-code")}
    assert with_gpus == names | {"test_gpu"}


def test_a_changed_file_is_in_the_first_tier_as_a_whole(files):
    names = collect(files, "--tier=first", "--whole=test_file7.py")
    assert sum(name.startswith("test_file7.py") for name in names) == 69
    others = [name for name in names if not name.startswith("test_file7.py")]
    first = collect(files, "--tier=first")
    assert others == [name for name in first if not name.startswith("test_file7.py")]


def test_a_changed_test_is_in_the_first_tier_with_all_rows(files):
    names = collect(files, "--tier=first", "--whole=test_file7.py::test_grid")
    grid = [name for name in names if name.startswith("test_file7.py::test_grid[")]
    assert len(grid) == 60
    first = collect(files, "--tier=first")
    assert [n for n in names if n not in grid] == [n for n in first if n not in grid]


def test_a_cover_is_the_first_tier(files):
    cover = files / "cover.txt"
    cover.write_text("test_file3.py::test_long\ntest_file4.py::test_gone\n")
    assert collect(files, "--tier=first", f"--cover={cover}") == ["test_file3.py::test_long"]
    assert len(collect(files, f"--cover={cover}")) == 12 * 69


# --- The cover of kernels -----------------------------------------------------------------


def test_the_cover_reaches_all_at_little_time():
    recorded = {
        "slow": {"features": ["a", "b", "c"], "seconds": 100.0},
        "ab": {"features": ["a", "b"], "seconds": 1.0},
        "bc": {"features": ["b", "c"], "seconds": 1.0},
        "d": {"features": ["d"], "seconds": 50.0},
        "none": {"features": [], "seconds": 0.1},
    }
    assert kernel_cover.choose(recorded) == ["ab", "bc", "d"]
    assert kernel_cover.choose({}) == []
    in_order = {"a/test_varying.py::test[1]": {"features": ["e"], "seconds": 1.0}}
    assert kernel_cover.choose(recorded | in_order) == ["ab", "bc", "d"]
    # The quickest comes first, and the others reach all that it does.
    recorded = {
        "first": {"features": ["a", "b"], "seconds": 1.0},
        "second": {"features": ["a", "c"], "seconds": 1.5},
        "third": {"features": ["b", "d"], "seconds": 1.5},
    }
    assert kernel_cover.choose(recorded) == ["second", "third"]


def test_a_list_that_has_grown_old_is_told(tmp_path, monkeypatch, capsys):
    tests = {f"t{i}": {"features": [f"s{i}"], "seconds": 1.0} for i in range(10)}
    (tmp_path / "tests-1.json").write_text(json.dumps(tests))
    monkeypatch.setattr(kernel_cover, "LIST", tmp_path / "list.txt")
    monkeypatch.setattr(sys, "argv", ["kernel_cover.py", str(tmp_path)])
    assert kernel_cover.main() == 0
    assert kernel_cover.LIST.read_text().split() == sorted(tests)
    monkeypatch.setattr(sys, "argv", ["kernel_cover.py", "--check", str(tmp_path)])
    assert kernel_cover.main() == 0
    kernel_cover.LIST.write_text("t1\nt2\n")
    assert kernel_cover.main() == 1
    assert "reaches 2 of 10 frames and operations" in capsys.readouterr().out
    # Tests that are gone, and a run that has recorded nothing.
    kernel_cover.LIST.write_text("".join(f"{name}\n" for name in [*tests, "gone"]))
    assert kernel_cover.main() == 1
    assert "1 of its 11 tests have not run: gone" in capsys.readouterr().out
    kernel_cover.LIST.write_text("".join(f"{name}\n" for name in tests))
    (tmp_path / "tests-1.json").write_text("{}")
    assert kernel_cover.main() == 1


# --- Sections -----------------------------------------------------------------------------


def request_for(*files, part=None):
    return Request(full=False, part=part, changed=frozenset(files))


def test_what_changed_decides_what_is_run(monkeypatch):
    monkeypatch.setattr(sections, "concerns_objects", lambda changed, objects: None)
    plans = {s.name: s.plan(request_for("docs/Spec.md")).extent for s in sections.SECTIONS}
    assert [name for name, extent in plans.items() if extent == "none"] == [
        "interop",
        "poison",
        "tsan",
        "asan",
    ]
    assert plans["devices"] == plans["pytest"] == plans["tidy"] == "first"
    pytest_ = sections.Pytest()
    assert not pytest_.plan(request_for("docs/Spec.md")).has_gpu_code
    assert pytest_.plan(request_for("lib/Runtime/GPU/Gpu.cpp")).has_gpu_code
    for section in sections.SECTIONS:
        assert section.plan(Request(full=True, part=None, changed=frozenset())) == Plan("all")


@pytest.mark.parametrize(
    "file",
    [
        "lib/Conversion/MetaOpToGPU/KernelToGPU.cpp",
        "include/MetaOps/Target/Description/Chip.h",
        "lib/Runtime/Emulator/Worker.cpp",
        "lib/Conversion/NVVMToPTX/PtxEmitter.cpp",
        "lib/Runtime/CUDA/NvJitLink.cpp",
        "lib/Conversion/GPUToNVVM/GPUToNVVM.cpp",
    ],
)
def test_code_of_gpus_is_assembled_for_all_chips(file):
    devices = sections.Devices()
    assert devices.plan(request_for(file)) == Plan("first", f"{file} changed")
    assert devices.list_chips(request_for(file)) == devices.CHIPS


def test_other_code_is_assembled_for_one_chip_but_in_its_part():
    devices, file = sections.Devices(), "lib/Runtime/Queue/Queue.cpp"
    assert devices.list_chips(request_for(file)) == devices.CHIPS[-1:]
    assert devices.list_chips(request_for(file, part=3)) == devices.CHIPS


@pytest.mark.parametrize(
    "section", [sections.Interop(), sections.Poison(), sections.Tsan(), sections.Asan()]
)
def test_landings_have_what_needs_a_build_of_its_own_in_turn(section, monkeypatch):
    monkeypatch.setattr(sections, "concerns_objects", lambda changed, objects: None)
    changed = frozenset(["script/checks/sections.py"])
    for part in range(1, landings.PARTS + 1):
        plan = section.plan(Request(full=False, part=part, changed=changed, lands=True))
        assert plan.extent == ("all" if part == section.part else "none")
    assert section.plan(Request(full=False, part=None, changed=changed)).extent == "all"


def test_sections_left_out_have_a_part_each():
    parts = [s.part for s in sections.SECTIONS if isinstance(s, sections.ByChange)]
    assert len(set(parts)) == len(parts) == 5
    for section in sections.SECTIONS:
        if isinstance(section, sections.ByChange):
            plan = section.plan(request_for("LICENSE", part=section.part))
            assert plan == Plan("all", f"part {section.part}")


@pytest.mark.skipif(not changes.BUILD.joinpath("build.ninja").exists(), reason="needs the build")
def test_headers_concern_the_objects_that_include_them():
    header = "include/MetaOps/Runtime/Queue/Queue.h"
    assert changes.concerns_objects([header], r"^lib/Runtime/") == header
    assert changes.concerns_objects([header], r"^lib/Transforms/") is None
    tables = "include/MetaOps/Dialect/MetaOp/IR/LeafOps.td"
    assert changes.concerns_objects([tables], r"^lib/Transforms/") == tables


@pytest.mark.parametrize(
    "file",
    [
        "lib/Runtime/Queue/Queue.cpp",
        "include/MetaOps/Runtime/Queue/Queue.h",
        "lib/Runtime/CMakeLists.txt",
        "CMakePresets.json",
        "tools/metaop-run/metaop-run.cpp",
        "test/Fuzz/copysign-of-bf16.mlir",
        "test/Kernels/softmax.mlir.loops",
        "test/python/gpu_schedules.py",
        "test/python/random_control_flow.py",
        "test/python/test_schedule_fuzz.py",
    ],
)
def test_what_is_built_or_run_under_the_sanitizers_is_so_when_it_changed(file):
    assert sections.Asan().plan(request_for(file)) == Plan("all", f"{file} changed")


@pytest.mark.parametrize(
    "file", ["test/counts.json", "test/README.md", "python/metaops/ops/index/at.py", "docs/Spec.md"]
)
def test_what_is_not_is_not(file):
    assert sections.Asan().plan(request_for(file)).extent == "none"


# --- Results ------------------------------------------------------------------------------

SUITES = """<testsuites>
<testsuite name="a" tests="90" failures="0" skipped="3"/>
<testsuite name="b" tests="13" disabled="1"/>
</testsuites>"""


def test_results_are_added_up(tmp_path):
    (tmp_path / "a.xml").write_text(SUITES)
    (tmp_path / "b.xml").write_text('<testsuite tests="1" skipped="0"/>')
    assert str(results.read_results(tmp_path)) == "100 tests, 4 skipped"


def test_what_a_first_tier_leaves_is_counted_too(tmp_path):
    (tmp_path / "a.xml").write_text('<testsuite tests="100" skipped="0"/>')
    (tmp_path / results.TALLY).write_text('{"added": 30, "left": 5}')
    read = results.read_results(tmp_path)
    assert results.count_tiers("pytest first", read) == {"pytest first": 70, "pytest all": 105}
    assert results.count_tiers("lit all", results.Results(run=3)) == {"lit all": 3}


def test_a_tier_tells_what_it_leaves(tmp_path):
    """Of a test of eight rows, two have all values; another file has one that is skipped."""
    (tmp_path / "conftest.py").write_text("pytest_plugins = ['tiers']\n")
    grids = "".join(f"@pytest.mark.parametrize('{name}', [0, 1])\n" for name in "abc")
    (tmp_path / "test_a.py").write_text(f"import pytest\n{grids}def test(a, b, c): pass\n")
    skipped = "@pytest.mark.skip\n@pytest.mark.rest\ndef test(): pass\n"
    (tmp_path / "test_b.py").write_text(f"import pytest\n{skipped}")

    def tally(*options):
        file = tmp_path / "tally.json"
        command = [sys.executable, "-m", "pytest", "-q", "--tier=first", f"--tally={file}"]
        environment = os.environ | {"PYTHONPATH": str(ROOT / "test/python")}
        subprocess.run([*command, *options], cwd=tmp_path, env=environment, check=True)
        return json.loads(file.read_text())

    assert tally() == {"added": 0, "left": 6}
    assert tally("--whole=test_a.py") == {"added": 6, "left": 0}


def test_an_empty_section_is_told():
    counts = results.read_counts()
    for section in sections.SECTIONS:
        assert not section.has_tests or f"{section.name} all" in counts
    assert {"pytest first", "pytest first, code of GPUs", "devices first"} <= counts.keys()
    for name, count in counts.items():
        assert count > 0
        assert results.judge(name, count, count) is None
        for few in (0, count * 9 // 10):
            said = results.judge(name, few, count)
            assert said.startswith(f"'{name}' has {few:,} tests, and {count:,} were expected. If")
    (missing,) = results.find_mismatches("new all", results.Results(run=3))
    assert "has no number" in missing


@pytest.mark.parametrize("expected, most", [(20, 30), (1000, 1030)])
def test_a_number_that_is_too_old_is_told(expected, most):
    assert results.judge("lit all", most, expected) is None
    assert "too old" in results.judge("lit all", most + 1, expected)


def test_numbers_are_compared_and_written(tmp_path, monkeypatch):
    monkeypatch.setattr(results, "ROOT", tmp_path)
    monkeypatch.setattr(results, "FILE", tmp_path / "counts.json")
    first = results.Results(run=100, left=400)
    results.write_counts("pytest first", first)
    assert results.read_counts() == {"pytest all": 500, "pytest first": 100}
    assert not results.find_mismatches("pytest first", first)
    # The tier runs as much as before, and leaves more.
    (grown,) = results.find_mismatches("pytest first", results.Results(run=100, left=500))
    assert grown.startswith("'pytest all' has 600 tests")
