# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The check of layers, script/checks/layers.py, on layers that are wrong."""

import dataclasses
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "script"))

from checks import layers
from checks.layers import Layers, Symbols


@pytest.fixture
def declared() -> Layers:
    return Layers.read()


def test_folders_and_libraries_are_read(declared: Layers) -> None:
    assert declared.libraries["Transforms/Schedule/CPU"] == "MetaOpsScheduleCPU"
    assert "MetaOpsDialect" in declared.find_linked("MetaOpsScheduleCPU")
    assert declared.find_folder("Runtime/Session/Session.cpp") == "Runtime/Session"
    assert declared.find_folder("Support/Counts.h") is None
    # A header above several folders stands before them.
    assert declared.find_header_place("Conversion/Passes.h") == min(
        place for folder, place in declared.places.items() if folder.startswith("Conversion/")
    )


def test_includes_of_later_folders_are_found(declared: Layers) -> None:
    assert layers.check_includes(declared) == []
    places = dict(declared.places)
    places["Runtime/Graph"] = len(places)
    faults = layers.check_includes(dataclasses.replace(declared, places=places))
    assert any("Runtime/Graph/" in fault and "later folder" in fault for fault in faults)


def test_symbols_of_later_folders_are_found(declared: Layers) -> None:
    symbols = {
        "Interpreter": Symbols({"_Z1av"}, {"_Z1bv"}),
        "Transforms/Fusion": Symbols({"_Z1bv"}, {"_Z1av", "_Z1cv"}),
        "Transforms/Simplify": Symbols({"_Z1cv"}, set()),
    }
    assert layers.check_symbols(declared, symbols) == [
        "Interpreter uses Transforms/Fusion, which stands behind it:",
        "    b()",
        "Transforms/Fusion uses Interpreter, whose MetaOpsInterpreter MetaOpsFusion does not link:",
        "    a()",
    ]


@pytest.mark.skipif(not layers.BUILD.joinpath("build.ninja").exists(), reason="needs the build")
def test_symbols_of_objects_are_read(declared: Layers) -> None:
    symbols = layers.read_symbols(declared)
    assert len(symbols) > 30
    name = "_ZN4mlir6metaop5Stage5buildENS0_7FusedOpE"
    assert name in symbols["Transforms/Schedule/Stage"].defined
    assert name in symbols["Transforms/Schedule/CPU"].undefined
