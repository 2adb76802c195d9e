# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The code of every kernel of the workloads and models, and what has changed in it.

A folder of listings has one file for each row (a workload of a size, or a model's
training step) and phase. A file has, for each kernel of the row's program, a headline with
how often it is called, and the kernel at the phase: its stages with their schedules, or the
loops, instructions of LLVM, or blocks and threads of a GPU that they became. Names, source
lines, and attributes that passes leave for each other are left out behind the schedules, so
two listings are the same text if and only if the same code runs.
"""

from __future__ import annotations

import argparse
import difflib
import fnmatch
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import metaops as mo
from common import Table
from ops.metaops_ops import MetaOps
from workloads import WORKLOADS

#: Sizes that are listed: their loops are those that script/bench measures.
SIZES = ("small", "million", "large", "own")

#: Phases of programs for this processor: what the compiler decided, and what runs.
CPU_PHASES = ("schedules", "loops", "llvm")
#: Phases of the same programs for a GPU.
GPU_PHASES = ("gpu", "nvvm")
PHASES = CPU_PHASES + GPU_PHASES

OPT = Path(__file__).resolve().parents[1] / "build/release/bin/metaop-opt"

Run = Callable[[], object]


# Subjects


def workload_row(name: str, size: str) -> Run:
    """Return what runs a workload."""
    workload = WORKLOADS[name]
    return MetaOps().prepare(workload, workload.arrays(size))


def model_row(model: str) -> Run:
    """Return what takes a training step, the second of which is the listed one."""
    import training
    from subjects import make_task

    run = training.MetaOps(make_task(model))
    run.loss()
    return run.loss


def rows(sizes: Sequence[str]) -> Iterator[tuple[str, Callable[[], Run]]]:
    """Yield the names of all rows, and what prepares each."""
    for size in sizes:
        for name in WORKLOADS:
            if size not in WORKLOADS[name].shapes:
                continue
            yield f"{size}/{name}", lambda name=name, size=size: workload_row(name, size)
    for model in ("mlp", "digits"):
        yield f"models/{model}", lambda model=model: model_row(model)


# Listings


def without_locations(text: str) -> str:
    """Return IR without the places that its operations came from."""
    text = re.sub(r"^#loc\d*\s*=.*\n", "", text, flags=re.MULTILINE)
    parts, end = [], 0
    for start in re.finditer(r" ?\bloc\(", text):
        if start.start() < end:
            continue
        parts.append(text[end : start.start()])
        end = closing(text, start.end())
    return "".join((*parts, text[end:]))


def closing(text: str, place: int) -> int:
    """Return the place behind the parenthesis that ends what was opened before `place`."""
    depth = 1
    for token in re.compile(r'"(?:[^"\\]|\\.)*"|[()]').finditer(text, place):
        depth += {"(": 1, ")": -1}.get(token[0], 0)
        if depth == 0:
            return token.end()
    return len(text)


def without_aliases(text: str) -> str:
    """Return IR with attributes where their aliases stand: a map is part of a kernel."""
    alias = re.compile(r"^(#\w+) = (.*)\n", re.MULTILINE)
    meaning = dict(alias.findall(text))
    return re.sub(r"#\w+", lambda name: meaning.get(name[0], name[0]), alias.sub("", text))


def without_notes(text: str) -> str:
    """Return IR without attributes of the dialect, and braces that are empty then."""
    parts, end = [], 0
    for start in re.finditer(r"(?:, )?\bmetaop\.\w+(?: = )?", text):
        if start.start() >= end:
            parts.append(text[end : start.start()])
            end = start.end()
            if start[0].endswith("= "):
                end = end_of_attribute(text, end)
    kept = "".join((*parts, text[end:]))
    kept = re.sub(r"(?<=\{), ", "", kept)
    return re.sub(r" attributes \{\}| \{\}(?=[,) ]|$)", "", kept, flags=re.MULTILINE)


def end_of_attribute(text: str, place: int) -> int:
    """Return the place behind an attribute's value: a comma or bracket that it has not opened."""
    depth = 0
    for token in re.compile(r'"(?:[^"\\]|\\.)*"|->|[][(){}<>,]').finditer(text, place):
        if token[0] in "([{<":
            depth += 1
        elif depth == 0 and token[0] in ",)]}":
            return token.start()
        elif token[0] in ")]}>":
            depth -= 1
    return len(text)


def functions(text: str) -> dict[str, str]:
    """Return the text of each function or GPU's module of a module, by its name."""
    found = re.finditer(
        r"^  (?:func\.func|llvm\.func|gpu\.module)\b[^@\n]*@(\w+).*?^  }\n",
        text,
        re.MULTILINE | re.DOTALL,
    )
    return {match[1]: match[0] for match in found}


def lower_for_gpu(graph: str, phase: str, chip: str) -> str:
    """Return a program at a phase for a GPU, or what it cannot have there as a comment."""
    pipeline = f"--metaop-pipeline=target=cuda chip={chip} to={phase}"
    done = subprocess.run([OPT, pipeline], input=graph, capture_output=True, text=True, check=False)
    return done.stdout if done.returncode == 0 else f"// {done.stderr.splitlines()[0]}\n"


