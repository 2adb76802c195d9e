# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Devices ``cuda`` by a driver that emulates GPUs, each in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.gpu_code


def run(code: str, driver: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run Python code with an emulated driver."""
    given = {**os.environ, "METAOPS_CACHE_DIR": "", "METAOPS_CUDA_DRIVER": driver, **environment}
    return subprocess.run(
        [sys.executable, "-c", f"import metaops as mo\nimport numpy as np\n{code}"],
        env=given,
        capture_output=True,
        text=True,
        check=False,
    )


def printed(code: str, driver: str = "emulated", **environment: str) -> str:
    done = run(code, driver, **environment)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout


#: A training step, eager and recorded, whose losses and weights are printed to the bit.
TRAINING = """
def train(device, is_recorded):
    random = np.random.default_rng(0)
    with mo.device(device):
        mo.seed(0)
        model = mo.nn.Sequential(mo.nn.Linear(12, 16), mo.nn.ReLU(), mo.nn.Linear(16, 5))
        optimizer = mo.optim.Adam(model.parameters(), lr=0.01)

        def step(x, labels):
            loss = mo.nn.cross_entropy_loss(model(x), labels)
            optimizer.step(loss)
            return loss

        call = mo.jit(step) if is_recorded else step
        x = mo.array(random.standard_normal((24, 12), dtype="float32"))
        labels = mo.array(random.integers(0, 5, 24))
        losses = [call(x, labels) for _ in range(3)]
        values = [*losses, *model.parameters()]
        assert {str(value.device) for value in values} == {mo.device(device)}
        return b"".join(value.numpy().tobytes() for value in values)

expected = train("emulator:sm_90a", False)
losses = np.frombuffer(expected[:12], dtype="float32")
assert losses[2] < losses[0] and np.isfinite(losses).all()
for is_recorded in (False, True):
    assert train(DEVICE, is_recorded) == expected
"""


@pytest.mark.parametrize(
    ("device", "driver"),
    [("cuda", "emulated:seed=3"), ("cuda:1", "emulated:devices=2,memory=16M")],
)
def test_a_training_step_has_the_bits_of_the_emulator(device, driver):
    printed(f"DEVICE = {device!r}\n{TRAINING}", driver)


def test_gpus_are_as_many_as_the_driver_has():
    printed(
        """
names = [str(name) for name in mo.devices()]
assert names[9:11] == ["cuda:0", "cuda:1"], names
x = mo.array([1.0, 2.0], device="cuda:0") + 1
y = x.to("cuda:1") * 2
assert (x.device, y.device) == ("cuda:0", "cuda:1") and y.numpy().tolist() == [4, 6]
for call in (mo.device, x.to_device):
    try:
        call("cuda:7")
        raise AssertionError
    except ValueError as error:
        assert "there is no device 'cuda:7'; there are" in str(error), error
        assert "cuda:0, cuda:1, cuda:sm_80" in str(error), error
""",
        "emulated:devices=2",
    )


def test_code_is_for_a_chip_that_runs_it():
    printed(
        """
x = mo.ones(3, device="cuda:sm_80") + 1
assert x.numpy().tolist() == [2, 2, 2]
x = mo.ones(3, device="cuda:sm_90a") + 1
try:
    x.numpy()
    raise AssertionError
except RuntimeError as error:
    assert "GPU 0 is an sm_80, which does not run code for sm_90a" in str(error), error
assert (mo.ones(3, device="cuda") + 1).numpy().tolist() == [2, 2, 2]
""",
        "emulated:chip=sm_80",
    )


@pytest.mark.parametrize("visible", ["", "-1"])
def test_gpus_that_are_hidden_are_an_error_and_the_processor_goes_on(visible):
    printed(
        f"""
x = mo.ones(3)
for call in (mo.device, x.to, lambda name: mo.ones(3, device=name)):
    try:
        call("cuda")
        raise AssertionError
    except RuntimeError as error:
        assert "CUDA_ERROR_NO_DEVICE" in str(error), error
        assert "CUDA_VISIBLE_DEVICES is '{visible}'" in str(error), error
assert not [name for name in mo.devices() if name.startswith("cuda")]
assert (x + 1).numpy().tolist() == [2, 2, 2]
""",
        CUDA_VISIBLE_DEVICES=visible,
    )


@pytest.mark.parametrize("visible", ["", "1", "GPU-8932f937"])
def test_an_emulated_chip_is_not_hidden(visible):
    printed(
        'assert (mo.ones(3, device="emulator:sm_90a") + 1).numpy().tolist() == [2, 2, 2]',
        "",
        CUDA_VISIBLE_DEVICES=visible,
    )


def test_what_does_not_fit_is_an_error_and_less_works_afterwards():
    printed(
        """
with mo.device("cuda"):
    try:
        mo.sync(mo.random((1 << 20,)) + 1)
        raise AssertionError
    except RuntimeError as error:
        assert "CUDA_ERROR_OUT_OF_MEMORY" in str(error), error
        assert "left of 1048576 bytes" in str(error), error
    assert (mo.ones(1 << 10) + 1).sum().item() == 2048
""",
        "emulated:memory=1M",
    )


def test_kernels_are_counted_as_on_the_emulator():
    printed(
        """
def count(device):
    with mo.profile_scope() as report, mo.device(device):
        mo.softmax(mo.ones((64, 256))).sync()
    return [kernel.counts.in_global.moved for kernel in report.kernels if kernel.counts]

assert count("cuda") == count("emulator:sm_90a") != []
"""
    )


def test_nobody_tunes_by_an_emulated_driver():
    printed(
        """
with mo.device("cuda"):
    try:
        mo.tune(lambda: mo.random((64, 64)) + 1, budget=5)
        raise AssertionError
    except RuntimeError as error:
        assert "the emulator does not tell how fast" in str(error), error
"""
    )


@pytest.mark.parametrize("text", ["emulatd", "emulated:devices=0", "libcuda.so.1"])
def test_nonsense_is_an_error_that_says_what_was_expected(text):
    done = run("mo.ones(3)", text)
    assert done.returncode == 1
    part = text.rpartition(":")[2]
    assert (
        f"ValueError: METAOPS_CUDA_DRIVER: given '{text}', in which '{part}' means nothing; "
        "expected emulated, or emulated: with some of devices=N (1 to 16), memory=BYTES"
    ) in done.stderr
