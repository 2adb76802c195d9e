# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Batches: which items they have, whose memory they are in, and what is refused."""

from __future__ import annotations

import tracemalloc

import metaops as mo
import numpy as np
import pytest
from metaops import data
from metaops.data.making import MapMaker

pytestmark = pytest.mark.processor


@pytest.mark.parametrize("inner", [[0, 1, 2, 3, 9, 3, 7], [3, 4, -5]])
@pytest.mark.parametrize("outer", [[-1], [0, -2, 1], [-3, 2]])
def test_places_of_subsets_of_subsets(inner, outer):
    rows = data.TensorDataset(np.arange(10))
    subset = data.Subset(data.Subset(rows, inner), outer)
    assert MapMaker(subset, None, True, 0).arrays is not None
    expected = [np.arange(10)[inner[index]] for index in outer]
    assert [subset[place][0] for place in range(len(outer))] == expected
    assert [batch[0].item() for batch in data.DataLoader(subset)] == expected
    (batch,) = data.DataLoader(subset, batch_sampler=[range(-len(outer), 0)])
    assert batch[0].tolist() == expected


@pytest.mark.parametrize("outer", [[3], [-4], [0, 5]])
def test_a_subset_whose_places_are_none_of_a_subset(outer):
    subset = data.Subset(data.Subset(data.TensorDataset(np.arange(10)), [1, 2, 3]), outer)
    with pytest.raises(IndexError):
        list(data.DataLoader(subset, len(outer)))


@pytest.mark.parametrize(
    "change",
    [
        lambda rows: rows.transpose(0, 2, 1),
        lambda rows: rows.reshape(len(rows), -1)[:, :-1],
        lambda rows: np.asfortranarray(rows.reshape(len(rows), -1)),
        lambda rows: rows[::-2],
    ],
)
def test_a_gather_copies_its_rows_alone(change):
    rows = change(np.random.default_rng(0).random((2000, 16, 8)))
    (order,) = data.DataLoader(np.arange(len(rows)), len(rows), shuffle=True, seed=1)
    iterator = iter(data.DataLoader(rows, 4, shuffle=True, seed=1, as_arrays=True))
    tracemalloc.start()
    try:
        batch = next(iterator)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    np.testing.assert_array_equal(batch, rows[order.numpy()[:4]])
    assert peak < rows.nbytes / 4


@pytest.mark.parametrize("dataset", [np.arange(10), data.Subset(np.arange(10), range(5))])
def test_indices_of_rows_are_integers(dataset):
    for wrong in ([1.5, 2.7], ["a"], [True, False]):
        with pytest.raises(TypeError, match=r"expected integers \(batch 1 of epoch 0"):
            list(data.DataLoader(dataset, batch_sampler=[[0], wrong]))
    first, empty, last = data.DataLoader(dataset, batch_sampler=[[0], [], np.uint8([1, 2])])
    assert (first.tolist(), empty.shape, last.tolist()) == ([0], (0,), [1, 2])
    with pytest.raises(IndexError, match=f"index {2**64 - 1}, but the data set has"):
        list(data.DataLoader(dataset, batch_sampler=[np.uint64([2**64 - 1])]))


def test_integers_that_no_type_has():
    for items in ([2**63, -1], [-1, 2**63], [True, -(2**63) - 1]):
        with pytest.raises(ValueError, match="integers of over 64 bits"):
            data.default_collate(items)
    assert data.default_collate([2**63, 1]).dtype == "uint64"
    assert data.default_collate([2**63, 1.0]).dtype == "float32"


class Reused(data.Dataset):
    """Items that are all in the same memory."""

    def __init__(self):
        self.memory = np.zeros(4000, "float32")

    def __len__(self):
        return 4

    def __getitem__(self, index):
        self.memory[:] = index
        return self.memory


@pytest.mark.parametrize("workers", [0, 1])
@pytest.mark.parametrize("as_arrays", [False, True])
def test_memory_that_is_written_again(workers, as_arrays):
    options = {"num_workers": workers, "as_arrays": as_arrays}
    batches = list(data.DataLoader(Reused(), None, **options))
    assert [float(batch[0]) for batch in batches] == [0, 1, 2, 3]
    memory = np.zeros((1, 4000), "float32")

    def fill(items):
        memory[:] = items[0]
        return memory

    batches = list(data.DataLoader(Reused(), collate_fn=fill, **options))
    assert [float(batch[0, 7]) for batch in batches] == [0, 1, 2, 3]
    # So it is of Vars that wait: the sum is computed behind the last batch.
    total = mo.zeros(4000)
    for batch in data.DataLoader(Reused(), None, collate_fn=lambda item: item, **options):
        total = total + batch
    assert total[9].item() == 6
