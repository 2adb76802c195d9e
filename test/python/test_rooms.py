# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rooms of the package: its names by subject, whatever is imported first.

Python makes a module that is imported an attribute of its package: no module may have the
name of something else that users see there.
"""

import copy
import importlib
import inspect
import os
import pathlib
import pickle
import re
import subprocess
import sys

import coverage_of_names as coverage
import metaops as mo
import pytest
from metaops import _exports
from util import same

FOLDER = pathlib.Path(mo.__file__).parent


def find_modules():
    """Return the names of all modules of the package."""
    names = set()
    for path in [*FOLDER.rglob("*.py"), *FOLDER.rglob("*.so")]:
        parts = path.relative_to(FOLDER).parts
        name = ".".join(["metaops", *parts[:-1], parts[-1].split(".")[0]])
        if "__pycache__" not in parts and path.exists():
            names.add(name.removesuffix(".__init__").replace("._former.", "."))
    return sorted(names)


MODULES = find_modules()
ROOMS = sorted({f"metaops.{name}" for m in _exports.EXPORTS if (name := m.rpartition(".")[0])})

#: The objects that users see, by their names.
SEEN = """
import sys, importlib
def see():
    found = {}
    for name in ("", ".nn", ".nn.init", ".nn.utils", ".optim", ".optim.lr_scheduler", *ROOMS):
        module = importlib.import_module("metaops" + name)
        for word in (*module.__all__, *(word for word in dir(module) if word[0] != "_")):
            if name != ".nn.init" and name != ".optim.lr_scheduler" or word in module.__all__:
                found[f"metaops{name}.{word}"] = getattr(module, word)
    return found
"""

#: Imports modules in an order, before or after all names have been used.
ORDER = """
first, modules = sys.argv[1], sys.argv[2:]
import metaops
before = see() if first == "names" else {}
for module in modules:
    imported = importlib.import_module(module)
    assert sys.modules[module] is imported
after = see()
public = importlib.import_module("metaops._session").PUBLIC
for name, value in after.items():
    assert before.get(name, value) is value, f"{name} was another object before"
    last = name.rpartition(".")[2]
    if name.count(".") == 1 and last in public and last not in ("load_program", "random"):
        assert value is public[last], f"{name} is {value}"
assert metaops.random is importlib.import_module("metaops.random")
assert len(after) > 900, len(after)
"""

#: Has a child for each module, which imports that first. Children share NumPy only.
FIRST = """
import numpy, os
children, failed = {}, []
def collect():
    pid, status = os.wait()
    name = children.pop(pid)
    if status:
        failed.append(name)
for name in sys.argv[1:]:
    if (pid := os.fork()) == 0:
        try:
            importlib.import_module(name)
            import metaops
            for word in metaops.__all__:
                kinds = metaops._MODULES
                value = getattr(metaops, word)
                is_module = isinstance(value, type(sys))
                assert is_module == (word in kinds), f"mo.{word} is {value}"
            os._exit(0)
        except BaseException as error:
            print(name, repr(error), file=sys.stderr, flush=True)
            os._exit(1)
    children[pid] = name
    if len(children) >= 2:
        collect()
while children:
    collect()
assert not failed, failed
"""


def run(code, *arguments):
    seen = SEEN.replace("*ROOMS", ", ".join(repr(room[len("metaops") :]) for room in ROOMS))
    environment = {**os.environ, "METAOPS_CACHE_DIR": ""}
    command = [sys.executable, "-c", seen + code, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("first", ["names", "modules"])
@pytest.mark.parametrize("is_reversed", [False, True])
def test_names_stay_when_modules_are_imported(first, is_reversed):
    assert len(MODULES) > 190
    modules = [name for name in MODULES if name != "metaops.__main__"]
    run(ORDER, first, *(modules[::-1] if is_reversed else modules))


def is_first(name):
    """Return whether a module is the first one of its folder, or of a few beside these."""
    parent = name.rpartition(".")[0]
    alike = [module for module in MODULES if module.rpartition(".")[0] == parent]
    return name in alike[:: 8 if parent == "metaops" else len(alike)]


@pytest.mark.parametrize(
    "modules",
    [
        pytest.param([m for m in MODULES if is_first(m)], id="some"),
        pytest.param([m for m in MODULES if not is_first(m)], id="others", marks=pytest.mark.rest),
    ],
)
def test_any_module_may_be_imported_first(modules):
    assert len(modules) > 15
    run(FIRST, *modules)


#: Counts what the package tells the extension at its start.
STARTS = """
import collections
from metaops import _core
counts = collections.Counter()
def counted(name, function):
    def call(*args):
        counts[name] += 1
        return function(*args)
    return call
