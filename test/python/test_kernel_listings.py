# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What script/kernels lists and compares."""

import sys
from pathlib import Path

import metaops as mo
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bench"))

import listings

pytestmark = [pytest.mark.processor, pytest.mark.usefixtures("own_kernels")]


def write(folder: Path, *names: str) -> Path:
    assert listings.write(folder, names, ["small"]) > 0
    return folder


def test_listings_are_the_same_again(tmp_path: Path) -> None:
    before = write(tmp_path / "before", "softmax*", "mlp")
    after = write(tmp_path / "after", "softmax*", "mlp")
    assert len(listings.read(before)) == 8
    assert listings.compare(before, after, shows_all=False)


def test_a_listing_has_schedules_and_loops_and_no_places(tmp_path: Path) -> None:
    folder = write(tmp_path, "softmax") / "small"
    schedules, loops = (
        (folder / f"softmax.{phase}.mlir").read_text() for phase in ("schedules", "loops")
    )
    assert schedules.startswith("// called once") and loops.startswith("// called once")
    assert "schedule(#metaop.schedule<" in schedules and "scf.for" in loops
    # Maps are part of a kernel, and stand where they are used.
    assert "map affine_map<" in schedules and "#map" not in schedules
    for text in (schedules, loops):
        assert "loc(" not in text and ".py" not in text
    # Attributes that passes leave for each other are no code.
    assert "metaop." not in loops


def test_code_of_processors_and_gpus_is_listed(tmp_path: Path) -> None:
    phases = ("llvm", "gpu", "nvvm")
    assert listings.write(tmp_path, ["softmax"], ["small"], phases) == 1
    llvm, gpu, nvvm = ((tmp_path / f"small/softmax.{phase}.mlir").read_text() for phase in phases)
    assert "llvm.func" in llvm and "llvm.br" in llvm
    assert "gpu.func" in gpu and "gpu.thread_id" in gpu
    assert "nvvm.kernel" in nvvm and "nvvm.shfl.sync" in nvvm
    for text in (llvm, gpu, nvvm):
        assert text.startswith("// called once") and "metaop." not in text


def test_what_a_gpu_cannot_have_is_listed(tmp_path: Path) -> None:
    assert listings.write(tmp_path, ["exp"], ["small"], ["gpu"], chip="sm_1") == 1
    assert "sm_1" in (tmp_path / "small/exp.gpu.mlir").read_text()


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("@f() attributes {metaop.a = 3 : i64, metaop.b} {", "@f() {"),
        ("@f() attributes {gpu.kernel, metaop.a = #x<b = [1, 2]>, c = 1} {", None),
        ('@f(%a {metaop.s = "x, {"}, %b {metaop.t = @g, llvm.align = 4 : i64})', None),
    ],
)
def test_notes_of_passes_are_left_out(text: str, kept: str | None) -> None:
    expected = kept or {
        "@f() a": "@f() attributes {gpu.kernel, c = 1} {",
        "@f(%a ": "@f(%a, %b {llvm.align = 4 : i64})",
    }.get(text[:6])
    assert listings.without_notes(text) == expected


def test_a_changed_schedule_is_found(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    before = write(tmp_path / "before", "softmax", "exp")
    monkeypatch.setattr(mo.flags, "rules", "paper")
    after = write(tmp_path / "after", "softmax", "exp")
    assert not listings.compare(before, after, shows_all=True)
    output = capsys.readouterr().out
    assert "of 4 listings are the same" in output
    assert "| small/softmax.schedules | 1 -> " in output
    assert "+++ after/small/softmax.loops" in output and "+++ after/small/exp" not in output


def test_a_row_that_is_gone_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before, after = write(tmp_path / "before", "exp", "tanh"), write(tmp_path / "after", "exp")
    assert not listings.compare(before, after, shows_all=False)
    assert "only before: small/tanh.loops" in capsys.readouterr().out


def test_locations_nest() -> None:
    text = """#loc = loc(unknown)
func.func @f(%a: index loc("a.py":3:0)) { // x
  return loc(callsite("f(x)"("a.py":1:0) at fused[#loc1, "b.py":2:0]))
} loc(#loc)
"""
    assert listings.without_locations(text) == "func.func @f(%a: index) { // x\n  return\n}\n"
