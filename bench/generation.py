# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Generation of text by a small language model: what a token costs, with two caches.

    generation.py [--threads N...] [--cache NAME...] [--quick] [--output FOLDER]

A transformer makes one token after another, each the likeliest, and asks for it by `.item()`.
It keeps the keys and values of former tokens in one of two ways:

concat
    The cache grows: the new key is concatenated to it.
fixed
    The cache has room for the whole context: the new key is written at its place, and a
    mask hides the places behind it.

Each text is generated twice by a process that finds nothing on disk (cold, then warm), and by
a second process that finds what the first has compiled there. PyTorch, eager, does the same
with the same weights. All texts have to be equal before a time is reported.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path
from statistics import median, quantiles
from typing import Any

import numpy as np
from common import Table, core_counts, run_worker, write_report
from rows import plural

VOCABULARY, CONTEXT, WIDTH, HEADS, BLOCKS = 512, 256, 256, 4, 4
#: The tokens of a text, of a short one, and the one that stands before all of them.
TOKENS, QUICK, FIRST = 200, 24, 1
CACHES = ("concat", "fixed")
#: The texts that are reported: each by its process, and its number there.
TEXTS = {"cold": (0, 0), "warm": (0, 1), "second process": (1, 0)}
#: Counts of our session while it makes a text.
COUNTS = ("programs_compiled", "kernels_compiled", "programs_loaded", "kernels_loaded")

#: The seconds of each token, the tokens, and the counts.
Text = dict[str, Any]
#: The texts of each process, by library.
Texts = dict[str, list[list[Text]]]


def weights(parameters: Iterable[tuple[str, Any]]) -> list[np.ndarray]:
    """Return weights for parameters with names, by which a text has many different tokens."""
    rng = np.random.default_rng(0)
    result = []
    for name, parameter in parameters:
        weight = rng.normal(size=tuple(parameter.shape))
        if weight.ndim == 1:
            is_scale = "norm" in name and name.endswith("weight")
            weight = 0.1 * weight + (1.0 if is_scale else 0.0)
        elif name not in ("embedding", "place"):
            weight /= np.sqrt(weight.shape[1])
        result.append(weight.astype("float32"))
    return result


