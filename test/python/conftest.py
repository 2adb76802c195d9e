# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Settings and fixtures of all tests."""

import gc
import os

# Before the package is imported: tests count what is compiled, and processes
# that they start do as well.
os.environ["METAOPS_CACHE_DIR"] = ""

import metaops as mo
import numpy as np
import pytest


def pytest_addoption(parser):
    parser.addoption(
        "--backend",
        default="compiled",
        choices=["compiled", "interpreter"],
        help="what computes; tests of the compiler are skipped with the interpreter",
    )


def pytest_collection_finish():
    """Keep the collector from what lives as long as the tests.

    There are thousands of tests, each with its node; every collection would visit them,
    and some tests collect after each step of a loop.
    """
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def session(request):
    """Every test starts with the same numbers and default settings."""
    backend = request.config.getoption("--backend")
    defaults = {"rules": "extended", "backend": backend}
    for name, value in defaults.items():
        setattr(mo.flags, name, value)
    mo.seed(0)
    yield
    for name, value in defaults.items():
        setattr(mo.flags, name, value)


@pytest.fixture(autouse=True, scope="module")
def nothing_pending():
    """No file's tests run what those of another one have left: updates of parameters."""
    yield
    mo.sync_all()


@pytest.fixture
def compiled(request):
    """Mark a test that looks at what was compiled."""
    if request.config.getoption("--backend") != "compiled":
        pytest.skip("looks at compiled programs")


@pytest.fixture
def rng():
    return np.random.default_rng(0)
