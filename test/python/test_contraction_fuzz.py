# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random products and convolutions under random blocks and tiles give what they mean,
and so do stages that pack for them, and epilogues, which share these blocks.

What is refused tests nothing, so the test asks that most schedules are taken, and that
those use all that schedules of contractions can say.

For a longer run: python test_contraction_fuzz.py NUMBER_OF_STAGES [FIRST_SEED]
"""

from __future__ import annotations

import itertools
import math
import random
import re
import sys
import tempfile
from collections import Counter
from pathlib import Path

import pytest
from random_programs import FIRST_SEED, QUOTA_SHARE, Program
from test_schedule_fuzz import TOOLS, assert_enough, run

pytestmark = pytest.mark.processor

PER_FILE = 20

#: The space of a kind of stage; what each factor and the result are indexed by.
KINDS = {
    "product": ("ikj", "i, k", "k, j", "i, j"),
    "first transposed": ("ikj", "k, i", "k, j", "i, j"),
    "result transposed": ("ikj", "i, k", "k, j", "j, i"),
    "batch": ("bikj", "b, i, k", "b, k, j", "b, i, j"),
    "convolution": ("noijchw", "n, c, i + h, j + w", "o, c, h, w", "n, o, i, j"),
    "by filters": ("npqjchi", "n, c, p + h, q + i", "n, p, q, j", "j, c, h, i"),
}
#: The extents of a dimension: up to this.
LARGEST = dict(b=4, i=40, k=70, j=60, n=3, o=12, c=5, h=3, w=4, p=6, q=7)
LARGEST_FILTERS = dict(LARGEST, c=40, i=4)
#: Bytes of a cache line, and of an element.
LINE, BYTES = 64, dict(f64=8, f32=4, f16=2, bf16=2)

#: Types of the factors in memory, and of their products and sums.
TYPES = [
    *[("f32", "f32")] * 3,
    ("f64", "f64"),
    ("f16", "f16"),
    ("bf16", "bf16"),
    ("f16", "f32"),
    ("bf16", "f32"),
]

FEATURES = {
    "tile": re.compile(r"tile = \[\d+: \d+, "),
    "blocks": re.compile(r"step\(\d+, \d+\)"),
    "parallel": re.compile(r"parallel\("),
    "body": re.compile(r"body\)"),
    "transpose": re.compile(r"transpose = "),
    "unroll": re.compile(r"unroll = "),
    "prefetch": re.compile(r"prefetch = "),
    "packing": re.compile(r"^pack"),
    "epilogue": re.compile(r"epilogue"),
    "rows": re.compile(r"rows"),
    "collapsed": re.compile(r"collapsed"),
}

REFUSED = re.compile(
    r"error: .*(would be rounded|lanes and the rows of tiles are masked"
    r"|in steps of \d+ along its lanes|its innermost loop is not that of `lanes`"
    r"|tiles that are not square|multiplications, but at most|is shared with another stage"
    r"|the stage is no sum of products|schedule orders \d loops|bytes fit|shares (loop )?\d"
    r"|by whole rows|cuts loop \d into strips|what is not complete|is not parallel"
    r"|does not fit its local memory|iterations of `unroll`, but at most)"
)


class Contraction:
    """One random sum of products, and a random schedule that may or may not be legal."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.name = f"f{seed}"
        self.kind = self.random.choice([*KINDS, "by filters"])
        self.space, *self.maps = KINDS[self.kind]
        if self.kind == "convolution" and self.random.random() < 0.3:
            self.space = "".join(self.random.sample(self.space, len(self.space)))
        largest = LARGEST_FILTERS if self.kind == "by filters" else LARGEST
        self.extents = {dim: self.random.randint(2, largest[dim]) for dim in self.space}
        self.kept = [dim for dim in self.space if dim in self.maps[2]]
        self.reduced = [dim for dim in self.space if dim not in self.maps[2]]
        self.schedule = self.random_schedule()
        self.stored, self.element = self.random.choice(TYPES)
        self.has_rows = self.kind != "by filters" and self.random.random() < 0.7
        self.row = self.random.randrange(len(self.maps[2].split(", ")))
        if self.kind == "by filters" and self.random.random() < 0.7:
            self.row = 0
        self.collapses = False
        follows = self.kind == "by filters" or self.random.random() < 0.6
        self.epilogue = self.random_epilogue() if follows else None
        self.packing = self.random_packing() if self.random.random() < 0.3 else None

    def random_schedule(self):
        rng = self.random
        lanes, width = "j", rng.choice([2, 4, 8, 16])
        rows = "i" if self.kind in ("result transposed", "by filters") else None
        tile = {lanes: width * rng.choice([1, 1, 2, 3])}
        for dim in self.kept:
            if dim == rows or (dim != lanes and rng.random() < 0.5):
                tile[dim] = rng.choice([2, 3, 4, 6])
        # Filters are whole in a tile, as a rule.
        if self.kind == "by filters" and rng.random() < 0.8:
            tile |= {"h": self.extents["h"], "i": self.extents["i"]}
            tile.pop("c", None)
        short = [dim for dim in self.reduced if self.extents[dim] <= 8]
        unroll = [dim for dim in short if rng.random() < 0.4]
        levels = self.random_levels(tile, unroll)
        number = self.space.index
        text = f"[{', '.join(levels)}], tile = ["
        text += ", ".join(f"{number(d)}: {tile[d]}" for d in self.space if d in tile)
        text += f"], lanes = {number(lanes)}: {width}"
        if rows:
            text += f", transpose = {number(rows)}"
        if unroll:
            text += f", unroll = [{', '.join(str(number(dim)) for dim in unroll)}]"
        if rng.random() < 0.3:
            text += f", prefetch = {rng.choice([1, 4, 16])}"
        return f"schedule(#metaop.schedule<{text}>)"

    def random_levels(self, tile, unroll):
        """Return the loops: parallel ones, blocks, those of tiles, those of the sum."""
        rng = self.random
        steps = {}
        for dim in self.space:
            steps[dim] = [tile.get(dim, 1)]
            while dim not in unroll and rng.random() < 0.4 and len(steps[dim]) < 3:
                steps[dim].insert(0, steps[dim][0] * rng.choice([2, 3, 4, 5]))
        # Whole cache lines, whatever the filters are.
        if self.kind == "by filters" and "c" not in tile and rng.random() < 0.7:
            steps["c"] = [16, 1]
        # A parallel loop of a dimension in the tile has a further one inside.
        fitting = [d for d in self.kept if len(steps[d]) > 1 or d not in tile]
        parallel = [d for d in rng.sample(fitting, len(fitting)) if rng.random() < 0.5]
        levels = [self.level("parallel", dim, steps[dim].pop(0)) for dim in parallel]
        blocks = [dim for dim in self.space for _ in steps[dim][1:]]
        kept = [dim for dim in self.kept if steps[dim]]
        reduced = rng.sample(self.reduced, len(self.reduced))
        inside = rng.sample(kept, len(kept))
        if reduced[0] not in unroll and rng.random() < 0.15:
            inside.insert(rng.randrange(len(inside) + 1), reduced.pop(0))
        for dim in [*rng.sample(blocks, len(blocks)), *inside, *reduced]:
            levels.append(self.level("step", dim, steps[dim].pop(0)))
        return levels

    def level(self, kind, dim, step):
        text = f"{kind}({self.space.index(dim)}" + (f", {step}" if step > 1 else "")
        has_body = step > 1 and dim in self.kept and self.random.random() < 0.4
        return text + (", body)" if has_body else ")")

    def shape(self, indices):
        """Return the extents of a tensor that is read whole."""
        return [
            sum(self.extents[dim] for dim in re.findall(r"\w", index)) - index.count("+")
            for index in indices.split(", ")
        ]

    def levels(self):
        """Return the levels of the contraction, and how many of them are parallel."""
        levels = [
            (kind, self.space[int(dim)], int(step or 1))
            for kind, dim, step in re.findall(r"(parallel|step)\((\d+)(?:, (\d+))?", self.schedule)
        ]
        return levels, sum(kind == "parallel" for kind, _, _ in levels)

    def loops(self, levels):
        """Return the dimensions of the result that are one loop of an epilogue each.

        Neighbours are one loop where blocks of them are a run, of whole cache lines.
        """
        result = self.maps[2].split(", ")
        first = {dim: self.extents[dim] for dim in result}
        for _, dim, step in reversed(levels):
            if dim in first and step < self.extents[dim]:
                first[dim] = step
        loops = [result[-1]]
        for dim in reversed(result[:-1]):
            run = first[dim] * math.prod(self.extents[inner] for inner in loops[0])
            is_whole = first[dim] == self.extents[dim]
            if (
                result[self.row] not in dim + loops[0]
                and all(first[inner] == self.extents[inner] for inner in loops[0])
                and (is_whole or run * BYTES[self.element] % LINE == 0)
            ):
                loops[0] = dim + loops[0]
            else:
                loops.insert(0, dim)
        return loops

    def translate(self, levels, loops):
        """Return levels of the contraction as those of loops that are several dimensions."""
        sizes, translated = dict(self.extents), []
        for kind, dim, step in levels:
            loop = next(loop for loop in loops if dim in loop)
            sizes[dim] = min(sizes[dim], step)
            for position, digit in enumerate(loop):
                if sizes[digit] > 1 or position == len(loop) - 1:
                    inner = math.prod(self.extents[d] for d in loop[position + 1 :])
                    reach = sizes[digit] * inner
                    break
            translated.append((kind, loop, reach if len(loop) > 1 else step))
        steps = {loop: [step for _, own, step in translated if own == loop] for loop in loops}
        falls = all(a % b == 0 for own in steps.values() for a, b in itertools.pairwise(own))
        return translated if falls else None

    def random_neighbour(self, outer, dims, others=None):
        """Return the levels and lanes of a stage over `dims` inside of `outer`.

        `others` are the dimensions but the last one, in the order of their loops.
        """
        rng = self.random
        own = [f"{kind}({dims.index(dim)}, {step})" for kind, dim, step in outer]
        last = len(dims) - 1
        own += [f"step({dim})" for dim in others or rng.sample(range(last), last)]
        steps = [step for _, dim, step in outer if dim == dims[last]]
        lanes = rng.choice([n for n in (1, 2, 4, 8, 16) if all(s % n == 0 for s in steps)])
        own.append(f"step({last}, {lanes})")
        text = f"[{', '.join(own)}]"
        if lanes > 1:
            text += f", tile = [{last}: {lanes}], lanes = {last}: {lanes}"
        return text

    def random_packing(self):
        """Return which factor is packed, and the schedule of that; None if none is."""
        rng = self.random
        levels, first = self.levels()
        # Without blocks, stages share loops in another way.
        if self.kind in ("convolution", "by filters") or len({dim for _, dim, _ in levels}) == len(
            levels
        ):
            return None
        last = max(depth for depth, level in enumerate(levels, 1) if level[1] in self.kept)
        depth = rng.randint(max(first, 1), max(first, last, 1))
        factor = rng.randrange(2)
        dims = self.maps[factor].split(", ")
        outer = [level for level in levels[:depth] if level[1] in dims]
        self.schedule = self.schedule.replace(">)", f", shared = {depth}>)")
        return factor, f"schedule(#metaop.schedule<{self.random_neighbour(outer, dims)}>)"

    def random_epilogue(self):
        """Return the schedules of stages that share some levels; None if there are none."""
        levels, first = self.levels()
        result = self.maps[2].split(", ")
        kept = [depth for depth, level in enumerate(levels, 1) if level[1] in self.kept]
        depths = [depth for depth in kept if depth >= first]
        if self.has_rows and self.random.random() < 0.9:
            # Rows are whole in a block, and the sums of a block complete.
            cut = [result[-1], *self.reduced]
            end = next(depth for depth, level in enumerate(levels, 1) if level[1] in cut)
            whole = [depth for depth in depths if depth < end]
            self.has_rows, depths = bool(whole), whole or depths
        if not depths:
            return None
        end = self.random.choice(depths)
        outer = [level for level in levels[:end] if level[1] in self.kept]
        if not self.has_rows:
            loops = self.loops(levels)
            self.collapses = len(loops) < len(result)
            outer, result = self.translate(outer, loops), loops
        if outer is None:
            return None
        order = self.random.sample(range(len(result) - 1), len(result) - 1)
        inside = [0] if not self.has_rows else [0, len(order), self.random.randint(0, len(order))]
        return [
            f"schedule(#metaop.schedule<{self.random_neighbour(outer, result, order)}, "
            f"shared = {len(outer) + shared}>)"
            for shared in inside
        ]

    def epilogue_text(self, y, element):
        """Return stages that follow the sums, of their type and one of their rows.

        The tensor `%kz` is added to the sums, and the row `%kt` multiplied by that. With
        rows, the largest of each row is subtracted first, by stages that share them.
        """
        result = self.maps[2].split(", ")
        dims = [f"d{i}" for i in range(len(result))]
        space = ", ".join(dims)
        sums, before = "%r", ""
        if self.has_rows:
            schedules = self.epilogue[:2]
            most = Program.type([self.extents[dim] for dim in result[:-1]], element)
            to_most = f"affine_map<({space}) -> ({', '.join(dims[:-1])})>"
            before = f"""
    %most = metaop.fused(%c = %r : {y}) -> {most}
        {schedules[0]} {{
      %3 = metaop.reindex_reduce max %c map {to_most} : {y} -> {most}
      metaop.yield %3 : {most}
    }}
    %less = metaop.fused(%c = %r : {y}, %m = %most : {most}) -> {y}
        {schedules[1]} {{
      %3 = metaop.reindex %m map {to_most} fill 0.0 : {element} : {most} -> {y}
      %4 = metaop.sub %c, %3 : {y}
      metaop.yield %4 : {y}
    }}"""
            sums = "%less"
        dim = self.row
        row = Program.type([self.extents[result[dim]]], element)
        to_row = f"affine_map<({space}) -> ({dims[dim]})>"
        return (
            row,
            f"""{before}
    %e, %n = metaop.fused(%c = {sums} : {y}, %s = %kz : {y}, %v = %kt : {row}) -> ({y}, {y})
        {self.epilogue[-1]} {{
      %3 = metaop.add %c, %s : {y}
      %4 = metaop.reindex %v map {to_row} fill 0.0 : {element} : {row} -> {y}
      %5 = metaop.mul %3, %4 : {y}
      %6 = metaop.neg %c : {y}
      metaop.yield %5, %6 : {y}, {y}
    }}""",
        )

    def text(self):
        stored, element = self.stored, self.element
        x, w = (Program.type(self.shape(indices), stored) for indices in self.maps[:2])
        y = Program.type(self.shape(self.maps[2]), element)
        extents = [self.extents[dim] for dim in self.space]
        read, space = Program.type(extents, stored), Program.type(extents, element)
        dims = ", ".join(self.space)
        to_x, to_w, to_y = (f"affine_map<({dims}) -> ({indices})>" for indices in self.maps)
        # What is multiplied may be computed.
        first, second, prologue = "%0", "%1", ""
        if stored != element:
            first, second = "%2", "%3"
            prologue += f"%2 = metaop.cast %0 : {read} -> {space}\n      "
            prologue += f"%3 = metaop.cast %1 : {read} -> {space}\n      "
        if op := self.random.choice(["neg", None, None]):
            prologue += f"%p = metaop.{op} {first} : {space}"
            first = "%p"
        arguments, operands = f"%x: {x}, %w: {w}", f"%kx = %x : {x}, %kw = %w : {w}"
        results, types, epilogue = "%r", y, ""
        if self.epilogue:
            row, epilogue = self.epilogue_text(y, element)
            arguments += f", %z: {y}, %t: {row}"
            operands += f", %kz = %z : {y}, %kt = %t : {row}"
            results, types = "%e, %n", f"{y}, {y}"
        outputs = f"({types})" if self.epilogue else y
        returned = "%k#0, %k#1" if self.epilogue else "%k"
        sources, packing = ["%kx", "%kw"], ""
        if self.packing:
            factor, schedule = self.packing
            source, sources[factor] = sources[factor], "%q"
            type_ = (x, w)[factor]
            packing = f"""
    %q = metaop.fused(%u = {source} : {type_}) -> {type_}
        {schedule} {{
      %z0 = metaop.neg %u : {type_}
      metaop.yield %z0 : {type_}
    }}"""
        return f"""func.func @{self.name}({arguments}) -> {outputs} {{
  %k{":2" if self.epilogue else ""} = metaop.kernel({operands}) -> {outputs} {{{packing}
    %r = metaop.fused(%a = {sources[0]} : {x}, %b = {sources[1]} : {w}) -> {y}
        {self.schedule} {{
      %0 = metaop.reindex %a map {to_x} fill 0.0 : {stored} : {x} -> {read}
      %1 = metaop.reindex %b map {to_w} fill 0.0 : {stored} : {w} -> {read}
      {prologue}
      %m = metaop.mul {first}, {second} : {space}
      %y = metaop.reindex_reduce add %m map {to_y} : {space} -> {y}
      metaop.yield %y : {y}
    }}{epilogue}
    metaop.yield {results} : {types}
  }}
  return {returned} : {types}
}}
"""


