# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Some rows of script/bench, once: with the peers that script/test interop has."""

import json
import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

pytestmark = pytest.mark.skipif(
    not os.environ.get("METAOPS_TEST_PEERS"), reason="needs PyTorch and JAX: script/test interop"
)

NAMES = ["chain of 1", "mean of 2-D, axis 1 backward", "instance norm both", "Adam step"]


def test_rows_of_the_bench(tmp_path):
    command = [ROOT / "script" / "bench", *NAMES, "--quick", "--output", tmp_path]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr[-3000:]
    content = json.loads((tmp_path / "kernels-rows.json").read_text())
    (rows,) = content["runs"].values()
    assert [row["name"] for row in rows] == NAMES
    for row in rows:
        assert set(row["seconds"]) >= {"MetaOps", "PyTorch", "jax.jit"}
        assert not row["differences"] and not row["warm"]
        # Between 0.1 and 1000 GB a second.
        assert 1e8 < row["bytes"] / row["moving"] < 1e12
        assert 0 < row["written"] <= row["bytes"]
    assert "Caches on disk were empty" in (tmp_path / "kernels.md").read_text()
