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

pytestmark = pytest.mark.processor


def write(folder: Path, *names: str) -> Path:
    assert listings.write(folder, names, ["small"]) > 0
    return folder


def test_listings_are_the_same_again(tmp_path: Path) -> None:
    before = write(tmp_path / "before", "softmax*", "mlp")
    after = write(tmp_path / "after", "softmax*", "mlp")
    assert len(listings.read(before)) == 4
    assert listings.compare(before, after, shows_all=False)


def test_a_listing_has_schedules_and_loops_and_no_places(tmp_path: Path) -> None:
    text = (write(tmp_path, "softmax") / "small/softmax.mlir").read_text()
    assert "// called once" in text
    assert "schedule(#metaop.schedule<" in text and "scf.for" in text
    # Maps are part of a kernel, and stand where they are used.
    assert "map affine_map<" in text and "#map" not in text
    assert "loc(" not in text and ".py" not in text


def test_a_changed_schedule_is_found(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    before = write(tmp_path / "before", "softmax", "exp")
    monkeypatch.setattr(mo.flags, "rules", "paper")
    after = write(tmp_path / "after", "softmax", "exp")
    assert not listings.compare(before, after, shows_all=True)
    output = capsys.readouterr().out
    assert "1 of 2 rows have the same loops" in output
    assert "| small/softmax | 1 -> " in output
    assert "+++ after/small/softmax" in output and "+++ after/small/exp" not in output


def test_a_row_that_is_gone_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before, after = write(tmp_path / "before", "exp", "tanh"), write(tmp_path / "after", "exp")
    assert not listings.compare(before, after, shows_all=False)
    assert "only before: small/tanh" in capsys.readouterr().out


def test_locations_nest() -> None:
    text = """#loc = loc(unknown)
func.func @f(%a: index loc("a.py":3:0)) { // x
  return loc(callsite("f(x)"("a.py":1:0) at fused[#loc1, "b.py":2:0]))
} loc(#loc)
"""
    assert listings.without_locations(text) == "func.func @f(%a: index) { // x\n  return\n}\n"
