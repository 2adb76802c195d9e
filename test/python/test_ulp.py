# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The errors of f32 functions that docs/Spec.md states, on a fixed sample.

`bench/ulp.py` measures them over all arguments.
"""

import importlib.util
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[2] / "bench" / "ulp.py"


def load_ulp():
    spec = importlib.util.spec_from_file_location("ulp", SOURCE)
    module = importlib.util.module_from_spec(spec)
    sys.modules["ulp"] = module
    spec.loader.exec_module(module)
    return module


ulp = load_ulp()

#: The largest errors in units in the last place: of normal numbers.
BOUNDS = {
    "exp": 5.5,
    "log": 0.9,
    "tanh": 5.0,
    "erf": 5.0,
    "sin": 0.6,
    "cos": 0.6,
    "sqrt": 0.501,
    "1 / x": 0.501,
    "1 / sqrt(x)": 1.5,
}


@pytest.mark.parametrize("name", BOUNDS)
def test_error_is_within_the_bound(name, compiled):
    if name == "erf":
        pytest.importorskip("scipy.special")
    error = ulp.measure(name, step=4099)
    assert error.ulps <= BOUNDS[name]
    assert error.wrong == 0
