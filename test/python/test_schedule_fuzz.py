# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random programs under random schedules give what the interpreter computes.

Programs are made as .mlir files, fused and scheduled by metaop-opt; then each
schedule is replaced by a random one: order, parallel loops, vector, unrolling, stores.
The lowering either refuses a schedule with a message or must compile it right. What
is refused tests nothing, so every test asks that most are taken, and that those use
all that schedules can say.

For a longer run: python test_schedule_fuzz.py NUMBER_OF_PROGRAMS [FIRST_SEED]
"""

from __future__ import annotations

import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

import pytest
from random_programs import FIRST_SEED, QUOTA_SHARE, Kernel, LargeProgram, Program

ROOT = Path(__file__).resolve().parents[2]
TOOLS = Path(os.environ.get("METAOPS_TOOLS", ROOT / "build" / "release" / "bin"))
# Programs in one file: a process of LLVM takes longer to start than to compile one.
PER_FILE = 40
SCHEDULES_PER_PROGRAM = 3
LARGE_PER_FILE = 12

SCHEDULE = re.compile(r"schedule\(#metaop\.schedule<\[([^\]]*)\][^>]*>\)")

#: Parts of a schedule's text that make use of a feature.
FEATURES = {
    "parallel": re.compile(r"\[parallel\("),
    "vector": re.compile(r"lanes = "),
    # Copies of a loop's body, of a vector loop's too, and what becomes of their rest.
    "unroll": re.compile(r"tile = \[(?!(\d+): (\d+)\], lanes = \1: \2\b)(?![^>]*transpose)"),
    "body": re.compile(r"body\)"),
    "tile": re.compile(r"transpose = \d"),
    "window": re.compile(r"unroll = "),
    "pairwise": re.compile(r"pairwise = "),
    "stream": re.compile(r"stream = \[0\]"),
    "shared": re.compile(r"shared = [1-9]"),
    # A dimension that stands in two loops.
    "levels": re.compile(r"\[[^\]]*\((\d+), \d+\)[^\]]*\(\1\b"),
}


def write_schedule(order, parallel, tile, *, strips=None, lanes=None, bodies=(), more=""):
    """Return a schedule of one loop for each time that a dimension is in `order`.

    `tile` has the iterations of a dimension that are done side by side, `strips` the
    steps of those that stand there twice, `lanes` are along one of them (a dimension
    and a number), and `bodies` are those whose rest is not masked.
    """
    levels = []
    for depth, dim in enumerate(order):
        is_outer = dim in order[depth + 1 :]
        step = strips[dim] if is_outer else tile.get(dim, 1)
        level = f"{'parallel' if depth < parallel else 'step'}({dim}"
        level += f", {step}" if step > 1 else ""
        levels.append(level + (", body)" if dim in bodies and not is_outer else ")"))
    text = f"[{', '.join(levels)}]"
    if sizes := ", ".join(f"{dim}: {size}" for dim, size in sorted(tile.items()) if size > 1):
        text += f", tile = [{sizes}]"
    if lanes is not None:
        text += f", lanes = {lanes[0]}: {lanes[1]}"
    return f"schedule(#metaop.schedule<{text}{more}>)"


def read_levels(match):
    """Return the dimensions of a schedule's loops, and how many are parallel."""
    order = [int(dim) for dim in re.findall(r"\((\d+)", match[1])]
    return list(dict.fromkeys(order)), match[1].count("parallel")


def cut(order, parallel, tile, kept, inside=0):
    """Return the order with strips of a kept dimension outside, and what that changes.

    These are the leading loops that can still be parallel, and the steps of the strips.
    The last loops, as many as `inside`, have none between them.
    """
    rng = random.Random(str((order, parallel, tile)))
    if not kept or rng.random() < 0.6:
        return order, parallel, {}
    dim = rng.choice(sorted(kept))
    order = list(order)
    order.insert(rng.randint(0, min(order.index(dim), len(order) - inside)), dim)
    last = len(order) - 1 - order[::-1].index(dim)
    return order, min(parallel, last), {dim: tile.get(dim, 1) * rng.choice([1, 2, 3, 5, 60, 900])}


def carrying_schedule(rng, order):
    """Return a schedule of a stage whose last loop carries prefixes, as it has to be."""
    *others, carried = order
    rng.shuffle(others)
    order = [*others, carried]
    parallel = rng.randint(0, len(others))
    if not others or rng.random() < 0.3:
        return write_schedule(order, parallel, {})
    lanes, width = rng.choice(others), rng.choice([2, 4, 8, 16])
    parallel = min(parallel, order.index(lanes))
    if lanes == others[-1] and rng.random() < 0.5:
        tile, more = {carried: width, lanes: width}, f", transpose = {carried}"
    else:
        tile, more = {lanes: width}, ""
    return write_schedule(order, parallel, tile, lanes=(lanes, width), more=more)


