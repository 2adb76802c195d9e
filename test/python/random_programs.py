# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random programs as .mlir text: functions of tensors, large ones, and kernels of stages."""

from __future__ import annotations

import os
import random

#: The first seed of tests of random programs: with sanitizers, the commit's own number.
FIRST_SEED = int(os.environ.get("METAOPS_FUZZ_SEED", "0"))
#: Share of what a test asks of its fixed seeds that it asks of others, which were not looked at: a
#: quota of 10 is 1, one below that is none.
QUOTA_SHARE = 1.0 if FIRST_SEED == 0 else 0.1
MAX_ELEMENTS = 2000

FLOATS = ["f32", "f32", "f32", "f64", "f16", "bf16"]
INTEGERS = ["i32", "i64", "i8", "ui8", "i16", "ui32"]
#: Functions of floats that are not rounded.
EXACT = ["neg", "abs", "floor", "sign", "trunc"]
EXTENTS = [0, 1, 1, 2, 3, 4, 5, 7, 8, 9, 16, 17, 33, 40]


def count(shape):
    """Return the number of elements."""
    total = 1
    for extent in shape:
        total *= extent
    return total


class Program:
    """One random function.

    Values are (name, shape, dtype, is_exact). Floats that were rounded are never
    compared or turned into integers: a difference of one bit could become one of one.
    """

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.name = f"f{seed}"
        self.arguments = []
        self.lines = []
        self.values = []
        self.argument(self.shape(), self.random.choice(FLOATS + INTEGERS))
        self.argument(self.values[0][1], "f32")
        for _ in range(self.random.randint(1, 8)):
            self.step()

    def shape(self, rank=None, limit=MAX_ELEMENTS):
        rank = self.random.randint(0, 4) if rank is None else rank
        while True:
            shape = tuple(self.random.choice(EXTENTS) for _ in range(rank))
            if count(tuple(max(n, 1) for n in shape)) <= limit:
                return shape

    @staticmethod
    def type(shape, dtype):
        return "tensor<" + "".join(f"{n}x" for n in shape) + dtype + ">"

    def argument(self, shape, dtype):
        name = f"%a{len(self.arguments)}"
        # What may be written over makes the memory plan choose.
        donated = " {metaop.donatable}" if self.random.random() < 0.5 else ""
        self.arguments.append(f"{name}: {self.type(shape, dtype)}{donated}")
        self.values.append((name, shape, dtype, True))
        return self.values[-1]

    def emit(self, text, shape, dtype, exact):
        name = f"%v{len(self.lines)}"
        self.lines.append(f"{name} = {text}")
        self.values.append((name, shape, dtype, exact))
        return self.values[-1]

    def pick(self, test=lambda value: True):
        fitting = [value for value in self.values if test(value)]
        # The newest ones make long chains.
        return self.random.choice(fitting[-3:]) if fitting else None

    def like(self, shape, dtype):
        same = [v for v in self.values if v[1] == shape and v[2] == dtype]
        if len(same) < 2:
            same = [self.argument(shape, dtype)]
        return self.random.choice(same)

    def symbol(self):
        return self.argument((), "i64")[0]

    def number(self, dtype):
        if dtype == "i1":
            return self.random.choice(["true", "false"])
        if dtype in FLOATS:
            return f"{self.random.choice([0.0, 1.0, -2.5, 0.5])} : {dtype}"
        return f"{self.random.randint(0, 9)} : {dtype}"

    def kinds(self):
        """Return the functions that add an operation, the more frequent ones repeated."""
        return [
            self.unary, self.binary, self.binary, self.condition, self.cast, self.broadcast,
            self.transpose, self.slice, self.pad, self.reindex, self.reindex, self.reduce,
            self.reduce, self.scatter, self.scatter, self.scatter, self.leaf, self.reshape,
            self.gather, self.scatter_at, self.routine,
        ]  # fmt: skip

    def step(self):
        x = self.pick()
        if x[0].startswith("%a") and len(self.arguments) > 2 and not x[1]:
            x = self.values[0]
        self.random.choice(self.kinds())(*x)

    # --- Element-wise ---------------------------------------------------------

    def unary(self, name, shape, dtype, exact):
        if dtype == "i1":
            self.emit(f"metaop.not {name} : {self.type(shape, dtype)}", shape, dtype, True)
            return
        kinds = ["neg", "abs"]
        if dtype in FLOATS:
            kinds += ["exp", "tanh", "sin", "erf", "atan", "asinh", "expm1", "exp2", "erfc"]
            kinds += ["floor", "sign", "trunc"] if exact else []
        else:
            kinds += ["not", "popcount"]
        kind = self.random.choice(kinds)
        if kind in ("exp", "expm1", "exp2"):
            name = self.emit(f"metaop.tanh {name} : {self.type(shape, dtype)}", shape, dtype, False)
            name = name[0]
        exact = exact and (dtype not in FLOATS or kind in EXACT)
        self.emit(f"metaop.{kind} {name} : {self.type(shape, dtype)}", shape, dtype, exact)

    def binary(self, name, shape, dtype, exact):
        other = self.like(shape, dtype)
        if dtype == "i1":
            kinds = ["and", "or", "xor"]
        elif dtype in FLOATS:
            kinds = ["add", "sub", "mul", "max", "min"]
        else:
            kinds = ["add", "sub", "mul", "max", "min", "and", "xor"]
            kinds += ["gcd", "shl", "shr", "pow", "fmod", "floor_div", "mod"]
        kind = self.random.choice(kinds)
        exact = dtype not in FLOATS or (exact and other[3] and kind in ("max", "min"))
        self.emit(
            f"metaop.{kind} {name}, {other[0]} : {self.type(shape, dtype)}", shape, dtype, exact
        )

    def condition(self, name, shape, dtype, exact):
        a = self.pick(lambda v: v[1] == shape and v[3] and v[2] != "i1")
        if a is None:
            return
        b = self.like(shape, a[2])
        if not b[3]:
            return
        predicate = self.random.choice(["lt", "le", "eq", "gt"])
        text = f"metaop.cmp {predicate} {a[0]}, {b[0]} : {self.type(shape, a[2])}"
        chosen = self.emit(f"{text} -> {self.type(shape, 'i1')}", shape, "i1", True)
        other = self.like(shape, dtype)
        self.emit(
            f"metaop.select {chosen[0]}, {name}, {other[0]} : "
            f"{self.type(shape, 'i1')}, {self.type(shape, dtype)}",
            shape,
            dtype,
            exact and other[3],
        )

    def routine(self, name, shape, dtype, exact):
        """Add a prefix or a sort; what was rounded has no order to compare."""
        if not shape or dtype == "i1":
            return
        dim = self.random.randrange(len(shape))
        at = f"dim = {dim}"
        if self.random.random() < 0.5 and exact:
            at += self.random.choice(["", " descending"])
            begin, count = 0, shape[dim]
            if self.random.random() < 0.5:
                begin = self.random.randrange(shape[dim] + 1)
                count = self.random.randrange(shape[dim] + 1 - begin)
            if begin:
                number = f"%k{len(self.lines)}"
                self.lines.append(f"{number} = metaop.constant dense<{begin}> : tensor<i64>")
                at += f" begin = {number}"
            part = (*shape[:dim], count, *shape[dim + 1 :])
            values, indices = (f"%{letter}{len(self.lines)}" for letter in "vi")
            types = f"{self.type(shape, dtype)} -> {self.type(part, dtype)}"
            self.lines.append(f"{values}, {indices} = metaop.sort {name} {at} : {types}")
            results = [(values, part, dtype, True), (indices, part, "i64", True)]
            self.values += self.random.choice([results, results[:1], results[1:]])
            return
        at += self.random.choice(["", " reverse"]) + self.random.choice(["", " exclusive"])
        kind = self.random.choice(["add", "max", "min", "linear"])
        exact = exact and (dtype not in FLOATS or kind in ("max", "min"))
        if dtype in FLOATS and kind in ("add", "linear"):
            # Bounded, so that sums are no larger than what they are compared with.
            name = self.emit(f"metaop.tanh {name} : {self.type(shape, dtype)}", shape, dtype, False)
            name = name[0]
        factors = f" factors({name})" if kind == "linear" else ""
        self.emit(
            f"metaop.prefix {kind} {name}{factors} {at} : {self.type(shape, dtype)}",
            shape,
            dtype,
            exact,
        )

    def cast(self, name, shape, dtype, exact):
        # Of what was rounded, more digits would be compared than are there.
        narrower = {"f64": FLOATS, "f32": FLOATS[:3] + FLOATS[4:], "f16": ["bf16"]}
        to = self.random.choice(
            FLOATS + INTEGERS + ["i1"] if exact else narrower.get(dtype, [dtype])
        )
        self.emit(
            f"metaop.cast {name} : {self.type(shape, dtype)} -> {self.type(shape, to)}",
            shape,
            to,
            exact,
        )

    # --- Reindex --------------------------------------------------------------

    def broadcast(self, name, shape, dtype, exact):
        rank = self.random.randint(len(shape), 5)
        dims = sorted(self.random.sample(range(rank), len(shape)))
        result = [self.random.choice(EXTENTS) for _ in range(rank)]
        for dim, extent in zip(dims, shape, strict=True):
            if extent != 1 or self.random.random() < 0.5:
                result[dim] = extent
        if count([max(n, 1) for n in result]) > MAX_ELEMENTS:
            return
        self.convert(f"metaop.broadcast {name} dims = {dims}", shape, tuple(result), dtype, exact)

    def convert(self, text, shape, result, dtype, exact):
        self.emit(
            f"{text} : {self.type(shape, dtype)} -> {self.type(result, dtype)}",
            result,
            dtype,
            exact,
        )

    def transpose(self, name, shape, dtype, exact):
        perm = self.random.sample(range(len(shape)), len(shape))
        result = tuple(shape[dim] for dim in perm)
        self.convert(f"metaop.transpose {name} perm = {perm}", shape, result, dtype, exact)

    def slice(self, name, shape, dtype, exact):
        starts = ", ".join(self.symbol() for _ in shape)
        strides = [self.random.choice([1, 1, 2, 4, -1, -2, -3]) for _ in shape]
        result = tuple(self.random.choice(EXTENTS[:9]) for _ in shape)
        self.convert(
            f"metaop.slice {name}[{starts}] strides = {strides}", shape, result, dtype, exact
        )

    def pad(self, name, shape, dtype, exact):
        low = [self.random.randint(-min(n // 2, 2), 2) for n in shape]
        high = [self.random.randint(-min(n // 2, 2), 3) for n in shape]
        result = tuple(a + n + b for a, n, b in zip(low, shape, high, strict=True))
        fill = self.number(dtype)
        text = f"metaop.pad {name} low = {low} high = {high} fill {fill}"
        self.convert(text, shape, result, dtype, exact)

    def expression(self, rank, symbols):
        """Return a random index over `rank` dims; may add a symbol operand."""
        dims = [f"d{i}" for i in range(rank)]
        i = self.random.choice(dims) if dims else "0"
        j = self.random.choice(dims) if dims else "0"
        c = self.random.randint(0, 3)
        choice = self.random.randint(0, 11)
        if choice <= 3:
            return i
        if choice == 4:
            symbols.append(self.symbol())
            return f"{i} + s{len(symbols) - 1}"
        return [
            f"{i} + {j} - {c}", f"{i} - {j}", f"{i} * 2 + {j}", f"{i} floordiv 2",
            f"{i} mod 3", f"{c}", f"{i} * 2 - {j} + {c}",
        ][choice - 5]  # fmt: skip

    def access(self, rank, results):
        """Return `symbols(...)`, the map and perhaps conditions."""
        symbols = []
        exprs = [self.expression(rank, symbols) for _ in range(results)]
        dims = ", ".join(f"d{i}" for i in range(rank))
        where = ""
        if rank and self.random.random() < 0.3:
            check = f"{self.expression(rank, symbols)} - {self.random.randint(0, 3)} >= 0"
            where = f"({check})"
        names = ", ".join(f"s{i}" for i in range(len(symbols)))
        space = f"({dims})" + (f"[{names}]" if symbols else "")
        text = f" symbols({', '.join(symbols)})" if symbols else ""
        text += f" map affine_map<{space} -> ({', '.join(exprs)})>"
        return text + (f" where affine_set<{space} : {where}>" if where else "")

    def reindex(self, name, shape, dtype, exact):
        result = self.shape()
        access = self.access(len(result), len(shape))
        text = f"metaop.reindex {name}{access} fill {self.number(dtype)}"
        self.convert(text, shape, result, dtype, exact)

    def indices(self, shape):
        """Return a tensor of indices of this shape."""
        dims = [dim for dim in range(len(shape)) if self.random.random() < 0.6]
        kept = tuple(shape[dim] for dim in dims)
        name = self.like(kept, "i64")[0]
        if kept != shape:
            text = f"metaop.broadcast {name} dims = {dims}"
            text += f" : {self.type(kept, 'i64')} -> {self.type(shape, 'i64')}"
            name = self.emit(text, shape, "i64", True)[0]
        return name

    def places(self, shape, results):
        """Return tensors of indices, a map of them, and their types."""
        names = [self.indices(shape) for _ in range(self.random.randint(1, 2))]
        exprs = []
        for _ in range(results):
            expr = self.expression(len(shape), [])
            exprs.append("0" if " + s" in expr else expr)
        for number in range(len(names)):
            if exprs:
                place = self.random.randrange(results)
                choices = [f"s{number}", f"{exprs[place]} + s{number}", f"1 - s{number}"]
                exprs[place] = self.random.choice(choices)
        dims = ", ".join(f"d{i}" for i in range(len(shape)))
        space = f"({dims})[{', '.join(f's{i}' for i in range(len(names)))}]"
        text = f"[{', '.join(names)}] map affine_map<{space} -> ({', '.join(exprs)})>"
        return text, f", {self.type(shape, 'i64')}" * len(names)

    def gather(self, name, shape, dtype, exact):
        result = self.shape()
        places, types = self.places(result, len(shape))
        text = f"metaop.gather {name}{places} fill {self.number(dtype)}"
        text += f" : ({self.type(shape, dtype)}{types}) -> {self.type(result, dtype)}"
        self.emit(text, result, dtype, exact)

    def scatter_at(self, name, shape, dtype, exact):
        kind = self.kind(dtype).replace("mul", "add")
        result = self.shape(self.random.randint(0, 3))
        places, types = self.places(shape, len(result))
        text = f"metaop.scatter {kind} {name}{places}"
        text += f" : ({self.type(shape, dtype)}{types}) -> {self.type(result, dtype)}"
        exact = dtype not in FLOATS or (exact and kind in ("max", "min"))
        self.emit(text, result, dtype, exact)

    def reshape(self, name, shape, dtype, exact):
        result = self.random.choice([(count(shape),), (*shape, 1), (1, *shape), shape[::-1]])
        self.convert(f"metaop.reshape {name}", shape, result, dtype, exact)

    # --- Reductions and leaves --------------------------------------------------

    def kind(self, dtype):
        if dtype == "i1":
            return self.random.choice(["and", "or", "xor"])
        return self.random.choice(
            ["add", "add", "max", "min", "mul"] + ([] if dtype in FLOATS else ["and", "xor"])
        )

    def reduce(self, name, shape, dtype, exact):
        dims = sorted(self.random.sample(range(len(shape)), self.random.randint(0, len(shape))))
        kind = self.kind(dtype)
        keep = self.random.random() < 0.2
        result = tuple(1 if i in dims else n for i, n in enumerate(shape) if keep or i not in dims)
        exact = dtype not in FLOATS or (exact and kind in ("max", "min"))
        text = f"metaop.reduce {kind} {name} dims = {dims}" + (" keep_dims" if keep else "")
        self.convert(text, shape, result, dtype, exact)

    def scatter(self, name, shape, dtype, exact):
        kind = self.kind(dtype)
        result = self.shape(self.random.randint(0, 3))
        access = self.access(len(shape), len(result))
        exact = dtype not in FLOATS or (exact and kind in ("max", "min"))
        text = f"metaop.reindex_reduce {kind} {name}{access}"
        self.convert(text, shape, result, dtype, exact)

    def leaf(self, name, shape, dtype, exact):
        kind = self.random.choice(["iota", "splat", "table", "random"])
        target = self.type(shape, dtype)
        if kind == "iota" and shape and dtype != "i1":
            dim = self.random.randrange(len(shape))
            text = f"metaop.iota dim = {dim} : {target}"
        elif kind == "random" and dtype in ["f32", "f64", "f16", "bf16", "ui32"]:
            text = f"metaop.random {self.symbol()}, {self.symbol()} : {target}"
        elif kind == "table" and 0 < count(shape) <= 40 and dtype != "i1":
            point = ".5" if dtype in FLOATS else ""
            numbers = [f"{self.random.randint(0, 9)}{point}" for _ in range(count(shape))]
            for extent in reversed(shape):
                numbers = [
                    "[" + ", ".join(numbers[i : i + extent]) + "]"
                    for i in range(0, len(numbers), extent)
                ]
            text = f"metaop.constant dense<{numbers[0]}> : {target}"
        else:
            text = f"metaop.constant dense<{self.number(dtype).split()[0]}> : {target}"
        made = self.emit(text, shape, dtype, True)
        self.binary(*made)

    def text(self):
        made = [value for value in self.values if value[0].startswith("%v")] or self.values[:1]
        chosen = made[-1:] + self.random.sample(made, min(len(made), self.random.randint(0, 2)))
        names = ", ".join(value[0] for value in chosen)
        types = ", ".join(self.type(value[1], value[2]) for value in chosen)
        body = "\n  ".join(self.lines)
        return (
            f"func.func @{self.name}({', '.join(self.arguments)}) -> ({types}) {{\n"
            f"  {body}\n  return {names} : {types}\n}}\n"
        )


class LargeProgram(Program):
    """One random function on enough elements for blocks, threads, splits and strips."""

    # Few results of many elements, long rows into one, and neither; odd ones leave rests.
    SHAPES = [
        (262144,), (150001,), (3, 70000), (160, 4096), (75, 8192), (45, 4, 3072), (700, 331),
        (331, 700), (16, 128, 128), (4099, 67), (256, 2048), (64, 17, 256),
    ]  # fmt: skip
    DTYPES = ["f32", "f32", "f32", "f64", "bf16", "i32", "i64", "i8", "ui16"]

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.name = f"f{seed}"
        self.arguments = []
        self.lines = []
        self.values = []
        shape = self.random.choice(self.SHAPES)
        self.argument(shape, self.random.choice(self.DTYPES))
        self.argument(shape, "f32")
        for _ in range(self.random.randint(1, 3)):
            self.step()
        # Sums of one sign, whose errors are relative ones.
        name, shape, dtype, exact = self.values[-1]
        if shape and dtype != "i1":
            absolute = f"metaop.abs {name} : {self.type(shape, dtype)}"
            self.sum(*self.emit(absolute, shape, dtype, exact))

    def kinds(self):
        return [
            self.unary, self.unary, self.binary, self.condition, self.leaf, self.pad,
            self.transpose, self.reverse, self.largest,
        ]  # fmt: skip

    def reduced(self, kind, name, shape, dtype, exact):
        """Combine over some dimensions, over at least one."""
        dims = sorted(self.random.sample(range(len(shape)), self.random.randint(1, len(shape))))
        if self.random.random() < 0.4:
            # Rows into one, where columns are strips.
            dims = [0]
        result = tuple(n for i, n in enumerate(shape) if i not in dims)
        self.convert(f"metaop.reduce {kind} {name} dims = {dims}", shape, result, dtype, exact)

    def sum(self, name, shape, dtype, exact):
        self.reduced("add", name, shape, dtype, exact and dtype not in FLOATS)

    def largest(self, name, shape, dtype, exact):
        if shape and dtype != "i1":
            self.reduced(self.random.choice(["max", "min"]), name, shape, dtype, exact)

    def reverse(self, name, shape, dtype, exact):
        if not shape:
            return
        at = self.random.randrange(len(shape))
        dims = [f"d{i}" for i in range(len(shape))]
        places = ", ".join(f"{shape[at] - 1} - {d}" if i == at else d for i, d in enumerate(dims))
        text = f"metaop.reindex {name} map affine_map<({', '.join(dims)}) -> ({places})>"
        self.convert(f"{text} fill {self.number(dtype)}", shape, shape, dtype, exact)


class Kernel:
    """One random kernel of several stages on one space, each of which reads the
    argument, which is donated, and what earlier stages computed."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        rank = self.random.randint(1, 3)
        self.space = tuple(self.random.choice([1, 2, 3, 4, 5, 9]) for _ in range(rank))
        full = tuple(range(rank))
        # Values and the dimensions of the space that they have.
        self.values = [("%kx", full)]
        self.stages = [self.stage(number, full) for number in range(self.random.randint(2, 4))]

    def type(self, dims, dtype="f32"):
        return Program.type([self.space[dim] for dim in dims], dtype)

    def read(self, name, dims, full):
        """Return the lines that bring a value onto the space, and its name there."""
        if dims != full:
            op = f"metaop.broadcast {name} dims = {list(dims)}"
        elif self.random.random() < 0.3:
            dim = self.random.choice(full)
            indices = [f"d{i}" for i in full]
            indices[dim] = f"{self.space[dim] - 1} - d{dim}"
            space = ", ".join(f"d{i}" for i in full)
            op = f"metaop.reindex {name} map affine_map<({space}) -> ({', '.join(indices)})>"
            op += " fill 0.0 : f32"
        else:
            return [], name
        made = f"%r{name[1:]}"
        return [f"{made} = {op} : {self.type(dims)} -> {self.type(full)}"], made

    def stage(self, number, full):
        inputs = self.random.sample(self.values, self.random.randint(1, min(3, len(self.values))))
        # The newest value makes a chain.
        if self.values[-1] not in inputs:
            inputs.append(self.values[-1])
        arguments, lines, names = [], [], []
        for position, (name, dims) in enumerate(inputs):
            arguments.append(f"%b{position} = {name} : {self.type(dims)}")
            made, at = self.read(f"%b{position}", dims, full)
            lines += made
            names.append(at)
        total = names[0]
        for position, name in enumerate(names[1:]):
            lines.append(f"%t{position} = metaop.sub {name}, {total} : {self.type(full)}")
            total = f"%t{position}"
        lines.append(f"%e = metaop.tanh {total} : {self.type(full)}")
        dims, result = full, "%e"
        if self.random.random() < 0.5:
            dims = tuple(dim for dim in full if self.random.random() < 0.6)
            away = [dim for dim in full if dim not in dims]
            lines.append(
                f"%y = metaop.reduce {self.random.choice(['add', 'max'])} %e dims = {away} : "
                f"{self.type(full)} -> {self.type(dims)}"
            )
            result = "%y"
        self.values.append((f"%s{number}", dims))
        body = "\n      ".join(lines)
        return (
            f"    %s{number} = metaop.fused({', '.join(arguments)}) -> {self.type(dims)} {{\n"
            f"      {body}\n      metaop.yield {result} : {self.type(dims)}\n    }}"
        )

    def text(self):
        made = self.values[1:]
        chosen = [v for v in made[:-1] if self.random.random() < 0.4] + [made[-1]]
        names = [value[0] for value in chosen]
        types = ", ".join(self.type(value[1]) for value in chosen)
        x = self.type(self.values[0][1])
        stages = "\n".join(self.stages)
        results = [f"%k#{i}" for i in range(len(chosen))] if len(chosen) > 1 else ["%k"]
        return (
            f"func.func @main(%x: {x} {{metaop.donatable}}) -> ({types}) {{\n"
            f"  %k{f':{len(chosen)}' if len(chosen) > 1 else ''} = "
            f"metaop.kernel(%kx = %x : {x}) -> ({types}) {{\n{stages}\n"
            f"    metaop.yield {', '.join(names)} : {types}\n  }}\n"
            f"  return {', '.join(results)} : {types}\n}}\n"
        )