for name in ("set_default_flag", "set_gpu_tools", "set_emulator", "set_most_threads"):
    setattr(_core, name, counted(name, getattr(_core, name)))
"""


@pytest.mark.parametrize(
    "first", ["metaops.zeros", "metaops.random.normal", "metaops.nn", "metaops.random((2,))"]
)
def test_the_package_starts_once(first):
    count = "{'set_default_flag': 3, 'set_gpu_tools': 1, 'set_emulator': 1, 'set_most_threads': 1}"
    code = f"import metaops, os\nos.environ['OMP_NUM_THREADS'] = '1'\n{first}\nsee()\n"
    run(f"{STARTS}{code}assert counts == {count}, counts")


@pytest.mark.parametrize("name", ["metaops", *ROOMS])
def test_no_module_has_the_name_of_something_else(name):
    room = importlib.import_module(name)
    inner = {m.rpartition(".")[2] for m in MODULES if m.rpartition(".")[0] == name}
    public = {word for word in dir(room) if not word.startswith("__")}
    assert inner & public <= {word for word in public if inspect.ismodule(getattr(room, word))}


@pytest.mark.parametrize("name", ROOMS)
def test_rooms_have_names_of_the_package(name):
    room = importlib.import_module(name)
    assert room.__all__ == sorted(room.__all__) and len(room.__all__) > 1
    assert {*room.__all__} <= {*dir(room)}
    for word in room.__all__:
        assert getattr(room, word) is getattr(mo, word), word
    space = {}
    exec(f"from {name} import *", space)
    assert {*room.__all__} <= space.keys()
    for path in _exports.EXPORTS:
        if path.rpartition(".")[0] == name.partition(".")[2]:
            assert {*_exports.EXPORTS[path]} <= {*room.__all__}


def test_the_rooms():
    assert {*ROOMS} == {
        *(
            f"metaops.{name}"
            for name in ("compat", "complex_numbers", "control_flow", "extern", "func")
        ),
        *(f"metaops.{name}" for name in ("random", "tools", "tracing")),
        *(f"metaops.ops.{name}" for name in mo.ops.__all__),
    }
    assert {*mo.ops.__all__} == {*dir(mo.ops)} - {w for w in dir(mo.ops) if w.startswith("__")}
    names = {word for name in ROOMS for word in importlib.import_module(name).__all__}
    assert len(names) > 400 and names <= {*mo.__all__}


def test_names_that_a_room_does_not_list():
    assert mo.compat.pi is mo.pi and mo.compat.__array_api_version__ == "2024.12"
    assert "pi" not in mo.compat.__all__


@pytest.mark.parametrize(
    "name, message",
    [
        ("random.seed", "metaops.random has no seed: use mo.seed"),
        ("ops.exp", "metaops.ops has no exp: use mo.exp"),
        ("ops.sort.sofmax", "metaops.ops.sort has no sofmax (did you mean 'mo.softmax'?)"),
        ("tools.quux", "metaops.tools has no quux"),
        ("tools._quux", "metaops.tools has no _quux"),
    ],
)
def test_what_a_room_does_not_have(name, message):
    room, _, word = name.rpartition(".")
    code = f"import metaops.{room}\ntry: metaops.{name}\nexcept AttributeError as e: print(e)"
    for first in ("", "import metaops; metaops.zeros; "):
        done = subprocess.run(
            [sys.executable, "-c", first + code], capture_output=True, text=True, check=True
        )
        assert done.stdout == f"{message}\n"
    with pytest.raises(ImportError, match=f"cannot import name '{word}' from 'metaops.{room}'"):
        exec(f"from metaops.{room} import {word}")


def test_random_is_a_room_and_a_function():
    key = mo.Key(1)
    assert mo.random is importlib.import_module("metaops.random") is mo.random.random
    same(mo.random((3,), key=key), mo.random.uniform((3,), key=key).numpy())
    assert mo.random(shape=(2, 2), dtype="float64").dtype == mo.float64
    same(mo.random(size=(3,), key=key), mo.random((3,), key=key).numpy())
    assert next(iter(inspect.signature(mo.random).parameters)) == "shape"
    assert pickle.loads(pickle.dumps(mo.random)) is copy.deepcopy(mo.random) is mo.random
    with pytest.raises(TypeError, match=r"^random: .*'shap' \(did you mean 'shape'\?\)"):
        mo.random(shap=3)


def test_errors_name_the_line_that_called_a_room():
    """Frames of all modules of the package are its own, wherever they are."""
    here = re.escape(f"{__file__}:")
    for call in (
        lambda: mo.random.uniform((2,), low=mo.zeros(3)),
        lambda: mo.ops.sort.topk(mo.zeros(3), 5),
        lambda: mo.ops.index.gather(mo.zeros(3), 7, mo.zeros(3)),
        lambda: mo.random((-1,)),
    ):
        line = inspect.getsourcelines(call)[1]
        with pytest.raises((IndexError, TypeError, ValueError)) as caught:
            call()
        assert re.search(f"\\({here}{line}\\)$", str(caught.value)), str(caught.value)
    value = mo.ops.elementwise.gelu(mo.random.normal((4,)))
    (value + 1).sync()
    lines = {line for kernel in mo.last_program().kernels for line in kernel.lines}
    assert lines and all(line.startswith(f"{__file__}:") for line in lines), lines


def test_functions_where_pytorch_has_them():
    functional = mo.nn.functional
    assert functional is importlib.import_module("metaops.nn.functional")
    assert {*functional.__all__} <= {*dir(functional)}
    (library,) = (each for each in coverage.counted() if each.module == "torch.nn.functional")
    own = {*mo.__all__, *mo.nn.__all__}
    # PyTorch's pad has its widths in another order.
    expected = {name for name in library.names if name in own} - {"pad"}
    renamed = {
        "binary_cross_entropy": mo.nn.bce_loss,
        "binary_cross_entropy_with_logits": mo.nn.bce_with_logits_loss,
        "cross_entropy": mo.nn.cross_entropy_loss,
        "logsigmoid": mo.log_sigmoid,
        "upsample": mo.nn.interpolate,
    }
    assert {*functional.__all__} == expected | renamed.keys() and len(expected) > 90
    for name in functional.__all__:
        module = mo.nn if name in mo.nn.__all__ else mo
        same_object = renamed[name] if name in renamed else getattr(module, name)
        assert getattr(functional, name) is same_object, name


@pytest.mark.parametrize(
    "name, message",
    [
        ("pad", "use mo.pad, whose widths begin with the first dimension, or mo.nn.ConstantPad2d"),
        ("linear", r"use x @ weight.T \+ bias, or mo.nn.Linear"),
        ("relu_", "mo.relu returns a new tensor"),
        ("scaled_mm", "there are no quantised numbers, nor products of 8 bits"),
        ("Linear", "use mo.nn.Linear"),
    ],
)
def test_what_functional_does_not_have(name, message):
    with pytest.raises(AttributeError, match=f"^metaops.nn.functional has no {name}: {message}$"):
        getattr(mo.nn.functional, name)