def random_schedule(rng, match):
    """Return a schedule of the same loops that may or may not be legal."""
    order, leading = read_levels(match)
    # Where nothing is reduced, all loops are kept.
    body = match.string[match.end() :].split("metaop.yield", 1)[0]
    has_sums = bool(re.search("reduce|scatter", body))
    leading = leading if has_sums else len(order)
    loops, kept = len(order), set(order[:leading])
    # Of a stage of its own, so that the others are what they are without prefixes.
    apart = random.Random(str((order, match.start())))
    if "metaop.prefix" in body and apart.random() < 0.8:
        return carrying_schedule(apart, order)
    parallel = rng.choice([0, 0, 1, 1, 2, loops])
    if rng.random() < 0.6:
        # Which loops may be parallel only the heuristics know.
        parallel = rng.randint(0, leading)
        head, tail = order[:leading], order[leading:]
        order = rng.sample(head, len(head)) + rng.sample(tail, len(tail))
    elif rng.random() < 0.7:
        order = rng.sample(order, loops)
    vector = rng.randrange(-1, loops) if loops else -1
    unroll = rng.randrange(-1, loops) if loops else -1
    stream = ", stream = [0]" if rng.random() < 0.5 else ""
    if loops >= 2 and rng.random() < (0.1 if has_sums else 0.5):
        rows, lanes = rng.sample(order[-2:], 2)
        width = rng.choice([2, 4, 8, 16])
        tile = {rows: width, lanes: width}
        order, parallel, strips = cut(order, min(parallel, loops - 2), tile, kept, inside=2)
        return write_schedule(
            order,
            parallel,
            tile,
            strips=strips,
            lanes=(lanes, width),
            more=f", transpose = {rows}" + (stream if rng.random() < 0.3 else ""),
        )
    width = rng.choice([1, 2, 4, 8, 16, 32]) if vector >= 0 else 1
    tile = {vector: width} if width > 1 else {}
    if unroll >= 0:
        tile[unroll] = tile.get(unroll, 1) * rng.choice([1, 2, 3, 4, 5, 8])
    # Copies are masked only of a loop that all results keep.
    can_have_body = tile.get(unroll, 1) > 1 and unroll != vector
    has_body = can_have_body and rng.random() < (0.2 if unroll in kept else 0.9)
    order, parallel, strips = cut(order, min(parallel, loops), tile, kept)
    # Lanes are along no parallel loop, but threads share strips.
    if width > 1 and vector in order[:parallel] and vector not in strips and rng.random() < 0.9:
        parallel = order.index(vector)
    more = stream if width > 1 else ""
    # Loops that are reduced may be none.
    apart = random.Random(str((order, tile)))
    short = sorted(set(order) - kept - set(tile)) if has_sums else []
    window = [dim for dim in short if apart.random() < 0.4]
    # Of sums of floats, which long ones have, in other blocks or none.
    if "pairwise" in match[0] and rng.random() < 0.7:
        more = f", pairwise = {rng.choice([2, 3, 32, 100])}{more}"
    if window:
        more = f", unroll = [{', '.join(map(str, window))}]{more}"
    return write_schedule(
        order,
        parallel,
        tile,
        strips=strips,
        lanes=(vector, width) if width > 1 else None,
        bodies=[unroll] if has_body else [],
        more=more,
    )


def run(tool, *arguments):
    """Run a tool of the build; a crash is an error that keeps its input."""
    done = subprocess.run(
        [str(TOOLS / tool), *map(str, arguments)], capture_output=True, text=True, check=False
    )
    assert done.returncode in (0, 1), f"{tool} crashed on {arguments}:\n{done.stderr[-3000:]}"
    return done


def lowered(make, seeds, folder):
    """Write the programs of some seeds, fused and scheduled; return them and facts."""
    graph = folder / "graph.mlir"
    graph.write_text("".join(make(seed).text() for seed in seeds))
    facts = Counter()
    texts = {}
    for phase, more in [("fused", []), ("fused", ["--metaop-split-reductions"]), ("scheduled", [])]:
        done = run("metaop-opt", f"--metaop-pipeline=to={phase}", *more, graph)
        assert done.returncode == 0, done.stderr[-3000:]
        texts[phase, bool(more)] = done.stdout
    # A split adds the kernel that combines the blocks.
    facts["splits"] = texts["fused", True].count("= metaop.kernel(") - texts["fused", False].count(
        "= metaop.kernel("
    )
    text = texts["scheduled", False]
    explained = folder / "scheduled.mlir"
    explained.write_text(text)
    done = run("metaop-opt", "--metaop-explain", explained)
    assert done.returncode == 0, done.stderr[-3000:]
    facts += blocks(done.stdout)
    return text, facts


