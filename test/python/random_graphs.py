# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random graphs of all operators, as recipes that can be made anew and made smaller.

A recipe is a list of nodes: the name of an entry, the nodes that it reads, and numbers
that decide the rest, each of them a choice among what the operands allow. So a recipe
from which nodes are missing, or whose numbers are others, is a recipe, too. Numbers
that are 0 choose what is simplest. The same recipe makes the same graph.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import metaops as mo
import numpy as np
from operator_table import (
    ALL,
    ELEMENTWISE,
    FLOATS,
    INTEGERS,
    Elementwise,
    read_definitions,
    read_prefixes,
    read_reductions,
)

#: The simplest first. Long ones take vectors, and more than one thread.
EXTENTS = [2, 1, 3, 0, 5, 8, 17, 33]
LONG = [70, 257, 1031, 40000]
MAX_ELEMENTS = 60000
#: The element types of graphs that are differentiated, beside finite differences.
DIFFERENTIATED = ("float64", "int32", "int64", "bool")
#: Those have no derivative, or by what they say another one than their slope.
NOT_DIFFERENTIATED = {"stop_grad", "nextafter", "bitcast", "update"}
NUMBERS = 24


class Node(NamedTuple):
    """A step of a recipe."""

    entry: str
    operands: tuple[int, ...]
    numbers: tuple[float, ...]
    id: int


@dataclass
class Value:
    """A tensor of a graph; `is_exact` if its floats were never rounded."""

    var: mo.Var
    is_exact: bool


class Unfit(Exception):
    """An entry has no use for what it was given."""


@dataclass
class Graph:
    """What a recipe has made."""

    values: dict[int, Value] = field(default_factory=dict)
    inputs: list[mo.Var] = field(default_factory=list)
    #: Arrays of all leaves, with their element types, and tensors to be taken in their place.
    leaves: list[tuple[Any, str]] = field(default_factory=list)
    given: Iterator[mo.Var] | None = None
    directions: list[mo.Var] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)


class Step:
    """What an entry makes its tensor with: choices, operands and leaves."""

    def __init__(self, graph: Graph, node: Node, dtypes: Sequence[str], shift: float) -> None:
        self.graph, self.dtypes, self.shift = graph, dtypes, shift
        self.numbers = list(node.numbers)
        self.operands = [graph.values[at] for at in node.operands if at in graph.values]
        #: Values that were read, by which it is known whether the result was rounded.
        self.read: list[Value] = []

    # --- Choices ---------------------------------------------------------------

    def number(self) -> float:
        return self.numbers.pop(0) if self.numbers else 0.0

    def pick(self, choices: Sequence[Any]) -> Any:
        return choices[int(self.number() * len(choices))]

    def chance(self, share: float) -> bool:
        """Whether something happens; a number of 0 is for not."""
        return self.number() > 1 - share

    def integer(self, low: int, high: int) -> int:
        """Return an integer in [low, high), the least for 0."""
        return low + int(self.number() * max(1, high - low))

    def shape(self, rank: int | None = None) -> tuple[int, ...]:
        kind = self.pick(["usual", "usual", "usual", "scalar", "long"])
        if kind == "scalar" and rank is None:
            return ()
        if kind == "long" and rank in (None, 1, 2):
            return (self.pick(LONG),) if rank != 2 else (self.pick([2, 3]), self.pick(LONG[:-1]))
        extents = [
            self.pick(EXTENTS) for _ in range(self.pick([1, 2, 3, 4]) if rank is None else rank)
        ]
        while math.prod(max(n, 1) for n in extents) > 5000:
            extents[extents.index(max(extents))] = 2
        return tuple(extents)

    # --- Operands --------------------------------------------------------------

    def leaf(self, shape: Sequence[int], dtype: str, low: int = -5, high: int = 6) -> mo.Var:
        """Return an input of random numbers, floats in [-2, 2) and integers in [low, high)."""
        self.graph.counts[f"shape {describe_shape(shape)}"] += 1
        rng = np.random.default_rng(int(self.number() * 2**32))
        if dtype == "bool":
            return self.make_leaf(rng.random(tuple(shape)) < 0.5, dtype)
        if "float" not in dtype:
            if dtype.startswith("u"):
                low = max(low, 0)
            return self.make_leaf(rng.integers(low, high, tuple(shape)), dtype)
        data = rng.uniform(-2, 2, tuple(shape))
        direction = rng.uniform(-1, 1, tuple(shape))
        if dtype == "float64":
            x = self.make_leaf(data + self.shift * direction, dtype)
            self.graph.inputs.append(x)
            self.graph.directions.append(mo.array(direction, dtype=dtype))
            return x
        return self.make_leaf(data, dtype)

    def make_leaf(self, data: Any, dtype: str) -> mo.Var:
        """Return a tensor of an array, or the one that is given in its place."""
        self.graph.leaves.append((data, dtype))
        return mo.array(data, dtype=dtype) if self.graph.given is None else next(self.graph.given)

    def first(self, dtypes: Sequence[str] = ALL, *, exact: bool = False, rank: int = 0) -> mo.Var:
        """Return the first operand, or a leaf if it is of no use."""
        allowed = [dtype for dtype in dtypes if dtype in self.dtypes]
        if not allowed:
            raise Unfit
        for value in self.operands[:1]:
            if fits(value, allowed, exact) and value.var.ndim >= rank:
                return self.take(value)
        dtype = self.pick(allowed)
        shape = self.shape()
        while len(shape) < rank:
            shape = (2, *shape)
        return self.take(Value(self.leaf(shape, dtype), True))

    def take(self, value: Value) -> mo.Var:
        self.read.append(value)
        return value.var

    def like(self, shape: Sequence[int], dtype: str, *, exact: bool = False) -> mo.Var:
        """Return a tensor that broadcasts to a shape: the second operand, or a leaf."""
        for value in self.operands[1:]:
            if fits(value, [dtype], exact) and broadcasts(value.var.shape, shape):
                return self.take(value)
        own = list(shape)
        if self.chance(0.4):
            self.graph.counts["shape broadcast"] += 1
            own = own[self.integer(0, len(own) + 1) :]
            own = [1 if self.chance(0.3) else n for n in own]
        return self.take(Value(self.leaf(own, dtype), True))

    def dim(self, x: mo.Var) -> int:
        return self.integer(0, x.ndim)


