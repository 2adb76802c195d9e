# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What lives in the arena of a training step when most does.

    script/bench alive transformer

The memory plan of the step's program says where each value is (`metaop.slots`); its
live range is from the call that makes it to the last that reads it. Values are added
up by type and by the Python lines that recorded them; beside these stand the calls, by
number, that make the first of them and read them last. A second table has what
PyTorch's graph saves for the gradients of the same model, parameters left out.
"""

from __future__ import annotations

import argparse
import re
from collections import defaultdict
from dataclasses import dataclass, field
from math import prod

import numpy as np
from common import Table, write_report
from subjects import SUBJECTS, make_task

#: Bytes of an element, by its type in a program's text.
_BYTES = {"f64": 8, "i64": 8, "f32": 4, "i32": 4, "f16": 2, "bf16": 2}


@dataclass
class Value:
    """A value of the arena: what it is, and the calls that make and read it."""

    type: str
    line: str
    made: int
    reads: list[int] = field(default_factory=list)

    @property
    def bytes(self) -> int:
        """Return its size."""
        *extents, element = self.type.split("x")
        return prod(map(int, extents)) * _BYTES.get(element, 1)

    @property
    def end(self) -> int:
        """Return the last call that needs it."""
        return max(self.reads, default=self.made)


def find_lines(text: str) -> dict[str, str]:
    """Return the Python lines of a program's locations, without folders."""
    locations = dict(re.findall(r"^(#loc\d*) = loc\((.*)\)$", text, re.M))
    lines = {}
    for name, location in locations.items():
        parts = re.findall(r"#loc\d*", location)
        files = [locations[part] for part in parts] or [location]
        found = [re.search(r'([^/"]+)":(\d+)', file) for file in files]
        lines[name] = ", ".join(f"{each[1]}:{each[2]}" for each in found if each) or "none"
    return lines


def find_values(text: str) -> tuple[list[Value], int]:
    """Return the values of the arena of a program at phase `kernels`, and its calls."""
    lines = find_lines(text)
    found = re.search(r"func\.func @main\(.*?\n  \}", text, re.S)
    assert found, "the program has no @main"
    views: dict[str, str] = {}
    values: dict[str, Value] = {}
    calls = 0
    for step in re.finditer(
        r"(%\d+)(?::(\d+))? = (?:call @|metaop\.)(\w+)(.*?)(?:\{(.*)\})? : (.*) loc\((#loc\d*)\)",
        found[0],
    ):
        name, count, op, operands, attributes, types, line = step.groups()
        read = re.findall(r"%\w+(?:#\d+)?", operands)
        if op == "reshape":
            views[name] = read[0]
            continue
        for operand in read:
            while operand in views:
                operand = views[operand]
            if operand in values:
                values[operand].reads.append(calls)
        names = [f"{name}#{number}" for number in range(int(count))] if count else [name]
        slots = re.findall(r"#metaop\.slot<(\w+)", attributes or "")
        made = re.findall(r"tensor<([^>]*)>", types.rsplit("->", 1)[1])
        for each, slot, kind in zip(names, slots, made, strict=False):
            if slot == "arena":
                values[each] = Value(kind, lines[line], calls)
        calls += 1
    return list(values.values()), calls


def find_fullest(values: list[Value], calls: int) -> int:
    """Return the call at which most lives; what it writes in place counts twice."""
    changes = np.zeros(calls + 1, np.int64)
    for value in values:
        changes[value.made] += value.bytes
        changes[value.end + 1] -= value.bytes
    return int(np.argmax(np.cumsum(changes)))


def measure_metaops(name: str) -> Table:
    """Return what lives when most does, in a step of MetaOps."""
    import metaops as mo
    from training import MetaOps

    MetaOps(make_task(name)).steps(3)
    program = mo.last_program()
    values, calls = find_values(program.ir("kernels"))
    fullest = find_fullest(values, calls)
    groups: dict[tuple[str, str], list[Value]] = defaultdict(list)
    for value in values:
        if value.made <= fullest <= value.end:
            groups[value.type, value.line].append(value)
    columns = ["MiB", "values", "type", "lines", "made by", "read until"]
    table = Table(f"MetaOps: {SUBJECTS[name].title}", columns)
    for (kind, line), group in sorted(groups.items(), key=lambda item: -count_bytes(item[1])):
        made = ", ".join(str(each.made) for each in group[:4])
        ends = ", ".join(str(each.end) for each in group[:4])
        table.add(count_bytes(group) / 2**20, len(group), kind, line, made, ends)
    table.note = (
        f"At call {fullest} of {calls}, of an arena of {program.arena_bytes / 2**20:.2f} MiB."
    )
    return table


def count_bytes(values: list[Value]) -> int:
    """Return the size of values together."""
    return sum(value.bytes for value in values)


def measure_torch(name: str) -> Table:
    """Return what PyTorch's graph saves in the forward pass of a step."""
    import torch
    from training import Torch

    trainer = Torch(make_task(name))
    trainer.steps(1)
    parameters = {each.untyped_storage().data_ptr() for each in trainer.model.parameters()}
    saved: dict[int, tuple[int, str]] = {}

    def note(tensor: torch.Tensor) -> torch.Tensor:
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in parameters:
            dtype = str(tensor.dtype).removeprefix("torch.")
            kind = "x".join(map(str, (*tensor.shape, dtype)))
            saved.setdefault(storage.data_ptr(), (storage.nbytes(), kind))
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(note, lambda tensor: tensor):
        loss = trainer._loss()
    groups: dict[str, list[int]] = defaultdict(list)
    for size, kind in saved.values():
        groups[kind].append(size)
    total = sum(map(sum, groups.values())) / 2**20
    table = Table("Saved by PyTorch's graph", ["MiB", "values", "type"])
    table.note = f"{total:.2f} MiB together."
    for kind, sizes in sorted(groups.items(), key=lambda item: -sum(item[1])):
        table.add(sum(sizes) / 2**20, len(sizes), kind)
    del loss
    return table


def main() -> None:
    """Print both tables of each model."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("names", nargs="*", choices=list(SUBJECTS), default=["transformer"])
    parser.add_argument("--output", help="a folder for alive.md and alive.json")
    options = parser.parse_args()
    tables = []
    for name in options.names:
        tables += [measure_metaops(name), measure_torch(name)]
    write_report("alive", tables, options.output)


if __name__ == "__main__":
    main()
