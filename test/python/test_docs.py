# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The examples of the documents: whole functions are valid, the README's script runs."""

import pathlib
import re
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).parents[2]
TOOLS = ROOT / "build" / "release" / "bin"


def examples(path, language):
    text = (ROOT / path).read_text()
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)


FUNCTIONS = [text for text in examples("docs/Spec.md", "mlir") if text.startswith("func.func")]


def run(*command, text):
    result = subprocess.run(command, input=text, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    return result.stdout


@pytest.mark.skipif(not TOOLS.exists(), reason="the tools are not built")
@pytest.mark.parametrize("text", FUNCTIONS, ids=[re.findall(r"@(\w+)", t)[0] for t in FUNCTIONS])
def test_spec(text):
    assert "metaop." in run(TOOLS / "metaop-opt", text=text)
    # What has leaves of a session is no program.
    if "metaop.buffer" not in text:
        run(TOOLS / "metaop-run", "-", "--compare", text=text)


def test_readme():
    convolution, training = examples("README.md", "python")
    assert "meta-operators in 3 kernels" in run(sys.executable, "-", text=convolution)
    losses = [float(line) for line in run(sys.executable, "-", text=training).splitlines()]
    assert len(losses) == 4
    assert all(0 < loss < 3 for loss in losses)
