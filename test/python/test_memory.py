# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What holds memory, limits, and estimates of the peak."""

import gc
import inspect
import subprocess
import sys
import threading

import metaops as mo
import numpy as np
import pytest
from metaops import nn
from util import bytes_in_use, close, floats

MIB = 1 << 20
# Unit to which the allocator rounds small buffers up.
ROUNDING = 512


@pytest.fixture(autouse=True)
def unlimited():
    """No limit before and after, and nothing left in the queue."""
    gc.collect()
    mo.sync_all()
    yield
    mo.flags.memory_limit = 0
    mo.flags.asynchronous = True
    mo.flags.fuse = True
    mo.flags.reuse_memory = True


def next_line():
    """Return this file and the line behind the caller's, as reports write them."""
    return f"{__file__}:{inspect.currentframe().f_back.f_lineno + 1}"


def check_estimate(values):
    """Estimate, then measure: within 5 %, and a rounding for tiny programs."""
    expected = mo.estimate(values)
    mo.reset_peak()
    mo.sync(values)
    measured = mo.stats()["peak_bytes"]
    assert abs(expected - measured) <= 0.05 * measured + ROUNDING, (expected, measured)
    return expected


# Holders of memory


def test_holders_name_shape_dtype_and_line(rng):
    x = mo.array(floats(rng, (700, 1000)))  # at least 2.8 MB
    line = next_line()
    y = (x * 2 + 1).float64()
    mo.sync(y)
    first, second = [h for h in mo.memory_holders() if h.shape == (700, 1000)]
    assert (first.dtype, first.shape, first.vars) == ("float64", (700, 1000), 1)
    assert first.bytes >= 700 * 1000 * 8
    assert first.line == line
    assert (second.dtype, second.vars) == ("float32", 1)
    assert [h.bytes for h in mo.memory_holders()] == sorted(
        (h.bytes for h in mo.memory_holders()), reverse=True
    )


def test_holders_count_a_view_as_what_it_views():
    x = mo.zeros((333, 444))
    x.sync()
    before = len(mo.memory_holders())
    flat = x.reshape((-1,))
    flat.sync()
    holders = mo.memory_holders()
    assert len(holders) == before
    assert [h.vars for h in holders if h.shape in {(333, 444), (333 * 444,)}] == [2]


@pytest.mark.host_memory
def test_stats_say_what_bytes_are_for(rng):
    before = mo.memory_stats()
    x = mo.array(floats(rng, (512, 512)))
    stats = mo.memory_stats()
    assert stats["in_use"] - before["in_use"] == MIB
    assert stats["held"] - before["held"] == MIB
    assert stats["reserved"] == stats["in_use"] + stats["cached"]
    assert stats["limit"] == 0
    assert stats["peak"] >= stats["in_use"]
    array = np.asarray(x)
    assert mo.memory_stats()["exported"] - before["exported"] == MIB
    del x
    assert mo.memory_stats()["held"] == before["held"]
    del array
    assert mo.memory_stats()["in_use"] == before["in_use"]


def test_values_of_gradients_are_kept_without_a_var(rng):
    x = mo.array(floats(rng, (64, 128)))
    w = mo.array(floats(rng, (128, 256)))
    before = mo.memory_stats()
    loss = (x @ w).relu().sum()
    loss.sync()
    assert mo.memory_stats()["gradients"] >= before["gradients"] + 64 * 256 * 4
    held = [h for h in mo.memory_holders() if h.shape == (64, 256)]
    assert [h.vars for h in held] == [0]
    assert [h.use for h in held] == ["gradients"]
    # Files of tests may hold numbers of their own.
    numbers = [h.line for h in mo.memory_holders() if h.vars and h.shape == ()]
    (loss_line,) = [line for line in numbers if "test_memory.py" in line]
    assert [h.needed_by for h in held] == [loss_line]
    assert f"gradients, needed by {loss_line}" in mo.memory_summary()


