# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Routines by their names, of the runtime and of a plugin, and files of sorts alone."""

import importlib.util
import pathlib
import subprocess

import metaops as mo
import numpy as np
import pytest
from metaops import _core
from metaops.execute import load_program
from util import check_gradient, close, same

HERE = pathlib.Path(__file__)
ROOT = HERE.resolve().parents[2]
EXAMPLE = ROOT / "examples" / "routine" / "logsumexp" / "logsumexp.py"


@pytest.fixture(scope="module")
def example(tmp_path_factory):
    """Return the example's module, whose plugin has been built and loaded."""
    spec = importlib.util.spec_from_file_location("logsumexp_example", EXAMPLE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    library = module.build(tmp_path_factory.mktemp("plugin"))
    assert mo.load_routines(library) == ["logsumexp"]
    return module


def logsumexp(x):
    """Compute the values by NumPy, in float64."""
    x = np.asarray(x, "float64")
    most = x.max(-1, keepdims=True)
    return np.log(np.exp(x - most).sum(-1)) + most[..., 0]


def sort(x, **changes):
    """Sort along the only dimension, by the routine's name."""
    given = {
        "parameters": {"dim": 0, "descending": 0},
        "roles": ["source", "values"],
        "total": True,
    }
    return mo.routine("sort", x.shape, x.dtype, x, **(given | changes))


# The runtime's own


def test_a_sort_is_a_routine_like_others(rng):
    x = mo.array(rng.random(100, dtype="float32"))
    same(sort(x), np.sort(x.numpy()))
    assert "sort" in [each.name for each in mo.last_program().kernels]
    assert ("sort", "host", "1") in _core.list_routines()


def test_what_nobody_computes_is_an_error_that_says_why(rng):
    x = mo.array(rng.random(10, dtype="float32"))
    with pytest.raises(RuntimeError, match="the routine 'halve' is not there"):
        mo.routine("halve", x.shape, x.dtype, x).sync()
    with pytest.raises(RuntimeError, match="taken by nobody: host 1: it has other attributes"):
        sort(x, parameters={"dim": 0}).sync()
    # The session is as before.
    same(sort(x), np.sort(x.numpy()))


@pytest.mark.parametrize(
    ("changes", "error", "match"),
    [
        ({"parameters": {"dim": None}}, TypeError, "the parameter 'dim' is None, expected an int"),
        ({"parameters": {"dim": True}}, TypeError, "the parameter 'dim'"),
        ({"parameters": {"dim": [0, "x"]}}, TypeError, "a sequence of one of these"),
        ({"roles": ["source"]}, ValueError, "1 roles, expected one for each of 2"),
        ({"roles": [1, 2]}, TypeError, "expected texts"),
        ({"over": [1]}, ValueError, "is over argument 1, which is not like it"),
        ({"over": [0, 0]}, ValueError, "a number for each of 1 results"),
    ],
)
def test_bad_calls_say_what_was_expected(changes, error, match):
    with pytest.raises(error, match=match) as caught:
        sort(mo.zeros(3), **changes)
    assert HERE.name in str(caught.value)


def test_names_shapes_and_libraries_are_checked(tmp_path):
    x = mo.zeros(3)
    with pytest.raises(TypeError, match="name is 3, expected a text"):
        mo.routine(3, x.shape, x.dtype, x)
    with pytest.raises(ValueError, match="an extent is negative"):
        mo.routine("sort", (-3,), x.dtype, x)
    with pytest.raises(ValueError, match="no routines can be loaded from"):
        mo.load_routines(tmp_path / "nothing.so")
    empty = tmp_path / "empty.c"
    empty.write_text("int nothing;")
    library = tmp_path / "libempty.so"
    subprocess.run(["cc", "-shared", "-fPIC", str(empty), "-o", str(library)], check=True)
    with pytest.raises(ValueError, match="it does not define metaops_add_routines"):
        mo.load_routines(library)


def test_files_of_sorts_alone_are_read(rng):
    """The file was written by a version that had sorts and no other routines."""
    path = HERE.parent / "data" / "sorts_version_7.metaops"
    x = rng.random((4, 600), dtype="float32")
    values, order = load_program(path, function="order")(x)
    np.testing.assert_array_equal(values, np.sort(x, 0))
    np.testing.assert_array_equal(order, np.argsort(x, 0, kind="stable"))
    values, places = load_program(path, function="largest")(x)
    np.testing.assert_array_equal(values, -np.sort(-x, -1)[:, :3])
    np.testing.assert_array_equal(places, np.argsort(-x, -1, kind="stable")[:, :3])


def test_sorts_have_scratch_memory_while_they_run(rng):
    """Beside each other they would need as much as all of them: here it is the most of them."""
    x = mo.array(rng.random((64, 4096), dtype="float32"))

    def arena(*values):
        mo.sync(list(values))
        return mo.last_program().arena_bytes

    one = arena(mo.argsort(x, dim=1))
    assert one > 0
    assert arena(mo.argsort(x, dim=1), mo.argsort(x * 2, dim=1)) < 2 * one + x.nbytes


# A plugin's


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", [(5,), (3, 7), (2, 3, 100), (0, 4), (4, 1)])
def test_values_are_those_of_numpy(example, rng, shape, dtype):
    x = rng.normal(size=shape).astype(dtype) * 100
    close(example.LogSumExp.apply(mo.array(x)), logsumexp(x) if x.size else np.zeros(shape[:-1]))


def test_a_plugin_says_what_it_does_not_take(example):
    x = mo.array([1, 2, 3])
    with pytest.raises(RuntimeError, match=r"example 1\.0: it is of float32 and float64 alone"):
        mo.routine("logsumexp", (), "int64", x).sync()


def test_reports_name_the_library(example, rng):
    example.LogSumExp.apply(mo.array(rng.random((3, 4), dtype="float32"))).sync()
    names = [each.name for each in mo.last_program().kernels]
    assert "logsumexp (example 1.0)" in names


def test_derivatives_are_those_of_the_function_around_it(example, rng):
    x = rng.normal(size=(3, 4))
    check_gradient(lambda x: (example.LogSumExp.apply(x) ** 2).sum(), [x])
    x = mo.array(rng.normal(size=(3, 4)))
    tangent = mo.array(rng.normal(size=(3, 4)))
    (moved,) = mo.jvp([example.LogSumExp.apply(x)], [x], [tangent])
    close(moved, (tangent * mo.softmax(x, dim=-1)).sum(dim=-1).numpy())
    hessian = mo.hessian(example.LogSumExp.apply)(x[0])
    expected = mo.hessian(lambda x: mo.log(mo.exp(x).sum()))(x[0])
    close(hessian, expected.numpy())


def test_without_a_function_there_are_no_derivatives(example):
    x = mo.ones(3)
    with pytest.raises(RuntimeError, match="derivatives of the routine 'logsumexp' called at"):
        mo.grad(mo.routine("logsumexp", (), x.dtype, x), x)


def test_examples_are_computed_at_once(example, rng):
    x = mo.array(rng.normal(size=(6, 3, 4)).astype("float32"))
    close(mo.vmap(example.LogSumExp.apply)(x), logsumexp(x.numpy()))
    steps = [each.name for each in mo.last_program().kernels]
    assert steps.count("logsumexp (example 1.0)") == 1
    # One that takes no further dimensions is called for each.
    single = mo.vmap(lambda row: mo.routine("logsumexp", (3,), row.dtype, row))(x)
    close(single, logsumexp(x.numpy()))


def test_recorded_functions_and_loops_call_it(example, rng):
    x = mo.array(rng.normal(size=(3, 4)).astype("float32"))
    close(mo.jit(example.LogSumExp.apply)(x), logsumexp(x.numpy()))

    def add(total, row):
        return total + mo.routine("logsumexp", (), row.dtype, row), row

    total, _ = mo.scan(add, mo.array(0.0), x)
    close(total, logsumexp(x.numpy()).sum())


def test_it_is_where_programs_for_gpus_are_emulated(example, rng):
    x = mo.array(rng.normal(size=(3, 4)).astype("float32"))
    with mo.device("emulator:sm_90a"):
        y = example.LogSumExp.apply(x.to("emulator:sm_90a") * 2)
        close(y.to("cpu"), logsumexp(2 * x.numpy()))


def test_a_machine_without_the_library_refuses_its_programs(example, rng, tmp_path):
    x = mo.array(rng.normal(size=(3, 4)).astype("float32"))
    path = tmp_path / "program.metaops"
    mo.export(example.LogSumExp.apply, [x], path)
    with pytest.raises(ValueError, match="the routine 'logsumexp' of example is not there"):
        load_program(path)


# Plugins with mistakes

FAULTY = r"""
#include "metaops-c/routine.h"
#include <stdexcept>
#include <string.h>

static int is(const metaops_routine *routine, const char *name) {
  return routine->num_attributes && !strcmp(routine->attributes[0].name, name);
}
static int plan(const metaops_routine *routine, metaops_routine_plan *plan, char *message,
                size_t size) {
  if (is(routine, "plan_throws"))
    throw std::runtime_error("no plan");
  if (is(routine, "bytes")) {
    strcpy(message, "bad \xff\xfe bytes");
    return 1;
  }
  if (is(routine, "scratch"))
    plan->scratch_bytes = INT64_MAX - 1;
  return 0;
}
static void part(void *, int64_t, int64_t) { throw std::runtime_error("in a part"); }
static int run(const metaops_routine *routine, const metaops_routine_run *run, char *message,
               size_t size) {
  if (is(routine, "throws"))
    throw std::runtime_error("bad luck");
  if (is(routine, "throws_number"))
    throw 3;
  if (is(routine, "part_throws"))
    run->parallel_for(run, 100, 1, part, nullptr);
  if (is(routine, "run_bytes")) {
    strcpy(message, "\xff");
    return 1;
  }
  *(float *)run->results[0] = 2;
  return 0;
}
static metaops_routine_implementation good = {"faulty", "mistaken", "1", 1, plan, run};
static metaops_routine_implementation empty = {"faulty", "mistaken", "1", 1, nullptr, run};
static metaops_routine_implementation bytes = {"faulty\xff", "mistaken", "1", 1, plan, run};
extern "C" int metaops_add_routines(int, void *registry, metaops_add_routine add) {
  add(registry, &good);
#ifdef MORE
  MORE;
#endif
  return METAOPS_ROUTINE_VERSION;
}
"""


def build_faulty(folder, *flags):
    """Return the path of the plugin."""
    source, library = folder / "faulty.cpp", folder / f"libfaulty{len(flags)}.so"
    source.write_text(FAULTY)
    compiler = ["c++", "-shared", "-fPIC", "-w", f"-I{ROOT / 'include'}", *flags]
    subprocess.run([*compiler, str(source), "-o", str(library)], check=True)
    return library


@pytest.mark.parametrize(
    ("more", "match"),
    [
        ("add(registry, nullptr)", "an implementation is null"),
        ("add(registry, &empty)", "an implementation lacks a name or a function"),
        ("add(registry, &bytes)", "a name is not UTF-8"),
        ('throw std::runtime_error("late")', "it has thrown an exception: late"),
    ],
)
def test_nothing_is_added_of_what_is_not_whole(tmp_path, more, match):
    before = _core.list_routines()
    with pytest.raises(ValueError, match=match) as caught:
        mo.load_routines(build_faulty(tmp_path, f"-DMORE={more}"))
    assert str(caught.value).count(HERE.name) == 1
    assert _core.list_routines() == before


@pytest.mark.parametrize(
    ("mistake", "match"),
    [
        ("plan_throws", "mistaken 1: it has thrown an exception: no plan"),
        ("bytes", "mistaken 1: bad .+ bytes"),
        ("scratch", "it plans with 9223372036854775806 bytes of scratch memory"),
        ("throws", "the routine 'faulty' of mistaken: it has thrown an exception: bad luck"),
        ("throws_number", "the routine 'faulty' of mistaken: it has thrown an exception"),
        ("part_throws", "the routine 'faulty' of mistaken: it has thrown .*: in a part"),
        ("run_bytes", "the routine 'faulty' of mistaken: "),
    ],
)
def test_mistakes_of_plugins_are_errors(tmp_path_factory, mistake, match):
    if not any(name == "faulty" for name, _, _ in _core.list_routines()):
        mo.load_routines(build_faulty(tmp_path_factory.mktemp("faulty")))
    with pytest.raises(RuntimeError, match=match):
        mo.routine("faulty", (), "float32", mo.zeros(3), parameters={mistake: 1}).sync()
    # The session is as before.
    close(mo.routine("faulty", (), "float32", mo.zeros(3)), 2.0)
