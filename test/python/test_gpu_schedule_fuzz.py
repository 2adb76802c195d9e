# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random programs under random schedules for GPUs give what the interpreter computes.

As in test_schedule_fuzz.py, but for GPUs, whose code runs on the emulator: a schedule is
refused with the label of a constraint, or its kernel is without a fault and right. Most
have to be taken, and those have to use all that schedules can say.

For a longer run: python test_gpu_schedule_fuzz.py NUMBER_OF_PROGRAMS [FIRST_SEED]
"""

from __future__ import annotations

import random
import re
import shutil
import sys
import tempfile
from collections import Counter
from pathlib import Path

import pytest
from gpu_schedules import Draw, Stage
from random_programs import FIRST_SEED, Kernel, LargeProgram, Program
from test_schedule_fuzz import AGREED, SCHEDULE, TOOLS, assert_enough, run

CHIPS = ["sm_90a", "sm_80"]
PER_FILE = 30
LARGE_PER_FILE = 6
VARIANTS = 3

#: Parts of a schedule's text that make use of a feature.
FEATURES = {
    "cluster": re.compile(r"cluster\("),
    "block": re.compile(r"block\("),
    "runs": re.compile(r"block\((\d+), \d+\).*step\(\1\b"),
    "step": re.compile(r"step\((\d+), \d+\).*thread\(\1\b"),
    "warp": re.compile(r"warp\("),
    "thread": re.compile(r"thread\("),
    "own loop": re.compile(r"thread\((\d+)[^]]*step\(\1\b"),
    "tile": re.compile(r"tile = \[(?!(\d+): (\d+)\], lanes = \1: \2\b)"),
    "lanes": re.compile(r"lanes = "),
    "staged": re.compile(r"staged = "),
    "pad": re.compile(r"staged = \[\d+: [1-9]"),
    "pairwise": re.compile(r"pairwise = "),
    "shared": re.compile(r"shared = [1-9]"),
    "registers": re.compile(r"place = [^>]*registers"),
    "shared memory": re.compile(r"place = [^>]*shared"),
    "cluster memory": re.compile(r"place = [^>]*cluster"),
}

#: Refusal of a schedule that no GPU can do: the label of a constraint.
REFUSED = re.compile(r"error: .*\((G\d+)\) ")

#: Products of many floats overflow in one order, and are 0 in another.
PRODUCTS = re.compile(r"(?:reduce|scatter) mul .*f\d+>")

needs_tools = pytest.mark.skipif(
    not (TOOLS / "metaop-run").exists(), reason="needs the tools of the build"
)


# --- What is known of stages -------------------------------------------------------------


def read_stage(text, body, schedule):
    """Return what an explanation and the text of a stage tell of it."""
    extents = {int(dim): int(extent) for dim, extent in re.findall(r"for d(\d+) < (\d+)", text)}
    reduced = {int(dim) for dim in re.findall(r"for d(\d+) < [^\n]*, reduced", text)}
    # What is combined by atomics may be on the grid.
    reduced -= {int(dim) for dim in re.findall(r"block\((\d+)", schedule)}
    last = re.findall(r"\((\d+)", schedule)[-1:]
    carried = int(last[0]) if last and "metaop.prefix" in body else None
    types = re.findall(r"(?:read |write) tensor<(?:\d+x)*\D*(\d+)>", text)
    sums = re.search(r"reduced by add", text) and re.search(r"x(?:f|bf)\d+>", text)
    return Stage(
        extents=[extents[dim] for dim in range(len(extents))],
        reduced=reduced,
        carried=carried,
        reads=len(re.findall(r"^ +read ", text, re.MULTILINE)),
        results=len(re.findall(r"^ +write ", text, re.MULTILINE)),
        width=max([int(bits) // 8 for bits in types if int(bits) >= 8], default=1),
        pairwise=bool(sums),
    )


def explain(path):
    """Return what is told of the kernels of a file."""
    done = run("metaop-opt", "--metaop-explain", path, "-o", "/dev/null")
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


def read_kernels(text, explanation):
    """Return the stages of each kernel and their schedules, in the order of the text."""
    matches = list(SCHEDULE.finditer(text))
    found = iter(matches)
    kernels = []
    for kernel in re.split(r"^kernel of ", explanation, flags=re.MULTILINE)[1:]:
        stages = []
        for part in kernel.split("  stage ")[1:]:
            match = next(found)
            body = text[match.end() :].split("metaop.yield", 1)[0]
            stages.append((read_stage(part, body, match[1]), match))
        kernels.append(stages)
    assert sum(map(len, kernels)) == len(matches)
    return kernels


def join(stages):
    """Tell the stages of a kernel what they share; return whether that is known."""
    levels = [[int(dim) for dim in re.findall(r"\((\d+)", match[1])] for _, match in stages]
    shared = [int(number) for _, m in stages for number in re.findall(r"shared = (\d+)", m[0])]
    depth = min(shared) if len(shared) == len(stages) - 1 else 0
    for number, ((stage, _), dims) in enumerate(zip(stages, levels, strict=True)):
        stage.is_alone, stage.is_first = False, number == 0
        stage.shared = dims[:depth]
        if depth == 0 or len(set(stage.shared)) < depth:
            return False
    return True


# --- Schedules ---------------------------------------------------------------------------


def draw_prefix(rng, stages, threads, clusters=0.2):
    """Return levels that the stages of a kernel share, as Draw takes them.

    `clusters` is how often these have clusters.
    """
    dims = len(stages[0].shared)
    kinds = ["step"] * dims
    for place in range(rng.randint(min(dims, 1), dims)):
        kinds[place] = "block"
    prefix = [(place, kind, rng.choice([1, 1, 2, 4])) for place, kind in enumerate(kinds)]
    if dims > 0 and rng.random() < clusters:
        # All of the last one is a cluster's, of which each block has a part.
        extent = max(stages[0].extents[stages[0].shared[-1]], 1)
        blocks, tile = rng.choice([2, 4]), threads * rng.choice([1, 2])
        part = tile * -(-extent // (blocks * tile))
        prefix = [(place, "cluster", step) for place, _, step in prefix[:-1]]
        prefix += [(dims - 1, "cluster", blocks * part), (dims - 1, "block", part)]
        prefix += [(dims - 1, "step", tile)] if part > tile else []
    return prefix


def draw_places(rng, known, leaves, prefix):
    """Return places of results, as text; `known` are those that fit, if any do."""
    clustered = any(kind == "cluster" for _, kind, _ in prefix)
    drawn = []
    for number, leaf in enumerate(leaves):
        if known and rng.random() < 0.8:
            drawn.append(known[number])
        else:
            places = ["registers", *["shared"] * 6] + ["memory"] * (4 if leaf else 0)
            is_cluster = rng.random() < (0.6 if clustered else 0.02)
            drawn.append("cluster" if is_cluster else rng.choice(places))
    return drawn


def replace_schedules(rng, text, kernels, share):
    """Return the text with random schedules for this share of the kernels."""
    parts, end = [], 0

    def put(match, schedule):
        nonlocal end
        parts.extend([text[end : match.start()], schedule])
        end = match.end()

    for stages in kernels:
        is_joined = len(stages) > 1
        if rng.random() > share or (is_joined and not join(stages)):
            continue
        threads = rng.choice([1, 32, 32, 64, 64, 128, 256])
        models = [stage for stage, _ in stages]
        prefix = draw_prefix(rng, models, threads) if is_joined else ()
        for stage, match in stages:
            known = re.findall(r"place = \[([^]]*)\]", match[0])
            known = known[0].split(", ") if known else []
            places = draw_places(rng, known, [False] * stage.results, prefix) if known else []
            put(match, Draw(rng, stage, threads, prefix).text(places))
    return "".join([*parts, text[end:]])


# --- Comparisons -------------------------------------------------------------------------


def compare(text, folder, seed, chip, known=()):
    """Return what `metaop-run --compare` tells: what is wrong, and what was tested."""
    path = folder / "program.mlir"
    path.write_text(text)
    gpu = ["--target=cuda", f"--chip={chip}", "--emulate"]
    done = run("metaop-run", path, "--compare", f"--seed={seed}", *gpu)
    bodies = dict(re.findall(r"^  func\.func @(\w+)(.*?)^  }$", text, re.MULTILINE | re.DOTALL))
    facts, wrong = Counter(), []
    for line in done.stdout.splitlines():
        if agreed := AGREED.match(line):
            facts["agreed"] += 1
            schedules = {m[0] for m in SCHEDULE.finditer(bodies.get(agreed[1], text))}
            for schedule in schedules.difference(known):
                facts += Counter(name for name, use in FEATURES.items() if use.search(schedule))
        elif label := REFUSED.search(line):
            facts["refused"] += 1
            facts[label[1]] += 1
        else:
            wrong.append(line)
    if not facts and not wrong:
        wrong.append(done.stderr[-3000:])
    return wrong, facts


def check(make, seeds, folder, chip, variants=VARIANTS, share=1.0):
    """Compare the programs of some seeds under several schedules; return what was tested."""
    rng = random.Random(seeds[0])
    seeds = [seed for seed in seeds if not PRODUCTS.search(make(seed).text())]
    graph, scheduled = folder / "graph.mlir", folder / "scheduled.mlir"
    graph.write_text("".join(make(seed).text() for seed in seeds))
    done = run("metaop-opt", f"--metaop-pipeline=to=scheduled target=cuda chip={chip}", graph)
    assert done.returncode == 0, done.stderr[-3000:]
    text = done.stdout
    scheduled.write_text(text)
    kernels = read_kernels(text, explain(scheduled))
    known = {match[0] for match in SCHEDULE.finditer(text)}
    facts = Counter()
    for number in range(variants + 1):
        # The first time as the heuristics schedule.
        variant = replace_schedules(rng, text, kernels, share) if number else text
        wrong, more = compare(variant, folder, seeds[0] + number, chip, known)
        assert not wrong, "\n".join(wrong) + f"\nin {folder / 'program.mlir'}, {chip}"
        if number:
            facts += more
        else:
            assert more["agreed"] == len(seeds), "the compiler refuses its own schedules"
    return facts


def check_kernel(seed, folder, chip):
    """Compare one kernel of several stages in a random tree; return what was tested."""
    rng = random.Random(seed)
    path = folder / "kernel.mlir"
    path.write_text(Kernel(seed).text())
    # Schedules for a CPU say what loops there are.
    done = run("metaop-opt", "-metaop-schedule", path)
    assert done.returncode == 0, done.stderr[-3000:]
    path.write_text(done.stdout)
    [known] = read_kernels(done.stdout, explain(path))
    stages = [stage for stage, _ in known]
    loops = [
        loop
        for loop, extents in enumerate(zip(*(stage.extents for stage in stages), strict=False))
        if len(set(extents)) == 1
    ]
    # Most often loops that all stages keep.
    kept = [loop for loop in loops if not any(loop in stage.reduced for stage in stages)]
    loops = kept if rng.random() < 0.8 else loops
    shared = rng.sample(loops, rng.randint(min(len(loops), 1), len(loops)))
    yielded = re.findall(r"metaop\.yield ([^:]*) :", done.stdout)[-1].split(", ")
    names = re.findall(r"(%\w+) = metaop\.fused", done.stdout)
    threads = rng.choice([1, 32, 32, 64, 128])
    for number, stage in enumerate(stages):
        stage.is_alone, stage.is_first, stage.shared = False, number == 0, shared
    prefix = draw_prefix(rng, stages, threads, 0.0 if chip == "sm_80" else 0.5)
    parts, end = [], 0
    for (stage, match), name in zip(known, names, strict=True):
        leaf = [name in yielded]
        place = [] if name == names[-1] else draw_places(rng, [], leaf, prefix)
        parts += [done.stdout[end : match.start()], Draw(rng, stage, threads, prefix).text(place)]
        end = match.end()
    wrong, facts = compare("".join([*parts, done.stdout[end:]]), folder, seed, chip)
    assert not wrong, "\n".join(wrong) + f"\nin {folder / 'program.mlir'}, {chip}"
    return facts


@needs_tools
@pytest.mark.parametrize("chip", CHIPS)
def test_random_schedules(chip, tmp_path):
    first = FIRST_SEED + CHIPS.index(chip) * PER_FILE
    seeds = range(first, first + PER_FILE)
    facts = check(Program, seeds, tmp_path, chip)
    quotas = {"block": 20, "runs": 4, "step": 10, "warp": 6, "thread": 30, "own loop": 6}
    quotas["cluster"] = 0 if chip == "sm_80" else 4
    assert_enough(facts, quotas | {"tile": 20, "lanes": 10, "staged": 10, "pad": 4})


@needs_tools
def test_random_schedules_of_large_programs(tmp_path):
    seeds = range(FIRST_SEED, FIRST_SEED + LARGE_PER_FILE)
    facts = check(LargeProgram, seeds, tmp_path, CHIPS[0], variants=2, share=0.5)
    assert_enough(facts, {"block": 4, "thread": 4, "step": 2})


@needs_tools
def test_random_trees(tmp_path):
    facts = Counter()
    for seed in range(FIRST_SEED, FIRST_SEED + 80):
        facts += check_kernel(seed, tmp_path, CHIPS[seed % 4 == 0])
    quotas = {"shared": 10, "registers": 2, "shared memory": 10}
    assert_enough(facts, quotas | {"cluster": 8, "cluster memory": 3})


def main():
    number = int(sys.argv[1])
    first = int(sys.argv[2]) if len(sys.argv) > 2 else 1000
    totals = Counter()
    for seed in range(first, first + number, PER_FILE):
        folder = Path(tempfile.mkdtemp(prefix=f"fuzz{seed}."))
        chip = CHIPS[seed // PER_FILE % len(CHIPS)]
        try:
            totals += check(Program, range(seed, seed + PER_FILE), folder, chip)
            large = range(seed, seed + LARGE_PER_FILE)
            totals += check(LargeProgram, large, folder, chip, share=0.5)
            for kernel in range(seed, seed + PER_FILE):
                totals += check_kernel(kernel, folder, chip)
            shutil.rmtree(folder)
        except AssertionError as error:
            totals["files that fail"] += 1
            print(f"seeds from {seed}, {folder}: {error}", flush=True)
    print(", ".join(f"{name}: {count}" for name, count in sorted(totals.items())))


if __name__ == "__main__":
    main()
