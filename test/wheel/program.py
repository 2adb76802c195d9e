# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A small program for the package as it is installed; script/wheel runs it.

    program.py [--kernels-are=compiled|loaded] [MODULE...]

imports the modules in that order, by default metaops alone, then has each of them
compute. It fails where a value is wrong, where kernels did not come from where the option
says, and where the process has loaded a shared library of LLVM or MLIR.
"""

import argparse
import importlib
import os
import sys

import numpy as np

rng = np.random.default_rng(0)
A = rng.normal(size=(16, 24)).astype("float32")
B = rng.normal(size=(24, 8)).astype("float32")
#: The value and the gradient to A of sum(tanh(A @ B)), by NumPy.
TANH = np.tanh(A.astype("float64") @ B)
VALUE = TANH.sum()
GRADIENT = (1 - TANH**2) @ B.T


def check(value, gradient):
    np.testing.assert_allclose(value, VALUE, rtol=1e-5)
    np.testing.assert_allclose(gradient, GRADIENT, rtol=1e-4, atol=1e-5)


def run_metaops(mo):
    """Forward, gradient, and training steps of a small network."""
    x = mo.array(A)
    y = (x @ mo.array(B)).tanh().sum()
    (gradient,) = mo.grad(y, [x])
    check(y.item(), gradient.numpy())

    mo.seed(0)
    model = mo.nn.Sequential(mo.nn.Conv2d(1, 4, 3), mo.nn.ReLU(), mo.nn.Flatten())
    model = mo.nn.Sequential(model, mo.nn.Linear(4 * 6 * 6, 3))
    optimizer = mo.optim.Adam(model.parameters(), lr=0.01)
    images = mo.array(rng.normal(size=(12, 1, 8, 8)).astype("float32"))
    labels = mo.array(rng.integers(0, 3, 12))
    losses = []
    for _ in range(20):
        loss = mo.nn.cross_entropy_loss(model(images), labels)
        optimizer.step(loss)
        losses.append(loss.item())
    assert losses[-1] < 0.3 * losses[0], f"the loss went from {losses[0]} to {losses[-1]}"


def run_torch(torch):
    x = torch.tensor(A, requires_grad=True)
    y = (x @ torch.tensor(B)).tanh().sum()
    y.backward()
    check(y.item(), x.grad.numpy())


def run_jax(jax):
    compute = jax.jit(jax.value_and_grad(lambda x: jax.numpy.tanh(x @ B).sum()))
    check(*(np.asarray(value) for value in compute(A)))


def loaded_llvm():
    """Return the files of LLVM and MLIR that this process has in memory."""
    with open("/proc/self/maps") as file:
        paths = {line.split(maxsplit=5)[5].strip() for line in file if "/" in line}
    names = ("libLLVM", "libMLIR")
    return sorted(path for path in paths if os.path.basename(path).startswith(names))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("modules", nargs="*", default=["metaops"])
    parser.add_argument("--kernels-are", choices=["compiled", "loaded"])
    options = parser.parse_args()
    modules = {name: importlib.import_module(name) for name in options.modules}
    # Twice: what one has left behind may be in another's way.
    for name in [*modules, *modules]:
        globals()[f"run_{name}"](modules[name])
    if found := loaded_llvm():
        sys.exit(f"loaded: {', '.join(found)}")
    stats = modules["metaops"].stats()
    if stats["cache_failure"]:
        sys.exit(f"the cache failed: {stats['cache_failure']}")
    counts = {kind: stats[f"kernels_{kind}"] for kind in ("compiled", "loaded")}
    other = {"compiled": "loaded", "loaded": "compiled", None: None}[options.kernels_are]
    if other and (counts[other] or not counts[options.kernels_are]):
        sys.exit(f"expected all kernels to be {options.kernels_are}: {counts}")
    print(
        f"{' '.join(modules)}: fine, {counts['compiled']} kernels compiled, "
        f"{counts['loaded']} loaded"
    )


if __name__ == "__main__":
    main()