def test_holders_tell_what_is_pending(rng):
    with mo.no_grad():
        x = (mo.array(floats(rng, (66, 77))) * 2).sync()
        y = x + 1
        x = None
    (holder,) = [h for h in mo.memory_holders() if h.shape == (66, 77)]
    assert (holder.vars, holder.use) == (0, "pending")
    assert holder.needed_by.startswith("test_memory.py") or "test_memory.py" in holder.needed_by
    assert y.shape == (66, 77)


def test_explain_says_what_is_kept_and_for_whom(rng):
    x = mo.array(floats(rng, (64, 128)))
    w = mo.array(floats(rng, (128, 256)))
    h = (x @ w).relu()
    loss = h.sum()
    # The product; relu is computed of it, element by element.
    (kept,) = mo.explain(loss).kept
    assert kept == (kept.line, "float32", (64, 256), "gradient", True)
    assert "test_memory.py" in kept.line
    assert f"kept: float32 (64, 256) of {kept.line}: a gradient" in str(mo.explain(loss))
    with mo.no_grad():
        h = (x @ w).relu()
        mean, greatest = h.mean(), h.max()
    (kept,) = mo.explain(mean).kept
    assert (kept.shape, kept.reason, kept.fits) == ((64, 256), "held", True)
    with mo.flag_scope(saved_values_budget=64 * 256 * 4 - 1):
        (kept,) = mo.explain(mean).kept
        assert (kept.reason, kept.fits) == ("held", False)
        assert "beyond the budget" in str(mo.explain(mean))
        mean.sync()
        assert [k.fits for k in mo.last_program().explain().kept] == [False]
    assert greatest.shape == () and h.shape == (64, 256)


def test_explain_says_what_a_loop_carries(rng):
    with mo.no_grad():
        x = mo.array(floats(rng, (32, 32)))
        total = (x.sum() * 0).sync()
        for _ in range(4):
            loss = (x @ x).sum()
            total = total + loss
            loss.sync()
    assert [k.reason for k in mo.last_program().explain().kept] == ["loop"]
    assert total.shape == ()


def test_summary_is_a_table(rng):
    x = mo.array(floats(rng, (600, 600)))
    text = mo.memory_summary()
    holder = next(h for h in mo.memory_holders() if h.shape == (600, 600))
    assert f"{mo.memory_stats()['in_use']:,}" in text
    assert "float32 (600, 600)" in text
    assert holder.line in text
    assert "none" in text
    mo.flags.memory_limit = 123 * MIB
    assert f"{123 * MIB:,}" in mo.memory_summary()
    assert "float32" not in mo.memory_summary(most=0)
    assert x.shape == (600, 600)


# A limit


def test_the_error_names_the_largest_holders_and_their_lines(rng):
    a = mo.array(floats(rng, (1024, 1024)))
    line = next_line()
    b = a * 2.0
    b.sync()
    limit = mo.memory_stats()["in_use"] + MIB
    mo.flags.memory_limit = limit
    wide = mo.concat([a, b])
    with pytest.raises(MemoryError) as caught:
        wide.sync()
    text = str(caught.value)
    assert f"{8 * MIB} bytes was asked for" in text
    assert f"of the {limit} that may be (limit)" in text
    assert f"{4 * MIB} bytes: float32 (1024, 1024), recorded at {line}" in text


def test_a_session_survives_its_limit(rng):
    values = floats(rng, (512, 512))
    x = mo.array(values)
    y = x.exp()
    y.sync()
    mo.flags.memory_limit = mo.memory_stats()["in_use"] + MIB // 2
    z = y * 3.0 - x
    for _ in range(3):
        with pytest.raises(MemoryError):
            z.sync()
    # Nothing that was computed is lost, and small things still run.
    close(y, np.exp(values))
    assert float(x[0, 0]) == values[0, 0]
    mo.flags.memory_limit += MIB
    close(z, np.exp(values) * 3 - values, rtol=1e-5, atol=1e-5)


