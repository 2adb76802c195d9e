# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The table of operators: what the dialect says of each, and how a random graph uses it.

What the dialect says is read from docs/Dialect.md, which is written from the .td files:
names, element types, numbers of operands, and the kinds of reductions and the like. What
is added here by hand is how Python spells an operator, and where its derivatives are
bounded. An operator of the dialect without an entry here is an error that names it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

import metaops as mo

DIALECT = Path(__file__).resolve().parents[2] / "docs" / "Dialect.md"

FLOATS = ("float32", "float64", "float16", "bfloat16")
INTEGERS = ("int32", "int64", "int8", "uint8", "int16", "uint16", "uint32", "uint64")
ALL = (*FLOATS, *INTEGERS, "bool")
#: Element types by how the dialect describes operands.
CLASSES = {
    "tensor of floats": FLOATS,
    "tensor of integers": INTEGERS,
    "tensor of numbers": FLOATS + INTEGERS,
    "tensor of integers or booleans": (*INTEGERS, "bool"),
    "tensor of booleans": ("bool",),
    "tensor of numbers or booleans": ALL,
}
#: Names in MLIR's text.
MLIR_TYPES = {
    "float32": "f32", "float64": "f64", "float16": "f16", "bfloat16": "bf16", "bool": "i1",
    "int8": "i8", "int16": "i16", "int32": "i32", "int64": "i64",
    "uint8": "ui8", "uint16": "ui16", "uint32": "ui32", "uint64": "ui64",
}  # fmt: skip
#: Operations that no graph has: compilation makes them, or loops and functions have graphs of
#: their own (random_control_flow.py, test_own_derivatives.py).
STRUCTURE = {"fused", "kernel", "yield", "check_range", "scan", "scan_yield"}
STRUCTURE |= {"barrier", "custom_derivative", "custom_yield", "extern", "routine"}


@dataclass(frozen=True)
class Definition:
    """What the dialect says of an operator."""

    name: str
    operands: tuple[str, ...]
    is_elementwise: bool

    @property
    def dtypes(self) -> tuple[str, ...]:
        """The element types of the last operand, which is that of the result."""
        for text, dtypes in sorted(CLASSES.items(), key=lambda item: -len(item[0])):
            if self.operands and self.operands[-1].startswith(text):
                return dtypes
        return ()


@cache
def read_definitions() -> dict[str, Definition]:
    """Return what the dialect says of each operator, by its name."""
    definitions = {}
    text = DIALECT.read_text().split("\n## Operations", 1)[1]
    for section in re.split(r"\n### `metaop\.", text)[1:]:
        name = section.split("`", 1)[0]
        operands = re.search(r"#### Operands:\n\n.*\n.*\n((?:\|.*\n)*)", section)
        rows = re.findall(r"\| `\w+` \| (.*?) \|", operands[1]) if operands else []
        interfaces = re.search(r"^Interfaces: (.*)$", section, re.MULTILINE)
        is_elementwise = interfaces is not None and "ElementwiseOpInterface" in interfaces[1]
        definitions[name] = Definition(name, tuple(rows), is_elementwise)
    return definitions


@cache
def read_kinds(enum: str) -> tuple[str, ...]:
    """Return the strings of an enumeration of the dialect, as ``Combiner``."""
    section = re.search(rf"\n### {enum}\n(.*?)\n### ", DIALECT.read_text(), re.DOTALL)
    assert section, f"{DIALECT.name} has no enumeration {enum}"
    return tuple(re.findall(r"\| \w+ \| `\d+` \| (\w+) \|", section[1]))


def read_reductions() -> tuple[str, ...]:
    """Return the combiners of reductions and scatters."""
    return tuple(kind for kind in read_kinds("Combiner") if kind not in ("linear", "none"))


def read_prefixes() -> tuple[str, ...]:
    """Return the combiners of prefixes."""
    others = ("and", "or", "xor", "none")
    return tuple(kind for kind in read_kinds("Combiner") if kind not in others)


# --- Domains -------------------------------------------------------------------
# Functions that bring any number to where an operator is defined and its derivatives
# are bounded.


def anywhere(x: mo.Var) -> mo.Var:
    """Return x."""
    return x


def inside(x: mo.Var) -> mo.Var:
    """Return numbers within (-0.9, 0.9)."""
    return mo.tanh(x) * 0.9 if "float" in x.dtype else x


def positive(x: mo.Var) -> mo.Var:
    """Return numbers of at least 0.5, or small integers that are not negative."""
    return abs(x) + 0.5 if "float" in x.dtype else x % 7


def above_one(x: mo.Var) -> mo.Var:
    """Return numbers of at least 1.5."""
    return abs(x) + 1.5