def blocks(explanation):
    """Count what the explanation of kernels tells of loops that are cut into parts."""
    facts = Counter()
    for stage in explanation.split("  stage ")[1:]:
        # Columns have a loop over strips of 1024 and more outside of that over rows.
        facts["strips"] += bool(
            re.search(r"parallel\((\d+), \d{4}\), step\((?!\1).*step\(\1, ", stage)
        )
        # Sums start anew every 32 iterations, and blocks of them again.
        for extent in re.findall(r"for d\d+ < (\d+), reduced", stage):
            facts["blocks of blocks"] += int(extent) > 32 * 32 and "reduced by add" in stage
        # Threads share a vector loop in strips of 4096 elements, or 256 columns.
        facts["grain"] += bool(re.search(r"\[parallel\((\d+), \d+\), step\(\1, ", stage))
    return facts


#: Message of --compare about a function whose results agree.
AGREED = re.compile(r"^(\w+): \d+ results agree.*; (\d+) kernels?, work for (\d+) threads?$")


def compare(text, folder, seed, known=()):
    """Return what `metaop-run --compare` tells: wrong results, and what was tested.

    The count has the functions that agreed and those whose schedules were refused,
    and the functions that agreed and make use of each feature in a schedule that is
    not among the `known` ones.
    """
    path = folder / "program.mlir"
    path.write_text(text)
    done = run("metaop-run", path, "--compare", f"--seed={seed}")
    bodies = dict(re.findall(r"^  func\.func @(\w+)(.*?)^  }$", text, re.MULTILINE | re.DOTALL))
    facts = Counter()
    wrong = []
    for line in done.stdout.splitlines():
        if agreed := AGREED.match(line):
            facts["agreed"] += 1
            facts["threads"] += int(agreed[3]) > 1
            schedules = {m[0] for m in SCHEDULE.finditer(bodies[agreed[1]])}
            schedules = " ".join(schedules.difference(known))
            facts += Counter({name for name, use in FEATURES.items() if use.search(schedules)})
            facts["prefix"] += bool(schedules) and "metaop.prefix" in bodies[agreed[1]]
        elif REFUSED.search(line):
            facts["refused"] += 1
        else:
            wrong.append(line)
    if not facts and not wrong:
        # The file as a whole.
        assert REFUSED.search(done.stderr), done.stderr[-3000:]
        facts["refused"] += 1
    return wrong, facts


# Message of the lowering about a schedule that it does not take.
REFUSED = re.compile(
    r"error: .*(is not parallel|cannot be a vector|cannot be the vector loop"
    r"|cannot be the rows of a tile|the schedule streams|unrolls parallel loop|masks copies"
    r"|emits the iterations|schedule unrolls|iterations of `unroll`"
    r"|cannot be unrolled|would be rounded|into strips|two parallel loops|carries prefixes"
    r"|shares loop|shares [0-9]+ loops with a stage before)"
)


def check(make, seeds, folder, variants=SCHEDULES_PER_PROGRAM, share=1.0):
    """Compare the programs of some seeds under several schedules; return what was tested.

    A variant has random schedules for this share of the stages.
    """
    rng = random.Random(seeds[0])
    text, facts = lowered(make, seeds, folder)
    known = {m[0] for m in SCHEDULE.finditer(text)}

    def replace(match):
        return random_schedule(rng, match) if rng.random() < share else match[0]

    for number in range(variants + 1):
        # The first time as the heuristics schedule.
        variant = SCHEDULE.sub(replace, text) if number else text
        wrong, more = compare(variant, folder, seeds[0] + number, known)
        assert not wrong, "\n".join(wrong) + f"\nin {folder / 'program.mlir'}"
        if number:
            facts += more
        else:
            assert more["agreed"] == len(seeds), "the compiler refuses its own schedules"
            facts["threads"] += more["threads"]
    return facts


def assert_enough(facts, quotas):
    """Fail if most schedules were refused, or something was hardly tested."""
    assert facts["agreed"] >= QUOTA_SHARE * facts["refused"], facts
    least = {name: int(QUOTA_SHARE * quota) for name, quota in quotas.items()}
    missing = {name: facts[name] for name in quotas if facts[name] < least[name]}
    assert not missing, f"{missing} of {quotas}; all: {facts}"


