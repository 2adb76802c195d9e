# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What must hold of random graphs: compiled as interpreted, derivatives as differences."""

from __future__ import annotations

import re
import tempfile
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any

import metaops as mo
import numpy as np
from gpu_schedules import Draw, Stage
from random_graphs import ALL, DIFFERENTIATED, Graph, Node, run
from test_schedule_fuzz import SCHEDULE, random_schedule

#: Limits of how far compiled numbers may be from interpreted ones, beside the largest of them.
TOLERANCE = {"float64": 1e-9, "float32": 5e-5, "float16": 8e-3, "bfloat16": 6e-2}

#: An operator in the text of a graph: its name, its kind, and what it makes.
RECORDED = re.compile(
    r"metaop\.(\w+)(?: (add|mul|max|min|and|or|xor|none|linear|logaddexp|eq|ne|lt|le|gt|ge)\b)?"
    r".*?[x<](f64|f32|f16|bf16|u?i\d+)>(?: loc.*)?$",
    re.MULTILINE,
)


def count_recorded(text: str) -> Counter[str]:
    """Count the operators in the text of a graph, by their kinds and element types."""
    counts: Counter[str] = Counter()
    for name, kind, dtype in RECORDED.findall(text):
        counts[f"operator {name} {dtype}"] += 1
        if kind:
            counts[f"kind {name} {kind}"] += 1
    return counts


class Settings:
    """Flags, threads and whether schedules are random ones, all drawn from a seed."""

    def __init__(self, seed: int) -> None:
        rng = Random(seed)
        self.flags: dict[str, Any] = {
            "rules": rng.choice(["extended", "extended", "paper"]),
            "fuse": rng.random() < 0.95,
            "reuse_memory": rng.random() < 0.8,
            "asynchronous": rng.random() < 0.7,
            "keep_packed": rng.random() < 0.7,
            "lazy_execution": rng.random() < 0.97,
        }
        self.threads = rng.choice([1, 2, 3])
        self.schedules = rng.random() < 0.2
        self.seed = seed

    @contextmanager
    def scope(self) -> Iterator[None]:
        threads = mo.get_num_threads()
        mo.set_num_threads(self.threads)
        try:
            with mo.flag_scope(backend="compiled", **self.flags):
                yield
        finally:
            mo.set_num_threads(threads)


def outputs(graph: Graph, recipe: Sequence[Node]) -> dict[int, mo.Var]:
    """Return what nothing reads, and some of what is read."""
    read = {at for node in recipe for at in node.operands}
    return {at: value.var for at, value in graph.values.items() if at not in read or at % 4 == 3}


def fetch_scheduled(values: list[mo.Var], seed: int, counts: Counter[str]) -> list[Any]:
    """Compute values with random schedules, or those of the compiler if they are refused."""
    rng = Random(seed)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "schedules.txt"
        mo.explain(values).save_schedules(path)
        text = SCHEDULE_LINE.sub(lambda match: _random_line(rng, match), path.read_text())
        path.write_text(text)
        try:
            with warnings.catch_warnings(record=True) as unused:
                warnings.simplefilter("always")
                with mo.flag_scope(schedule_file=str(path)):
                    arrays = mo.fetch_sync(values)
            counts["schedules unused" if unused else "schedules accepted"] += 1
        except (ValueError, RuntimeError) as error:
            # It names the line of the file.
            if f"{path}:" not in str(error):
                raise
            counts["schedules refused"] += 1
            arrays = mo.fetch_sync(values)
    return arrays


SCHEDULE_LINE = re.compile(r"^(#[^=\n]*: S = .*\n(?:#.*\n)*\w+\.\d+ = )(.*)$", re.MULTILINE)


def _random_line(rng: Random, match: re.Match[str]) -> str:
    # What a stage reduces is told in the comment before.
    operators = match[1].split(":", 1)[0]
    text = f"schedule({match[2]}) {operators} metaop.yield"
    found = SCHEDULE.search(text)
    space = re.search(r": S = ([\dx]+)", match[1])
    if found and space and re.search(r"block|thread|warp|cluster", match[2]):
        return match[1] + _draw_for_gpu(rng, match, space[1], operators)
    # Stages with prefixes leave little to choose.
    if not found or rng.random() < (0.9 if "prefix" in operators else 0.4):
        return match[0]
    schedule = random_schedule(rng, found)
    return match[1] + schedule.removeprefix("schedule(").removesuffix(")")


def _draw_for_gpu(rng: Random, match: re.Match[str], space: str, operators: str) -> str:
    """Return another schedule for a GPU of a stage that is alone in its kernel."""
    extents = [int(extent) for extent in space.split("x")]
    dims = {int(dim) for dim in re.findall(r"\w\((\d+)", match[2])}
    joined = "shared" in match[2] or "place" in match[2]
    if joined or "prefix" in operators or dims != set(range(len(extents))):
        return match[2]
    grid = {int(dim) for dim in re.findall(r"(?:block|cluster)\((\d+)", match[2])}
    reduced = dims - grid if re.search("reduce|scatter", operators) else set()
    drawn = Draw(rng, Stage(extents, reduced), rng.choice([1, 32, 64, 128])).text()
    return drawn.removeprefix("schedule(").removesuffix(")")


