# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random schedules for GPUs, as text, of stages of which a little is known.

All levels that the language has are drawn: clusters, blocks, steps, warps, threads, and
loops of a thread's own. A schedule can always be written, so that a file with it can be
read; whether a GPU can do it is the verifier's to say.
"""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class Stage:
    """What a schedule has to know of a stage."""

    extents: list[int]
    #: The dimensions that its results are reduced over.
    reduced: set[int] = field(default_factory=set)
    #: That of prefixes, which goes in order.
    carried: int | None = None
    reads: int = 0
    results: int = 1
    #: Bytes of the widest element.
    width: int = 4
    #: Dimensions that stages of one kernel share loops over, each at the same place.
    shared: list[int] = field(default_factory=list)
    #: True of the first stage of its kernel, or the only one.
    is_first: bool = True
    is_alone: bool = True
    #: True if a chain of float sums is long enough to start anew.
    pairwise: bool = False


@dataclass
class Dim:
    """The levels of one dimension, outside to inside, as (kind, step)."""

    levels: list[tuple[str, int]]
    tile: int = 1


class Draw:
    """One schedule of a stage with so many threads a block.

    `prefix` are the levels that the stages of a kernel share, each as its place in their
    shared dimensions, its kind and its step.
    """

    def __init__(self, rng, stage, threads, prefix=()):
        self.random = rng
        self.stage = stage
        self.prefix = [(kind, stage.shared[place], step) for place, kind, step in prefix]
        shared = list(dict.fromkeys(dim for _, dim, _ in self.prefix))
        self.lanes = {}
        self.dims = {}
        free = [dim for dim in range(len(stage.extents)) if dim != stage.carried]
        own = [dim for dim in free if dim not in shared]
        if own and rng.random() < 0.5:
            widths = [width for width in (2, 4, 8) if width * stage.width <= 16] or [2]
            dim = own[-1] if rng.random() < 0.8 else rng.choice(own)
            self.lanes = {dim: rng.choice(widths)}
        for dim in shared:
            threads //= self.plan_shared(dim, threads)
        counts = self.divide(threads, own)
        # Where there are warps, one dimension has all that is inside of them.
        large = [dim for dim in own if counts[dim] >= 32]
        whole = rng.choice(large) if large and rng.random() < 0.4 else None
        # What is kept is a cluster's where one dimension is shared by its blocks.
        can_have = own and stage.is_alone and stage.carried is None
        clustered = rng.choice(own) if can_have and rng.random() < 0.15 else None
        for dim in own:
            self.plan(dim, counts[dim], whole, clustered)
        if stage.carried is not None:
            self.dims[stage.carried] = Dim([("step", 1)])

    def divide(self, threads, dims):
        """Return how many threads each dimension has; their product is all of them."""
        counts = dict.fromkeys(dims, 1)
        while threads > 1 and dims:
            part = min(threads, self.random.choice([2, 4, 8, 32]))
            fitting = [dim for dim in dims if counts[dim] < self.stage.extents[dim]] or dims
            # The last dimension is most often that of neighbours in memory.
            is_last = self.random.random() < 0.5
            counts[fitting[-1] if is_last else self.random.choice(fitting)] *= part
            threads //= part
        return counts

    def plan_shared(self, dim, threads):
        """Give a dimension its shared levels, and what is inside; return its threads."""
        rng = self.random
        levels = [(kind, step) for kind, level, step in self.prefix if level == dim]
        span = levels[-1][1]
        tile = rng.choice([size for size in (1, 2, 4) if span % size == 0])
        count = span // tile
        if threads % count == 0 and rng.random() < 0.7:
            levels += [("thread", 1)] if count > 1 else []
        elif span <= 8 and rng.random() < 0.5:
            tile, count = span, 1
        else:
            levels += [("step", tile)] if span > tile else []
            count = 1
        self.dims[dim] = Dim(levels, tile)
        return count

    def plan(self, dim, count, whole, clustered):
        """Give a dimension with so many threads its levels."""
        rng = self.random
        lanes = self.lanes.get(dim, 1)
        tile = lanes * rng.choice([1, 1, 1, 2, 3, 4])
        span = tile * count
        inner = []
        if whole is not None and dim != whole:
            inner = [("warp", lanes)] if count > 1 else []
        elif dim == whole:
            inner = [("warp", 32 * tile)] if count > 32 or rng.random() < 0.5 else []
            inner.append(("thread", lanes))
        elif rng.random() < 0.15:
            # Neighbouring tiles, through which each thread goes by itself.
            step = tile * rng.choice([2, 3])
            inner, span = [("thread", step), ("step", tile)], step * count
        elif count > 1 or rng.random() < 0.1:
            inner = [("thread", lanes)]
        outer = self.draw_outer(dim, span, clustered)
        if not inner and outer[-1][1] != tile:
            inner = [("step", tile)]
        self.dims[dim] = Dim(outer + inner, tile)

    def draw_outer(self, dim, span, clustered):
        """Return the levels of a dimension around the span of its threads."""
        rng = self.random
        extent, is_reduced = self.stage.extents[dim], dim in self.stage.reduced
        inside = [("step", span)]
        if dim == clustered:
            # A cluster has all of a dimension that is reduced.
            blocks = rng.choice([2, 4, 8])
            part = span * max(1, -(-extent // (blocks * span)))
            wide = blocks * part * (1 if is_reduced else rng.choice([1, 1, 2]))
            return [("cluster", wide), ("block", part)] + (inside if part > span else [])
        if not self.stage.is_alone:
            # The grid is what all stages share.
            return inside
        grid = "block" if clustered is None else "cluster"
        wide = span * rng.choice([1, 1, 2, 3, 8])
        deep = inside if wide > span else []
        if is_reduced and rng.random() < 0.97:
            return rng.choice([inside, inside, [("step", wide), *deep]])
        return rng.choice([[(grid, span)], [(grid, span)], [(grid, wide), *deep], inside])

    def order(self):
        """Return all levels, as (kind, dimension, step), in an order that may be written."""
        chains = {dim: list(plan.levels) for dim, plan in self.dims.items()}
        is_orderly = self.random.random() < 0.85
        last = [self.stage.carried] if self.stage.carried is not None else []
        order = list(self.prefix)
        for _, dim, _ in order:
            chains[dim].pop(0)
        while left := {dim: chain[0][0] for dim, chain in chains.items() if chain}:
            heads = [dim for dim in left if dim not in last] or last
            for kind in ("cluster", "block"):
                if any(level == kind for chain in chains.values() for level, _ in chain):
                    heads = [d for d in heads if left[d] == kind]
                    break
            if any(level == "warp" for chain in chains.values() for level, _ in chain):
                heads = [d for d in heads if left[d] != "thread"]
            if is_orderly:
                # Loops over what is reduced stand inside of those over what is kept.
                loops = [dim for dim in heads if left[dim] == "step"]
                kept = [dim for dim in loops if dim not in self.stage.reduced]
                heads = kept or loops or heads
            dim = self.random.choice(heads)
            kind, step = chains[dim].pop(0)
            order.append((kind, dim, step))
        return order

    def text(self, place=()):
        """Return the schedule, with fields that are drawn beside its levels."""
        rng, stage = self.random, self.stage
        levels = [
            f"{kind}({dim}{f', {step}' if step > 1 else ''})" for kind, dim, step in self.order()
        ]
        text = f"[{', '.join(levels)}]"
        tiles = {dim: plan.tile for dim, plan in sorted(self.dims.items()) if plan.tile > 1}
        if tiles:
            text += f", tile = [{', '.join(f'{dim}: {tile}' for dim, tile in tiles.items())}]"
        for dim, width in self.lanes.items():
            text += f", lanes = {dim}: {width}"
        if stage.pairwise and rng.random() < 0.7:
            text += f", pairwise = {rng.choice([2, 3, 32])}"
        # What the stage before has in registers cannot be copied.
        share = 0.25 if stage.is_first else 0.08
        staged = [read for read in range(stage.reads) if rng.random() < share]
        if staged:
            pads = [f"{read}: {rng.choice([0, 1, 3])}" for read in staged]
            text += f", staged = [{', '.join(pads)}]"
        if place:
            text += f", place = [{', '.join(place)}]"
        if not stage.is_first and self.prefix:
            text += f", shared = {len(self.prefix)}"
        return f"schedule(#metaop.schedule<{text}>)"
