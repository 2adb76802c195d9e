# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the documents say of names, options, scripts and sources is so."""

from __future__ import annotations

import inspect
import math
import os
import re
import subprocess
import sys
from pathlib import Path

import metaops as mo
import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "script"), str(ROOT / "bench")]

import front_page  # noqa: E402
import gpu_audit  # noqa: E402
import kept  # noqa: E402
import results_page  # noqa: E402
from checks.sections import SECTIONS  # noqa: E402
from workloads import select  # noqa: E402

PAGES = {
    str(path.relative_to(ROOT)): path.read_text()
    for path in [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), ROOT / "test" / "README.md"]
}
#: Pages that are written from the passes' own descriptions.
GENERATED = ("docs/Dialect.md", "docs/Passes.md")


def section(page: str, title: str) -> str:
    """Return the part of a page below a heading, up to the next heading."""
    (text,) = re.findall(rf"^##+ {re.escape(title)}\n(.*?)(?=^##|\Z)", PAGES[page], re.S | re.M)
    return text


def first_cells(text: str) -> list[str]:
    """Return the code in the first cell of each line of tables."""
    cells = re.findall(r"^\| *(`[^|]*?) *\|", text, re.M)
    return [name for cell in cells for name in re.findall(r"`([^`]*)`", cell)]


def read(folder: str, pattern: str) -> str:
    """Return the contents of all files of a folder that match."""
    return "\n".join(path.read_text() for path in sorted((ROOT / folder).rglob(pattern)))


# Numbers


def test_pages_of_results_are_written_from_the_files() -> None:
    assert PAGES["docs/Results.md"] == results_page.page(), "run script/bench results"
    page = gpu_audit.page(kept.read(gpu_audit.LINES))
    assert PAGES["docs/GpuAudit.md"] == page, "run script/bench gpu-audit --page"


def test_numbers_and_charts_are_written_from_the_files() -> None:
    readme = PAGES["README.md"]
    assert front_page.write_numbers() in readme, "run script/bench results"
    assert readme == front_page.write_page(readme)
    kept_charts = {path.name: path.read_text() for path in front_page.CHARTS.glob("*.svg")}
    assert kept_charts == front_page.draw_charts(), "run script/bench results"


def test_every_document_is_in_the_index() -> None:
    """Each is, once, in a group of docs/README.md, from which the website has its contents."""
    listed = re.findall(r"^\| \[[^\]]*\]\(([^)]*)\)", PAGES["docs/README.md"], re.M)
    assert len(listed) == len(set(listed))
    pages = {path.name for path in (ROOT / "docs").glob("*.md")} - {"README.md"}
    assert pages <= set(listed), pages - set(listed)


# Names


