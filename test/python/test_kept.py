# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Weights that are packed once: which runs do without packing, and what they compute."""

import gc
import json
import os
import subprocess
import sys
import threading

import metaops as mo
import numpy as np
import pytest
from metaops import nn
from tiers import draws
from util import close, floats, same

# Kernels for all lengths of a class pack less.
pytestmark = [pytest.mark.processor, pytest.mark.usefixtures("own_kernels")]

# Bytes of the panels of the weights below: 64 x 32 x 3 x 3 floats.
PANELS = 64 * 32 * 9 * 4


@pytest.fixture(autouse=True)
def nothing_left():
    """No copies before, and the flags' defaults after."""
    gc.collect()
    mo.sync_all()
    mo.flags.keep_packed = False
    mo.flags.keep_packed = True
    assert mo.memory_stats()["packed"] == 0
    with mo.no_grad():
        yield
    mo.flags.memory_limit = 0
    mo.flags.keep_packed = True
    mo.flags.asynchronous = True


def weights(rng, shape=(64, 32, 3, 3)):
    return mo.array(floats(rng, shape))


def expected(x, w):
    """Return a convolution of 3 x 3 with a border, by NumPy."""
    padded = np.pad(x.astype("float64"), ((0, 0), (0, 0), (1, 1), (1, 1)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), axis=(2, 3))
    return np.einsum("nihwab,oiab->nohw", windows, w.astype("float64")).astype("float32")


def check(rng, w, compute=None):
    """Run a convolution of a new image, compare it, and return how many calls it took."""
    x = floats(rng, (1, 32, 7, 7))
    with mo.profile_scope() as report:
        y = (compute or (lambda x: nn.conv2d(x, w, padding=1)))(mo.array(x))
        y.sync()
        mo.sync_all()
    close(y, expected(x, w.numpy()), rtol=1e-4, atol=1e-4)
    return sum(kernel.calls for kernel in report.kernels)


def packed():
    gc.collect()
    mo.sync_all()
    return mo.memory_stats()["packed"]


def test_the_third_run_finds_what_the_second_has_packed(rng):
    w = weights(rng)
    first = check(rng, w)
    assert packed() == 0
    assert check(rng, w) == first
    assert packed() == PANELS
    assert [check(rng, w) for _ in range(3)] == [first - 1] * 3
    assert packed() == PANELS


def test_explain_says_what_is_kept(rng):
    w = weights(rng)
    explanation = mo.explain(nn.conv2d(mo.array(floats(rng, (1, 32, 7, 7))), w, padding=1))
    kept = [kernel for kernel in explanation.kernels if kernel.may_keep]
    assert PANELS in [kernel.bytes_written for kernel in kept]
    assert not explanation.kernels[-1].may_keep
    for kernel in explanation.kernels:
        assert ("kept from run to run" in str(kernel)) == kernel.may_keep
    # Looking is no run.
    first = check(rng, w)
    assert [check(rng, w) for _ in range(2)] == [first, first - 1]


def test_the_flag_turns_it_off(rng):
    w = weights(rng)
    first = check(rng, w)
    check(rng, w)
    assert check(rng, w) == first - 1
    with mo.flag_scope(keep_packed=False):
        assert packed() == 0
        assert [check(rng, w) for _ in range(3)] == [first] * 3
        assert packed() == 0
    assert [check(rng, w) for _ in range(3)][-1] == first - 1
    assert packed() == PANELS


def change_by_assigning(rng, w):
    w.assign(weights(rng))


def change_in_place(rng, w):
    w.update(w * 2 + 1)


def change_a_part(rng, w):
    w[3] = w[3] + 1


def change_by_a_step(rng, w):
    with mo.enable_grad():
        optimizer = mo.optim.SGD([w], lr=0.1)
        optimizer.step((w * w).sum())


def change_by_several_steps(rng, w):
    for _ in range(3):
        change_by_a_step(rng, w)


CHANGES = [
    change_by_assigning,
    change_in_place,
    change_a_part,
    change_by_a_step,
    change_by_several_steps,
]


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("asynchronous", [True, False])
@pytest.mark.parametrize("runs", [1, 2, 3, 4])
def test_changed_weights_are_packed_again(rng, change, asynchronous, runs):
    mo.flags.asynchronous = asynchronous
    w = weights(rng)
    first = check(rng, w)
    for _ in range(runs - 1):
        check(rng, w)
    for _ in range(2):
        change(rng, w)
        mo.sync_all()
        assert check(rng, w) == first
        assert packed() == 0
        assert [check(rng, w) for _ in range(3)] == [first, first - 1, first - 1]
        assert packed() == PANELS