class MetaOps:
    """Lazy, compiled."""

    def __init__(self, cache: str) -> None:
        import metaops as mo
        import models

        self.mo, self.fixed = mo, cache == "fixed"
        self.model = models.Transformer(VOCABULARY, CONTEXT, WIDTH, HEADS, BLOCKS)
        models.load(self.model, weights(self.model.named_parameters()))

    def begin(self) -> None:
        """Begin a text: caches are empty."""
        shape = (1, HEADS, CONTEXT, WIDTH // HEADS)
        self.keys = [self.mo.zeros(shape) if self.fixed else None for _ in range(BLOCKS)]
        self.values = [self.mo.zeros(shape) if self.fixed else None for _ in range(BLOCKS)]

    def counts(self) -> dict[str, int]:
        """Return what was compiled and loaded so far."""
        stats = self.mo.stats()
        return {name: stats[name] for name in COUNTS}

    def _extend(self, cache: list[Any], block: int, new: Any, place: int) -> Any:
        past = cache[block]
        if self.fixed:
            cache[block] = past.at[:, :, place : place + 1].set(new)
        else:
            cache[block] = new if past is None else self.mo.concat([past, new], 2)
        return cache[block]

    def _attend(self, block: int, layer: Any, x: Any, place: int) -> Any:
        q, k, v = (
            part.reshape(1, 1, HEADS, WIDTH // HEADS).transpose(0, 2, 1, 3)
            for part in layer.qkv(x).split(3, dim=2)
        )
        k = self._extend(self.keys, block, k, place)
        v = self._extend(self.values, block, v, place)
        mask = self.mo.arange(CONTEXT) <= place if self.fixed else None
        mixed = self.mo.nn.scaled_dot_product_attention(q, k, v, mask)
        return layer.out(mixed.transpose(0, 2, 1, 3).reshape(1, 1, WIDTH))

    def token(self, last: int, place: int) -> int:
        """Return the token at a place, after the last one."""
        mo, model = self.mo, self.model
        with mo.no_grad():
            x = model.embedding[mo.array([[last]])] + model.place[place]
            for block, layer in enumerate(model.layers):
                x = x + self._attend(block, layer.attention, layer.norm1(x), place)
                x = x + layer.down(mo.gelu(layer.up(layer.norm2(x))))
            scores = model.head(model.norm(x))
            return scores[0, 0].argmax(0).item()


class Torch:
    """PyTorch, eager."""

    def __init__(self, cache: str) -> None:
        import torch
        import torch_models

        self.torch, self.fixed = torch, cache == "fixed"
        self.model = torch_models.Transformer(VOCABULARY, CONTEXT, WIDTH, HEADS, BLOCKS)
        torch_models.load(self.model, weights(self.model.named_parameters()))

    def begin(self) -> None:
        """Begin a text: caches are empty."""
        shape = (1, HEADS, CONTEXT if self.fixed else 0, WIDTH // HEADS)
        self.keys = [self.torch.zeros(shape) for _ in range(BLOCKS)]
        self.values = [self.torch.zeros(shape) for _ in range(BLOCKS)]

    def counts(self) -> dict[str, int]:
        """Return nothing: nothing is compiled."""
        return {}

    def _extend(self, cache: list[Any], block: int, new: Any, place: int) -> Any:
        if self.fixed:
            cache[block][:, :, place : place + 1] = new
        else:
            cache[block] = self.torch.cat([cache[block], new], 2)
        return cache[block]

    def _attend(self, block: int, layer: Any, x: Any, place: int) -> Any:
        q, k, v = (
            part.reshape(1, 1, HEADS, WIDTH // HEADS).transpose(1, 2)
            for part in layer.qkv(x).split(WIDTH, dim=2)
        )
        k = self._extend(self.keys, block, k, place)
        v = self._extend(self.values, block, v, place)
        mask = self.torch.arange(CONTEXT)[None] <= place if self.fixed else None
        mixed = self.torch.nn.functional.scaled_dot_product_attention(q, k, v, mask)
        return layer.out(mixed.transpose(1, 2).reshape(1, 1, WIDTH))

    def token(self, last: int, place: int) -> int:
        """Return the token at a place, after the last one."""
        torch, model = self.torch, self.model
        functional = torch.nn.functional
        with torch.no_grad():
            x = model.embedding[torch.tensor([[last]])] + model.place[place]
            for block, layer in enumerate(model.layers):
                x = x + self._attend(block, layer.attention, layer.norm1(x), place)
                x = x + layer.down(functional.gelu(layer.up(layer.norm2(x))))
            scores = model.head(model.norm(x))
            return scores[0, 0].argmax(0).item()


LIBRARIES: dict[str, type[MetaOps] | type[Torch]] = {"MetaOps": MetaOps, "PyTorch": Torch}


def generate(writer: MetaOps | Torch, count: int) -> Text:
    """Return a text of so many tokens, the seconds of each, and what was compiled."""
    writer.begin()
    before = writer.counts()
    taken, tokens = [], [FIRST]
    for place in range(count):
        begin = time.perf_counter()
        tokens.append(writer.token(tokens[-1], place))
        taken.append(time.perf_counter() - begin)
    counts = {name: value - before[name] for name, value in writer.counts().items()}
    return {"seconds": taken, "tokens": tokens[1:], **counts}


def measure(cache: str, threads: int, count: int) -> Texts:
    """Return the texts of two processes of each library, after checking that they are equal."""
    texts: Texts = {library: [] for library in LIBRARIES}
    with tempfile.TemporaryDirectory() as folder:
        for process in range(2):
            for library, found in texts.items():
                arguments = [library, cache, str(count)]
                found.append(run_worker(__file__, arguments, cores=threads, caches=folder))
                print(f"{cache}, {threads}: process {process} of {library}", file=sys.stderr)
    check(texts, f"{cache}, {plural(threads, 'thread')}")
    return texts


def check(texts: Texts, what: str) -> None:
    """Stop unless all texts are those of PyTorch's first."""
    expected = texts["PyTorch"][0][0]["tokens"]
    for library, processes in texts.items():
        for text in (text for process in processes for text in process):
            if text["tokens"] != expected:
                place = int(np.argmin(np.equal(text["tokens"], expected)))
                raise SystemExit(f"{what}: {library} has another token at place {place}")


def columns_of(text: Text) -> list[float]:
    """Return the median and the 90th percentile of a token's milliseconds, and all seconds."""
    taken = text["seconds"]
    return [1e3 * median(taken), 1e3 * quantiles(taken, n=10)[-1], sum(taken)]


def generation_table(threads: int, measured: dict[str, Texts]) -> Table:
    """Return the table of so many threads."""
    columns = ["cache", "text", "ms a token", "90th percentile", "all s"]
    columns += [f"PyTorch {name}" for name in columns[2:]] + ["ours / PyTorch"]
    columns += [name.replace("_", " ") for name in COUNTS]
    table = Table(f"Generation of text, {plural(threads, 'thread')}", columns, note=note(measured))
    for cache, texts in measured.items():
        for title, (process, number) in TEXTS.items():
            mine, theirs = (texts[library][process][number] for library in LIBRARIES)
            ours, peers = columns_of(mine), columns_of(theirs)
            counts = [mine[name] for name in COUNTS]
            table.add(cache, title, *ours, *peers, ours[0] / peers[0], *counts)
    return table


def note(measured: dict[str, Texts]) -> str:
    """Return what was generated, in sentences."""
    all_texts = [
        text
        for texts in measured.values()
        for processes in texts.values()
        for process in processes
        for text in process
    ]
    tokens = all_texts[0]["tokens"]
    assert all(text["tokens"] == tokens for text in all_texts)
    return (
        f"{plural(len(tokens), 'token')}, batch 1, by {plural(BLOCKS, 'block')} of width {WIDTH},"
        f" {plural(HEADS, 'head')}, a vocabulary of {VOCABULARY} and a context of {CONTEXT}."
        f" All {len(all_texts)} texts have the same tokens, {len(set(tokens))} different ones."
        " Milliseconds are the median and the 90th percentile of a text's tokens, the ratio that"
        " of medians: above 1 we are slower."
    )


def main() -> None:
    """Generate texts in processes of their own and report."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--threads", nargs="+", type=int, help="numbers of threads; 1 and 2")
    parser.add_argument("--cache", nargs="+", choices=CACHES, default=CACHES)
    parser.add_argument("--quick", action="store_true", help=f"{QUICK} tokens, not {TOKENS}")
    parser.add_argument("--output", help="a folder for generation.md, .json and -texts.json")
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    parser.add_argument("task", nargs="*", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        library, cache, count = options.task
        writer = LIBRARIES[library](cache)
        texts = [generate(writer, int(count)) for _ in range(2)]
        Path(options.worker).write_text(json.dumps(texts))
        return
    count = QUICK if options.quick else TOKENS
    measured = {
        threads: {cache: measure(cache, threads, count) for cache in options.cache}
        for threads in options.threads or core_counts()
    }
    tables = [generation_table(threads, texts) for threads, texts in measured.items()]
    write_report("generation", tables, options.output)
    if options.output:
        Path(options.output, "generation-texts.json").write_text(json.dumps(measured))


if __name__ == "__main__":
    main()