def same_name(x: mo.Var, pair: mo.Var) -> dict[str, bool]:
    """Return whether each line about names of two meanings is so, by what it begins with."""
    empty, matrix = mo.zeros(0), mo.ones((2, 3))
    middle = mo.quantile(x, 0.5, method="lower")
    return {
        "x.size": pair.size == 4 and pair.shape == (2, 2),
        "x.transpose(1, 2, 0)": mo.ones((2, 3, 4)).transpose(1, 2, 0).shape == (3, 4, 2),
        "x.repeat(2, 1)": pair.repeat(2, 1).tolist() == [[4, 4, 1, 1], [3, 3, 2, 2]]
        and pair.tile((2, 1)).shape == (4, 2),
        "x.split(3)": [part.size for part in mo.arange(9).split(3)] == [3, 3, 3]
        and [part.size for part in mo.arange(8).split(range(3, 8, 3))] == [3, 3, 2],
        "x.split([2, 5])": [part.size for part in mo.arange(9).split([2, 5])] == [2, 3, 4],
        "x.max(0)": pair.max(0).tolist() == [4, 2] and pair.argmax(0).tolist() == [0, 1],
        "mo.max(x, y)": mo.maximum(x, 2.5).tolist() == [4, 2.5, 3, 2.5],
        "mo.zeros(0).max()": empty.max().item() == -math.inf
        and empty.min().item() == math.inf
        and mo.zeros(0, dtype="int8").max().item() == -128,
        "x.var()": x.var().item() == 1.25 and abs(x.var(correction=1).item() - 5 / 3) < 1e-6,
        "mo.var(x, 0, True)": mo.var(matrix, 0, True).shape == (1, 3),
        "mo.median(x)": mo.median(x).item() == 2.5
        and middle.item() == mo.kthvalue(x, 2, 0).values.item() == 2,
        "mo.equal(x, y)": mo.equal(x, x).shape == (4,) and mo.array_equal(x, x).item() is True,
        "x.sort(0)": x.sort(0).tolist() == [1, 2, 3, 4] and x.argsort(0).tolist() == [1, 3, 2, 0],
        "mo.nonzero(x)": [i.tolist() for i in mo.nonzero(pair > 2)] == [[0, 1], [0, 0]]
        and mo.argwhere(pair > 2).tolist() == [[0, 0], [1, 0]],
        "x.cumsum()": pair.cumsum().tolist() == [4, 5, 8, 10],
        "mo.take_along_axis(x, i)": mo.take_along_axis(pair, mo.array([[1], [0]])).tolist()
        == [[1], [3]]
        and mo.take_along_axis(pair, [3, 0], None).tolist() == [2, 4],
        "mo.one_hot(labels, n)": mo.one_hot([1], 2).dtype == "float32"
        and mo.one_hot([1], 2, dtype="int64").dtype == "int64",
        "mo.dot(a, b)": mo.dot(pair, pair).shape == (2, 2),
        "x.squeeze(0)": matrix.unsqueeze(0).squeeze(0).shape == (2, 3),
        "mo.flip(x)": mo.flip(pair).tolist() == [[2, 3], [1, 4]],
        "mo.gather(x, d, i)": mo.gather(pair[:1], 1, [[1]]).tolist() == [[1]],
        "mo.meshgrid(a, b)": mo.meshgrid(mo.arange(2), mo.arange(3))[0].shape == (3, 2),
        "mo.tril_indices(3, 0, 4)": len(mo.tril_indices(3, 0, 4)) == 2,
    }


def test_names_of_two_meanings() -> None:
    x = mo.array([4.0, 1.0, 3.0, 2.0])
    checks = same_name(x, x.reshape(2, 2))
    rows = re.findall(r"^\| `([^`]*)`", section("docs/Names.md", "Same name, other meaning"), re.M)
    assert sorted(rows) == sorted(checks)
    assert not [row for row, is_so in checks.items() if not is_so]
    for wrong in (lambda: mo.ones((2, 3)).squeeze(0), lambda: mo.gather(mo.ones((2, 2)), 1, [[1]])):
        with pytest.raises(ValueError, match=r"extent|shape"):
            wrong()


def test_what_is_said_to_be_missing_is_missing() -> None:
    text = " ".join(section("docs/Names.md", "Layers").split())
    (layers,) = re.findall(r"Layers that are not there: (.*?)\.", text)
    (optimisers,) = re.findall(r"Optimisers that are not there: (.*?)\.", text)
    absent = {mo.nn: re.findall(r"`(\w+)`", layers), mo.optim: re.findall(r"`(\w+)`", optimisers)}
    for module, names in absent.items():
        assert names
        for name in names:
            assert not hasattr(module, name), f"docs/Names.md: {name} is there"
            assert f"`{name}`" in PAGES["docs/Coverage.md"]


def is_of_var(name: str) -> bool:
    """Return whether Vars have an attribute, also one that is no public spelling."""
    return inspect.getattr_static(mo.Var, name, None) is not None


def test_what_is_named_as_ours_is_there() -> None:
    text = PAGES["docs/Names.md"]
    names = set(re.findall(r"`x\.(\w+)", text)) - {"backward", "grad", "requires_grad"}
    assert len(names) > 20
    for name in sorted(names):
        assert is_of_var(name), f"docs/Names.md: a Var has no {name}"
    for page in ("docs/FromPyTorch.md", "docs/FromJax.md"):
        for row in re.findall(r"^\| `[^|]*\| ([^|]*) \|$", PAGES[page], re.M):
            for name in re.findall(r"`x\.(\w+)", row):
                assert is_of_var(name), f"{page}: a Var has no {name}"


