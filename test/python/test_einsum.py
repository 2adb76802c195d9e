# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Einstein's summation against NumPy's, its order, and its kernels."""

import math
import re

import metaops as mo
import numpy as np
import pytest
from util import check_gradient, close, floats, same

EXPRESSIONS = [
    ("ij,jk->ik", (3, 4), (4, 5)),
    ("ij,jk", (3, 4), (4, 5)),
    ("ij,jk->ki", (3, 4), (4, 5)),
    ("ji,jk->ik", (4, 3), (4, 5)),
    ("bij,bjk->bik", (2, 3, 4), (2, 4, 5)),
    ("bi,bj->ijb", (2, 3), (2, 4)),
    ("ba", (3, 4)),
    ("ij->ji", (3, 4)),
    ("ij->", (3, 4)),
    ("ij->j", (3, 4)),
    ("ii", (4, 4)),
    ("ii->i", (4, 4)),
    ("iij->j", (4, 4, 3)),
    ("iji,ij->j", (3, 4, 3), (3, 4)),
    ("i,i", (4,), (4,)),
    ("i,j", (3,), (4,)),
    ("", ()),
    (",ij", (), (3, 4)),
    ("ij,ij->ij", (1, 4), (3, 4)),
    ("ij,jk->", (3, 4), (4, 5)),
    ("ij,jk->k", (0, 4), (4, 5)),
    ("ij,jk->ik", (3, 0), (0, 5)),
    ("i...", (3, 4)),
    ("...i->...", (2, 3, 4)),
    ("...ii->i...", (2, 3, 3)),
    ("...ij,...jk->...ik", (2, 1, 3, 4), (5, 4, 6)),
    ("i...j,j...", (3, 2, 4), (4, 1)),
    ("...,...", (3, 1), (4,)),
    (" i j , j -> i ", (3, 4), (4,)),
    ("aB,Bc->ca", (3, 4), (4, 5)),
    ("ij,jk,kl->il", (3, 4), (4, 5), (5, 6)),
    ("ij,jk,ki", (3, 4), (4, 5), (5, 3)),
    ("ij,kj,k,i->j", (3, 4), (5, 4), (5,), (3,)),
    ("bi,bj,bk->ijk", (2, 3), (2, 4), (2, 5)),
    ("a,b,c,d,e,f,g,h,i,j->j", *[(2,)] * 10),
    ("ab,bc,cd,de,ef,fg,gh,hi,ij", *[(2, 2)] * 9),
]


