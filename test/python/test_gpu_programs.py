# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What is done on GPUs alone: runs of pieces, and stages that go on with reductions."""

import metaops as mo
import numpy as np
import pytest
from tiers import draws

pytestmark = pytest.mark.gpu_code


def data(shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def on(device, function, *arrays, dtype="float32"):
    """Return what a function computes on a device, and the schedules of its kernels."""
    with mo.device(device):
        inputs = [mo.array(array).cast(dtype) for array in arrays]
        mo.sync(inputs)
        outputs = function(*inputs)
        kernels = [kernel for kernel in mo.explain(outputs).kernels if kernel.stages]
        schedules = [[stage.schedule for stage in kernel.stages] for kernel in kernels]
        return outputs.cast("float32").numpy(), schedules


def interpret(function, *arrays, dtype="float32"):
    with mo.device("interpreter:0"):
        outputs = function(*[mo.array(array).cast(dtype) for array in arrays])
        return outputs.cast("float32").numpy()


#: The chip with the fewest multiprocessors, for which few blocks are many.
SMALL_CHIP = "emulator:sm_87"


def softmax(x):
    e = np.exp(x - x.max(1, keepdims=True))
    return e / e.sum(1, keepdims=True)


@pytest.mark.parametrize(
    ("function", "expected", "shape"),
    [
        (lambda x: mo.softmax(x, -1), softmax, (300_001, 8)),
        (lambda x: x.sum(1), lambda x: x.sum(1), (100_003, 12)),
        (
            lambda x: x * x.max(1, keepdims=True),
            lambda x: x * x.max(1, keepdims=True),
            (60_011, 67),
        ),
        (lambda x: mo.flip(x, (0,)), lambda x: x[::-1], (3_000_017,)),
    ],
    ids=["softmax", "sums", "rows of odd length", "elements"],
)
def test_a_block_has_several_pieces_where_these_are_many(function, expected, shape):
    x = data(shape)
    y, ((schedule, *others),) = on(SMALL_CHIP, function, x)
    np.testing.assert_allclose(y, expected(x), rtol=2e-5, atol=2e-6)
    grid, loop = schedule.split("[")[1].split(", thread")[0].split("), ")[:2]
    assert grid.startswith("block(0, ")
    assert loop.startswith("step(0")
    # Stages that share rows share the loop.
    assert all("shared = 2" in other for other in others)


def test_few_pieces_have_blocks_of_their_own():
    x = data((3_001, 8))
    y, kernels = on(SMALL_CHIP, lambda x: mo.softmax(x, -1), x)
    np.testing.assert_allclose(y, softmax(x), rtol=2e-5, atol=2e-6)
    assert "step(0" not in str(kernels)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16"])
@pytest.mark.parametrize("shape", [(300, 64), (57, 33), (4000, 7)])
def test_what_follows_sums_of_columns_is_in_their_kernel(dtype, shape):
    x, y = data(shape), data(shape[1:], 1)

    def scaled_sums(x, y):
        return x.sum(0) * y + 1.0

    z, kernels = on("emulator:sm_90a", scaled_sums, x, y, dtype=dtype)
    (stages,) = kernels
    # Fewer threads do what follows than have parts of sums.
    assert len(stages) == 2
    assert stages[0].count("thread(") == 2
    assert stages[1].count("thread(") == 1
    expected = interpret(scaled_sums, x, y, dtype=dtype)
    scale = np.abs(expected).max()
    tolerance = {"float32": 1e-5, "bfloat16": 2e-2, "float16": 2e-3}[dtype]
    np.testing.assert_allclose(z / scale, expected / scale, atol=tolerance)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_what_follows_windows_is_in_their_kernel(dtype):
    x, y = data((3, 5, 18, 34)), data((3, 5, 16, 32), 1)

    def pool(x, y):
        return mo.relu(mo.nn.avg_pool2d(x, 3, stride=1) - y)

    z, kernels = on("emulator:sm_90a", pool, x, y, dtype=dtype)
    # Halves are widened once, before the windows read each several times.
    *before, stages = kernels
    assert len(before) == (dtype == "bfloat16")
    assert len(stages) == 2
    assert "place = [registers]" in stages[0]
    expected = interpret(pool, x, y, dtype=dtype)
    np.testing.assert_allclose(z, expected, atol=1e-6 if dtype == "float32" else 3e-2)


def channels(x):
    shifted = x - 1.0
    return [shifted.sum((0, 2, 3)), (shifted * x).sum((0, 2, 3)), shifted]


@pytest.mark.parametrize(
    ("function", "shape", "dtype"),
    [
        (lambda x: [x.sum(1)], (50, 20_011), "float32"),
        (lambda x: [x.max(1)], (50, 20_011), "bfloat16"),
        (lambda x: [x.sum(0)], (66_001, 200), "float32"),
        (channels, (16, 40, 33, 65), "float32"),
        # Less work is done sooner by 40 blocks that round what they have than by two kernels.
        (channels, (16, 40, 104, 65), "bfloat16"),
    ],
    ids=["rows", "bf16 rows", "columns", "channels", "bf16 channels"],
)
def test_reductions_of_few_rows_are_those_of_clusters(function, shape, dtype):
    # What bf16 has, so that only sums and results are rounded.
    x = (data(shape).view(np.uint32) & 0xFFFF0000).view(np.float32)
    with mo.device("emulator:sm_90a"):
        tensor = mo.array(x).cast(dtype)
        tensor.sync()
        outputs = function(tensor)
        kernels = [kernel for kernel in mo.explain(outputs).kernels if kernel.stages]
        mo.sync(outputs)
    assert any("[cluster(" in stage.schedule for kernel in kernels for stage in kernel.stages)
    for z, expected in zip(outputs, function(x.astype(np.float64)), strict=True):
        scale = np.abs(expected).max()
        tolerance = 1e-6 if dtype == "float32" else 1e-2
        np.testing.assert_allclose(
            z.cast("float32").numpy() / scale, expected / scale, atol=tolerance
        )


def test_clusters_divide_nothing_that_grows():
    with mo.device("emulator:sm_90a"):
        for length in (64, 65, 66, 67):
            x = data((50, length, 1024), length)
            sums = mo.array(x).sum((1, 2)).numpy()
            np.testing.assert_allclose(sums, x.sum((1, 2), dtype="float64"), atol=1e-2)


@pytest.mark.parametrize("dropped", [False, True])
def test_a_softmax_with_a_mask_is_one_kernel(dropped):
    def attend(x):
        row = mo.arange(x.shape[-1])
        hidden = mo.where(row.reshape(1, -1) <= row.reshape(-1, 1), x, -1e9)
        y = mo.softmax(hidden, -1)
        return mo.nn.dropout(y, 0.5) if dropped else y

    x = data((3, 65, 65))
    with mo.device("emulator:sm_90a"):
        tensor = mo.array(x)
        tensor.sync()
        mo.seed(7)
        y = attend(tensor)
        assert len([kernel for kernel in mo.explain(y).kernels if kernel.stages]) == 1
        actual = y.numpy()
    e = np.where(np.tri(65), np.exp(x), 0)
    expected = e / e.sum(-1, keepdims=True)
    if dropped:
        kept = actual != 0
        assert 0.4 < kept[np.broadcast_to(np.tri(65) != 0, x.shape)].mean() < 0.6
        expected = np.where(kept, 2 * expected, 0)
    np.testing.assert_allclose(actual, expected, rtol=2e-5, atol=1e-6)


def test_the_last_sum_of_a_split_reduction_is_rounded_in_its_kernel():
    x = data((6000, 40))
    z, kernels = on("emulator:sm_90a", lambda x: x.sum(0), x, dtype="bfloat16")
    assert [len(stages) for stages in kernels] == [1, 2]
    rounded = x.view(np.uint32) + 0x8000 & 0xFFFF0000
    expected = rounded.view(np.float32).astype(np.float64).sum(0)
    np.testing.assert_allclose(z, expected, rtol=5e-3, atol=0.05)


def test_what_follows_short_rows_has_the_rows_on_threads():
    x, y = data((2000, 8)), data((2000,), 1)
    z, ((first, second),) = on("emulator:sm_90a", lambda x, y: mo.relu(x.sum(1) - y), x, y)
    np.testing.assert_allclose(z, np.maximum(x.sum(1) - y, 0), atol=1e-5)
    assert "thread(0), thread(1, 4)" in first
    assert "thread(0)" in second


def test_blocks_of_a_cluster_read_what_others_have():
    x = data((40, 16384))

    def f(x):
        e = mo.exp(x - x.max(1, keepdims=True))
        return mo.flip(e, (1,)) / e.sum(1, keepdims=True) + e

    y, (schedules,) = on("emulator:sm_90a", f, x)
    assert "cluster(1, 16384)" in schedules[1]
    assert "place = [cluster" in schedules[1]
    e = np.exp(x - x.max(1, keepdims=True))
    np.testing.assert_allclose(y, e[:, ::-1] / e.sum(1, keepdims=True) + e, rtol=2e-5, atol=1e-7)


def test_what_a_cluster_has_is_read_in_another_form():
    """Two dimensions are one loop where they are written, and are told apart by a reader."""
    x = data((20, 128, 128))

    def f(x):
        e = mo.exp(x - x.max((1, 2), keepdims=True))
        shifted = mo.reindex(e, (20, 16384), ["i0", "i1/128", "127-i1%128"])
        return shifted / e.sum((1, 2)).reshape(20, 1)

    y, _ = on("emulator:sm_90a", f, x)
    e = np.exp(x - x.max((1, 2), keepdims=True))
    expected = e[:, :, ::-1].reshape(20, -1) / e.sum((1, 2)).reshape(20, 1)
    np.testing.assert_allclose(y, expected, rtol=2e-5, atol=1e-9)


def test_shared_memory_within_runs():
    x = data((80_001, 8))

    def f(x):
        e = mo.exp(x - x.max(1, keepdims=True))
        return mo.flip(e, (1,)) / e.sum(1, keepdims=True)

    y, (schedules,) = on(SMALL_CHIP, f, x)
    assert "step(0, 32)" in schedules[1]
    assert "place = [shared" in schedules[1]
    e = np.exp(x - x.max(1, keepdims=True))
    np.testing.assert_allclose(y, e[:, ::-1] / e.sum(1, keepdims=True), rtol=2e-5, atol=1e-7)


# Products whose rows are in one block


def draw_network(seed):
    """Return layers of random widths, what they do, and their arrays."""
    rng = np.random.default_rng(seed)
    batch = [(), (3,), (2, 2)][rng.integers(3)]
    rows, width = int(rng.integers(1, 70)), int(rng.integers(1, 66))
    arrays = [rng.standard_normal((*batch, rows, width)).astype(np.float32)]
    layers = []
    for _ in range(int(rng.integers(1, 4))):
        wide = int(rng.integers(1, 66))
        # Some are of each member of the batch, as keys and values are.
        own = batch if rng.integers(2) else ()
        weight = rng.standard_normal((*own, width, wide)) / np.sqrt(width)
        arrays.append(weight.astype(np.float32))
        layers.append(rng.choice(["softmax", "norm", "tanh", "bias", "mask", "none"]))
        width = wide
    # The sums of a softmax do not depend on anything.
    sums = [] if layers[-1] == "softmax" else ["rows", "all"]
    end = rng.choice([*sums, "columns", "squares", "none"])

    def function(x, *weights):
        for layer, weight in zip(layers, weights, strict=True):
            x = mo.matmul(x, weight)
            if layer == "softmax":
                x = mo.softmax(x, -1)
            elif layer == "norm":
                x = x / mo.sqrt((x * x).mean(-1, keepdims=True) + 1.0)
            elif layer == "tanh":
                x = mo.tanh(x)
            elif layer == "bias":
                x = x + mo.iota((x.shape[-1],), 0).cast(x.dtype) * 0.01
            elif layer == "mask":
                lower = mo.iota(x.shape, -1) <= mo.iota(x.shape, -2)
                x = mo.where(lower, x, -1.0)
        return {
            "rows": lambda: x.sum(-1),
            "columns": lambda: x.sum(-2),
            "all": lambda: x.sum(),
            "squares": lambda: mo.matmul(x.swapaxes(-1, -2), x),
            "none": lambda: x,
        }[end]()

    return function, arrays


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float64"])
@pytest.mark.parametrize("part", draws(range(4)))
def test_small_products_and_what_follows_them(part, dtype):
    joined = 0
    for seed in range(5 * part, 5 * part + 5):
        function, arrays = draw_network(seed)

        def loss_gradients(*inputs, function=function):
            y = function(*inputs).cast("float32")
            slopes = mo.grad((y * y).sum(), list(inputs))
            return mo.concat([slope.cast("float32").reshape((-1,)) for slope in slopes])

        for work in (function, loss_gradients):
            y, kernels = on("emulator:sm_90a", work, *arrays, dtype=dtype)
            expected = interpret(work, *arrays, dtype=dtype)
            scale = np.abs(expected).max() + 1e-30
            atol = {"float32": 2e-5, "bfloat16": 6e-2, "float64": 1e-6}[dtype]
            np.testing.assert_allclose(y / scale, expected / scale, atol=atol, err_msg=str(seed))
            # What follows has the rows of a product in steps of the block.
            joined += any(
                any("staged" in stage for stage in stages)
                and any("step(" in stage for stage in stages if "staged" not in stage)
                for stages in kernels
            )
    assert joined > 1
