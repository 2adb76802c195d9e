# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs whose loaders have workers: how they begin, are stopped, are killed and end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time

import pytest
from data_checks import all_end, is_alive
from tiers import draws

pytestmark = pytest.mark.processor

#: A script as people write them: with a network and a data set at its top.
SCRIPT = """
import os, signal, sys, time
import metaops as mo
import numpy as np
from metaops import data, nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 2)

    def execute(self, x):
        return self.fc(x)


class Items(data.Dataset):
    def __init__(self, slow=-1):
        self.slow = slow

    def __len__(self):
        return 12

    def __getitem__(self, index):
        if index == self.slow:
            time.sleep(100)
        return data.rng().random(3), index


def tell(loader):
    print(*(m.process.pid for pool in loader._pools for m in pool._members), flush=True)


def main():
    model = Net()
    optimizer = mo.optim.SGD(model.parameters(), 0.1)
"""


def write(folder, body):
    """Write a script, whose `main` goes on so."""
    path = folder / "script.py"
    main = '\n\nif __name__ == "__main__":\n    main()\n'
    path.write_text(SCRIPT + textwrap.indent(textwrap.dedent(body), "    ") + main)
    return path


def start(path, **options):
    environment = {**os.environ, "METAOPS_CACHE_DIR": ""}
    return subprocess.Popen(
        [sys.executable, str(path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
        **options,
    )


def run(path):
    process = start(path)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    return out, err


def read_pids(process):
    """Return the processes that a script has told of."""
    return [int(word) for word in process.stdout.readline().split()]


def test_spawned_workers_make_the_same_bits(tmp_path):
    path = write(
        tmp_path,
        """
        losses = {}
        for context, workers in ((None, 0), ("fork", 2), ("spawn", 2)):
            mo.seed(1)
            model = Net()
            optimizer = mo.optim.SGD(model.parameters(), 0.1)
            loader = data.DataLoader(
                Items(), 4, shuffle=True, num_workers=workers, multiprocessing_context=context
            )
            losses[context] = []
            for epoch in range(2):
                for x, label in loader:
                    loss = nn.cross_entropy_loss(model(x.float32()), label % 2)
                    optimizer.step(loss)
                    losses[context].append(loss.item())
            if workers:
                tell(loader)
        assert len(losses[None]) == 6 and losses["fork"] == losses["spawn"] == losses[None]
        loader = data.DataLoader(
            Items(), num_workers=1, multiprocessing_context="spawn", collate_fn=lambda items: items
        )
        try:
            next(iter(loader))
        except TypeError as error:
            assert "have to be pickled for spawned workers" in str(error), error
            print("refused")
        """,
    )
    out, err = run(path)
    *pids, last = out.split()
    assert last == "refused" and err == ""
    assert len(pids) == 4 and all_end([*map(int, pids)])


@pytest.mark.parametrize("slow", draws([5, -1]))
def test_ctrl_c_leaves_no_process(tmp_path, slow):
    """The signal goes to all processes of the terminal, workers that are busy among them."""
    path = write(
        tmp_path,
        f"""
        loader = data.DataLoader(Items({slow}), 2, num_workers=2)
        next(iter(loader))
        tell(loader)
        try:
            while True:
                for batch in loader:
                    pass
        except KeyboardInterrupt:
            print(loader.state_dict()["batches"] >= 0, flush=True)
        raise SystemExit(3)
        """,
    )
    process = start(path, start_new_session=True)
    pids = read_pids(process)
    time.sleep(0.3)
    os.killpg(process.pid, signal.SIGINT)
    try:
        out, err = process.communicate(timeout=20)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        raise
    assert (process.returncode, out, err) == (3, "True\n", "")
    assert len(pids) == 2 and all_end(pids)


@pytest.mark.parametrize("slow", draws([2, -1]))
def test_workers_end_with_a_program_that_is_killed(tmp_path, slow):
    """With two loaders: a worker has copies of what its siblings are connected by."""
    path = write(
        tmp_path,
        f"""
        loaders = [data.DataLoader(Items({slow}), 2, num_workers=2) for _ in range(2)]
        kept = [next(iter(loader)) for loader in loaders]
        for loader in loaders:
            tell(loader)
        time.sleep(100)
        """,
    )
    process = start(path)
    pids = read_pids(process) + read_pids(process)
    assert len(pids) == 4 and all(map(is_alive, pids))
    process.kill()
    process.wait()
    assert all_end(pids)
    process.stdout.close()
    process.stderr.close()


def test_a_worker_that_holds_the_interpreter_ends_with_a_program_that_is_killed(tmp_path):
    path = write(
        tmp_path,
        """
        import re
        class Matching:
            def __len__(self):
                return 2
            def __getitem__(self, index):
                # This takes hours, and no other thread runs meanwhile.
                return index and re.match("(a+)+$", "a" * 60 + "b")
        loader = data.DataLoader(Matching(), num_workers=1)
        next(iter(loader))
        tell(loader)
        time.sleep(100)
        """,
    )
    process = start(path)
    pids = read_pids(process)
    time.sleep(0.3)
    process.kill()
    process.wait()
    try:
        assert all_end(pids)
    finally:
        for pid in pids:
            if is_alive(pid):
                os.kill(pid, signal.SIGKILL)
    process.stdout.close()
    process.stderr.close()


@pytest.mark.parametrize(
    "end",
    draws(["raise ValueError", "pass", "raise SystemExit", "os.kill(os.getpid(), signal.SIGTERM)"]),
)
def test_workers_end_with_a_program(tmp_path, end):
    path = write(
        tmp_path,
        f"""
        loader = data.DataLoader(Items(), 2, num_workers=2)
        kept = [batch for batch in loader]
        iterator = iter(loader)
        next(iterator)
        tell(loader)
        {end}
        """,
    )
    process = start(path)
    pids = read_pids(process)
    out, err = process.communicate(timeout=30)
    assert all_end(pids) and out == ""
    told = "ValueError" if "Value" in end else ""
    assert told in err and (told or err == "")


@pytest.mark.rest
def test_a_loader_in_a_thread(tmp_path):
    """Workers outlive the thread that has started them."""
    path = write(
        tmp_path,
        """
        import threading
        loader = data.DataLoader(Items(), 4, num_workers=2, as_arrays=True)
        iterators = []
        thread = threading.Thread(target=lambda: iterators.append(iter(loader)))
        thread.start()
        thread.join()
        first = [index for _, index in iterators[0]]
        again = [index for _, index in loader]
        print(np.concatenate(first + again).tolist() == [*range(12)] * 2)
        """,
    )
    assert run(path) == ("True\n", "")
