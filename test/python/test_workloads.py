# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The measured workloads: right on odd extents, and the same on every run."""

import sys
from pathlib import Path

import metaops as mo
import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bench"))

import models
from ops.base import MissingError
from ops.metaops_ops import MetaOps
from ops.numpy_ops import NumPy
from subjects import LARGE, SUBJECTS, make_task
from training import CONTESTANTS
from util import on_processor
from workloads import CONTRACTIONS, NOTES, WORKLOADS, contractions, select
from workloads.base import Untied, Workload

PROCESSOR = on_processor(mo.zeros(()))

#: One of each kind: contractions of a kind differ in the extents that are measured.
KINDS = {workload.kind or name: name for name, workload in reversed(WORKLOADS.items())}
NAMES = [name for name in WORKLOADS if name in KINDS.values()]
#: Those of two sizes, and contractions.
SIZED = [name for name, workload in WORKLOADS.items() if "small" in workload.shapes]
OWN = [name for name, workload in WORKLOADS.items() if workload.group in CONTRACTIONS]


def results(library, workload, size="odd"):
    """Return what a workload returns on extents of a size."""
    mo.seed(7)
    tensors = library.prepare(workload, workload.arrays(size))()
    return [np.array(library.numpy(tensor)) for tensor in tensors]


@pytest.fixture(params=NAMES)
def workload(request):
    return WORKLOADS[request.param]


def test_equals_the_interpreter(workload, compiled):
    actual = results(MetaOps(), workload)
    with mo.flag_scope(backend="interpreter"):
        expected = results(MetaOps(), workload)
    for a, b in zip(actual, expected, strict=True):
        assert a.dtype == b.dtype
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-5)


# NumPy has no derivatives, and other random numbers, and lacks the operators of some.
FORWARD = [n for n in NAMES if not (WORKLOADS[n].gradients or WORKLOADS[n].random)]
LACKED = [
    "erf",
    "chain of 4 with exp, tanh, erf",
    "chain of 16 with exp, tanh, erf",
    "batch norm",
    "max pooling",
    "average pooling",
    "GELU",
    "depthwise convolution",
    "interpolate",
    *(name for name in FORWARD if name.startswith(("convolution", "depthwise 3x3", "MLP"))),
]


@pytest.mark.parametrize("name", LACKED)
def test_what_numpy_lacks(name):
    with pytest.raises(MissingError):
        results(NumPy(), WORKLOADS[name])


@pytest.mark.parametrize("name", [name for name in FORWARD if name not in LACKED])
def test_equals_numpy(name):
    workload = WORKLOADS[name]
    expected = results(NumPy(), workload)
    actual = results(MetaOps(), workload)
    for a, b in zip(actual, expected, strict=True):
        assert a.shape == b.shape
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-5)


@pytest.mark.processor
def test_small_ones_have_the_same_bits_for_any_number_of_threads(compiled):
    before = mo.get_num_threads()
    shared = []
    try:
        for name in SIZED:
            bits = set()
            for count in (1, 2, 3):
                mo.set_num_threads(count)
                found = results(MetaOps(), WORKLOADS[name], "small")
                bits.add(b"".join(result.tobytes() for result in found))
            assert len(bits) == 1, name
            if any(kernel.threads > 1 for kernel in mo.last_program().explain().kernels):
                shared.append(name)
    finally:
        mo.set_num_threads(before)
    # The others are too short to be worth a second thread.
    assert len(shared) > 40, shared


def test_every_workload_has_its_sizes(workload):
    is_contraction = workload.group in CONTRACTIONS
    measured = {"own"} if is_contraction else {"small", "large"}
    if workload.group == "orders":
        measured = {"million"}
    assert set(workload.shapes) == {*measured, "odd"}
    assert bool(workload.flops) == is_contraction
    counts = {len(entries) for size, entries in workload.shapes.items() if size == "odd"}
    if workload.state is None:
        counts = {len(entries) for entries in workload.shapes.values()}
    assert len(counts) == 1


@pytest.mark.parametrize("name", SIZED)
def test_a_small_one_fits_into_a_cache_and_a_large_one_does_not(name):
    workload = WORKLOADS[name]

    def footprint(size):
        return sum(
            4 * int(np.prod(getattr(entry, "shape", entry))) for entry in workload.shapes[size]
        )

    assert footprint("small") <= 1 << 20
    assert footprint("large") >= 1 << 26


def test_what_has_a_gradient_has_a_backward_pass_and_both():
    for name, workload in WORKLOADS.items():
        if workload.mode == "both":
            forward = name.removesuffix(" both")
            assert WORKLOADS[forward].mode == "forward"
            assert WORKLOADS[f"{forward} backward"].mode == "backward"


@pytest.mark.parametrize("shape", [(13, 17), (2, 3, 7, 11)])
def test_untied_inputs_differ_within_windows(shape):
    workload = Workload("untied", "", lambda ops, x: x, {"odd": [Untied(shape)]})
    (x,) = workload.arrays("odd")
    windows = np.lib.stride_tricks.sliding_window_view(x, (3, 3), axis=(-2, -1))
    ordered = np.sort(windows.reshape(-1, 9), axis=1)
    assert (np.diff(ordered) > 0).all()
    assert abs(x.mean()) < 0.3
    assert 0.7 < x.std() < 1.3


def test_a_linear_function_needs_no_inputs_backward():
    workload = WORKLOADS["average pooling backward"]
    x, cotangent = workload.arrays("odd")
    assert workload.bytes([x, cotangent], [x]) == cotangent.nbytes + x.nbytes


def test_notes_belong_to_workloads():
    assert set(NOTES) <= set(WORKLOADS)
    assert all(NOTES.values())


# Contractions


