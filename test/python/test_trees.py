# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions of all tensors in lists, tuples and dicts."""

import collections
from typing import NamedTuple

import metaops as mo
import pytest
from util import same


class Layer(NamedTuple):
    weight: object
    bias: object


def tree():
    return {
        "a": [mo.array([1.0, 2.0]), (mo.array(3.0), None)],
        "b": Layer(mo.array([4.0]), 5.0),
        "c": {},
        "d": collections.OrderedDict(x=mo.array(6), y=[]),
    }


def test_the_structure_stays():
    given = tree()
    result = mo.tree_map(lambda x: x * 2, given)
    assert type(result["b"]) is Layer and type(result["d"]) is collections.OrderedDict
    assert list(result) == list(given) and list(result["d"]) == ["x", "y"]
    assert type(result["a"][1]) is tuple and result["a"][1][1] is None
    for leaf, expected in zip(mo.tree_leaves(result), mo.tree_leaves(given), strict=True):
        assert mo.asarray(leaf).tolist() == (mo.asarray(expected) * 2).tolist()
    assert len(mo.tree_leaves(given)) == 5 and mo.tree_leaves(None) == []
    assert mo.tree_map(str, 3) == "3" and mo.tree_leaves("ab") == ["ab"]


def test_several_structures():
    result = mo.tree_map(
        lambda p, g, k: p - k * g, tree(), tree(), mo.tree_map(lambda _: 2, tree())
    )
    same(result["a"][0], (-mo.array([1.0, 2.0])).numpy())
    assert result["b"].bias == -5.0


def test_gradients_of_a_structure():
    params = {"w": mo.array([1.0, 2.0]), "b": [mo.array(3.0)]}
    loss = (params["w"] ** 2).sum() * params["b"][0]
    gradients = iter(mo.grad(loss, mo.tree_leaves(params)))
    result = mo.tree_map(lambda _: next(gradients), params)
    same(result["w"], (params["w"] * 6).numpy())
    same(result["b"][0], mo.array(5.0).numpy())


@pytest.mark.parametrize(
    "other, message",
    [
        ({"a": 1}, "a dict of 'a' is in the place of a dict of 'a', 'b'"),
        ({"a": [1], "b": 2}, "a list of 1 is in the place of a list of 2"),
        ({"a": 1, "b": 2}, "an int is in the place of a list of 2"),
        ({"a": None, "b": 2}, "None is in the place of a list of 2"),
        ({"a": [], "b": 2}, "a list of 0 is in the place of a list of 2"),
    ],
)
def test_other_structures(other, message):
    given = {"a": [1, 2], "b": 3}
    with pytest.raises(ValueError, match=rf"^tree_map: {message} .*test_trees.py"):
        mo.tree_map(lambda x, y: x, given, other)
    with pytest.raises(ValueError, match="tree_map: an empty dict is in the place of None"):
        mo.tree_map(lambda x, y: x, [None], [{}])
