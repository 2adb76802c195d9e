# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A routine of a plugin as an operator, with its derivatives.

python examples/routine/logsumexp/logsumexp.py
"""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

import metaops as mo

_FOLDER = Path(__file__).resolve().parent


def build(folder: str | Path, include: str | Path = _FOLDER.parents[2] / "include") -> Path:
    """Build the plugin into a folder; return the library."""
    library = Path(folder) / "liblogsumexp.so"
    source = _FOLDER / "logsumexp.c"
    flags = ["-std=c11", "-O2", "-shared", "-fPIC", f"-I{include}"]
    subprocess.run(["cc", *flags, str(source), "-o", str(library), "-lm"], check=True)
    return library


class LogSumExp(mo.Function):
    """The logarithm of the sum of the exponentials along the last dimension."""

    def execute(self, x: mo.Var) -> mo.Var:
        """Return the values, of the shape of `x` without its last dimension."""
        self.x = x
        self.values = mo.routine(
            "logsumexp",
            x.shape[:-1],
            x.dtype,
            x,
            roles=["source", "values"],
            batched=True,
            total=True,
        )
        return self.values

    def grad(self, gradient: mo.Var) -> mo.Var:
        """Return the gradient by `x`."""
        return gradient.unsqueeze(-1) * self._softmax()

    def jvp(self, tangent: mo.Var) -> mo.Var:
        """Return how the values move with `x`."""
        return (tangent * self._softmax()).sum(dim=-1)

    def _softmax(self) -> mo.Var:
        return mo.exp(self.x - LogSumExp.apply(self.x).unsqueeze(-1))


def main() -> None:
    """Compute some, and a gradient."""
    with tempfile.TemporaryDirectory() as folder:
        print(mo.load_routines(build(folder)))
        x = mo.array([[0.0, 1.0, 2.0], [1000.0, 0.0, -1000.0]])
        y = LogSumExp.apply(x)
        print(y)
        print(mo.grad(y.sum(), x))


if __name__ == "__main__":
    main()