@pytest.mark.parametrize("change", CHANGES)
def test_changes_in_the_queue_come_in_order(rng, change):
    """Nothing is waited for between runs and changes."""
    w = weights(rng)
    results = []
    for step in range(12):
        x = floats(rng, (1, 32, 7, 7))
        y, w_now = nn.conv2d(mo.array(x), w, padding=1), w + 0
        mo.sync([y])
        mo.sync([w_now])
        results.append((x, y, w_now))
        if step % 5 == 4:
            change(rng, w)
    for x, y, w_then in results:
        close(y, expected(x, w_then.numpy()), rtol=1e-4, atol=1e-4)


def test_a_loaded_state_is_packed_again(rng):
    model = nn.Conv2d(32, 64, 3, padding=1, bias=False)
    other = nn.Conv2d(32, 64, 3, padding=1, bias=False)
    mo.sync([model.weight, other.weight])
    first = check(rng, model.weight, model)
    assert [check(rng, model.weight, model) for _ in range(2)] == [first, first - 1]
    model.load_state_dict(other.state_dict())
    same(model.weight, other.weight.numpy())
    assert check(rng, model.weight, model) == first
    assert [check(rng, model.weight, model) for _ in range(2)] == [first, first - 1]


def test_an_array_outside_is_read_in_each_run(rng):
    array = floats(rng, (64, 32, 3, 3))
    w = mo.asarray(array)
    first = check(rng, w)
    for _ in range(4):
        mo.sync_all()
        array[...] = floats(rng, array.shape)
        assert check(rng, w) == first
    assert packed() == 0


def test_what_others_see_is_not_kept(rng):
    w = weights(rng)
    first = check(rng, w)
    assert [check(rng, w) for _ in range(2)] == [first, first - 1]
    view = np.asarray(w)
    assert [check(rng, w) for _ in range(3)] == [first] * 3
    assert packed() == 0
    del view
    assert check(rng, w) == first


def test_other_weights_of_the_same_shape(rng):
    """One program, two weights in turn: each run compares, and keeps nothing."""
    one, two = weights(rng), weights(rng)
    first = check(rng, one)
    for _ in range(3):
        assert check(rng, two) == first
        assert check(rng, one) == first
    assert packed() == 0
    assert [check(rng, one) for _ in range(3)] == [first, first - 1, first - 1]
    assert packed() == PANELS
    assert check(rng, two) == first
    assert packed() == 0


def test_memory_of_the_dead_is_no_sign(rng):
    """New weights take over the memory of old ones, at the same address."""
    for _ in range(4):
        w = weights(rng)
        first = check(rng, w)
        assert [check(rng, w) for _ in range(2)] == [first, first - 1]
        del w
        assert packed() == 0


def test_deleted_weights_take_their_panels_along(rng):
    w = weights(rng)
    for _ in range(3):
        check(rng, w)
    stats = mo.memory_stats()
    assert stats["packed"] == PANELS
    assert stats["other"] == 0
    assert f"{'  packed for later runs':<44}{PANELS:>18,}" in mo.memory_summary()
    before = stats["in_use"]
    del w
    gc.collect()
    mo.sync_all()
    assert mo.memory_stats()["packed"] == 0
    assert mo.memory_stats()["in_use"] <= before - 2 * PANELS


def test_two_programs_share_weights(rng):
    w = weights(rng)

    def double(x):
        return nn.conv2d(x, w, padding=1) * 2

    first = check(rng, w)
    with_double = []
    for _ in range(4):
        x = floats(rng, (1, 32, 7, 7))
        with mo.profile_scope() as report:
            y = double(mo.array(x))
            y.sync()
        close(y, 2 * expected(x, w.numpy()), rtol=1e-4, atol=1e-4)
        with_double.append(sum(kernel.calls for kernel in report.kernels))
    assert with_double == [with_double[0]] * 2 + [with_double[0] - 1] * 2
    assert [check(rng, w) for _ in range(2)] == [first, first - 1]
    assert packed() == 2 * PANELS
    w.update(w + 1)
    mo.sync_all()
    assert packed() == 0
    assert check(rng, w) == first