def test_dropping_a_var_makes_room(rng):
    values = floats(rng, (512, 512))
    x, ballast = mo.array(values), mo.array(floats(rng, (1024, 1024)))
    mo.flags.memory_limit = mo.memory_stats()["in_use"] + MIB // 2
    y = x + 1.0
    with pytest.raises(MemoryError):
        y.sync()
    del ballast
    close(y, values + 1)


def test_an_array_beyond_the_limit_is_refused(rng):
    x = mo.array(floats(rng, (256, 256)))
    mo.flags.memory_limit = mo.memory_stats()["in_use"] + MIB // 2
    with pytest.raises(MemoryError, match="recorded at"):
        mo.array(np.zeros((1024, 1024), np.float32), copy=True)
    assert mo.array(np.ones(4, np.float32)).sum().item() == 4
    assert x.shape == (256, 256)


def test_updates_go_on_after_the_limit(rng):
    values = floats(rng, (512, 512))
    w = mo.array(values)
    mo.sync(w)
    before = w
    w = mo.array(values)
    w.update(before * 2.0 + w)
    mo.flags.memory_limit = mo.memory_stats()["in_use"] + 1
    kept = w * 1.0
    with pytest.raises(MemoryError):
        kept.sync()
    mo.flags.memory_limit = 0
    close(w, values * 3, rtol=1e-6)
    close(kept, values * 3, rtol=1e-6)


def test_cached_memory_does_not_count(rng):
    mo.array(floats(rng, (1024, 1024)))  # dies at once, its memory is kept
    in_use = mo.memory_stats()["in_use"]
    mo.flags.memory_limit = in_use + 3 * MIB
    x = mo.array(floats(rng, (512, 1024)))
    assert mo.memory_stats()["reserved"] <= in_use + 3 * MIB
    assert x.shape == (512, 1024)


def test_a_limit_waits_for_the_queue(rng):
    """Runs in the queue hold what they read; a limit that lets one run at a time go."""
    values = floats(rng, (256, 256))
    w = mo.array(values)
    mo.sync(w)
    mo.flags.memory_limit = mo.memory_stats()["in_use"] + 4 * 256 * 1024 + 64 * 1024
    expected = values.astype(np.float64)
    for _ in range(12):
        w.update(w.transpose() * 0.5 + 1.0)
        expected = expected.T * 0.5 + 1
    close(w, expected.astype(np.float32), rtol=1e-5)


def test_two_threads_allocate_within_one_limit(rng):
    base = mo.memory_stats()["in_use"]
    limit = base + 12 * MIB
    mo.flags.memory_limit = limit
    mo.reset_peak()
    failures = []

    def work(seed):
        numbers = np.random.default_rng(seed)
        try:
            for step in range(20):
                values = floats(numbers, (256, 256 + 64 * (step % 4)))
                close((mo.array(values) * 2.0).reshape((-1,)), values.reshape(-1) * 2)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert mo.stats()["peak_bytes"] <= limit