def test_each_device_is_in_the_table() -> None:
    kinds = {name.split(":")[0] for name in first_cells(PAGES["docs/Devices.md"])}
    # A GPU is a device where there is one.
    assert kinds == {"cuda", *(name.split(":")[0] for name in mo.devices())}
    for name in re.findall(r"`((?:cpu|cuda|emulator|interpreter):\w+)`", "".join(PAGES.values())):
        assert name in mo.devices() or name.startswith("cuda:")


# Options


def test_flags_and_variables_are_those_that_exist() -> None:
    text = section("docs/Environment.md", "At run time")
    listed = set(first_cells(text))
    flags = {name for name in listed if name.islower()}
    assert flags == set(mo._core.flag_names())
    for page, contents in PAGES.items():
        for name in re.findall(r"\bmo\.flags\.(\w+)", contents):
            assert name in flags, f"{page}: there is no flag {name}"
        for call in re.findall(r"\bflag_scope\(([^)]*)\)", contents):
            for name in re.findall(r"(\w+)=", call):
                assert name in flags, f"{page}: there is no flag {name}"
    sources = read("python", "*.py") + read("python", "*.cpp") + read("lib", "*.cpp")
    for name in listed - flags:
        assert f'"{name}"' in sources, f"docs/Environment.md: nothing reads {name}"


def test_variables_and_options_of_cmake_exist() -> None:
    known = "".join(read(folder, "*.h") + read(folder, "*.cpp") for folder in ("include", "lib"))
    known += read("python", "*.py") + read("python", "*.cpp") + read("cmake", "*")
    known += read("test/python", "*.py") + read("script/checks", "*.py")
    known += (ROOT / "CMakeLists.txt").read_text()
    for page, contents in PAGES.items():
        for name in sorted(set(re.findall(r"\bMETAOPS_[A-Z_]+\b", contents))):
            assert re.search(rf"\b{name}\b", known), f"{page}: there is no {name}"


def test_options_of_the_pipeline_are_those_that_exist() -> None:
    source = (ROOT / "lib/Pipelines/Registration.cpp").read_text()
    options = re.findall(r'\*this,\s*"([\w-]+)"', source)
    assert sorted(first_cells(section("docs/Architecture.md", "Phases"))) == sorted(options)


def pass_options() -> dict[str, set[str]]:
    """Return the options of each pass, and of the pipeline."""
    page = PAGES["docs/Passes.md"]
    parts = re.split(r"^### `-([\w-]+)`$", page, flags=re.M)[1:]
    options = {
        name: set(re.findall(r"^-([\w-]+) +:", text, re.M))
        for name, text in zip(parts[::2], parts[1::2], strict=True)
    }
    source = (ROOT / "lib/Pipelines/Registration.cpp").read_text()
    options["metaop-pipeline"] = set(re.findall(r'\*this,\s*"([\w-]+)"', source))
    return options


def test_options_of_passes_exist() -> None:
    options = pass_options()
    assert "report" in options["metaop-plan-memory"]
    found = 0
    for page, text in PAGES.items():
        if page in GENERATED:
            continue
        for name, given in re.findall(
            r"--?((?:metaop|convert)-[a-z-]*[a-z])=(\"[^\"]*\"|[^\s`]+)", text
        ):
            # What is inside of braces are an option's own parts.
            for option in re.findall(r"([\w-]+)=", re.sub(r"=\{[^}]*\}", "=", given.strip('"'))):
                # processor=vector-bits=256
                if option in ("vector-bits", "registers", "l1", "l2", "stream", "fma"):
                    continue
                assert option in options[name], f"{page}: {name} has no option {option}"
                found += 1
    assert found > 10


#: Options of metaop-opt that MLIR brings.
OF_MLIR = {"canonicalize", "cse", "split-input-file"}
TOOLS = ("metaop-compile", "metaop-fuzz", "metaop-opt", "metaop-run", "metaop-translate")


def code_lines(text: str) -> list[str]:
    """Return the lines of blocks of a shell, continued ones joined, and code in lines."""
    blocks = re.findall(r"^```sh\n(.*?)^```$", text, re.S | re.M)
    lines = "".join(blocks).replace("\\\n", " ").splitlines()
    plain = re.sub(r"^```.*?^```$", "", text, flags=re.S | re.M)
    # A command may be broken by the end of a line.
    inline = [" ".join(code.split()) for code in re.findall(r"`([^`]+)`", plain)]
    return [line.split(" #")[0] for line in [*lines, *inline]]


