# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a GPU cannot do is an exception that says why, and the session goes on."""

import re

import metaops as mo
import numpy as np
import pytest

GPU = "emulator:sm_90a"


@pytest.fixture(autouse=True)
def on_gpu():
    """Everything here is about one device."""
    with mo.device(GPU):
        yield


def rows():
    """Return sums of rows, whose stage keeps loop 0 and reduces loop 1."""
    return mo.exp(mo.array(np.ones((64, 128), dtype="float32"))).sum(axis=1)


@pytest.fixture
def schedule_file(tmp_path):
    """Write a file with one schedule for the stage of `rows`; return its name."""
    path = tmp_path / "schedules.txt"
    mo.explain(rows()).save_schedules(path)
    name = re.search(r"^(\w+\.\d+) = ", path.read_text(), re.MULTILINE)[1]

    def write(schedule):
        path.write_text(f"# Sums of rows.\n{name} = #metaop.schedule<{schedule}>\n")
        return str(path)

    return write


@pytest.mark.parametrize(
    "schedule, message",
    [
        ("[block(0)]", r"\(S2\) schedule orders 1 loops, but the stage has 2"),
        (
            "[block(0, 64), step(1, 64), thread(0), thread(1)]",
            r"\(G3\) schedule has 4096 threads, but a block has at most 1024",
        ),
        (
            "[block(0), step(1, 128), thread(1, 8)], tile = [1: 8], lanes = 1: 8",
            r"\(G6\) schedule has vectors of 32 bytes",
        ),
        (
            "[block(0, 4), block(1, 64), thread(0), thread(1)]",
            r"\(G7\) blocks have parts of loop 1, which result 0 is reduced over",
        ),
        (
            "[block(0, 64), step(1, 128)], tile = [0: 64, 1: 128]",
            r"\(G13\) kernel needs about \d+ registers, but a thread has at most 255",
        ),
    ],
)
def test_schedules_that_do_not_fit_their_stage(schedule_file, schedule, message):
    path = schedule_file(schedule)
    with (
        mo.flag_scope(schedule_file=path),
        pytest.raises(RuntimeError, match=rf"compiled: {re.escape(path)}:2: {message}"),
    ):
        rows().sync()
    np.testing.assert_allclose(rows().numpy(), 128 * np.e, rtol=1e-5)


def test_vectors_that_do_not_fill_a_tile(schedule_file):
    path = schedule_file("[block(0), step(1, 64), thread(1, 4)], tile = [1: 2], lanes = 1: 4")
    message = rf"{re.escape(path)}:2: expects whole vectors of 4 lanes in `tile`, given 2"
    with pytest.raises(ValueError, match=message):
        mo.flag_scope(schedule_file=path).__enter__()


def test_unknown_chips_list_the_known_ones():
    for chip in ("sm_75", "sm_91", "gpu"):
        with pytest.raises(ValueError, match=rf"no device 'emulator:{chip}'; .*emulator:sm_90a"):
            mo.device(f"emulator:{chip}")