@pytest.mark.skipif(not (TOOLS / "metaop-run").exists(), reason="needs the tools of the build")
@pytest.mark.parametrize("first", range(0, 200, PER_FILE))
def test_random_schedules(first, tmp_path):
    first += FIRST_SEED
    facts = check(Program, range(first, first + PER_FILE), tmp_path)
    assert_enough(
        facts,
        {"parallel": 7, "vector": 16, "unroll": 10, "body": 2, "tile": 2, "levels": 6},
    )


@pytest.mark.skipif(not (TOOLS / "metaop-run").exists(), reason="needs the tools of the build")
def test_random_schedules_of_prefixes(tmp_path):
    seeds = range(FIRST_SEED + 200, FIRST_SEED + 500)
    seeds = [seed for seed in seeds if "metaop.prefix" in Program(seed).text()]
    facts = check(Program, seeds, tmp_path, share=0.6)
    assert_enough(facts, {"prefix": 10, "vector": 8, "tile": 4})


@pytest.mark.skipif(not (TOOLS / "metaop-run").exists(), reason="needs the tools of the build")
def test_random_schedules_of_large_programs(tmp_path):
    facts = Counter()
    for number in range(4):
        first = FIRST_SEED + number * LARGE_PER_FILE
        seeds = range(first, first + LARGE_PER_FILE)
        facts += check(LargeProgram, seeds, tmp_path, variants=3, share=0.5)
    quotas = {"splits": 10, "strips": 3, "blocks of blocks": 8, "grain": 5, "threads": 50}
    quotas |= {"parallel": 10, "vector": 10, "unroll": 10, "body": 4, "tile": 1, "stream": 2}
    quotas |= {"levels": 5}
    assert_enough(facts, quotas)


def check_kernel(seed, folder):
    """Compare one kernel of several stages in a random loop tree; return what was tested."""
    rng = random.Random(seed)
    path = folder / "kernel.mlir"
    path.write_text(Kernel(seed).text())
    done = run("metaop-opt", "-metaop-schedule", path)
    assert done.returncode == 0, done.stderr[-3000:]
    common = rng.sample(range(3), 3)
    loops = [0]

    def replace(match):
        order, leading = read_levels(match)
        if rng.random() < 0.8:
            # Stages that go through their loops in one order can share them.
            order = [loop for loop in common if loop in order]
        # Those of stages with other numbers of loops are other loops as a rule.
        can_share = loops[-1] == len(order) or rng.random() < 0.2
        shared = rng.randint(0, min(loops[-1], len(order))) if can_share else 0
        loops.append(len(order))
        parallel = rng.choice([0, 0, 0, 0, leading, rng.randint(0, len(order))])
        tile, lanes = {}, None
        if len(order) > shared and rng.random() < 0.25:
            lanes = order[-1], rng.choice([2, 4, 8])
            tile = {lanes[0]: lanes[1]}
        more = f", shared = {shared}" if shared else ""
        return write_schedule(order, parallel, tile, lanes=lanes, more=more)

    wrong, facts = compare(SCHEDULE.sub(replace, done.stdout), folder, seed)
    assert not wrong, "\n".join(wrong) + f"\nin {folder / 'program.mlir'}"
    return facts


@pytest.mark.skipif(not (TOOLS / "metaop-run").exists(), reason="needs the tools of the build")
def test_random_loop_trees(tmp_path):
    facts = Counter()
    for seed in range(FIRST_SEED, FIRST_SEED + 100):
        facts += check_kernel(seed, tmp_path)
    assert_enough(facts, {"shared": 12, "parallel": 10, "vector": 10})


def main():
    number = int(sys.argv[1])
    first = int(sys.argv[2]) if len(sys.argv) > 2 else 1000
    totals = Counter()
    for seed in range(first, first + number, PER_FILE):
        folder = Path(tempfile.mkdtemp(prefix=f"fuzz{seed}."))
        try:
            totals += check(Program, range(seed, seed + PER_FILE), folder)
            totals += check(LargeProgram, range(seed, seed + PER_FILE), folder)
            for kernel in range(seed, seed + PER_FILE):
                totals += check_kernel(kernel, folder)
            shutil.rmtree(folder)
        except AssertionError as error:
            totals["files that fail"] += 1
            print(f"seeds from {seed}, {folder}: {error}", flush=True)
    print(", ".join(f"{name}: {count}" for name, count in totals.items()))


if __name__ == "__main__":
    main()
