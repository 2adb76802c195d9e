# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random programs of branches and loops, as MLIR."""

from __future__ import annotations

import random
from collections import Counter

#: Limit of nested branches and loops.
DEPTH = 3


class ControlFlow:
    """A function @main of branches and loops in each other.

    Every value is a tensor of one shape, so that any value may be read, carried, yielded
    and returned wherever it is in scope: made in the block, captured, the same one twice,
    in another order than it was carried in. Values stay small, and conditions compare
    with numbers that they seldom come near, for rounding decides nothing then.

    Parameters
    ----------
    seed : int
        Of all choices.

    Attributes
    ----------
    counts : Counter
        What was drawn.
    """

    def __init__(self, seed: int):
        self.rng = random.Random(seed)
        self.extent = self.rng.choice([1, 3, 8, 17, 300])
        self.type = f"tensor<{self.extent}xf32>"
        self.lines: list[str] = []
        self.names = 0
        self.counts: Counter[str] = Counter()

    def text(self) -> str:
        """Return the module."""
        scope = ["%a", "%b"]
        self._block(1, scope, DEPTH, self.rng.randrange(3, 9))
        results = [self._pick(scope) for _ in range(self.rng.randrange(1, 4))]
        donated = " {metaop.donatable}" if self.rng.random() < 0.5 else ""
        types = ", ".join([self.type] * len(results))
        self._emit(1, f"return {', '.join(results)} : {types}")
        head = f"func.func @main(%a: {self.type}{donated}, %b: {self.type}) -> ({types}) {{"
        return "\n".join([head, *self.lines, "}", ""])

    def _emit(self, indent: int, line: str) -> None:
        self.lines.append("  " * indent + line)

    def _fresh(self) -> str:
        self.names += 1
        return f"%v{self.names}"

    def _assign(self, indent: int, text: str, results: int = 1) -> str:
        name = self._fresh()
        count = f":{results}" if results > 1 else ""
        self._emit(indent, f"{name}{count} = {text}")
        return name

    def _pick(self, scope: list[str]) -> str:
        """Return a value, rather a late one."""
        return self.rng.choice(scope[-5:] if self.rng.random() < 0.7 else scope)

    def _list(self, types: list[str]) -> str:
        return ", ".join(types)

    # --- Straight code -------------------------------------------------------------------

    def _sum(self, indent: int, x: str) -> str:
        scalar = self._assign(
            indent, f"metaop.reduce add {x} dims = [0] : {self.type} -> tensor<f32>"
        )
        spread = self._assign(
            indent, f"metaop.broadcast {scalar} dims = [] : tensor<f32> -> {self.type}"
        )
        return self._assign(indent, f"metaop.tanh {spread} : {self.type}")

    def _parts(self, indent: int, x: str, y: str) -> str:
        double, t = 2 * self.extent, self.type
        whole = self._assign(
            indent, f"metaop.concat {x}, {y} dim = 0 : ({t}, {t}) -> tensor<{double}xf32>"
        )
        whole = self._assign(indent, f"metaop.tanh {whole} : tensor<{double}xf32>")
        rows = f"tensor<2x{self.extent}xf32>"
        pair = self._assign(indent, f"metaop.reshape {whole} : tensor<{double}xf32> -> {rows}")
        return self._assign(indent, f"metaop.reduce max {pair} dims = [0] : {rows} -> {t}")

    def _insert(self, indent: int, x: str, y: str) -> str:
        """Put the first element of x into y, at a place out of memory."""
        one = "tensor<1xf32>"
        zero = self._assign(indent, "metaop.constant dense<0> : tensor<i64>")
        part = self._assign(
            indent, f"metaop.slice {x}[{zero}] strides = [1] : {self.type} -> {one}"
        )
        place = self.rng.randrange(self.extent)
        at = self._assign(indent, f"metaop.constant dense<{place}> : tensor<i64>")
        at = self._assign(indent, f"metaop.stop_fuse {at} : tensor<i64>")
        return self._assign(
            indent, f"metaop.insert none {part} into {y}[{at}] : {one} into {self.type}"
        )

    def _read_checked(self, indent: int, x: str, y: str) -> str:
        """Read y by indices made of x, a few of which are out of the range that is checked."""
        t, i = self.type, f"tensor<{self.extent}xi64>"
        factor = self._assign(indent, f"metaop.constant dense<1.3717421> : {t}")
        wide = self._assign(indent, f"metaop.mul {x}, {factor} : {t}")
        indices = self._assign(indent, f"metaop.cast {wide} : {t} -> {i}")
        extent = self.rng.choice([2, 40, 40, 40, 40])
        self.counts["tight checks"] += extent == 2
        checked = self._assign(
            indent, f"metaop.check {indices} extent = {extent} negative dim = 0 : {i}"
        )
        read = self._assign(
            indent,
            f"metaop.gather {y}[{checked}] map affine_map<(d0)[s0] -> (s0)> fill 0.5 : f32"
            f" : ({t}, {i}) -> {t}",
        )
        return self._assign(indent, f"metaop.tanh {read} : {t}")

    def _compute(self, indent: int, scope: list[str]) -> None:
        x, y, t = self._pick(scope), self._pick(scope), self.type
        kinds = ["mean", "tanh", "min", "sum", "kernels", "view", "sort", "parts", "checked"]
        kinds += ["inserted", "barrier"]
        kind = self.rng.choice(kinds)
        self.counts[kind] += 1
        if kind == "mean":
            half = self._assign(indent, f"metaop.constant dense<0.5> : {t}")
            total = self._assign(indent, f"metaop.add {x}, {y} : {t}")
            made = self._assign(indent, f"metaop.mul {total}, {half} : {t}")
        elif kind == "tanh":
            made = self._assign(indent, f"metaop.tanh {x} : {t}")
        elif kind == "min":
            made = self._assign(indent, f"metaop.min {x}, {y} : {t}")
        elif kind == "sum":
            made = self._sum(indent, x)
        elif kind == "kernels":
            apart = self._assign(indent, f"metaop.stop_fuse {x} : {t}")
            made = self._assign(indent, f"metaop.sub {apart}, {y} : {t}")
            made = self._assign(indent, f"metaop.tanh {made} : {t}")
        elif kind == "view":
            row = f"tensor<1x{self.extent}xf32>"
            made = self._assign(indent, f"metaop.reshape {x} : {t} -> {row}")
            made = self._assign(indent, f"metaop.reshape {made} : {row} -> {t}")
        elif kind == "sort":
            made = self._fresh()
            places = self._fresh()
            self._emit(indent, f"{made}, {places} = metaop.sort {x} dim = 0 : {t} -> {t}")
        elif kind == "parts":
            made = self._parts(indent, x, y)
        elif kind == "inserted":
            made = self._insert(indent, x, y)
        elif kind == "barrier":
            both = self._assign(indent, f"metaop.barrier {x}, {y} : {t}, {t} -> {t}, {t}", 2)
            scope.append(f"{both}#1")
            made = f"{both}#0"
        else:
            made = self._read_checked(indent, x, y)
        scope.append(made)

    def _block(self, indent: int, scope: list[str], depth: int, steps: int) -> None:
        for _ in range(steps):
            kind = self.rng.random()
            if kind < 0.6 or depth == 0:
                self._compute(indent, scope)
            elif kind < 0.8:
                self._if(indent, scope, depth - 1)
            elif kind < 0.86:
                self._for(indent, scope, depth - 1)
            elif kind < 0.94:
                self._scan(indent, scope, depth - 1)
            else:
                self._while(indent, scope, depth - 1)

    # --- Branches and loops --------------------------------------------------------------

    def _condition(self, indent: int, scope: list[str]) -> str:
        largest = self._assign(
            indent,
            f"metaop.reduce max {self._pick(scope)} dims = [0] : {self.type} -> tensor<f32>",
        )
        limit = self.rng.choice(["0.31830989", "-0.61803399", "1.6180340", "3.7"])
        bound = self._assign(indent, f"metaop.constant dense<{limit}> : tensor<f32>")
        kind = self.rng.choice(["lt", "gt"])
        truth = self._assign(
            indent, f"metaop.cmp {kind} {largest}, {bound} : tensor<f32> -> tensor<i1>"
        )
        return self._assign(indent, f"tensor.extract {truth}[] : tensor<i1>")

    def _yield(
        self, indent: int, scope: list[str], count: int, known: set[str], first: str = ""
    ) -> None:
        values = [self._pick(scope) for _ in range(count)]
        values[0] = first or values[0]
        self.counts["captured yields"] += sum(value in known for value in values)
        self.counts["equal yields"] += len(set(values)) < len(values)
        self._emit(indent, f"scf.yield {self._list(values)} : {self._list([self.type] * count)}")

    def _if(self, indent: int, scope: list[str], depth: int) -> None:
        self.counts["if"] += 1
        condition, count = self._condition(indent, scope), self.rng.randrange(1, 4)
        result, types = self._fresh(), self._list([self.type] * count)
        self._emit(indent, f"{result}:{count} = scf.if {condition} -> ({types}) {{")
        for end in ("} else {", "}"):
            inner = list(scope)
            self._block(indent + 1, inner, depth, self.rng.randrange(0, 4))
            self._yield(indent + 1, inner, count, set(scope))
            self._emit(indent, end)
        scope += [f"{result}#{number}" for number in range(count)]

    def _over(self, indent: int, scope: list[str], value: str, depth: int) -> str:
        """Return what is made of a carry, one value over another, with reads between."""
        self.counts["chains"] += 1
        for _ in range(self.rng.randrange(1, 4)):
            before, kind = value, self.rng.random()
            if kind < 0.5 or depth == 0:
                value = self._insert(indent, self._pick(scope), value)
            elif kind < 0.6:
                value = self._assign(indent, f"metaop.tanh {value} : {self.type}")
            elif kind < 0.8:
                value = self._pass_through(indent, scope, value, depth - 1)
            else:
                value = self._carry_on(indent, scope, value, depth - 1)
            if self.rng.random() < 0.2:
                scope.append(self._sum(indent, self.rng.choice([before, value])))
            if self.rng.random() < 0.2:
                scope.append(value)
        return value

    def _pass_through(self, indent: int, scope: list[str], carry: str, depth: int) -> str:
        """Emit a branch that writes over a carry in one block, and yields it in the other."""
        self.counts["passed through"] += 1
        condition, result = self._condition(indent, scope), self._fresh()
        self._emit(indent, f"{result} = scf.if {condition} -> ({self.type}) {{")
        writes = self.rng.random() < 0.5
        for end in ("} else {", "}"):
            value = self._over(indent + 1, list(scope), carry, depth) if writes else carry
            self._emit(indent + 1, f"scf.yield {value} : {self.type}")
            self._emit(indent, end)
            writes = not writes or self.rng.random() < 0.2
        return result

    def _carry_on(self, indent: int, scope: list[str], carry: str, depth: int) -> str:
        """Emit a loop that writes over a carry of the loop around it."""
        self.counts["carried on"] += 1
        result, inner = self._fresh(), self._fresh()
        self._emit(
            indent,
            f"{result} = metaop.scan {self.rng.choice([0, 1, 2, 3])} unroll 1"
            f" carries({inner} = {carry} : {self.type}) -> ({self.type}) {{",
        )
        value = self._over(indent + 1, [*scope, inner], inner, depth)
        self._emit(indent + 1, f"metaop.scan_yield {value} : {self.type}")
        self._emit(indent, "}")
        return result

    def _for(self, indent: int, scope: list[str], depth: int) -> None:
        begin, end = self.rng.randrange(-2, 3), self.rng.randrange(-2, 6)
        self.counts["for"] += 1
        self.counts["empty for"] += begin >= end
        bounds = [
            self._assign(indent, f"arith.constant {number} : i64")
            for number in (begin, end, self.rng.randrange(1, 3))
        ]
        count = self.rng.randrange(1, 4)
        result, counter = self._fresh(), self._fresh()
        carried = [self._fresh() for _ in range(count)]
        types = self._list([self.type] * count)
        inits = ", ".join(f"{name} = {self._pick(scope)}" for name in carried)
        self._emit(
            indent,
            f"{result}:{count} = scf.for {counter} = {bounds[0]} to {bounds[1]} step "
            f"{bounds[2]} iter_args({inits}) -> ({types}) : i64 {{",
        )
        inner = scope + carried
        if self.rng.random() < 0.5:
            inner.append(self._spread_counter(indent + 1, counter))
        self._block(indent + 1, inner, depth, self.rng.randrange(0, 4))
        first = self._over(indent + 1, inner, carried[0], depth) if self.rng.random() < 0.4 else ""
        self._yield(indent + 1, inner, count, set(scope) | set(carried), first)
        self._emit(indent, "}")
        scope += [f"{result}#{number}" for number in range(count)]

    def _spread_counter(self, indent: int, counter: str) -> str:
        self.counts["counter read"] += 1
        number = self._assign(indent, f"tensor.from_elements {counter} : tensor<i64>")
        real = self._assign(indent, f"metaop.cast {number} : tensor<i64> -> tensor<f32>")
        spread = self._assign(
            indent, f"metaop.broadcast {real} dims = [] : tensor<f32> -> {self.type}"
        )
        return self._assign(indent, f"metaop.tanh {spread} : {self.type}")

    def _rows(self, indent: int, scope: list[str], rows: int) -> str:
        """Return so many different rows, made of one value."""
        t = f"tensor<{rows}x{self.extent}xf32>"
        x = self._pick(scope)
        spread = self._assign(indent, f"metaop.broadcast {x} dims = [1] : {self.type} -> {t}")
        number = self._assign(indent, f"metaop.iota dim = 0 : {t}")
        total = self._assign(indent, f"metaop.add {spread}, {number} : {t}")
        return self._assign(indent, f"metaop.tanh {total} : {t}")

    def _scan(self, indent: int, scope: list[str], depth: int) -> None:
        """Emit a scan; of the rows that it makes the sum of each column is kept."""
        self.counts["scan"] += 1
        trips = self.rng.choice([0, 1, 2, 3, 5])
        is_counted = self.rng.random() < 0.3
        # Rows that no trip makes are not defined.
        is_bounded = is_counted and self.rng.random() < 0.5
        carried = [self._fresh() for _ in range(self.rng.randrange(is_counted, 4))]
        has_rows = is_bounded or not is_counted
        read = [self._fresh() for _ in range(self.rng.randrange(0, 3) if has_rows else 0)]
        made = 0 if is_counted else self.rng.randrange(0 if carried else 1, 3)
        self.counts["rows"] += len(read)
        self.counts["rows made"] += made
        t = f"tensor<{trips}x{self.extent}xf32>"
        count = str(trips)
        if is_counted:
            value = self.rng.choice([trips, trips, 1, -3])
            count = self._assign(indent, f"metaop.constant dense<{value}> : tensor<i64>")
            count = self._assign(indent, f"metaop.stop_fuse {count} : tensor<i64>")
        if is_bounded:
            self.counts["bounded scan"] += 1
            count += f" most {trips}"
        head = f"metaop.scan {count}{self.rng.choice(['', ' reverse'])}"
        if not is_counted and self.rng.random() < 0.7:
            # Otherwise most of these loops, which are short, are none.
            factor = self.rng.choice([1, 1, 1, 2, 3])
            self.counts["unroll"] += factor > 1
            head += f" unroll {factor}"
        if carried:
            inits = [f"{name} = {self._pick(scope)} : {self.type}" for name in carried]
            head += f" carries({self._list(inits)})"
        if read:
            rows = [f"{name} = {self._rows(indent, scope, trips)} : {t}" for name in read]
            head += f" rows({self._list(rows)})"
        result, total = self._fresh(), len(carried) + made
        types = self._list([self.type] * len(carried) + [t] * made)
        self._emit(indent, f"{result}:{total} = {head} -> ({types}) {{")
        inner = scope + carried + read
        self._block(indent + 1, inner, depth, self.rng.randrange(0, 4))
        values = [self._pick(inner) for _ in range(total)]
        if carried and self.rng.random() < 0.4:
            values[0] = self._over(indent + 1, inner, carried[0], depth)
            inner.append(values[0])
            if made and self.rng.random() < 0.2:
                values[-1] = self._pick(inner)
        both = set(values[: len(carried)]) & set(values[len(carried) :])
        self.counts["carried rows"] += bool(both)
        yielded = self._list([self.type] * total)
        self._emit(indent + 1, f"metaop.scan_yield {self._list(values)} : {yielded}")
        self._emit(indent, "}")
        scope += [f"{result}#{number}" for number in range(len(carried))]
        for number in range(len(carried), total):
            summed = self._assign(
                indent,
                f"metaop.reduce add {result}#{number} dims = [0] : {t} -> {self.type}",
            )
            scope.append(self._assign(indent, f"metaop.tanh {summed} : {self.type}"))

    def _while(self, indent: int, scope: list[str], depth: int) -> None:
        """Emit a loop of a few trips that carries and gives different numbers of values."""
        self.counts["while"] += 1
        carried = [self._fresh() for _ in range(self.rng.randrange(1, 4))]
        given = [self._fresh() for _ in range(self.rng.randrange(1, 4))]
        result, left, trips = self._fresh(), self._fresh(), self.rng.randrange(0, 6)
        self.counts["empty while"] += trips == 0
        start = self._assign(indent, f"metaop.constant dense<{trips}> : tensor<i64>")
        inits = [f"{name} = {self._pick(scope)}" for name in carried]
        carried_types = self._list(["tensor<i64>", *[self.type] * len(carried)])
        given_types = self._list(["tensor<i64>", *[self.type] * len(given)])
        self._emit(
            indent,
            f"{result}:{len(given) + 1} = scf.while ({self._list([f'{left} = {start}', *inits])})"
            f" : ({carried_types}) -> ({given_types}) {{",
        )
        inner = scope + carried
        self._block(indent + 1, inner, depth, self.rng.randrange(0, 3))
        zero = self._assign(indent + 1, "metaop.constant dense<0> : tensor<i64>")
        truth = self._assign(
            indent + 1, f"metaop.cmp gt {left}, {zero} : tensor<i64> -> tensor<i1>"
        )
        goes_on = self._assign(indent + 1, f"tensor.extract {truth}[] : tensor<i1>")
        values = [self._pick(inner) for _ in given]
        if self.rng.random() < 0.3:
            values[0] = carried[0]
        self.counts["carried given"] += sum(value in carried for value in values)
        self._emit(
            indent + 1,
            f"scf.condition({goes_on}) {self._list([left, *values])} : {given_types}",
        )
        self._emit(indent, "} do {")
        left = self._fresh()
        arguments = [f"{name}: {self.type}" for name in given]
        self._emit(indent, f"^bb0({self._list([f'{left}: tensor<i64>', *arguments])}):")
        inner = scope + given
        self._block(indent + 1, inner, depth, self.rng.randrange(0, 4))
        one = self._assign(indent + 1, "metaop.constant dense<1> : tensor<i64>")
        fewer = self._assign(indent + 1, f"metaop.sub {left}, {one} : tensor<i64>")
        yielded = [self._pick(inner) for _ in carried]
        if self.rng.random() < 0.4:
            yielded[0] = self._over(indent + 1, inner, given[0], depth)
        self.counts["exchanged"] += sum(value in given for value in yielded) > 1
        self._emit(indent + 1, f"scf.yield {self._list([fewer, *yielded])} : {carried_types}")
        self._emit(indent, "}")
        scope += [f"{result}#{number + 1}" for number in range(len(given))]