@pytest.mark.parametrize("tool", TOOLS)
def test_options_of_tools_exist(tool: str) -> None:
    source = read(f"tools/{tool}", "*.cpp")
    known = set(re.findall(r'"([a-z][\w-]*)"', source)) | {"o"}
    if tool == "metaop-opt":
        known |= {*pass_options(), *OF_MLIR}
    if tool == "metaop-translate":
        known |= {"split-input-file", "output-split-marker"}
    for page, text in PAGES.items():
        for line in code_lines(text):
            command = re.match(rf"(?:\S*/)?{tool} (.*)", line)
            # Another program may follow.
            words = re.split(r" [|&;]", command[1])[0].split() if command else []
            for option in re.findall(r"^--?([\w-]+)", "\n".join(words), re.M):
                assert option in known, f"{page}: {tool} has no option {option}"


# Scripts


def uses() -> list[tuple[str, str, list[str]]]:
    """Return page, script and words behind it of each command in the documents."""
    found = []
    for page, text in PAGES.items():
        for line in code_lines(text):
            for name, rest in re.findall(r"(?:^|\s)script/([\w-]+)([^|&;()]*)", line):
                found.append((page, name, rest.split()))
    return found


def test_scripts_exist() -> None:
    for page, text in PAGES.items():
        for name in set(re.findall(r"(?<![\w./-])script/([\w-]+)", text)):
            path = ROOT / "script" / name
            assert path.is_dir() or os.access(path, os.X_OK), f"{page}: there is no script/{name}"


def test_options_of_scripts_exist() -> None:
    assert len(uses()) > 40
    for page, name, words in uses():
        path = ROOT / "script" / name
        text = "" if path.is_dir() else path.read_text()
        if name == "test":
            text += read("script/checks", "*.py")
        if name in ("bench", "kernels"):
            text += read("bench", "*.py")
        for word in words:
            option = word.split("=")[0]
            if word.startswith("--"):
                assert option in text, f"{page}: script/{name} has no {option}"


def test_sections_and_measurements_exist() -> None:
    sections = {part.name for part in SECTIONS}
    cases = re.findall(r"^  ([a-z |-]+)\)", (ROOT / "script/bench").read_text(), re.M)
    subcommands = {name for case in cases for name in case.split(" | ")}
    assert {"steps", "gpu-audit", "results"} <= subcommands
    for page, name, words in uses():
        if name == "test":
            unknown = {word for word in words if re.fullmatch("[a-z]+", word)} - sections
            assert not unknown, f"{page}: script/test has no section {unknown}"
        if name == "bench" and words and re.fullmatch(r"['a-z][\w' *-]*", words[0]):
            first = " ".join(words).split(" --")[0]
            known = words[0] in subcommands or select([first.strip("'")])
            assert known, f"{page}: script/bench measures no {words[0]}"


def test_targets_of_the_build_exist() -> None:
    folders = ("bench", "examples", "lib", "python", "test", "tools", "unittests")
    targets = "".join(read(folder, "CMakeLists.txt") for folder in folders)
    for page, text in PAGES.items():
        for line in code_lines(text):
            for rest in re.findall(r"ninja -C build/release([ \w-]*)", line):
                for target in rest.split():
                    assert re.search(rf"\({target}\b", targets), f"{page}: no target {target}"


# Sources


def test_interfaces_are_those_of_the_dialect() -> None:
    source = (ROOT / "include/MetaOps/Dialect/MetaOp/IR/MetaOpInterfaces.td").read_text()
    text = section("docs/Architecture.md", "Dialect (`lib/Dialect/MetaOp`)")
    assert set(first_cells(text)) == set(re.findall(r'OpInterface<"(\w+)">', source))


def test_bindings_are_all_listed() -> None:
    listed = first_cells(section("docs/Architecture.md", "Python"))
    assert sorted(listed) == sorted(path.name for path in (ROOT / "python/bindings").glob("*.cpp"))


def test_rooms_are_all_listed() -> None:
    listed = first_cells(section("docs/Architecture.md", "Python's rooms"))
    package = ROOT / "python/metaops"
    rooms = {str(path.parent.relative_to(package)) for path in package.rglob("*/__init__.py")}
    assert {*listed} == rooms - {"ops", "nn/utils"}


