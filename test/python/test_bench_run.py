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
PRODUCTS = [
    "product 128",
    "convolution 3x3 512>512 at 7, batch 1 by weights",
    "depthwise 3x3 stride 2 576 at 14, batch 1 by image",
    "causal attention 8x512x64 both",
]


def test_rows_of_the_bench(tmp_path):
    command = [ROOT / "script" / "bench", *NAMES, *PRODUCTS, "--quick", "--output", tmp_path]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr[-3000:]
    content = json.loads((tmp_path / "kernels-rows.json").read_text())
    (rows,) = content["runs"].values()
    assert [row["name"] for row in rows] == NAMES + PRODUCTS
    for row in rows:
        assert set(row["seconds"]) >= {"MetaOps", "PyTorch", "jax.jit"}
        assert not row["differences"] and not row["warm"]
        # Between 0.1 and 1000 GB a second.
        assert 1e8 < row["bytes"] / row["moving"] < 1e12
        assert 0 < row["written"] <= row["bytes"]
        # Between 1 and 1000 billion multiplications and additions a second.
        assert 1e9 < row["peak"] < 1e12
        if row["name"] in PRODUCTS:
            assert row["size"] == "own" and row["flops"] > 0
            assert all(0 < share < 1.5 for share in row["at_peak"].values())
    assert "Caches on disk were empty" in (tmp_path / "kernels.md").read_text()


def test_training_steps_of_the_bench(tmp_path):
    command = [ROOT / "script" / "bench", "steps", "mlp", "digits", "--quick", "--cores", "1"]
    command += ["--peers", "PyTorch", "jax.jit", "--output", tmp_path]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr[-3000:]
    summary, *models = json.loads((tmp_path / "steps.json").read_text())["tables"]
    assert [line[0] for line in summary["rows"]] == ["mlp", "digits", "**mean of 2 models**"]
    assert all(ratio > 0 for line in summary["rows"] for ratio in line[2:])
    for table in models:
        assert [line[1] for line in table["rows"]] == ["MetaOps", "PyTorch", "jax.jit"]


def test_models_of_the_bench(tmp_path):
    """A task of each kind: results are compared, and the rows are there."""
    names = ["squeezenet1_1", "gpt2", "wgan_gp"]
    command = [ROOT / "script" / "bench", "models", *names, "--quick", "--cores", "1"]
    command += ["--tasks", "inference 1", "training 64", "--peers", "PyTorch"]
    done = subprocess.run([*command, "--output", tmp_path], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    tables = json.loads((tmp_path / "models.json").read_text())["tables"]
    assert [table["title"].split(":")[0] for table in tables] == ["inference 1"] * 2 + [
        "training 64"
    ] * 2
    speeds = {row[0]: row for table in tables[::2] for row in table["rows"]}
    starts = {row[0]: row for table in tables[1::2] for row in table["rows"]}
    assert starts.keys() == set(names) and speeds.keys() > starts.keys()
    for name in names:
        assert all(number > 0 for number in speeds[name][1:5])
        assert all(number > 0 for number in starts[name][1:])