def test_a_system_without_memory_says_the_same():
    code = (
        "import resource, metaops as mo\n"
        "x = mo.ones((64, 64)); x.sync()\n"
        "(x + 1.0).sync()\n"
        "soft = 3 << 30\n"
        "resource.setrlimit(resource.RLIMIT_AS, (soft, soft))\n"
        "y = mo.zeros((1 << 20, 1 << 12))\n"
        "try:\n"
        "    y.sync()\n"
        "except MemoryError as error:\n"
        "    text = str(error)\n"
        "    assert 'the system has no more' in text, text\n"
        "    assert 'float32 (64, 64), recorded at <string>:2' in text, text\n"
        "else:\n"
        "    raise SystemExit('16 GiB were found in 3')\n"
        "assert (x * 2.0).sum().item() == 8192\n"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize("room", [48, 160, 224])
def test_an_interpreter_without_memory_raises(room):
    """It copies operands, too, for which there may be no memory where there was for results."""
    code = (
        "import resource, metaops as mo\n"
        "with mo.device('interpreter:0'):\n"
        "    x = mo.ones((256, 256)); mo.sync([x, (x @ x[:, :2]).sum()])\n"
        f"    soft = int(open('/proc/self/statm').read().split()[0]) * 4096 + ({room} << 20)\n"
        "    resource.setrlimit(resource.RLIMIT_AS, (soft, soft))\n"
        "    for _ in range(2):\n"
        "        try:\n"
        "            (x @ x).sync()\n"
        "        except MemoryError as error:\n"
        '            assert "\' op no memory for " in str(error), error\n'
        "        else:\n"
        f"            raise SystemExit('values of 64 MiB were found in {room}')\n"
        "    assert (x * 2.0).sum().item() == 131072\n"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr


# Estimates


def test_estimate_of_elementwise_operations(rng):
    x = mo.array(floats(rng, (512, 640)))
    check_estimate((x.exp() + 1.0) * x)
    check_estimate([x * 3.0])


def test_estimate_of_several_outputs(rng):
    x = mo.array(floats(rng, (300, 300)))
    y = x @ x
    z = y.relu() @ x
    check_estimate([y, z, z.sum(), z.reshape((-1,))])


def test_estimate_of_tiny_values():
    check_estimate(mo.array(2.0) * 3.0 + 1)
    check_estimate([mo.zeros(()), mo.ones((3,))])


def test_estimate_of_what_is_there_is_what_is_in_use(rng):
    x = mo.array(floats(rng, (128, 128)))
    y = x + 1.0
    y.sync()
    assert mo.estimate([x, y, y.reshape((-1,))]) == mo.stats()["bytes_in_use"]
    assert mo.estimate([]) == mo.stats()["bytes_in_use"]


def test_estimate_changes_nothing(rng):
    values = floats(rng, (64, 64))
    w = mo.array(values)
    values = values.astype("float64")
    loss = (w @ w).square().sum()
    w.update(w - 0.1 * mo.grad(loss, w))
    before, memory, block = mo.stats(), mo.memory_stats(), mo.dump()
    mo.estimate([w, w @ w])
    after = mo.stats()
    for name in ("programs_run", "program_hits", "ops_in_block", "live_vars", "bytes_in_use"):
        assert after[name] == before[name], name
    assert mo.memory_stats() == memory
    assert mo.dump() == block
    # The same programs are found when they run.
    compiled = after["programs_compiled"]
    mo.sync([w, w @ w])
    assert mo.stats()["programs_compiled"] <= compiled + 1
    gradient = 2 * ((values @ values) @ values.T + values.T @ (values @ values))
    close(w, values - 0.1 * gradient, rtol=1e-5, atol=1e-6 * np.abs(gradient).max())


def test_estimate_finds_the_programs_that_run(compiled, rng):
    w = mo.array(floats(rng, (96, 96)))
    x = mo.array(floats(rng, (96, 96)))
    for _ in range(2):
        w.update(w - 0.1 * mo.grad((w @ x).square().sum(), w))
        nxt = (w @ x).tanh()
        mo.estimate(nxt)
        before = mo.stats()["programs_compiled"]
        nxt.sync()
        assert mo.stats()["programs_compiled"] == before


def test_estimate_raises_what_sync_would(rng):
    x = mo.array(floats(rng, (8, 8)))
    with pytest.raises(TypeError):
        mo.estimate(3)
    old = x * 1.0
    old.sync()
    assert mo.estimate(old) == mo.stats()["bytes_in_use"]


def train(model, optimizer, shape, classes, rng, all_values):
    """Check three steps: the first, the second and one in the steady state."""
    parameters = list(model.parameters())
    for step in range(3):
        x = mo.array(floats(rng, shape))
        t = mo.array(rng.integers(0, classes, shape[0]))
        loss = nn.cross_entropy_loss(model(x), t)
        optimizer.step(loss)
        check_estimate([loss, *parameters] if all_values else parameters)
        assert np.isfinite(loss.item()), step


@pytest.mark.parametrize("all_values", [False, True])
@pytest.mark.parametrize("asynchronous", [False, True])
def test_estimate_of_mlp_steps(rng, asynchronous, all_values):
    mo.flags.asynchronous = asynchronous
    model = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 10))
    optimizer = mo.optim.Adam(model.parameters(), 1e-3)
    train(model, optimizer, (128, 64), 10, rng, all_values)