def fits(value: Value, dtypes: Sequence[str], exact: bool) -> bool:
    """Whether a value can be an operand of these types, or must be exact."""
    return str(value.var.dtype) in dtypes and (value.is_exact or not exact)


def broadcasts(shape: Sequence[int], to: Sequence[int]) -> bool:
    """Whether a shape broadcasts to another one."""
    own = to[len(to) - len(shape) :]
    return len(shape) <= len(to) and all(n in (1, m) for n, m in zip(shape, own, strict=True))


def describe_shape(shape: Sequence[int]) -> str:
    """Return the class of a shape that is counted."""
    if not shape:
        return "0-d"
    if 0 in shape:
        return "0-sized"
    if all(n == 1 for n in shape):
        return "1"
    if max(shape) >= LONG[0]:
        return "long"
    return "odd" if any(n % 2 for n in shape) else "even"


# --- Entries: element-wise -------------------------------------------------------

Entry = Callable[[Step], mo.Var]
ENTRIES: dict[str, Entry] = {}
#: Entries by the operators of the dialect that they are there for.
COVERED: dict[str, list[str]] = {}
#: Entries that keep numbers that were not rounded.
EXACT: set[str] = set()


def entry(name: str, *operators: str, exact: bool = False) -> Callable[[Entry], Entry]:
    """Register an entry, and the operators of the dialect that it records."""

    def register(make: Entry) -> Entry:
        ENTRIES[name] = make
        for operator in operators or (name,):
            COVERED.setdefault(operator, []).append(name)
        if exact:
            EXACT.add(name)
        return make

    return register


def register_elementwise(name: str, use: Elementwise) -> None:
    """Register an entry of the element-wise table."""

    @entry(name, exact=use.is_exact)
    def make(step: Step) -> mo.Var:
        dtypes = read_definitions()[name].dtypes
        x = step.first(dtypes, exact=use.steps)
        xs = [x]
        for _ in use.domains[1:]:
            xs.append(step.like(x.shape, str(x.dtype), exact=use.steps))
        return use.call(*(domain(x) for domain, x in zip(use.domains, xs, strict=True)))