def operations() -> dict[str, str]:
    """Return the names of the dialect's operations by their classes in C++."""
    source = read("include/MetaOps/Dialect/MetaOp", "*.td")
    pairs = re.findall(r'^def MetaOp_(\w+Op)\s*:\s*\w+<\s*"(\w+)"', source, re.M)
    assert len(pairs) > 80
    return dict(pairs)


#: An operation of each that combines, by how the table of combiners calls them.
COMBINING = {
    "reductions": "metaop.reduce {kind} %x dims = [0] : tensor<4x{type}> -> tensor<{type}>",
    "inserts": "metaop.insert {kind} %p into %x[%i] : tensor<2x{type}> into tensor<4x{type}>",
    "prefixes": "metaop.prefix {kind} %x {factors} dim = 0 : tensor<4x{type}>",
}
#: The table's words for elements, and the types that these are of.
ELEMENTS = {
    "numbers": {"f32", "i32"},
    "integers, booleans": {"i1", "i32"},
    "floats": {"f32"},
    "all": {"f32", "i1", "i32"},
}


def test_combiners_are_those_of_the_table() -> None:
    """Compile each kind in each operation on each type, and compare what is refused."""
    header, _, *lines = re.findall(r"^\|.*\|$", section("docs/Spec.md", "Combiners"), re.M)
    assert header == "| kind | operator | identity | elements | combined by |"
    expected, texts = [], []
    for line in lines:
        kind, _, _, elements, users = (cell.strip(" `") for cell in line.strip("|").split("|"))
        for user, operation in COMBINING.items():
            for element in sorted(ELEMENTS["all"]):
                expected.append(user in users and element in ELEMENTS[elements])
                factors = "factors(%x)" if kind == "linear" else ""
                made = operation.format(kind=kind, type=element, factors=factors)
                arguments = f"%x: tensor<4x{element}>, %p: tensor<2x{element}>, %i: tensor<i64>"
                texts.append(f"func.func @f({arguments}) {{ %r = {made} return }}\n")
    done = subprocess.run(
        [ROOT / "build/release/bin/metaop-opt", "--split-input-file"],
        input="// -----\n".join(texts),
        capture_output=True,
        text=True,
        check=False,
    )
    # A function and a mark are a line each.
    refused = {int(line) // 2 for line in re.findall(r":(\d+):\d+: error:", done.stderr)}
    assert [number not in refused for number in range(len(texts))] == expected


def test_operations_that_are_known_by_name() -> None:
    """Those that scheduling and lowering ask for, apart from stages and kernels."""
    classes = operations()
    code = read("lib/Transforms/Schedule", "*.cpp") + read("lib/Conversion", "*.cpp")
    asked = re.findall(r"\b(?:isa|cast|dyn_cast|getDefiningOp)\w*<([^<>()]*)>\(", code)
    named = {word for words in asked for word in re.findall(r"(?<![\w:])(\w+Op)\b", words)}
    names = {classes[word] for word in named if word in classes} - {"kernel", "fused", "yield"}
    (sentence,) = re.findall(
        r"ask for by name are few: (.*?)\.\n", PAGES["docs/Architecture.md"], re.S
    )
    assert names == set(re.findall(r"`(\w+)`", sentence))


def test_passes_that_write_schedules() -> None:
    text = PAGES["docs/Architecture.md"]
    (idea,) = re.findall(r"^5\. \*\*Decide, then execute\.\*\*(.*?)^## ", text, re.S | re.M)
    # Who writes one by a helper, which has no pass of its own.
    helpers = {
        "StageJoiner": ["metaop-join-stages", "metaop-join-stages-gpu"],
        "ScheduleOverrides": [],
    }
    passes = dict(re.findall(r'def (\w+)\s*: Pass<"([\w-]+)"', read("include", "Passes.td")))
    writers: set[str] = set()
    for path in (ROOT / "lib/Transforms").rglob("*.cpp"):
        source = path.read_text()
        if "setScheduleAttr(" in source:
            own = [passes[name] for name in re.findall(r"impl::(\w+)Base<", source)]
            writers.update(helpers.get(path.stem, own))
            assert own or path.stem in helpers, f"{path.name} writes schedules for some pass"
    assert writers == set(re.findall(r"`(metaop-[\w-]+)`", idea))