def test_estimate_of_conv_steps(rng):
    model = nn.Sequential(
        nn.Conv2d(3, 8, 3, padding=1),
        nn.BatchNorm2d(8),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(8 * 8 * 8, 10),
    )
    optimizer = mo.optim.SGD(model.parameters(), 0.1, momentum=0.9)
    train(model, optimizer, (8, 3, 16, 16), 10, rng, True)


class Residual(nn.Module):
    """A basic block of a residual network, with a projection where it is needed."""

    def __init__(self, channels, out, stride):
        super().__init__()
        self.first = nn.Conv2d(channels, out, 3, stride=stride, padding=1, bias=False)
        self.norm = nn.BatchNorm2d(out)
        self.second = nn.Conv2d(out, out, 3, padding=1, bias=False)
        self.project = nn.Conv2d(channels, out, 1, stride=stride, bias=False)

    def execute(self, x):
        y = self.second(mo.relu(self.norm(self.first(x))))
        return mo.relu(y + self.project(x))


def test_estimate_of_residual_steps(compiled, rng):
    model = nn.Sequential(
        Residual(3, 8, 1), Residual(8, 16, 2), nn.Flatten(), nn.Linear(16 * 16, 10)
    )
    optimizer = mo.optim.SGD(model.parameters(), 0.05)
    train(model, optimizer, (4, 3, 8, 8), 10, rng, True)


def test_estimate_with_updates_that_are_due(rng):
    """What is asked for is of the next iteration: updates run first, then the value."""
    mo.flags.asynchronous = False
    w = mo.array(floats(rng, (256, 256)))
    x = mo.array(floats(rng, (256, 256)))
    for _ in range(3):
        w.update(w - 0.01 * mo.grad((w @ x).square().sum(), w))
        check_estimate([(w @ x).tanh(), (w * 2.0).sum()])


def test_estimate_bounds_runs_in_the_queue(rng):
    """Whether the queue has come to the end of the updates is a matter of time."""
    w = mo.array(floats(rng, (256, 256)))
    x = mo.array(floats(rng, (256, 256)))
    for _ in range(3):
        w.update(w.transpose() - 0.01 * mo.grad((w @ x).square().sum(), w))
        value = (w @ x).tanh()
        expected = mo.estimate(value)
        mo.reset_peak()
        value.sync()
        assert mo.stats()["peak_bytes"] <= expected + ROUNDING


def test_estimate_counts_saved_values(rng):
    """Printing a loss before asking for its gradient keeps what that will need."""
    x, w = mo.array(floats(rng, (64, 256))), mo.array(floats(rng, (256, 256)))
    loss = ((x @ w).relu() @ w).square().sum()
    check_estimate(loss)
    check_estimate(mo.grad(loss, w))


def test_what_was_only_moved_is_not_saved(rng):
    """The product whose transpose is the gradient of a weight serves no gradient."""
    x, w = mo.array(floats(rng, (64, 128))), mo.array(floats(rng, (256, 128)))
    cotangent = mo.array(floats(rng, (64, 256)))
    mo.sync_all()
    before = bytes_in_use()
    (gradient,) = mo.vjp([x @ w.T], [w], [cotangent])
    gradient.sync()
    np.testing.assert_allclose(gradient.numpy(), cotangent.numpy().T @ x.numpy(), 1e-4, 1e-4)
    assert mo.stats()["bytes_in_use"] == before + gradient.numpy().nbytes
    (again,) = mo.vjp([gradient], [cotangent], [w])
    np.testing.assert_allclose(again.numpy(), x.numpy() @ w.numpy().T, 1e-4, 1e-4)