def test_a_kind_has_one_test():
    for name in OWN:
        workload, tested = WORKLOADS[name], WORKLOADS[KINDS[WORKLOADS[name].kind or name]]
        assert workload.shapes["odd"] == tested.shapes["odd"]
        assert workload.mode == tested.mode and workload.gradients == tested.gradients
    assert 25 < len([name for name in NAMES if name in OWN]) < 50


def test_workloads_are_chosen_by_name_group_and_family():
    assert select(["product 64"]) == ["product 64"]
    assert select(["products"]) == [w.name for w in contractions.PRODUCTS]
    assert select(["contractions"]) == OWN
    assert select(["kernels"]) == [name for name in WORKLOADS if name not in OWN]
    assert select(["convolutions*"]) == [name for name in OWN if name.startswith("convolution ")]
    assert select([]) == list(WORKLOADS)
    assert select(["no such"]) == []


def test_operations_of_products():
    for name, flops in {
        "product 1000": 2e9,
        "product 1x4096x4096": 2 * 4096**2,
        "product 64x64x4096": 2 * 64 * 64 * 4096,
        "product 32 of 128x64x128": 32 * 2 * 128 * 64 * 128,
        "product A^T B^T 512": 2 * 512**3,
    }.items():
        assert WORKLOADS[name].flops == flops
        a, b = (array.size for array in WORKLOADS[name].arrays("own"))
        assert flops <= 2 * min(a, b) * max(WORKLOADS[name].shapes["own"][1])


def recorded_convolutions(model, x, monkeypatch):
    """Return the convolutions of a model: channels, kernel, the image's extent, stride."""
    found = []
    execute = mo.nn.Conv2d.execute

    def record(layer, x):
        outputs, inputs, kernel, _ = layer.weight.shape
        y = execute(layer, x)
        found.append((inputs, outputs, kernel, x.shape[2], x.shape[2] // y.shape[2]))
        return y

    monkeypatch.setattr(mo.nn.Conv2d, "execute", record)
    model(x)
    return found


def test_convolutions_are_those_of_the_network(monkeypatch):
    import models

    found = recorded_convolutions(
        models.resnet50(1000, False), mo.zeros(1, 3, 224, 224), monkeypatch
    )
    assert len(contractions.RESNET) == 23
    assert set(contractions.RESNET) == set(found)
    # Multiplications of an image, without the last product: 4.09e9 (He et al., 2016).
    names = {
        shape: f"convolution {shape[2]}x{shape[2]}{' stride 2' if shape[4] == 2 else ''}"
        f" {shape[0]}>{shape[1]} at {shape[3]}, batch 1"
        for shape in found
    }
    total = sum(WORKLOADS[names[shape]].flops for shape in found)
    assert total / 2 == pytest.approx(4.087e9, rel=1e-3)
    for name in names.values():
        flops = WORKLOADS[name].flops
        large = name.replace("batch 1", "batch 16")
        for direction in ("", " by image", " by weights"):
            assert WORKLOADS[name + direction].flops == flops
            assert WORKLOADS[large + direction].flops == 16 * flops


def test_a_gradient_alone_reads_the_other_input_and_the_cotangent():
    workload = WORKLOADS["depthwise 3x3 32 at 112, batch 1 by weights"]
    x, w, cotangent = workload.arrays("own")
    assert workload.bytes([x, w, cotangent], [w]) == x.nbytes + cotangent.nbytes + w.nbytes


@pytest.mark.parametrize(
    "name",
    [
        name if name == "mlp" else pytest.param(name, marks=pytest.mark.speed)
        for name in SUBJECTS
        if name not in LARGE
    ],
)
def test_training_does_not_depend_on_the_kernels(name, compiled):
    """At the extents of the bench: some kernels have stages that smaller ones have not."""
    task = make_task(name)
    losses = []
    for rules in ("extended", "paper"):
        with mo.flag_scope(rules=rules):
            contestant = CONTESTANTS["MetaOps"](task)
            losses.append([contestant.loss() for _ in range(2)])
    assert losses[0][1] < losses[0][0]
    np.testing.assert_allclose(*losses, rtol=1e-5)


@pytest.mark.parametrize("rows", [256, 512, 3073] if PROCESSOR else [256, 385])
def test_a_matrix_times_its_own_transpose(rows):
    """Both factors are one tensor, of which a tile may not copy its rows."""
    x = np.random.default_rng(rows).standard_normal((128, rows)).astype("float32")
    y = mo.array(x)
    np.testing.assert_allclose((y.T @ y).numpy(), x.T @ x, rtol=1e-3, atol=1e-3)
    w = np.random.default_rng(1).standard_normal((128, 320)).astype("float32")
    np.testing.assert_allclose((y.T @ mo.array(w)).numpy(), x.T @ w, rtol=1e-3, atol=1e-3)


def test_a_transformer_s_gradients_do_not_depend_on_the_kernels():
    """At the extents of the bench, whose blocks and chains of stages small ones do not have.

    At smaller ones where these take minutes.
    """
    batch, length, width = (4, 128, 256) if PROCESSOR else (1, 32, 128)
    mo.seed(8)
    model = models.Transformer(64, length, width, 4, 1)
    rng = np.random.default_rng(9)
    tokens, following = (mo.array(rng.integers(0, 64, (batch, length))) for _ in range(2))

    def gradients():
        scores = model(tokens).reshape(-1, 64)
        loss = mo.nn.cross_entropy_loss(scores, following.reshape(-1))
        return [gradient.numpy() for gradient in mo.grad(loss, model.parameters())]

    with mo.flag_scope(rules="paper"):
        expected = gradients()
    for mine, theirs in zip(gradients(), expected, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-3, atol=1e-4 * np.abs(theirs).max())
