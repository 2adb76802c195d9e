# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The scripts of examples/, in short forms: they run, and what they train gets better."""

import importlib
import pathlib

import pytest

pytestmark = pytest.mark.processor

FOLDER = pathlib.Path(__file__).parents[2] / "examples"

#: Options of short forms, the least and the most that the script's number may be, which nothing
#: untrained reaches, and what stands in the last line of text.
SHORT = {
    "dcgan_on_digits": (["--steps", "150"], (0.0, 0.4), "mean and deviation differ"),
    "heat": (["--steps", "40"], (0.0, 0.12), "the guess ends within"),
    "neural_ode": (["--steps", "60"], (0.0, 1.2), "points are"),
    "recommend": (["--steps", "300"], (0.6, 1.0), "in order"),
    "translate_dates": (["--steps", "200", "--batch", "32"], (0.5, 1.0), "right"),
    "unet_on_shapes": (["--steps", "60", "--batch", "4"], (0.35, 1.0), "overlap by"),
    "vae_on_digits": (["--steps", "300"], (20.0, 30.0), "a held-out image costs"),
    "vit_on_digits": (["--steps", "60"], (0.3, 1.0), "recognised"),
    "wgan_gp_on_digits": (["--steps", "60"], (0.0, 0.15), "mean and deviation differ"),
    "gpt_on_documents": (
        ["--steps", "30", "--batch=4", "--length=16", "--width=16", "--layers=1", "--begin=A "],
        (2.0, 6.0),
        "a letter costs",
    ),
}
FIRST = ("neural_ode",)


def test_all_examples_are_here():
    scripts = {path.stem for path in FOLDER.glob("*.py")}
    assert scripts == SHORT.keys() | {"digits", "pictures"}


@pytest.mark.parametrize(
    "name", [n if n in FIRST else pytest.param(n, marks=pytest.mark.rest) for n in SHORT]
)
def test_short_forms(name, monkeypatch, capsys, tmp_path):
    pytest.importorskip("sklearn")
    pytest.importorskip("matplotlib")
    options, (least, most), last = SHORT[name]
    monkeypatch.syspath_prepend(FOLDER)
    monkeypatch.chdir(tmp_path)
    script = importlib.import_module(name)
    number = script.main(options)
    assert least <= number <= most
    assert last in capsys.readouterr().out.splitlines()[-1]
    pictures = [path.stat().st_size for path in tmp_path.glob("*.png")]
    assert len(pictures) == hasattr(script, "draw_images") + hasattr(script, "draw_losses")
    assert all(size > 5000 for size in pictures)