def whole(x: mo.Var) -> mo.Var:
    """Return x without its fraction and away from zero, whose sign no rounding changes."""
    return mo.floor(x) + 0.5


# --- Element-wise operators ------------------------------------------------------


@dataclass(frozen=True)
class Elementwise:
    """How a graph uses an element-wise operator.

    Attributes
    ----------
    call
        The function of Python.
    domains
        Of each operand, where it is brought first.
    steps
        Whether the result jumps: then operands are numbers that were never rounded, for
        a difference of one bit could become one of one.
    is_exact
        Whether the result of such numbers is again one that was not rounded.
    """

    call: Callable[..., Any]
    domains: tuple[Callable[[mo.Var], mo.Var], ...]
    steps: bool = False
    is_exact: bool = False


def _entry(
    call: Callable[..., Any],
    *domains: Callable[[mo.Var], mo.Var],
    steps: bool = False,
    exact: bool = False,
) -> Elementwise:
    return Elementwise(call, domains, steps, exact or steps)


def _unary(function: Callable[..., Any], domain: Any = anywhere, **options: bool) -> Elementwise:
    return _entry(function, domain, **options)


def _binary(function: Callable[..., Any], **options: bool) -> Elementwise:
    return _entry(function, anywhere, anywhere, **options)


ELEMENTWISE: dict[str, Elementwise] = {
    "abs": _unary(mo.abs, exact=True),
    "acos": _unary(mo.acos, inside),
    "acosh": _unary(mo.acosh, above_one),
    "add": _binary(mo.add),
    "and": _binary(mo.bitwise_and),
    "asin": _unary(mo.asin, inside),
    "asinh": _unary(mo.asinh),
    "atan": _unary(mo.atan),
    "atan2": _entry(mo.atan2, anywhere, positive),
    "atanh": _unary(mo.atanh, inside),
    "cbrt": _unary(mo.cbrt, positive),
    "ceil": _unary(mo.ceil, steps=True),
    "copysign": _entry(mo.copysign, positive, whole, steps=True),
    "cos": _unary(mo.cos),
    "cosh": _unary(mo.cosh, inside),
    "digamma": _unary(mo.digamma, positive),
    "div": _entry(mo.divide, anywhere, positive),
    "erf": _unary(mo.erf),
    "erfc": _unary(mo.erfc),
    "erfinv": _unary(mo.erfinv, inside),
    "exp": _unary(mo.exp, inside),
    "exp2": _unary(mo.exp2, inside),
    "expm1": _unary(mo.expm1, inside),
    "floor": _unary(mo.floor, steps=True),
    "floor_div": _entry(mo.floor_divide, anywhere, positive, steps=True),
    "fma": _entry(mo.fma, inside, inside, anywhere),
    "fmod": _entry(mo.fmod, anywhere, positive, steps=True),
    "gcd": _binary(mo.gcd),
    "hypot": _entry(mo.hypot, anywhere, positive),
    "lgamma": _unary(mo.lgamma, positive),
    "log": _unary(mo.log, positive),
    "log10": _unary(mo.log10, positive),
    "log1p": _unary(mo.log1p, positive),
    "log2": _unary(mo.log2, positive),
    "max": _binary(mo.maximum, exact=True),
    "min": _binary(mo.minimum, exact=True),
    "mod": _entry(mo.mod, anywhere, positive, steps=True),
    "mul": _entry(mo.multiply, inside, anywhere),
    "neg": _unary(mo.negative, exact=True),
    "nextafter": _binary(mo.nextafter, steps=True),
    "not": _unary(mo.bitwise_invert),
    "or": _binary(mo.bitwise_or),
    "polygamma": _unary(partial(mo.polygamma, 1), positive),
    "popcount": _unary(mo.bitwise_count),
    "pow": _entry(mo.pow, positive, positive),
    "round": _unary(mo.round, steps=True),
    "rsqrt": _unary(mo.rsqrt, positive),
    "shl": _entry(mo.bitwise_left_shift, anywhere, positive),
    "shr": _entry(mo.bitwise_right_shift, anywhere, positive),
    "sign": _unary(mo.sign, steps=True),
    "sin": _unary(mo.sin),
    "sinh": _unary(mo.sinh, inside),
    "sqrt": _unary(mo.sqrt, positive),
    "stop_fuse": _unary(mo.stop_fuse, exact=True),
    "stop_grad": _unary(mo.stop_grad, exact=True),
    # There and back, as all values of a graph are on one device.
    "transfer": _unary(lambda x: x.to("cpu:3").to(x.device), exact=True),
    "sub": _binary(mo.subtract),
    "tan": _unary(mo.tan, inside),
    "tanh": _unary(mo.tanh),
    "trunc": _unary(mo.trunc, steps=True),
    "xor": _binary(mo.bitwise_xor),
}