for _name, _use in ELEMENTWISE.items():
    if _name in read_definitions():
        register_elementwise(_name, _use)


@entry("cmp")
def _cmp(step: Step) -> mo.Var:
    x = step.first(exact=True)
    functions = [mo.less, mo.less_equal, mo.greater, mo.greater_equal, mo.equal, mo.not_equal]
    return step.pick(functions)(x, step.like(x.shape, str(x.dtype), exact=True))


@entry("select", exact=True)
def _select(step: Step) -> mo.Var:
    x = step.first()
    return mo.where(step.leaf(x.shape, "bool"), x, step.like(x.shape, str(x.dtype)))


@entry("cast", exact=True)
def _cast(step: Step) -> mo.Var:
    # Of what was rounded, no more digits than there are, and no integers.
    x = step.first()
    narrower = {"float64": FLOATS, "float32": (FLOATS[0], *FLOATS[2:])}
    exact = step.read[0].is_exact
    choices = ALL if exact else narrower.get(str(x.dtype), (str(x.dtype),))
    allowed = [dtype for dtype in choices if dtype in step.dtypes]
    return x.cast(step.pick(allowed or [str(x.dtype)]))


@entry("bitcast")
def _bitcast(step: Step) -> mo.Var:
    x = step.first(FLOATS + INTEGERS, exact=True)
    bits = mo.bitcast(x, f"uint{x.dtype.itemsize * 8}")
    # The bits of floats as numbers would be no moderate ones.
    return bits % 7 if step.chance(0.5) else mo.bitcast(bits, str(x.dtype))


# --- Entries: leaves ---------------------------------------------------------------


@entry("leaf", "buffer", exact=True)
def _leaf(step: Step) -> mo.Var:
    dtype = step.pick(step.dtypes)
    return step.leaf(step.shape(), dtype)


@entry("iota", exact=True)
def _iota(step: Step) -> mo.Var:
    shape = step.shape(step.pick([1, 2, 3]))
    dtype = step.pick([dtype for dtype in step.dtypes if dtype != "bool"])
    x = mo.iota(shape, step.integer(0, len(shape)), dtype)
    return x / 8192 if "float" in dtype else x


@entry("constant", exact=True)
def _constant(step: Step) -> mo.Var:
    return mo.full(step.shape(), step.pick([0, 1, 2, 3]), dtype=step.pick(step.dtypes))


@entry("scalar", exact=True)
def _scalar(step: Step) -> mo.Var:
    x = step.first(FLOATS + INTEGERS, exact=True)
    return mo.maximum(x, step.integer(0, 5))


@entry("random")
def _random(step: Step) -> mo.Var:
    key = mo.Key(step.integer(0, 1000)) if step.chance(0.3) else None
    shape = step.shape()
    dtype = step.pick([dtype for dtype in step.dtypes if dtype in FLOATS])
    return mo.rand(*shape, dtype=dtype) if key is None else mo.uniform(shape, dtype=dtype, key=key)


# --- Entries: reindex ----------------------------------------------------------------


@entry("broadcast", exact=True)
def _broadcast(step: Step) -> mo.Var:
    x = step.first()
    if x.ndim > 3 or x.size > 5000:
        raise Unfit
    shape = list(x.shape)
    at = step.integer(0, x.ndim + 1)
    shape.insert(at, step.pick([2, 1, 3, 0]))
    return x.broadcast(shape, (at,))


@entry("transpose", exact=True)
def _transpose(step: Step) -> mo.Var:
    x = step.first(rank=2)
    order = list(range(x.ndim))
    for k in range(x.ndim - 1, 0, -1):
        swap = step.integer(0, k + 1)
        order[k], order[swap] = order[swap], order[k]
    return x.transpose(order)


@entry("reshape", exact=True)
def _reshape(step: Step) -> mo.Var:
    x = step.first()
    return x.reshape(step.pick([(x.size,), (1, *x.shape), (*x.shape, 1), x.shape[::-1]]))


@entry("pad", exact=True)
def _pad(step: Step) -> mo.Var:
    x = step.first()
    if x.size > 5000:
        raise Unfit
    widths = [(step.integer(0, 3), step.integer(0, 3)) for _ in x.shape]
    return mo.pad(x, widths, value=step.pick([0, 1]))