@pytest.mark.avx512
def test_what_is_computed_on_the_way_is_packed_with_it(rng):
    w, scale = mo.array(floats(rng, (512, 256))), mo.array(floats(rng, (256,)))

    def product(x):
        space = (64, 512, 256)
        scaled = w.broadcast(space, dims=(0,)) * scale.broadcast(space, dims=(0, 1))
        return (x.broadcast(space, dims=(1,)) * scaled).sum(dim=2)

    counts = []
    for step in range(8):
        if step == 4:
            scale.update(scale * 3)
            mo.sync_all()
        x = floats(rng, (64, 256))
        with mo.profile_scope() as report:
            y = product(mo.array(x))
            y.sync()
        close(y, x @ (w.numpy() * scale.numpy()).T, rtol=1e-4, atol=1e-4)
        counts.append(sum(kernel.calls for kernel in report.kernels))
    first = counts[0]
    assert counts == [first, first, first - 1, first - 1] * 2


def test_training_keeps_nothing(rng):
    model = nn.Sequential(nn.Conv2d(8, 32, 3, padding=1), nn.ReLU(), nn.Conv2d(32, 32, 3))
    optimizer = mo.optim.SGD(model.parameters(), lr=0.01)
    x = mo.array(floats(rng, (2, 8, 9, 9)))
    with mo.enable_grad():
        for _ in range(6):
            loss = (model(x) ** 2).mean()
            optimizer.step(loss)
            mo.sync_all()
            assert mo.memory_stats()["packed"] == 0
        # The loss is asked for in a program of its own.
        for _ in range(6):
            batch = mo.array(floats(rng, (2, 8, 9, 9)))
            loss = (model(batch) ** 2).mean()
            loss.sync()
            optimizer.step(loss)
            mo.sync_all()
            assert mo.memory_stats()["packed"] == 0


def test_evaluation_between_steps_of_training(rng):
    model = nn.Conv2d(32, 64, 3, padding=1, bias=False)
    optimizer = mo.optim.SGD(model.parameters(), lr=0.5)
    mo.sync([model.weight])
    for _ in range(3):
        first = check(rng, model.weight, model)
        assert [check(rng, model.weight, model) for _ in range(2)] == [first, first - 1]
        with mo.enable_grad():
            optimizer.step((model(mo.array(floats(rng, (1, 32, 7, 7)))) ** 2).mean())
        mo.sync_all()
        assert packed() == 0