def list_kernels(info: mo.ProgramInfo, phase: str, chip: str) -> str:
    """Return the listing of a program at a phase."""
    if phase in GPU_PHASES:
        graph = without_locations(info.ir("graph"))
        program, text = (lower_for_gpu(graph, p, chip) for p in ("kernels", phase))
        if text.startswith("//"):
            return text
    else:
        program = info.ir("kernels")
        text = program if phase == "schedules" else info.ir(phase)
    calls = Counter(re.findall(r" call @(\w+)\(", program))
    text = without_aliases(without_locations(text))
    found = functions(text if phase == "schedules" else without_notes(text))
    parts = []
    for name in (name for name in calls if name in found):
        headline = f"// called {calls[name]} times" if calls[name] > 1 else "// called once"
        # Numbers of kernels say what is before them, not what they are.
        parts.append(f"{headline}\n{found[name].replace(name, 'kernel')}")
    return "\n".join(parts)


def write(
    folder: Path,
    patterns: Sequence[str],
    sizes: Sequence[str],
    phases: Sequence[str] = ("schedules", "loops"),
    chip: str = "sm_90a",
) -> int:
    """Write the listings of all rows that a pattern fits; return how many rows these are."""
    count = 0
    for name, prepare in rows(sizes):
        if not any(fnmatch.fnmatch(name.split("/")[1], pattern) for pattern in patterns):
            continue
        mo.seed(0)
        prepare()()
        info = mo.last_program()
        row = name.replace(" ", "-").replace(",", "")
        for phase in phases:
            path = folder / f"{row}.{phase}.mlir"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(list_kernels(info, phase, chip))
        count += 1
        print(f"\r{count} {name}\033[K", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    return count


# Comparison


@dataclass
class Comparison:
    """Two listings of a row."""

    name: str
    before: list[str]
    after: list[str]

    @property
    def is_same(self) -> bool:
        """Whether the same code runs."""
        return self.before == self.after

    def difference(self) -> list[str]:
        """Return the unified difference."""
        return list(
            difflib.unified_diff(
                self.before, self.after, f"before/{self.name}", f"after/{self.name}", lineterm=""
            )
        )


def read(folder: Path) -> dict[str, list[str]]:
    """Return the lines of each listing of a folder."""
    return {
        path.relative_to(folder).with_suffix("").as_posix(): path.read_text().splitlines()
        for path in sorted(folder.rglob("*.mlir"))
    }


def count_kernels(lines: Sequence[str]) -> int:
    """Return how many kernels a listing has."""
    return sum(line.startswith("// called") for line in lines)


def compare(before: Path, after: Path, shows_all: bool) -> bool:
    """Print which listings differ, and how; return whether none does."""
    old, new = read(before), read(after)
    for folder, listings in ((before, old), (after, new)):
        if not listings:
            raise SystemExit(f"script/kernels: there are no listings in {folder}")
    both = [Comparison(name, old[name], new[name]) for name in old if name in new]
    changed = [row for row in both if not row.is_same]
    table = Table("Listings that differ", ["row", "kernels", "lines", "gone", "new"])
    for row in changed:
        difference = row.difference()
        table.add(
            row.name,
            f"{count_kernels(row.before)} -> {count_kernels(row.after)}",
            f"{len(row.before)} -> {len(row.after)}",
            sum(line.startswith("-") for line in difference) - 1,
            sum(line.startswith("+") for line in difference) - 1,
        )
        if shows_all:
            print("\n".join(difference), end="\n\n")
    if changed:
        print(table.markdown())
    for title, names in (("only before", old.keys() - new), ("only after", new.keys() - old)):
        if names:
            print(f"{title}: {', '.join(sorted(names))}")
    print(f"{len(both) - len(changed)} of {len(both)} listings are the same")
    return not changed and old.keys() == new.keys()


def main() -> None:
    """Write listings, or compare two folders of them."""
    parser = argparse.ArgumentParser(prog="script/kernels", description=__doc__)
    parser.add_argument("folder", type=Path, help="where listings are written, or are")
    parser.add_argument("names", nargs="*", default=["*"], help="workloads, models or patterns")
    parser.add_argument("--sizes", nargs="*", choices=SIZES, default=SIZES)
    parser.add_argument(
        "--phases",
        nargs="*",
        choices=PHASES,
        default=CPU_PHASES[:2],
        help="what is listed of each row (default: schedules loops)",
    )
    parser.add_argument("--chip", default="sm_90a", help="the GPU of the phases gpu and nvvm")
    parser.add_argument("--against", type=Path, help="compare with the listings of this folder")
    parser.add_argument("--diff", action="store_true", help="print all differences")
    options = parser.parse_args()
    if options.against is None:
        # Listings depend on the kernels alone, which a schedule file would change.
        mo.flags.schedule_file = ""
        count = write(options.folder, options.names, options.sizes, options.phases, options.chip)
        if count == 0:
            raise SystemExit(f"script/kernels: no row is named {' or '.join(options.names)}")
    elif not compare(options.against, options.folder, options.diff):
        raise SystemExit(1)


if __name__ == "__main__":
    main()
