# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Objects that hold no value, and those that are copied and pickled."""

import copy
import pickle

import metaops as mo
import numpy as np
import pytest
from metaops import _core
from util import same

A = np.arange(6, dtype="float32").reshape(2, 3)


def unmade():
    return mo.Var.__new__(mo.Var)


class Quiet(mo.Var):
    def __new__(cls, *args):
        return super().__new__(cls)


USES = {
    "shape": lambda v, x: v.shape,
    "dtype": lambda v, x: v.dtype,
    "len": lambda v, x: len(v),
    "iter": lambda v, x: iter(v),
    "repr": lambda v, x: repr(v),
    "value": lambda v, x: v.numpy(),
    "float": lambda v, x: float(v),
    "asarray": lambda v, x: np.asarray(v),
    "add": lambda v, x: v + 1,
    "reflected": lambda v, x: x + v,
    "in place": lambda v, x: v.__iadd__(1),
    "compare": lambda v, x: v == x,
    "matmul": lambda v, x: x @ v,
    "index": lambda v, x: v[0],
    "as an index": lambda v, x: x[v],
    "assign to": lambda v, x: v.__setitem__(0, 1),
    "as a value": lambda v, x: x.__setitem__(0, v),
    "assign": lambda v, x: v.assign(x),
    "update": lambda v, x: x.update(v),
    "function": lambda v, x: mo.exp(v),
    "list": lambda v, x: mo.concat([x, v]),
    "sync": lambda v, x: mo.sync([x, v]),
    "grad": lambda v, x: mo.grad(x.sum(), [v]),
    "fetch": lambda v, x: v.fetch(print),
    "array": lambda v, x: mo.array(v),
    "copy": lambda v, x: copy.copy(v),
    "deepcopy": lambda v, x: copy.deepcopy([v]),
    "pickle": lambda v, x: pickle.dumps(v),
    "dlpack": lambda v, x: v.__dlpack__(),
    "wrong keyword": lambda v, x: v.mean(v=v),
    "wrong argument": lambda v, x: x.mean(v),
    "parameters": lambda v, x: mo.optim.SGD([v], 0.1),
}


@pytest.mark.parametrize("name", USES)
@pytest.mark.parametrize("make", [unmade, lambda: Quiet.__new__(Quiet)], ids=["Var", "subclass"])
def test_a_var_that_was_not_made(name, make):
    with pytest.raises(TypeError):
        USES[name](make(), mo.array(A))


def test_a_var_is_made_once():
    x = mo.Var(A)
    same(x, A)
    assert mo.Var([1, 2], dtype="float64").dtype == "float64"
    late = unmade()
    late.__init__(A)
    same(late, A)
    with pytest.raises(TypeError, match="assign"):
        late.__init__(A)

    with pytest.raises(TypeError, match="self is an int, expected a Var"):
        mo.Var.__init__(3, A)

    class Silent(mo.Var):
        def __init__(self):
            pass

    with pytest.raises(TypeError, match="__init__"):
        Silent()


def test_what_only_the_session_makes():
    (mo.array(A) + 1).sync()
    program = mo.last_program()
    for value in (program._info, program.kernels[0], _core.make_profiler(False)):
        with pytest.raises(TypeError, match="cannot be constructed"):
            type(value)()
        with pytest.raises(TypeError):
            type(value).__new__(type(value))
    with pytest.raises(TypeError, match="self is a str, expected a ProgramInfo"):
        type(program._info).ir("a", "graph")


class Tagged(mo.Var):
    def __init__(self, value, tag):
        super().__init__(value)
        self.tag = tag


def test_copies_and_pickles():
    x = mo.array(A)
    y = x * 2
    for made in (copy.copy(y), copy.deepcopy(y), y.clone(), y.copy()):
        same(mo.grad(made.sum(), x), np.full_like(A, 2))
        made += 1
    same(y, A * 2)
    for dtype in ("float32", "bfloat16", "int8", "bool"):
        given = x.cast(dtype)
        loaded = pickle.loads(pickle.dumps(given))
        assert loaded.dtype == dtype
        same(loaded, given.numpy())
    inner = mo.zeros(2)
    tagged = Tagged(A, [inner])
    for made in (copy.copy(tagged), copy.deepcopy(tagged), pickle.loads(pickle.dumps(tagged))):
        assert type(made) is Tagged and len(made.tag) == 1
        same(made, A)
    assert copy.copy(tagged).tag is tagged.tag
    assert copy.deepcopy(tagged).tag[0] is not inner
    twice = copy.deepcopy([tagged, tagged])
    assert twice[0] is twice[1]