def test_a_limit_drops_copies_first(rng):
    w = weights(rng)
    for _ in range(3):
        first = check(rng, w)
    assert packed() == PANELS
    room = mo.memory_stats()["in_use"] + PANELS // 2
    mo.flags.memory_limit = room
    x = mo.array(np.zeros((8, 8), "float32"))
    y = x.broadcast((PANELS // 4096 + 1, 16, 8, 8), dims=(0, 1)) + 1
    y.sync()
    assert packed() == 0
    close(y[0, 0], np.ones((8, 8)))
    del y
    # Of these weights no run tries again, and so takes the next one's memory.
    counts = [check(rng, w) for _ in range(4)]
    assert counts == [first + 1] * 4
    mo.flags.memory_limit = 0
    w.update(w + 1)
    mo.sync_all()
    assert [check(rng, w) for _ in range(3)][-1] == first


def test_an_array_drops_copies_first(rng):
    w = weights(rng)
    for _ in range(3):
        check(rng, w)
    mo.flags.memory_limit = mo.memory_stats()["in_use"] + PANELS // 2
    array = mo.array(np.ones(PANELS // 4, "float32"))
    assert mo.memory_stats()["packed"] == 0
    same(array, np.ones(PANELS // 4, "float32"))


def test_without_room_nothing_is_kept(rng):
    w = weights(rng)
    first = check(rng, w)
    mo.sync_all()
    gc.collect()
    needed = mo.estimate(nn.conv2d(mo.array(floats(rng, (1, 32, 7, 7))), w, padding=1))
    with_copy = needed - mo.memory_stats()["in_use"]
    assert with_copy > PANELS
    mo.flags.memory_limit = needed - PANELS // 2
    assert [check(rng, w) for _ in range(4)] == [first] * 4
    assert packed() == 0


def test_an_estimate_counts_what_will_be_kept(rng):
    w = weights(rng)
    for _ in range(4):
        y = nn.conv2d(mo.array(floats(rng, (1, 32, 7, 7))), w, padding=1)
        mo.sync_all()
        expected_peak = mo.estimate(y)
        mo.reset_peak()
        y.sync()
        assert mo.stats()["peak_bytes"] == expected_peak
        del y


def test_two_threads(rng):
    w = weights(rng)
    images = [floats(rng, (1, 32, 7, 7)) for _ in range(40)]
    failures = []

    def work(part):
        try:
            for x in part:
                with w.device:
                    y = nn.conv2d(mo.array(x), w, padding=1)
                close(y, expected(x, w.numpy()), rtol=1e-4, atol=1e-4)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(images[i::2],)) for i in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert packed() == PANELS


def test_several_threads_compute_the_same(rng):
    w, x = weights(rng), floats(rng, (3, 32, 7, 7))
    results = []
    before = mo.get_num_threads()
    try:
        for threads in (1, 2, 3):
            mo.set_num_threads(threads)
            for _ in range(3):
                results.append(nn.conv2d(mo.array(x), w, padding=1).numpy())
    finally:
        mo.set_num_threads(before)
    for result in results[1:]:
        same(result, results[0])


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16", "float64"])
@pytest.mark.parametrize("seed", draws(range(4)))
def test_kept_and_not_kept_are_the_same_bits(dtype, seed):
    """Stacks of layers of random extents, with changes of weights between runs."""
    rng = np.random.default_rng(seed)
    layers = []
    channels = inputs = int(rng.integers(8, 40))
    for number in range(int(rng.integers(1, 4))):
        # The first one has panels, of full width or not.
        outputs = int(rng.integers(33, 70)) if number == 0 else int(rng.integers(1, 70))
        extent = 3 if number == 0 else int(rng.choice([1, 3]))
        values = floats(rng, (outputs, channels, extent, extent)) * 0.1
        layers.append(mo.array(values).cast(dtype))
        channels = outputs
    mo.sync(layers)
    features = mo.array(floats(rng, (50, channels * 25)) * 0.1).cast(dtype)
    features.sync()

    def model(x, weights):
        for w in weights:
            x = nn.conv2d(x, w, padding=w.shape[-1] // 2).relu()
        return x.reshape((x.shape[0], -1)) @ features.transpose(1, 0)

    steps = []
    for step in range(12):
        if step % 4 == 3:
            changed = layers[int(rng.integers(len(layers)))]
            changed.update((changed * 1.5).cast(dtype))
        x = mo.array(floats(rng, (2, inputs, 5, 5))).cast(dtype)
        y = model(x, layers)
        y.sync()
        copies = [w + 0 for w in layers]
        mo.sync(copies)
        steps.append((x, copies, y))
        if step % 4 == 2:
            assert packed() > 0
    with mo.flag_scope(keep_packed=False):
        for x, copies, y in steps:
            same(y.float64(), model(x, copies).float64().numpy())


PROCESS = """
import json
import numpy as np
import metaops as mo
from metaops import nn

rng = np.random.default_rng(0)
w = mo.array(rng.standard_normal((64, 32, 3, 3), dtype="float32"))
counts, sums = [], []
for _ in range(4):
    x = mo.array(rng.standard_normal((1, 32, 7, 7), dtype="float32"))
    with mo.profile_scope() as report, mo.no_grad():
        y = nn.conv2d(x, w, padding=1)
        y.sync()
    counts.append(sum(kernel.calls for kernel in report.kernels))
    sums.append(float(y.sum().numpy()))
print(json.dumps({"counts": counts, "sums": sums, "loaded": mo.stats()["programs_loaded"]}))
"""


def test_programs_from_disk_keep_too(tmp_path):
    def run():
        environment = {**os.environ, "METAOPS_CACHE_DIR": str(tmp_path)}
        output = subprocess.run(
            [sys.executable, "-c", PROCESS],
            env=environment,
            check=True,
            capture_output=True,
            text=True,
            timeout=300,
        ).stdout
        return json.loads(output)

    cold, warm = run(), run()
    assert cold["loaded"] == 0 and warm["loaded"] > 0
    assert cold["counts"] == warm["counts"]
    assert cold["counts"][2:] == [cold["counts"][0] - 1] * 2
    assert cold["sums"] == warm["sums"]
