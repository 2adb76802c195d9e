# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Settings and fixtures of all tests."""

import gc
import os
import signal

# Before the package is imported: tests count what is compiled, and processes
# that they start do as well.
os.environ["METAOPS_CACHE_DIR"] = ""

import kernel_cover

RECORDER = kernel_cover.start_recording()

import metaops as mo  # noqa: E402
import numpy as np  # noqa: E402
import pytest  # noqa: E402
from metaops import _core  # noqa: E402
from util import AVX512  # noqa: E402

pytest_plugins = ["tiers"]


def pytest_addoption(parser):
    parser.addoption(
        "--device",
        default="cpu:0",
        help="where tests make their arrays; tests that look at what others have are skipped",
    )


#: Needs that a test may have of its device, as a mark or a fixture, and who lacks them.
NEEDS = {
    "compiled": "looks at compiled programs",
    "processor": "looks at code of processors, or at threads",
    "host_memory": "shares the host's memory with arrays",
    "avx512": "expects the kernels of processors with AVX-512",
    "speed": "computes what takes an emulated device minutes",
}
LACKING = {
    "cpu": [],
    "interpreter": ["compiled", "processor"],
    "emulator": ["processor", "host_memory", "speed"],
    "cuda": ["processor"],
}


def pytest_configure(config):
    """Make the device current for good: files make arrays when they are imported."""
    # A shell has what it starts in the background ignore Ctrl-C, and programs inherit that.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    mo.device(config.getoption("--device")).__enter__()
    if RECORDER:
        config.pluginmanager.register(RECORDER)
    for name, reason in NEEDS.items():
        config.addinivalue_line("markers", f"{name}: {reason}")


def pytest_collection_modifyitems(config, items):
    """Skip what the device lacks."""
    kind = config.getoption("--device").partition(":")[0]
    lacking = list(LACKING[kind])
    if not AVX512:
        lacking.append("avx512")
    for name in lacking:
        for item in items:
            if item.get_closest_marker(name) or name in getattr(item, "fixturenames", ()):
                item.add_marker(pytest.mark.skip(reason=NEEDS[name]))


def pytest_collection_finish():
    """Keep the collector from what lives as long as the tests.

    There are thousands of tests, each with its node; every collection would visit them,
    and some tests collect after each step of a loop.
    """
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def session():
    """Every test starts with the same numbers and default settings."""
    defaults = {"rules": "extended", "backend": "compiled"}
    for name, value in defaults.items():
        setattr(mo.flags, name, value)
    mo.seed(0)
    yield
    for name, value in defaults.items():
        setattr(mo.flags, name, value)


@pytest.fixture(autouse=True, scope="module")
def nothing_left():
    """Leave nothing of a file's tests to those of another one.

    Updates of parameters may be pending; and lengths that have come decide which programs
    share kernels.
    """
    yield
    mo.sync_all()
    _core.forget_lengths()


@pytest.fixture
def compiled():
    """Mark a test that looks at what was compiled."""


@pytest.fixture
def own_kernels():
    """Give programs kernels for their lengths alone, whatever ran before.

    Sums in kernels that other lengths share may be in another order, and a length that has
    run often is compiled once more, for itself.
    """
    _core.share_kernels(False)
    yield
    _core.share_kernels(True)


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture
def recorded(monkeypatch):
    """Return the parameters whose updates are recorded, as a list that grows."""
    found = []

    def count(functions, arguments):
        found.extend(given[0] for given in arguments)
        return replay(functions, arguments)

    replay = mo.optim.moving.replay
    monkeypatch.setattr(mo.optim.moving, "replay", count)
    return found