def test_what_is_added_up_is_not_saved(rng):
    """Of two products that are added, and read by tanh, their sum is what a gradient reads."""
    x, w = mo.array(floats(rng, (64, 128))), mo.array(floats(rng, (128, 128)))
    y, v = mo.array(floats(rng, (64, 128))), mo.array(floats(rng, (128, 128)))

    def kept_of(value):
        return sorted(kept.shape for kept in mo.explain(value).kept)

    # A sum of sums is all that there is. (An assertion would hold the products.)
    kept = kept_of((x @ w).sum() + (y @ v).sum())
    assert kept == []
    # The sum is computed element by element, of the products.
    kept = kept_of((x @ w + y @ v).tanh().sum())
    assert kept == [(64, 128), (64, 128)]
    # A slice reads it, so a kernel writes it.
    total = x @ w + y @ v
    loss = (total[:, :64].tanh() * total[:, 64:]).sum()
    assert kept_of(loss) == [(64, 128)]
    loss.sync()
    by_w, by_v = mo.grad(loss, [w, v])
    t = np.tanh(total.numpy()[:, :64])
    by_total = np.concatenate([(1 - t * t) * total.numpy()[:, 64:], t], 1)
    np.testing.assert_allclose(by_w.numpy(), x.numpy().T @ by_total, 1e-3, 1e-3)
    np.testing.assert_allclose(by_v.numpy(), y.numpy().T @ by_total, 1e-3, 1e-3)


def test_parts_of_a_weights_gradient_are_not_saved(rng):
    """Gradients that are asked for as values keep what gradients of them would read."""
    rows = [mo.array(floats(rng, (32, 64))) for _ in range(4)]
    w = mo.array(floats(rng, (64, 64)))
    h = mo.zeros((32, 64))
    for row in rows:
        h = (row @ w + h).tanh()
    gradient = mo.grad(h.sum(), w)
    shapes = [kept.shape for kept in mo.explain(gradient).kept]
    assert (64, 64) not in shapes and (32, 64) in shapes


def test_estimate_counts_fetches(rng):
    x = mo.array(floats(rng, (400, 400)))
    seen = []
    mo.fetch(x.exp(), seen.append)
    check_estimate((x + 1.0).sum())
    mo.sync_all()
    assert len(seen) == 1


@pytest.mark.parametrize("flag", ["fuse", "reuse_memory"])
def test_estimate_of_ablations(compiled, rng, flag):
    # Integers, so that nothing is kept for gradients.
    values = rng.integers(-9, 9, (128, 128))
    x = mo.array(values)
    sizes = {}
    for value in (True, False):
        setattr(mo.flags, flag, value)
        y = ((x + 1) @ x - 3).transpose() @ (x * x) @ x
        sizes[value] = check_estimate(y)
        expected = ((values + 1) @ values - 3).T @ (values * values) @ values
        np.testing.assert_array_equal(y.numpy(), expected)
    assert sizes[False] > sizes[True]


# Plans


def test_without_fusion_each_operation_is_a_kernel(compiled, rng):
    values = floats(rng, (8, 16))
    mo.flags.fuse = False
    y = (mo.array(values).exp() * 2.0 + 1.0).sum(1)
    close(y, (np.exp(values) * 2 + 1).sum(1), rtol=1e-5)
    kernels = mo.last_program().kernels
    assert all(len(kernel.operators) == 1 for kernel in kernels)
    assert {"exp", "mul", "add", "reduce"} <= {kernel.operators[0] for kernel in kernels}


def test_without_reuse_updates_write_beside_the_old_values(compiled, rng):
    values = floats(rng, (512, 512))
    peaks = {}
    for reuse in (True, False):
        mo.flags.reuse_memory = reuse
        w = mo.array(values)
        mo.sync(w)
        w.update(w * 0.5)
        before = bytes_in_use()
        mo.reset_peak()
        mo.sync_all()
        peaks[reuse] = mo.stats()["peak_bytes"] - before
        close(w, values * 0.5)
    assert peaks[True] < MIB <= peaks[False]