def check(seeds, folder):
    """Compare some contractions with the interpreter; return what was tested."""
    stages = {stage.name: stage for stage in map(Contraction, seeds)}
    path = folder / "contractions.mlir"
    path.write_text("".join(stage.text() for stage in stages.values()))
    done = run("metaop-run", path, "--compare", f"--seed={seeds[0]}")
    assert done.stdout, done.stderr[-3000:]
    facts = Counter()
    for line in done.stdout.splitlines():
        if agreed := re.match(r"(\w+): [12] results agree", line):
            stage = stages[agreed[1]]
            facts[stage.kind] += 1
            facts["agreed"] += 1
            facts["halves as f32"] += stage.stored != stage.element
            schedules = "pack " if stage.packing else ""
            schedules += stage.schedule + (" epilogue" if stage.epilogue else "")
            schedules += " rows" if stage.epilogue and stage.has_rows else ""
            schedules += " collapsed" if stage.epilogue and stage.collapses else ""
            facts += Counter({n: 1 for n, use in FEATURES.items() if use.search(schedules)})
        else:
            assert REFUSED.search(line), f"{line}\nin {path}"
            facts["refused"] += 1
    return facts


@pytest.mark.skipif(not (TOOLS / "metaop-run").exists(), reason="needs the tools of the build")
def test_random_contractions(tmp_path):
    facts = Counter()
    for first in range(FIRST_SEED, FIRST_SEED + 5 * PER_FILE, PER_FILE):
        facts += check(range(first, first + PER_FILE), tmp_path)
    assert facts["agreed"] >= 2 * QUOTA_SHARE * facts["refused"], facts
    assert_enough(facts, dict.fromkeys([*KINDS, *FEATURES, "halves as f32"], 8))


def main():
    number = int(sys.argv[1])
    first = int(sys.argv[2]) if len(sys.argv) > 2 else 1000
    totals = Counter()
    for seed in range(first, first + number, PER_FILE):
        folder = Path(tempfile.mkdtemp(prefix=f"contractions{seed}."))
        try:
            totals += check(range(seed, seed + PER_FILE), folder)
        except AssertionError as error:
            totals["files that fail"] += 1
            print(f"seeds from {seed}, {folder}: {error}", flush=True)
    print(", ".join(f"{name}: {count}" for name, count in totals.items()))


if __name__ == "__main__":
    main()