def draw_key(step: Step, shape: Sequence[int], kinds: Sequence[str]) -> tuple[Any, ...]:
    """Return a key for a tensor of this shape, and count its forms."""
    key: list[Any] = []
    if step.chance(0.2):
        step.graph.counts["index newaxis"] += 1
        key.append(None)
    for axis, extent in enumerate(shape):
        kind = step.pick(kinds)
        if kind == "integer" and extent > 0:
            key.append(step.integer(-extent, extent))
        elif kind == "array" and extent > 0:
            rng = np.random.default_rng(int(step.number() * 2**32))
            key.append(rng.integers(-extent, extent, step.pick([(3,), (1,), (2, 3)])[-1]))
        elif kind == "mask":
            rng = np.random.default_rng(int(step.number() * 2**32))
            key.append(rng.random(extent) < 0.6)
        elif kind == "ellipsis":
            key.append(Ellipsis)
            step.graph.counts["index ellipsis"] += 1
            break
        else:
            kind = "slice"
            one, two = step.integer(0, extent + 1), step.integer(0, extent + 1)
            key.append(slice(min(one, two), max(one, two), step.pick([1, 2, -1, -3])))
            if (key[-1].step or 1) < 0:
                key[-1] = slice(None, None, key[-1].step)
        step.graph.counts[f"index {kind}"] += 1
        if kind in ("array", "mask"):
            # Another one would have to broadcast with it.
            kinds = ["slice", "integer"]
        del axis
    return tuple(key)


@entry("slice", exact=True)
def _slice(step: Step) -> mo.Var:
    x = step.first(rank=1)
    return x[draw_key(step, x.shape, ["slice", "slice", "integer", "ellipsis"])]


@entry("read", "gather", exact=True)
def _read(step: Step) -> mo.Var:
    x = step.first(rank=1)
    return x[draw_key(step, x.shape, ["slice", "array", "mask", "integer"])]


def draw_indexes(step: Step, rank: int, results: int) -> list[str]:
    """Return expressions of `rank` indices."""
    texts = []
    for _ in range(results):
        i = f"i{step.integer(0, rank)}" if rank else "0"
        forms = [i, f"{i}*2-1", f"{i}/2", f"{i}%3", f"3-{i}", "1", f"{i}+i0-2" if rank else "0"]
        texts.append(step.pick(forms))
    return texts


@entry("reindex", exact=True)
def _reindex(step: Step) -> mo.Var:
    x = step.first()
    shape = step.shape(step.pick([1, 2, 3]))
    conditions = ("i0==1",) if step.chance(0.3) else ()
    fill = step.pick([0, 1])
    return x.reindex(shape, draw_indexes(step, len(shape), x.ndim), fill, conditions)


def places(step: Step, x: mo.Var, extent: int) -> tuple[list[str], mo.Var]:
    """Return expressions of x's indices, one of them out of a tensor of indices."""
    at = step.dim(x)
    names = [f"i{k}" for k in range(x.ndim)]
    read = names[: step.integer(0, x.ndim) + 1]
    extra = step.leaf(x.shape[: len(read)], "int32", 0, extent + 2)
    names[at] = f"@e0({', '.join(read)}) - {step.integer(0, 3)}"
    return names, extra


@entry("gather", exact=True)
def _gather(step: Step) -> mo.Var:
    x = step.first(rank=1)
    names, extra = places(step, x, max(x.shape))
    return x.reindex(x.shape, names, step.pick([0, 1]), extras=[extra])


@entry("take", "check", exact=True)
def _take(step: Step) -> mo.Var:
    x = step.first(rank=1)
    dim = step.dim(x)
    extent = x.shape[dim]
    shape = (step.integer(0, 9),) if extent else (0,)
    indices = step.leaf(shape, "int32", -extent, max(extent, 1))
    # What was given is known to be in range.
    return mo.take(x, indices.astype("int64"), dim)


# --- Entries: reductions -------------------------------------------------------------


