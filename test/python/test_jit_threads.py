# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions that are recorded once, by several threads."""

from __future__ import annotations

import threading
from typing import Any

import metaops as mo
import pytest
from recorded_functions import Counter, leaf

# A warning that no test expects is an error.
pytestmark = pytest.mark.filterwarnings("error")


def test_threads_on_one_function() -> None:
    weight = leaf(3)
    jitted = mo.jit(lambda x: x * weight)
    failures: list[BaseException] = []

    def work(number: int) -> None:
        try:
            with mo.device(weight.device):
                for i in range(30):
                    assert jitted(leaf(i, number)).numpy().tolist() == [3 * i, 3 * number]
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_a_thread_records_and_others_go_on() -> None:
    inside, go = threading.Event(), threading.Event()

    def f(x: mo.Var) -> mo.Var:
        inside.set()
        assert go.wait(10)
        return x * 2

    results: list[Any] = []
    jitted = mo.jit(f)
    thread = threading.Thread(target=lambda: results.append(jitted(leaf(1)).numpy().tolist()))
    thread.start()
    assert inside.wait(10)
    assert (leaf(4) * 2).numpy().tolist() == [8]
    other = mo.jit(lambda x: x + 1)
    assert other(leaf(1)).numpy().tolist() == [2]
    go.set()
    thread.join()
    assert results == [[2]]


def test_threads_cross_no_effects() -> None:
    class Stepper(Counter):
        def advance(self) -> list[float]:
            self.value += 1
            return [self.value]

        def take_back(self) -> None:
            self.value -= 1

    counter = Stepper()
    counter.value = 0.0
    jitted = mo.jit(lambda x: counter.scaled(x))
    jitted(leaf(1))
    seen: list[float] = []

    def work() -> None:
        for _ in range(25):
            seen.append(float(jitted(leaf(1)).numpy()[0]))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(seen) == [float(number) for number in range(2, 102)]
