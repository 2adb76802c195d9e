# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The tutorial and the guides: their programs print what is shown, their names exist."""

import contextlib
import gc
import io
import pathlib
import re

import metaops as mo
import numpy as np
import pytest
from util import AVX512

DOCS = pathlib.Path(__file__).parents[2] / "docs"
PAGES = ["Tutorial.md", "FromPyTorch.md", "FromJax.md", "Functions.md", "Checkpoint.md"]
PAGES += ["Complex.md", "Models.md", "OwnKernels.md", "Transforms.md"]


def blocks(page):
    """Yield the line, the language and the text of each block of a page."""
    text = (DOCS / page).read_text()
    for block in re.finditer(r"^```(\w*)\n(.*?)^```$", text, re.DOTALL | re.MULTILINE):
        yield text.count("\n", 0, block.start()) + 2, block[1], block[2]


def programs(page):
    """Return line, program and what the next block shows of its output."""
    found = []
    for line, language, text in blocks(page):
        if language == "python":
            found.append([line, text, ""])
        elif language == "":
            assert found[-1][2] == "", f"line {line}: what prints this?"
            found[-1][2] = text
        else:
            assert language == "py", f"line {line}"
    return found


@pytest.mark.usefixtures("compiled")
@pytest.mark.parametrize("page", PAGES)
def test_what_the_programs_print(page, tmp_path, monkeypatch):
    """Run a page's programs in order, as its reader does."""
    if page == "Tutorial.md" and not AVX512:
        pytest.skip("shows the kernels of processors with AVX-512")
    monkeypatch.chdir(tmp_path)
    scope = {}
    for line, program, shown in programs(page):
        printed = io.StringIO()
        # Errors tell the line of the page.
        code = compile("\n" * (line - 1) + program, page, "exec")
        with contextlib.redirect_stdout(printed):
            exec(code, scope)
        assert printed.getvalue() == shown, f"{page}:{line}"
    # Functions of a program have its names, and so themselves.
    scope.clear()
    gc.collect()


# Tables of names

GUIDES = ["FromPyTorch.md", "FromJax.md"]
MODULES = [mo, mo.nn, mo.nn.init, mo.nn.utils, mo.optim, mo.optim.lr_scheduler]


def rows(page):
    """Yield the names on the left of each row of the tables, and the text on the right."""
    for line in (DOCS / page).read_text().splitlines():
        if line.startswith("| `"):
            left, right = line.strip("|").split(" | ", 1)
            yield re.findall(r"`([\w.]+)", left), right


@pytest.mark.parametrize("page", GUIDES)
def test_our_names_exist(page):
    count = 0
    for _, right in rows(page):
        for name in re.findall(r"\bmo\.([\w.]*\w)", right):
            value = mo
            for part in name.split("."):
                value = getattr(value, part)
            count += 1
        for name in re.findall(r"`x\.([\w.]*\w)", right):
            value = mo.zeros(3)
            for part in name.split("."):
                value = getattr(value, part)
            count += 1
    assert count > 50


@pytest.mark.parametrize("page", GUIDES)
def test_other_names_are_answered(page):
    """Those that we do not have raise an error that says what the row does."""
    answered = 0
    for names, right in rows(page):
        for full in names:
            *owner, name = full.split(".")
            if owner not in (["torch"], ["F"], ["nn"], ["Tensor"], ["jax"], ["jnp"], ["lax"]):
                continue
            values = [mo.zeros(3)] if owner == ["Tensor"] else MODULES
            if any(hasattr(value, name) for value in values):
                continue
            with pytest.raises(AttributeError) as caught:
                getattr(values[0], name)
            assert ": " in str(caught.value), full
            ours = set(re.findall(r"\bmo\.[\w.]*\w", right))
            advised = re.findall(r"\bmo\.[\w.]*\w", str(caught.value))
            assert not ours or not advised or ours & set(advised), full
            answered += 1
    assert answered > 10


# The other libraries' programs, where these are installed: script/test interop has them


def others(page):
    return [text for _, language, text in blocks(page) if language == "py"]


def data(rng):
    centres = rng.standard_normal((3, 20), dtype="float32")
    labels = rng.integers(0, 3, 320)
    return centres[labels] + rng.standard_normal((320, 20), dtype="float32"), labels


def test_pytorch(rng, tmp_path, monkeypatch):
    torch = pytest.importorskip("torch")
    monkeypatch.chdir(tmp_path)
    images, labels = (torch.tensor(value) for value in data(rng))
    loop, loaded, saved = others("FromPyTorch.md")
    scope = {
        "torch": torch,
        "nn": torch.nn,
        "F": torch.nn.functional,
        "np": np,
        "device": "cpu",
        "batches": [(images[k : k + 32], labels[k : k + 32]) for k in range(0, 256, 32)],
        "held_out": images[256:],
        "labels": labels[256:],
    }
    exec(loop, scope)
    assert scope["accuracy"] > 0.9
    torch_model = scope["model"]
    expected = torch_model(images).detach().numpy()
    for program in (loaded, saved):
        model = mo.Sequential(mo.nn.Linear(20, 64), mo.nn.ReLU(), mo.nn.Linear(64, 3))
        exec(program, {"model": model, "torch_model": torch_model, "mo": mo})
        np.testing.assert_allclose(model(images.numpy()).numpy(), expected, rtol=1e-5, atol=1e-5)


def test_jax(rng):
    jax = pytest.importorskip("jax")
    images, labels = data(rng)
    batches = [(images[k : k + 32], labels[k : k + 32]) for k in range(0, 256, 32)] * 10
    (step,) = others("FromJax.md")
    scope = {"jax": jax, "jnp": jax.numpy, "batches": batches}
    exec(step, scope)
    assert scope["loss"] < 0.3