def check_values(recipe: Sequence[Node], settings: Settings) -> Counter[str]:
    """Compare compiled with interpreted values; return what was exercised."""
    with settings.scope():
        graph = run(recipe)
        counts = graph.counts + count_recorded(mo.dump() or "")
        values = outputs(graph, recipe)
        vars = list(values.values())
        dtypes = [str(var.dtype) for var in vars]
        compiled = (
            fetch_scheduled(vars, settings.seed, counts)
            if settings.schedules
            else mo.fetch_sync(vars)
        )
    del graph, vars, values
    with mo.flag_scope(backend="interpreter"):
        expected = mo.fetch_sync(list(outputs(run(recipe), recipe).values()))
    for actual, reference, dtype in zip(compiled, expected, dtypes, strict=True):
        check_same(actual, reference, dtype)
    return counts


def check_same(actual: Any, reference: Any, dtype: str) -> None:
    """Fail if an array, fetched of a tensor of this type, is not the reference."""
    assert actual.dtype == reference.dtype
    assert actual.shape == reference.shape
    tolerance = TOLERANCE.get(dtype, 0)
    if tolerance:
        actual, reference = (array.astype("float64") for array in (actual, reference))
        finite = np.isfinite(reference)
        tolerance *= np.abs(reference).max(initial=1.0, where=finite)
    with np.errstate(invalid="ignore"):
        np.testing.assert_allclose(actual, reference, rtol=0, atol=tolerance)


STEP = 1e-5


def derivatives(recipe: Sequence[Node], shift: float) -> list[mo.Var] | None:
    """Return a loss, and its first and second derivative along directions, two of each.

    None if it depends on no input.
    """
    graph = run(recipe, DIFFERENTIATED, shift)
    floats = [v.var for v in graph.values.values() if v.var.dtype == "float64"]
    inputs, directions = graph.inputs, graph.directions
    if not inputs or not floats:
        return None
    loss = sum((mo.tanh(x * 0.125).sum() for x in floats), mo.zeros((), "float64"))

    def along(y: mo.Var) -> mo.Var:
        gradients = mo.grad(y, inputs, allow_unused=True)
        products = ((g * d).sum() for g, d in zip(gradients, directions, strict=True))
        return sum(products, mo.zeros((), "float64"))

    first = along(loss)
    second = along(first)
    forward = mo.jvp([loss], inputs, directions)[0]
    over = mo.jvp([first], inputs, directions)[0]
    return [loss, first, second, forward, over]


def check_derivatives(recipe: Sequence[Node], settings: Settings) -> Counter[str]:
    """Compare derivatives with finite differences and among themselves."""
    counts: Counter[str] = Counter()
    at: dict[int, list[float]] = {}
    with settings.scope():
        for times in (0, 1, -1, 2, -2):
            recorded = derivatives(recipe, times * STEP)
            if recorded is None:
                return counts
            if not times:
                counts += count_recorded(mo.dump() or "")
            at[times] = [float(x) for x in mo.fetch_sync(recorded)]
    _, first, second, forward, over = at[0]
    size = 1 + abs(first) + abs(second)
    assert abs(forward - first) <= 1e-9 * size, f"forward mode {forward}, reverse {first}"
    assert abs(over - second) <= 1e-8 * size, f"forward over reverse {over}, {second}"
    for order, (value, place) in enumerate([(first, 0), (second, 1)], 1):
        near = (at[1][place] - at[-1][place]) / (2 * STEP)
        far = (at[2][place] - at[-2][place]) / (4 * STEP)
        scale = 1 + abs(near) + abs(far) + size
        # Slopes on both sides; those of differences agree where a kink is amid the points.
        bend = (at[1][place] - 2 * at[0][place] + at[-1][place]) / STEP
        if abs(near - far) > 1e-5 * scale or abs(bend) > 5e-5 * scale:
            # A kink is between the points.
            counts[f"order {order} not smooth"] += 1
            continue
        error = f"derivative of order {order} is {value}, differences give {near}"
        assert abs(value - near) <= 5e-5 * scale, error
        counts[f"order {order} compared"] += 1
        counts[f"order {order} not zero"] += abs(value) > 1e-8
    return counts


def as_mlir(recipe: Sequence[Node], dtypes: Sequence[str] = ALL) -> str:
    """Return the graph of a recipe as a function whose leaves are arguments."""
    # What is compiled may be what fails.
    with mo.flag_scope(backend="interpreter"):
        mo.sync_all()
        graph = run(recipe, dtypes)
    values = outputs(graph, recipe)
    del graph
    text = re.sub(r" loc\(.*\)$|^#loc.*\n", "", mo.dump(), flags=re.MULTILINE)
    del values
    leaves = re.findall(r"^ *(%\w+) = metaop\.(?:buffer|scalar) : (.*)\n", text, re.MULTILINE)
    text = re.sub(r"^ *%\w+ = metaop\.(?:buffer|scalar) : .*\n", "", text, flags=re.MULTILINE)
    arguments = ", ".join(f"{name}: {type}" for name, type in leaves)
    return text.replace("@main()", f"@main({arguments})", 1)


def seed_line(recipe: Sequence[Node]) -> str:
    """Return a line of Python that makes a recipe."""
    nodes = ", ".join(repr(tuple(node)) for node in recipe)
    return f"[Node(*node) for node in [{nodes}]]"