@pytest.mark.parametrize("expression", EXPRESSIONS, ids=lambda e: e[0])
def test_expressions(rng, expression):
    text, *shapes = expression
    arrays = [floats(rng, shape, "float64") for shape in shapes]
    close(mo.einsum(text, *arrays), np.einsum(text, *arrays), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("optimize", [True, False, "optimal", "greedy", [(1, 2), (0, 1), (0, 1)]])
def test_orders(rng, optimize):
    arrays = [floats(rng, shape, "float64") for shape in [(3, 4), (4, 5), (5, 6), (6, 3)]]
    for text in ["ij,jk,kl,lm->im", "ij,jk,kl,li", "ij,jk,kl,lm->mki"]:
        close(mo.einsum(text, *arrays, optimize=optimize), np.einsum(text, *arrays), rtol=1e-12)


def test_lists_of_integers(rng):
    a, b = floats(rng, (2, 3, 4), "float64"), floats(rng, (4, 5), "float64")
    for operands in [
        (a, [0, 1, 2], b, [2, 3], [3, 0, 1]),
        (a, [0, 1, 2], b, [2, 3]),
        (a, [..., 7], b, [7, 30], [..., 30]),
        (a, [30, 1, 0]),
    ]:
        close(mo.einsum(*operands), np.einsum(*operands), rtol=1e-12)


def test_types(rng):
    a, b = rng.integers(-9, 9, (3, 4)), rng.integers(-9, 9, (4, 5))
    for dtype in ["int8", "int32", "int64", "uint16"]:
        x, y = a.astype(dtype), b.astype(dtype)
        same(mo.einsum("ij,jk->ik", x, y), np.einsum("ij,jk->ik", x, y))
        same(mo.einsum("ij->j", x), np.einsum("ij->j", x))
    large = np.array([[2**53 + 1, 1], [3, 2**60 + 7]])
    same(mo.einsum("ij,j->i", large, np.array([1, 1])), large.sum(1))
    p, q = a > 0, b > 0
    same(mo.einsum("ij,jk->ik", p, q), p @ q)
    same(mo.einsum("ij->i", p), p.any(1))
    same(mo.einsum("ij,jk->ik", a.astype("int32"), q), a.astype("int32") @ q)
    ones = mo.ones((1, 4096), "float16")
    result = mo.einsum("ij,kj->ik", ones, ones)
    assert result.dtype == "float16" and result.item() == 4096
    assert mo.einsum("i,i", np.ones(3, "float32"), np.ones(3)).dtype == "float64"


def kernels():
    """Return the last program without the lines of the source."""
    return re.sub(r"#?loc\S*( = )?(\(.*?\))?", "", mo.last_program().ir("scheduled"))


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
def test_a_matrix_product_is_matmuls(rng, compiled, dtype):
    a, b = mo.array(floats(rng, (4, 64, 48), dtype)), mo.array(floats(rng, (4, 48, 80), dtype))
    mo.sync([a, b])
    expected = mo.matmul(a, b).sync()
    by_matmul = kernels()
    same(mo.einsum("bij,bjk->bik", a, b), expected.numpy())
    assert kernels() == by_matmul


def test_products_are_not_in_memory(rng, compiled):
    a, b, c = (mo.array(floats(rng, (64, 64))) for _ in range(3))
    mo.sync([a, b, c])
    for text, operands in [
        ("ij,jk->ik", (a, b)),
        ("ij,ij->i", (a, b)),
        ("ij,ij", (a, b)),
        ("ii,ij->j", (a, b)),
    ]:
        mo.einsum(text, *operands).sync()
        assert len(mo.last_program().kernels) == 1, str(mo.last_program())
    mo.einsum("ij,jk,kl->il", a, b, c).sync()
    program = mo.last_program()
    assert len(program.kernels) <= 4 and program.arena_bytes <= 3 * 64 * 64 * 4


def test_the_cheapest_order():
    shapes = [(3, 40), (40, 5), (5, 60), (60, 2), (2, 3)]
    arrays = [np.ones(shape, "float32") for shape in shapes]
    path, text = mo.einsum_path("ij,jk,kl,lm,mn->in", *arrays)
    expected, _ = np.einsum_path("ij,jk,kl,lm,mn->in", *arrays, optimize="optimal")
    assert path == expected
    assert text.splitlines()[-1].split() == ["1,248", "in", "all;", "864,000", "in", "one", "step"]
    close(mo.einsum("ij,jk,kl,lm,mn->in", *arrays, optimize=path), np.full((3, 3), 24000.0))
    assert mo.einsum_path("ij,jk,kl->il", *arrays[:3], optimize=False)[0][1:] == [(0, 1, 2)]
    assert mo.einsum_path("ij->i", arrays[0])[0] == ["einsum_path", (0,)]
    # A star of vectors: outer products of small ones beside the large matrix.
    star = [np.ones(shape) for shape in [(100, 100), (100,), (100,)]]
    assert mo.einsum_path("ij,i,j->", *star, optimize="greedy")[0][1] in [(0, 1), (0, 2)]


def test_optimal_orders_are_the_cheapest(rng):
    """Against all orders of four random operands."""

    def cheapest(terms, result, extents):
        if len(terms) == 1:
            return 0
        found = math.inf
        for j in range(len(terms)):
            for i in range(j):
                rest = [term for k, term in enumerate(terms) if k not in (i, j)]
                both = terms[i] | terms[j]
                left = both & set().union(result, *rest)
                cost = math.prod(extents[k] for k in both)
                found = min(found, cost + cheapest([*rest, left], result, extents))
        return found

    for _ in range(20):
        extents = {letter: int(rng.integers(2, 9)) for letter in "abcdef"}
        terms = [sorted(rng.choice(list("abcdef"), 3, replace=False)) for _ in range(4)]
        used = sorted(set().union(*terms))
        result = used[:2]
        text = ",".join(map("".join, terms)) + "->" + "".join(result)
        arrays = [np.ones([extents[k] for k in term]) for term in terms]
        _, told = mo.einsum_path(text, *arrays)
        # What only one operand has is summed before, without a product.
        sets = [
            {k for k in term if k in result or sum(k in other for other in terms) > 1}
            for term in terms
        ]
        cost = cheapest(sets, set(result), extents)
        assert int(told.splitlines()[-1].split()[0].replace(",", "")) == cost, text


@pytest.mark.parametrize(
    "text, shapes",
    [
        ("ij,jk->ki", [(2, 3), (3, 2)]),
        ("ii,ij->j", [(3, 3), (3, 2)]),
        ("i,ij,kj->", [(2,), (2, 3), (2, 3)]),
    ],
)
def test_gradients(rng, text, shapes):
    arrays = [floats(rng, shape, "float64") for shape in shapes]
    check_gradient(lambda *x: mo.einsum(text, *x) ** 2, *arrays, rtol=1e-5, atol=1e-6)


x = np.ones((2, 3), "float32")
WRONG = {
    "no operands": (lambda: mo.einsum("ij"), "given no operands for 'ij'"),
    "nothing": (lambda: mo.einsum(), "given nothing"),
    "terms": (lambda: mo.einsum("ij,jk", x), "has 2 terms, given 1 operands"),
    "letters": (lambda: mo.einsum("i1", x), "has '1', expected letters and one ellipsis"),
    "ellipses": (lambda: mo.einsum("......", x), "expected letters and one ellipsis"),
    "rank": (lambda: mo.einsum("ijk", x), "does not fit an operand of 2 dimensions"),
    "fewer": (lambda: mo.einsum("i", x), "does not fit an operand of 2 dimensions"),
    "unknown": (lambda: mo.einsum("ij->k", x), "has 'k', which no operand has"),
    "twice": (lambda: mo.einsum("ij->ii", x), "has 'i' more than once"),
    "dots": (lambda: mo.einsum("i...->i", x), "has no ellipsis, but operands have"),
    "diagonal": (lambda: mo.einsum("ii", x), r"extents \[2, 3\], expected equal"),
    "extents": (lambda: mo.einsum("ij,jk", x, x), "index 'j' has the extents 3 and 2"),
    "ellipsis": (lambda: mo.einsum("...,...", x, x.T), "the ellipsis has the extents"),
    "optimize": (lambda: mo.einsum("ij,jk,kl", x, x.T, x, optimize="x"), "optimize is 'x'"),
    "unused": (lambda: mo.einsum("ij", x, optimize=3), "optimize is 3, expected a bool"),
    "path": (lambda: mo.einsum("ij,jk,kl", x, x.T, x, optimize=[(0, 3)]), "expected places below"),
    "short path": (lambda: mo.einsum("ij,jk,kl", x, x.T, x, optimize=[(0, 1)]), "leaves 2 operand"),
    "index": (lambda: mo.einsum(x, [0, 52]), "an index is 52, expected 0 to 51"),
}


@pytest.mark.parametrize("name", WRONG)
def test_errors(name):
    call, message = WRONG[name]
    with pytest.raises(ValueError, match=rf"^einsum: .*{message}.*test_einsum\.py:"):
        call()


def test_errors_of_types():
    with pytest.raises(TypeError, match="an index is 'a', expected an integer"):
        mo.einsum(x, ["a", 1])
    with pytest.raises(TypeError, match="indices are 3, expected a list"):
        mo.einsum(x, 3)


def test_the_result_is_fresh():
    value = mo.array(x)
    y = mo.einsum("ij->ij", value)
    y += 1
    same(value, x)
