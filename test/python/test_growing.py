# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs of lengths that grow, as those of a loop that generates a sequence do."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import metaops as mo
import numpy as np
import pytest
from metaops import nn
from util import on_processor

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


def is_growing() -> bool:
    """Tell whether the program that ran last has kernels for all lengths."""
    return "metaop.growing" in mo.last_program().ir("kernels")


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
        # GPUs have vectors for rows whose length 2 or 4 divides, and more sizes of blocks.
        most = 40 if PROCESSOR else 48
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
def test_attention_of_growing_rows(
    rng: np.random.Generator, batch: int, start: int, step: int
) -> None:
    def compute(x: np.ndarray) -> mo.Var:
        rows = mo.array(x)
        return mo.softmax(rows @ rows.transpose(0, 2, 1), -1) @ rows

    count = 24 if PROCESSOR or step < 16 else 8
    data = rng.standard_normal((batch, start + count * step, 16), dtype="float32")
    lengths = range(start, start + count * step, step)
    # Lengths of one step are known to grow at the second, others at the third.
    assert count_kernels(compute, attend, data, lengths) <= (9 if step == 1 else 12)


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
def test_recurrence_over_a_growing_sequence(rng: np.random.Generator) -> None:
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


@pytest.mark.usefixtures("compiled")
def test_lengths_that_do_not_grow_get_kernels_of_their_own() -> None:
    def compute(length: int) -> None:
        x = mo.array(np.ones((length, 27), "float32"))
        (mo.exp(x * 0.5) @ x.transpose()).sync()

    for length in (40, 7, 20, 35, 12):
        compute(length)
        assert not is_growing()
    compute(13)
    assert is_growing()


@pytest.mark.usefixtures("compiled")
def test_a_length_that_stays_gets_kernels_of_its_own() -> None:
    def compute(length: int) -> np.ndarray:
        x = mo.array(np.linspace(-1, 1, length * 24, dtype="float32").reshape(length, 24))
        return (mo.softmax(x @ x.transpose(), -1) @ x).numpy()

    compute(10)
    first = compute(11)
    assert is_growing()
    for _ in itertools.repeat(None, 20):
        np.testing.assert_allclose(compute(11), first, rtol=1e-5)
    assert not is_growing()
    programs = mo.stats()["programs_compiled"]
    compute(11)
    assert mo.stats()["programs_compiled"] == programs


@pytest.mark.usefixtures("compiled")
def test_growing_does_not_change_kernels_of_other_programs() -> None:
    def compute(length: int, scale: float) -> str:
        x = mo.array(np.ones((length, 31), "float32"))
        mo.tanh(x * scale).sum(1).sync()
        return mo.last_program().ir("kernels")

    fixed = compute(30, 2.0)
    for length in range(3, 12):
        compute(length, 2.0)
    assert is_growing()
    before = compiled_kernels()
    assert compute(30, 3.0) == fixed
    assert compiled_kernels() == before
