# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs whose extents vary, as those of batches and of a generated sequence do."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import metaops as mo
import numpy as np
import pytest
import random_graphs
from graph_checks import check_same, outputs
from metaops import nn
from util import AVX512, on_processor

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

PROCESSOR = on_processor(mo.zeros(()))

CONTEXT, TOKENS = 64, 65
# An emulated device takes long for a larger model, and for more tokens.
WIDTH, HEADS, BLOCKS, GENERATED = (64, 4, 2, CONTEXT) if PROCESSOR else (16, 2, 1, 36)


class Block(mo.Module):
    """Causal attention and a perceptron, both behind a norm."""

    def __init__(self) -> None:
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH)
        self.out = nn.Linear(WIDTH, WIDTH)
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def execute(self, x: mo.Var) -> mo.Var:
        """Return as many rows as there are."""
        batch, length = x.shape[:2]
        qkv = self.qkv(self.norm1(x)).reshape(batch, length, 3, HEADS, WIDTH // HEADS)
        q, k, v = (qkv[:, :, part].transpose(0, 2, 1, 3) for part in range(3))
        scores = q @ k.transpose(0, 1, 3, 2) * (WIDTH // HEADS) ** -0.5
        row = mo.arange(length)
        scores = mo.where(row.reshape(1, -1) <= row.reshape(-1, 1), scores, -1e9)
        attended = (mo.softmax(scores, -1) @ v).transpose(0, 2, 1, 3)
        x = x + self.out(attended.reshape(batch, length, WIDTH))
        return x + self.down(mo.gelu(self.up(self.norm2(x))))


class Language(mo.Module):
    """A small GPT."""

    def __init__(self) -> None:
        self.tokens = nn.Embedding(TOKENS, WIDTH)
        self.places = nn.Embedding(CONTEXT, WIDTH)
        self.blocks = mo.Sequential(*(Block() for _ in range(BLOCKS)))
        self.norm = nn.LayerNorm(WIDTH)
        self.head = nn.Linear(WIDTH, TOKENS, bias=False)

    def execute(self, tokens: mo.Var) -> mo.Var:
        """Return the logits of what follows each token."""
        x = self.tokens(tokens) + self.places(mo.arange(tokens.shape[1]))
        return self.head(self.norm(self.blocks(x)))


def compiled_kernels() -> int:
    """Return how many kernels have become machine code by now."""
    return mo.stats()["kernels_compiled"]


def is_varying() -> bool:
    """Tell whether the program that ran last has kernels for all lengths."""
    return "metaop.varying" in mo.last_program().ir("kernels")


@pytest.mark.usefixtures("compiled")
@pytest.mark.parametrize("batch", [1, 4])
def test_generating_compiles_few_kernels(batch: int) -> None:
    model = Language()
    # Also what other files' layers have recorded when these were imported.
    mo.sync_all()
    before = compiled_kernels()
    tokens = mo.array(np.arange(batch, dtype="int32").reshape(batch, 1))
    rows: list[np.ndarray] = []
    with mo.no_grad():
        for _ in range(GENERATED):
            last = model(tokens)[:, -1, :]
            following = mo.argmax(last, 1).reshape(batch, 1).astype("int32")
            longest, tokens = tokens, mo.concat([tokens, following], 1)
            mo.sync([last, tokens])
            rows.append(last.numpy())
        # The first length has 18, three classes follow; GPUs have vectors for rows whose
        # length 2 or 4 divides, and more sizes of blocks.
        most = 58 if PROCESSOR else 48
        assert compiled_kernels() - before <= most
        # A row depends on the tokens up to it, so the longest program has them all;
        # the interpreter has no kernels.
        mo.flags.backend = "interpreter"
        expected = model(longest).numpy()
    np.testing.assert_allclose(np.stack(rows, 1), expected, rtol=1e-3, atol=1e-4)


def attend(x: np.ndarray) -> np.ndarray:
    """Return what each row of `x` attends to, in doubles."""
    x = x.astype("float64")
    scores = x @ x.swapaxes(-1, -2)
    scores = np.exp(scores - scores.max(-1, keepdims=True))
    return scores / scores.sum(-1, keepdims=True) @ x


def count_kernels(
    compute: Callable[[np.ndarray], mo.Var],
    expect: Callable[[np.ndarray], np.ndarray],
    data: np.ndarray,
    lengths: Iterable[int],
) -> int:
    """Check the values at each length of the next to last dimension."""
    before = compiled_kernels()
    for length in lengths:
        x = np.ascontiguousarray(data[..., :length, :])
        actual = compute(x).numpy()
        np.testing.assert_allclose(actual, expect(x), rtol=1e-3, atol=1e-4)
    return compiled_kernels() - before


@pytest.mark.usefixtures("compiled")
@pytest.mark.parametrize("batch", [1, 4])
@pytest.mark.parametrize(("start", "step"), [(1, 1), (2, 1), (9, 1), (30, 1), (3, 4), (5, 16)])
def test_attention_of_varying_rows(
    rng: np.random.Generator, batch: int, start: int, step: int
) -> None:
    def compute(x: np.ndarray) -> mo.Var:
        rows = mo.array(x)
        return mo.softmax(rows @ rows.transpose(0, 2, 1), -1) @ rows

    count = 24 if PROCESSOR or step < 16 else 8
    data = rng.standard_normal((batch, start + count * step, 16), dtype="float32")
    lengths = range(start, start + count * step, step)
    # As many where no test before has compiled one of them.
    assert count_kernels(compute, attend, data, lengths) <= (13 if step == 1 else 16)


@pytest.mark.usefixtures("compiled")
@pytest.mark.parametrize("batch", [1, 4])
def test_attention_to_rows_that_are_added(rng: np.random.Generator, batch: int) -> None:
    count = 40 if PROCESSOR else 20
    data = rng.standard_normal((batch, count, 16), dtype="float32")
    kept: list[mo.Var] = []

    def compute(x: np.ndarray) -> mo.Var:
        row = mo.array(np.ascontiguousarray(x[:, -1:]))
        kept[:] = [mo.concat([kept[0], row], 1) if kept else row]
        result = mo.softmax(row @ kept[0].transpose(0, 2, 1), -1) @ kept[0]
        mo.sync([kept[0], result])
        return result

    kernels = count_kernels(compute, lambda x: attend(x)[:, -1:], data, range(1, count + 1))
    # On a GPU, with vectors.
    assert kernels <= (16 if PROCESSOR else 18)


@pytest.mark.usefixtures("compiled")
def test_recurrence_over_a_varying_sequence(rng: np.random.Generator) -> None:
    weight, inner = (0.3 * rng.standard_normal((16, 16), dtype="float32") for _ in range(2))
    data = rng.standard_normal((4, 20, 16), dtype="float32")

    def compute(x: np.ndarray) -> mo.Var:
        inputs = mo.array(x) @ mo.array(weight)
        state = mo.zeros((4, 16))
        for step in range(x.shape[1]):
            state = mo.tanh(inputs[:, step] + state @ mo.array(inner))
        return state

    def expect(x: np.ndarray) -> np.ndarray:
        state = np.zeros((4, 16))
        for step in range(x.shape[1]):
            state = np.tanh(x[:, step].astype("float64") @ weight + state @ inner)
        return state

    # So many where no test before has compiled one of them; on a GPU, with vectors, and
    # four steps in one kernel, and one, two or three that are left.
    most = 12 if PROCESSOR else 17
    assert count_kernels(compute, expect, data, range(1, 21)) <= most


def add_in_a_scan(rows: mo.Var, weight: mo.Var) -> mo.Var:
    def step(carry: mo.Var, row: mo.Var) -> tuple[mo.Var, mo.Var]:
        carry = mo.tanh(row @ weight + carry)
        return carry, carry

    return mo.scan(step, rows[0] * 0, mo.stack([rows[i % 2] * (i + 1) for i in range(9)]))[1]


def add_in_a_loop(rows: mo.Var, weight: mo.Var) -> mo.Var:
    def step(state: tuple[mo.Var, mo.Var]) -> tuple[mo.Var, mo.Var]:
        return state[0] + 1, mo.tanh(state[1] @ weight)

    return mo.while_loop(lambda state: state[0] < 3, step, (mo.array(0), rows[1]))[1]


def choose_a_branch(rows: mo.Var, weight: mo.Var) -> mo.Var:
    return mo.cond(
        rows.sum() > 0, lambda x: x @ weight, lambda x: (x * 2) @ weight + 1, rows[0] + rows[1]
    )


def read_from_behind(rows: mo.Var, weight: mo.Var) -> mo.Var:
    numbers = mo.arange(rows.shape[1]) - rows.shape[1]
    return rows[0][numbers.reindex([rows.shape[1]], [f"{rows.shape[1] - 1} - i0"])] @ weight


def deviate(rows: mo.Var, weight: mo.Var) -> mo.Var:
    return rows.std(1) @ weight


@pytest.mark.processor
@pytest.mark.usefixtures("compiled")
@pytest.mark.parametrize(
    "compute", [add_in_a_scan, add_in_a_loop, choose_a_branch, read_from_behind, deviate]
)
def test_loops_branches_and_constants_of_varying_extents(
    rng: np.random.Generator, compute: Callable[[mo.Var, mo.Var], mo.Var]
) -> None:
    weight = mo.array(rng.standard_normal((24, 24), dtype="float32") / 5)
    data = rng.standard_normal((2, 63, 24), dtype="float32")

    def run(lengths: Iterable[int]) -> int:
        before = compiled_kernels()
        for length in lengths:
            rows = mo.array(data[:, :length].copy())
            found = compute(rows, weight).numpy()
            with mo.flag_scope(backend="interpreter"):
                expected = compute(rows, weight).numpy()
            np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)
        return compiled_kernels() - before

    first = run([40, 33])
    assert run([9, 62, 24, 17, 51, 8, 63]) <= 2
    assert first <= 24


@pytest.mark.processor
@pytest.mark.usefixtures("compiled")
def test_the_second_length_is_the_last_that_compiles_for_its_class(
    rng: np.random.Generator,
) -> None:
    data = rng.standard_normal((200, 27), dtype="float32")

    def compute(x: np.ndarray) -> mo.Var:
        rows = mo.array(x)
        return mo.exp(rows * 0.5) @ rows.transpose()

    def expect(x: np.ndarray) -> np.ndarray:
        rows = x.astype("float64")
        return np.exp(rows * 0.5) @ rows.T

    def count(*lengths: int) -> int:
        return count_kernels(compute, expect, data, lengths)

    first = count(40)
    assert not is_varying()
    assert 0 < count(35) <= first + 1
    assert is_varying()
    # In any order, by ones and by leaps.
    assert count(12, 63, 11, 8, 41, 40, 62) <= 1
    # The two other classes.
    assert count(3, 130) <= 2 * first + 2
    assert count(2, 7, 5, 64, 199, 97, 198, 128, 66) <= 2


@pytest.mark.usefixtures("compiled")
@pytest.mark.parametrize("lengths", [(9, 33, 14, 63), (2, 7, 5), (200, 65, 98, 131)])
@pytest.mark.parametrize("width", [3, 16, 40, 300])
def test_products_of_varying_extents(
    rng: np.random.Generator, lengths: tuple[int, ...], width: int
) -> None:
    """Rows, columns, and what is summed vary; the first length has other kernels."""
    data = rng.standard_normal((201, width), dtype="float32")
    weight = rng.standard_normal((width, 50), dtype="float32")

    def compute(x: np.ndarray) -> mo.Var:
        rows = mo.array(x)
        outer = mo.maximum(rows @ mo.array(weight), 0.0)
        return outer.transpose() @ (rows @ rows.transpose() + 1.0)

    def expect(x: np.ndarray) -> np.ndarray:
        rows = x.astype("float64")
        return np.maximum(rows @ weight, 0).T @ (rows @ rows.T + 1)

    for length in lengths:
        np.testing.assert_allclose(
            compute(data[:length]).numpy(), expect(data[:length]), rtol=2e-3, atol=2e-2
        )


@pytest.mark.parametrize("columns", [5, 16])
def test_softmax_of_columns_of_rising_lengths(rng: np.random.Generator, columns: int) -> None:
    """Blocks of a GPU's threads share as much memory as their own length takes."""
    for length in (1030, 1100, 1500, 3000, 5000):
        x = rng.standard_normal((length, columns), dtype="f")
        powers = np.exp(x - x.max(0))
        expected = powers / powers.sum(0)
        np.testing.assert_allclose(mo.softmax(mo.array(x), 0).numpy(), expected, rtol=1e-4)


@pytest.mark.processor
@pytest.mark.skipif(not AVX512, reason="of other processors, other tiles")
def test_a_tile_computes_products_whose_columns_vary(rng: np.random.Generator) -> None:
    """A copy of many would be as wide as they are, and is none of a tile's panels."""
    for columns in (128, 160):
        x, w = (mo.array(rng.random(shape, dtype="f")) for shape in ((40, 4096), (4096, columns)))
        (x @ w).sync()
    assert is_varying()
    assert "role: contraction" in str(mo.last_program().explain())
    assert len(mo.last_program().kernels) == 1


@pytest.mark.processor
@pytest.mark.usefixtures("compiled")
def test_long_sums_of_varying_extents_stay_exact(rng: np.random.Generator) -> None:
    """They have blocks, though the lengths before were short."""
    for length in (70, 130, 4000, 5003):
        x = rng.random((length, 24), dtype="float32")
        y = rng.random((length, 32), dtype="float32")
        actual = (mo.array(x).transpose() @ mo.array(y)).numpy()
        expected = x.astype("float64").T @ y
        assert np.abs(actual / expected - 1).max() < 2e-6


@pytest.mark.processor
@pytest.mark.usefixtures("compiled")
def test_long_varying_extents_are_shared_among_threads(rng: np.random.Generator) -> None:
    weight = mo.array(rng.standard_normal((16, 16), dtype="float32"))
    for length in (100, 130, 5000):
        x = rng.standard_normal((length, 16), dtype="float32")
        actual = (mo.array(x) @ weight).numpy()
        np.testing.assert_allclose(actual, x @ weight.numpy(), rtol=1e-4, atol=1e-4)
    assert is_varying()
    assert "parallel(" in mo.last_program().ir("kernels")


@pytest.mark.processor
@pytest.mark.usefixtures("compiled")
def test_a_length_that_stays_gets_kernels_of_its_own() -> None:
    def compute(length: int) -> np.ndarray:
        x = mo.array(np.linspace(-1, 1, length * 24, dtype="float32").reshape(length, 24))
        return (mo.softmax(x @ x.transpose(), -1) @ x).numpy()

    compute(10)
    first, second = compute(11), compute(13)
    assert is_varying()
    # Two lengths in turns are few.
    for _ in itertools.repeat(None, 20):
        np.testing.assert_allclose(compute(11), first, rtol=1e-5)
        np.testing.assert_allclose(compute(13), second, rtol=1e-5)
    assert not is_varying()
    programs = mo.stats()["programs_compiled"]
    compute(11)
    assert mo.stats()["programs_compiled"] == programs


@pytest.mark.processor
@pytest.mark.usefixtures("compiled")
def test_lengths_that_are_many_share_their_kernels() -> None:
    def compute(length: int) -> None:
        mo.tanh(mo.array(np.ones((length, 29), "float32"))).sum(1).sync()

    for _ in itertools.repeat(None, 20):
        for length in (9, 12, 15, 18, 21, 24):
            compute(length)
    assert is_varying()


@pytest.mark.usefixtures("compiled")
def test_varying_does_not_change_kernels_of_other_programs() -> None:
    def compute(length: int, scale: float) -> str:
        x = mo.array(np.ones((length, 31), "float32"))
        mo.tanh(x * scale).sum(1).sync()
        return mo.last_program().ir("kernels")

    fixed = compute(30, 2.0)
    for length in range(3, 12):
        compute(length, 2.0)
    assert is_varying()
    before = compiled_kernels()
    assert compute(30, 3.0) == fixed
    assert compiled_kernels() == before


@pytest.mark.processor
@pytest.mark.usefixtures("compiled")
def test_training_with_batches_in_any_order_compiles_few_kernels() -> None:
    model = mo.Sequential(nn.Linear(16, 24), nn.ReLU(), nn.Linear(24, 5))
    optimizer = mo.optim.Adam(model.parameters(), lr=0.01)
    rng = np.random.default_rng(3)

    def train(length: int) -> int:
        before = compiled_kernels()
        x = mo.array(rng.standard_normal((length, 16), dtype="float32"))
        y = mo.array(rng.integers(0, 5, length))
        optimizer.step(nn.cross_entropy_loss(model(x), y))
        mo.sync_all()
        return compiled_kernels() - before

    first = sum(train(length) for length in (29, 44, 40))
    assert first > 0
    # Whole vectors and blocks need no masks.
    assert sum(train(length) for length in (31, 9, 62, 50, 17, 28, 61, 11)) <= 4
    others = sum(train(length) for length in (3, 100))
    assert others <= 2 * first
    assert sum(train(length) for length in (170, 5, 99, 7, 6, 131, 65)) <= 4


@pytest.mark.processor
@pytest.mark.usefixtures("compiled")
@pytest.mark.parametrize("stride", [1, 2])
def test_images_of_varying_sizes_share_kernels(stride: int) -> None:
    rng = np.random.default_rng(4)
    weight = mo.array(rng.standard_normal((6, 3, 3, 3), dtype="float32"))

    def compute(size: int) -> int:
        before = compiled_kernels()
        x = mo.array(rng.standard_normal((2, 3, size, size + 1), dtype="float32"))
        y = nn.max_pool2d(mo.relu(nn.conv2d(x, weight, stride=stride)), 2)
        actual = y.numpy()
        with mo.flag_scope(backend="interpreter"):
            z = nn.max_pool2d(mo.relu(nn.conv2d(mo.array(x.numpy()), weight, stride=stride)), 2)
            np.testing.assert_allclose(actual, z.numpy(), rtol=1e-4, atol=1e-4)
        return compiled_kernels() - before

    first = sum(compute(size) for size in (21, 29, 40))
    assert first > 0
    assert sum(compute(size) for size in (25, 37, 23, 45, 33)) <= first


@pytest.mark.processor
@pytest.mark.usefixtures("compiled")
@pytest.mark.parametrize("first", range(0, 80, 20))
def test_random_graphs_of_varying_extents(monkeypatch: pytest.MonkeyPatch, first: int) -> None:
    """The same recipe over other extents: one kind of program, with values of its own."""
    varying = 0
    for seed in range(first, first + 20):
        recipe = random_graphs.generate(seed, 3 + seed % 12, random_graphs.ALL)
        for more in (0, 1, 5, -3, 20):
            extents = [2, 1, 3, 0, 5 - more % 2, 8 + more % 5, 17 + more, 33 + 2 * more]
            monkeypatch.setattr(random_graphs, "EXTENTS", extents)
            monkeypatch.setattr(
                random_graphs, "LONG", [70 + more, 257 + more, 1031 + 3 * more, 40000]
            )
            values = outputs(random_graphs.run(recipe), recipe)
            dtypes = [str(value.dtype) for value in values.values()]
            compiled = mo.fetch_sync(list(values.values()))
            varying += is_varying()
            with mo.flag_scope(backend="interpreter"):
                again = outputs(random_graphs.run(recipe), recipe)
                expected = mo.fetch_sync(list(again.values()))
            for actual, reference, dtype in zip(compiled, expected, dtypes, strict=True):
                check_same(actual, reference, dtype)
    assert varying > 20