def kinds_of(dtype: str) -> list[str]:
    """Return the combiners of reductions that an element type allows."""
    bits, floats = ["and", "or", "xor"], ["logaddexp"]
    if dtype == "bool":
        return bits
    refused = bits if "float" in dtype else floats
    return [kind for kind in read_reductions() if kind not in refused]


def moderate(x: mo.Var, kind: str, count: int) -> mo.Var:
    """Return floats whose combination stays moderate."""
    if "float" not in x.dtype:
        return x
    if kind == "mul":
        # Each factor but 1 adds a rounding: so many that the sum of these stays small.
        is_factor = mo.arange(x.size).reshape(x.shape) % max(1, count // 20) == 0
        return mo.where(is_factor, mo.tanh(x) * 0.5 + 1, 1)
    return x / max(1, count) if kind == "add" else x


def bounded(x: mo.Var, kind: str) -> mo.Var:
    """Return x without the infinities of floats that combine nothing."""
    return mo.clip(x, -9, 9) if kind in ("max", "min", "logaddexp") and "float" in x.dtype else x


@entry("reduce", "reduce", "norm")
def _reduce(step: Step) -> mo.Var:
    x = step.first()
    axes = tuple(k for k in range(x.ndim) if not step.chance(0.5))
    kind = step.pick(kinds_of(str(x.dtype)))
    keepdims = step.chance(0.4)
    if kind == "mul" and "float" in x.dtype and keepdims:
        # Away from 0, where a norm has no derivative.
        return mo.norm(mo.tanh(x) + 2, 2, axes, step.chance(0.5))
    x = moderate(x, kind, math.prod(x.shape[k] for k in axes))
    named = {"add": mo.sum, "mul": mo.prod, "max": mo.max, "min": mo.min}
    if x.dtype == "bool" and kind != "xor":
        return (mo.all if kind == "and" else mo.any)(x, axes, keepdims)
    if kind in named:
        return bounded(named[kind](x, axes, keepdims), kind)
    names = [f"i{k}" for k in range(x.ndim) if k not in axes]
    return x.reindex_reduce(kind, [x.shape[k] for k in range(x.ndim) if k not in axes], names)


@entry("reindex_reduce")
def _reindex_reduce(step: Step) -> mo.Var:
    x = step.first(rank=1)
    kind = step.pick(kinds_of(str(x.dtype)))
    names = draw_indexes(step, x.ndim, step.pick([1, 2]))
    x = moderate(x, kind, x.size)
    return bounded(x.reindex_reduce(kind, [step.pick([3, 1, 5]) for _ in names], names), kind)


@entry("scatter")
def _scatter(step: Step) -> mo.Var:
    x = step.first(rank=1)
    kind = step.pick(kinds_of(str(x.dtype)))
    extent = step.pick([3, 1, 8])
    names, extra = places(step, x, extent)
    x = moderate(x, kind, x.size)
    shape = [max(n, 1) for n in x.shape]
    return bounded(x.reindex_reduce(kind, shape, names, extras=[extra]), kind)


@entry("matmul", "reduce", "mul")
def _matmul(step: Step) -> mo.Var:
    x = step.first(FLOATS, rank=2)
    # Of more than one panel, where the types have vectors.
    columns = step.pick([3, 1, 17, 40])
    return mo.matmul(x / max(1, x.shape[-1]), step.leaf((x.shape[-1], columns), str(x.dtype)))


# --- Entries: placements and routines ----------------------------------------------------


@entry("concat", exact=True)
def _concat(step: Step) -> mo.Var:
    x = step.first(rank=1)
    at = step.dim(x)
    shape = list(x.shape)
    shape[at] = step.pick([2, 1, 0, 5])
    return mo.concat([x, step.leaf(shape, str(x.dtype)), x][: step.pick([2, 3])], at)


def draw_part(step: Step, x: mo.Var) -> tuple[Any, mo.Var]:
    """Return a key of x, and what broadcasts to the part."""
    key = draw_key(step, x.shape, ["slice", "slice", "array", "mask", "integer", "ellipsis"])
    part = np.empty(x.shape, bool)[key].shape
    return key, step.like(part, str(x.dtype))


@entry("write", "insert", "scatter", exact=True)
def _write(step: Step) -> mo.Var:
    x = +step.first(rank=1)
    key, value = draw_part(step, x)
    step.graph.counts["update x[key] = v"] += 1
    x[key] = value
    return x


@entry("combine", "insert", "scatter")
def _combine(step: Step) -> mo.Var:
    x = step.first([dtype for dtype in ALL if dtype != "bool"], rank=1)
    key, value = draw_part(step, x)
    kind = step.pick(["add", "max", "min", "set"])
    step.graph.counts[f"update x.at[key].{kind}(v)"] += 1
    return getattr(x.at[key], kind)(value)


@entry("combine in place", "insert", "scatter")
def _combine_in_place(step: Step) -> mo.Var:
    x = +step.first([dtype for dtype in ALL if dtype != "bool"], rank=1)
    key, value = draw_part(step, x)
    step.graph.counts["update x[key] += v"] += 1
    x[key] += value
    return x


def register_prefix(kind: str) -> None:
    """Register an entry of a prefix operator."""

    @entry(f"prefix {kind}", "prefix", f"prefix {kind}", exact=kind in ("max", "min"))
    def make(step: Step) -> mo.Var:
        numbers = FLOATS if kind in ("logaddexp",) else FLOATS + INTEGERS
        x = step.first(numbers, rank=1)
        at = step.dim(x)
        options = {"reverse": step.chance(0.5)}
        exclusive = step.chance(0.4)
        x = moderate(x, "add" if kind == "add" else "", x.shape[at])
        if kind == "linear":
            factors = step.like(x.shape, str(x.dtype)).broadcast(x.shape)
            if "float" in x.dtype:
                factors = mo.tanh(factors) * 0.9
            return mo.linear_recurrence(factors, x, at, **options)
        if kind == "mul" and "float" in x.dtype:
            x = mo.tanh(x) * 0.3 + 1 if x.shape[at] < 40 else mo.tanh(x) / x.shape[at] + 1
        function = {
            "add": mo.cumsum, "mul": mo.cumprod, "max": mo.cummax, "min": mo.cummin,
            "logaddexp": mo.logcumsumexp,
        }[kind]  # fmt: skip
        result = function(x, at, exclusive=exclusive, **options)
        return bounded(result, "max") if exclusive else result


for _kind in read_prefixes():
    register_prefix(_kind)


@entry("sort", exact=True)
def _sort(step: Step) -> mo.Var:
    x = step.first(exact=True, rank=1)
    return mo.sort(x, step.dim(x), descending=step.chance(0.5))


@entry("argsort")
def _argsort(step: Step) -> mo.Var:
    x = step.first(exact=True, rank=1)
    return mo.argsort(x, step.dim(x), descending=step.chance(0.5))


@entry("fft")
def _fft(step: Step) -> mo.Var:
    x = step.first(("float32", "float64"), rank=1)
    dim = step.dim(x)
    # The interpreter sums as the definition says.
    if not 0 < x.shape[dim] <= 64:
        raise Unfit
    spectrum = mo.fft.rfft(x, dim=dim, norm="ortho")
    if step.chance(0.5):
        return spectrum.real + spectrum.imag
    return mo.fft.irfft(spectrum, x.shape[dim] + 1, dim, "ortho")


# --- Entries: updates of parameters ----------------------------------------------------

UPDATES: dict[str, Callable[[mo.Var, mo.Var], Any]] = {
    "w.assign(w + v)": lambda w, v: w.assign(w + v),
    "w.update(w - v)": lambda w, v: w.update(w - v),
    "w.update of itself, transposed": lambda w, v: w.update(
        w.transpose() - v if w.ndim == 2 and w.shape[0] == w.shape[1] else mo.flip(w) + v
    ),
    "w.update, held": lambda w, v: (w, w.update(w + v))[1],
}


@entry("update", "buffer")
def _update(step: Step) -> mo.Var:
    """Update a parameter twice; its buffer may be written over where nobody holds it."""
    v = step.first(FLOATS)
    pattern = step.pick([*UPDATES, "w -= lr * g", "w *= g"])
    w = step.leaf(v.shape, str(v.dtype))
    for _ in range(2):
        if pattern == "w -= lr * g":
            w -= 0.25 * mo.tanh(v)
        elif pattern == "w *= g":
            w *= mo.tanh(v)
        else:
            UPDATES[pattern](w, mo.tanh(v))
        if step.chance(0.5) and step.graph.given is None:
            w.sync()
    step.graph.counts[f"update {pattern}"] += 1
    return w


# --- Graphs ------------------------------------------------------------------------


def run(
    recipe: Sequence[Node],
    dtypes: Sequence[str] = ALL,
    shift: float = 0.0,
    given: Iterator[mo.Var] | None = None,
) -> Graph:
    """Record the graph of a recipe.

    Entries that have no use for what is left are skipped. The float64 leaves are
    `graph.inputs`; `shift` moves them along directions of their own. Where leaves are
    given, they are taken in their order, and the caller has given the seed.
    """
    if given is None:
        mo.seed(0)
    graph = Graph(given=given)
    stands_for: dict[int, int] = {}
    for node in recipe:
        reads = tuple(stands_for.get(at, at) for at in node.operands)
        add(graph, node._replace(operands=reads), dtypes, shift)
    return graph


def add(graph: Graph, node: Node, dtypes: Sequence[str], shift: float = 0.0) -> bool:
    """Add a node to a graph; whether it was of use."""
    step = Step(graph, node, dtypes, shift)
    try:
        var = ENTRIES[node.entry](step)
    except Unfit:
        return False
    if var.size > MAX_ELEMENTS or (str(var.dtype) not in dtypes and "float" in var.dtype):
        return False
    exact = "float" not in var.dtype or (
        node.entry in EXACT and all(value.is_exact for value in step.read)
    )
    graph.values[node.id] = Value(var, exact)
    return True


def combinations(dtypes: Sequence[str]) -> list[tuple[str, str]]:
    """Return all entries with those of the element types that they take."""
    pairs = []
    for name in ENTRIES:
        if tuple(dtypes) == DIFFERENTIATED and name in NOT_DIFFERENTIATED:
            continue
        definition = read_definitions().get(name)
        own = definition.dtypes if definition and name in ELEMENTWISE else ALL
        pairs += [(name, dtype) for dtype in own if dtype in dtypes]
    return pairs


def generate(seed: int, steps: int, dtypes: Sequence[str] = ALL) -> list[Node]:
    """Return a random recipe.

    Every second node goes through all entries and element types in turn as seeds go up;
    the others are drawn.
    """
    rng = np.random.default_rng(seed)
    graph = Graph()
    recipe: list[Node] = []
    pairs = combinations(dtypes)
    for number in range(steps):
        if number % 2 == 0:
            # 0.618 of the way, so that neighbours have nothing in common.
            place = (seed * ((steps + 1) // 2) + number // 2) * 7919
            name, dtype = pairs[place % len(pairs)]
        else:
            name, dtype = pairs[rng.integers(len(pairs))]
        fitting = [at for at, value in graph.values.items() if str(value.var.dtype) == dtype]
        operands = tuple(int(at) for at in rng.permutation(fitting[-4:])[:3])
        if number % 2 and recipe and rng.random() < 0.7:
            # The newest ones make long chains.
            operands = (list(graph.values)[-1], *operands) if graph.values else operands
        node = Node(name, operands, draw_numbers(rng, NUMBERS), number)
        if not operands:
            leaf = Node("leaf", (), leaf_numbers(rng, dtype, dtypes), 1000 + number)
            add(graph, leaf, dtypes)
            recipe.append(leaf)
            node = node._replace(operands=(leaf.id,))
        # What an entry computes by itself is compared later.
        with mo.flag_scope(backend="interpreter"):
            is_of_use = add(graph, node, dtypes)
        if is_of_use:
            recipe.append(node)
    return recipe


def draw_numbers(rng: np.random.Generator, count: int) -> tuple[float, ...]:
    """Return numbers in [0, 1) with few digits."""
    return tuple(int(x) / 10000 for x in rng.integers(0, 10000, count))


def leaf_numbers(rng: np.random.Generator, dtype: str, dtypes: Sequence[str]) -> tuple[float, ...]:
    """Return numbers by which a leaf has an element type."""
    share = (list(dtypes).index(dtype) + 0.5) / len(dtypes)
    return (share, *draw_numbers(rng, NUMBERS - 1))
