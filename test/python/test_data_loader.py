# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Data sets, samplers and loaders that have no workers."""

from __future__ import annotations

import collections
import itertools
import math

import metaops as mo
import numpy as np
import pytest
from data_checks import assert_equal, read
from metaops import data
from metaops.data.making import MapMaker

pytestmark = pytest.mark.processor


class Squares(data.Dataset):
    """Items with a number, a vector and a text, and with noise of their own."""

    def __init__(self, count=10):
        self.count = count

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        noise = data.rng().random()
        return {"n": index, "x": np.full(3, index**2, "float32"), "name": f"{index}", "r": noise}


class Numbers(data.IterableDataset):
    """A stream of numbers."""

    def __init__(self, count):
        self.count = count

    def __iter__(self):
        for number in range(self.count):
            yield np.float64(number), data.rng().random()


Pair = collections.namedtuple("Pair", "a b")


def test_batches_have_the_items_in_order():
    batches = list(data.DataLoader(Squares(), 4))
    assert [batch["n"].tolist() for batch in batches] == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]
    assert batches[2]["name"] == ["8", "9"]
    assert batches[1]["x"].dtype == mo.float32 and batches[1]["n"].dtype == mo.int64
    np.testing.assert_array_equal(batches[1]["x"].numpy()[:, 1], [16, 25, 36, 49])


@pytest.mark.parametrize("drop_last", [False, True])
@pytest.mark.parametrize("count", [0, 1, 7, 8])
def test_lengths(count, drop_last):
    loader = data.DataLoader(Squares(count), 4, drop_last=drop_last, shuffle=True)
    sizes = [batch["n"].shape[0] for batch in loader]
    assert len(sizes) == len(loader)
    assert sizes == [4] * (count // 4) + ([count % 4] if count % 4 and not drop_last else [])


@pytest.mark.parametrize(
    "dataset",
    [
        lambda x, y: data.TensorDataset(x, y),
        lambda x, y: data.TensorDataset(mo.array(x), mo.array(y)),
        lambda x, y: data.Subset(data.TensorDataset(x[::-1], y[::-1]), range(19, -1, -1)),
        lambda x, y: data.Subset(data.Subset(data.TensorDataset(x, y), range(20)), range(-20, 0)),
        lambda x, y: data.ConcatDataset([data.TensorDataset(x[:7], y[:7]), Rows(x[7:], y[7:])]),
        lambda x, y: Rows(x[:3], y[:3]) + data.TensorDataset(x[3:], y[3:]),
        lambda x, y: Rows(x, y),
        lambda x, y: list(zip(x, y, strict=True)),
        lambda x, y: ByBatch(x, y),
        lambda x, y: data.TensorDataset(x.astype(">f8"), y),
    ],
)
def test_all_kinds_of_data_sets_give_the_same_batches(dataset):
    x, y = np.arange(60.0).reshape(20, 3), np.arange(20) % 7
    loader = data.DataLoader(dataset(x, y), 6, shuffle=True, seed=3)
    order = np.concatenate([batch[1] for batch in read(loader)])
    assert sorted(order) == sorted(y) and order.tolist() != y.tolist()
    expected = read(data.DataLoader(data.TensorDataset(x, y), 6, shuffle=True, seed=3))
    assert_equal(read(data.DataLoader(dataset(x, y), 6, shuffle=True, seed=3)), expected)


class Rows:
    """Rows of arrays, by no class of the package."""

    def __init__(self, *arrays):
        self.arrays = arrays

    def __len__(self):
        return len(self.arrays[0])

    def __getitem__(self, index):
        return tuple(array[index] for array in self.arrays)

    def __add__(self, other):
        return data.ConcatDataset([self, other])


class ByBatch(Rows):
    """Rows that are made for a batch at once."""

    def __getitem__(self, index):
        raise AssertionError("an item is asked for alone")

    def __getitems__(self, indices):
        return list(zip(*(array[indices] for array in self.arrays), strict=True))


def test_arrays_are_gathered_and_subclasses_asked():
    class Doubled(data.TensorDataset):
        def __getitem__(self, index):
            return tuple(2 * value for value in super().__getitem__(index))

    x = np.arange(6)
    for dataset, is_gathered in [
        (x, True),
        (data.TensorDataset(x), True),
        (data.Subset(data.TensorDataset(x), [1, 2]), True),
        (Doubled(x), False),
        (data.Subset(Doubled(x), [1]), False),
        (data.TensorDataset(np.array(["a", "b"])), False),
    ]:
        assert (MapMaker(dataset, None, True, 0).arrays is not None) == is_gathered
    (batch,) = data.DataLoader(Doubled(x), 6)
    assert batch[0].tolist() == [0, 2, 4, 6, 8, 10]


def test_noise_follows_from_the_place_in_the_epoch():
    (first, second), (third, *_) = (
        read(data.DataLoader(Squares(12), size, seed=1)) for size in (6, 12)
    )
    noise = np.concatenate([first["r"], second["r"]])
    assert len(set(noise.tolist())) == 12 and noise.min() >= 0 and noise.max() < 1
    np.testing.assert_array_equal(noise, third["r"])
    loader = data.DataLoader(Squares(12), 12, seed=1)
    (one,), (two,) = read(loader), read(loader)
    np.testing.assert_array_equal(one["r"], noise.astype("float32"))
    assert not np.isin(one["r"], two["r"]).any()
    # An item that is drawn twice in an epoch is not made alike.
    (twice,) = read(data.DataLoader(Squares(3), 4, sampler=[1, 1, 1, 1]))
    assert len(set(twice["r"].tolist())) == 4


def test_all_calls_for_an_item_have_one_generator():
    seen = []

    def item(index):
        seen.append([data.rng(), data.rng()])
        return index

    def batch(items):
        seen.append([data.rng(), data.rng()])
        return np.array(items)

    loader = data.DataLoader(
        [*range(3)], 3, collate_fn=lambda b: batch([item(i) for i in b]), seed=1
    )
    list(loader)
    assert all(one is other for one, other in seen)
    outside = [data.rng().random() for _ in range(2)]
    assert outside[0] != outside[1]
    mo.seed(0)
    assert [data.rng().random() for _ in range(2)] == outside


@pytest.mark.parametrize("given", [0, 1, 3, 4])
@pytest.mark.parametrize("kind", ["map", "stream", "batch sampler", "one by one"])
def test_a_loader_goes_on_where_another_was(kind, given):
    def make(seed):
        if kind == "stream":
            return data.DataLoader(Numbers(19), 5, seed=seed)
        if kind == "one by one":
            return data.DataLoader(Squares(4), None, shuffle=True, seed=seed)
        if kind == "batch sampler":
            return data.DataLoader(
                Squares(8), batch_sampler=[[0], [5, 1, 2], [3], [7, 7]], seed=seed
            )
        return data.DataLoader(Squares(19), 5, shuffle=True, seed=seed)

    loader = make(3)
    first = read(loader)
    iterator = iter(loader)
    for _ in range(given):
        next(iterator)
    state = loader.state_dict()
    assert state == {"seed": 3, "epoch": 1, "batches": given}
    rest, after = [*map(lambda b: b, read(iterator))], read(loader)
    assert loader.state_dict() == {"seed": 3, "epoch": 3, "batches": 0}
    other = make(4)
    other.load_state_dict(state)
    assert other.state_dict() == state
    if rest or given < 4:
        assert_equal(read(other), rest)
    else:
        assert read(other) == []
    assert_equal(read(other), after)
    assert len(first) == 4


def test_a_state_that_is_none():
    loader = data.DataLoader(range(3))
    for state in (3, {}, {"seed": 1, "epoch": 2}, {**loader.state_dict(), "more": 1}):
        with pytest.raises(TypeError, match="which state_dict returns"):
            loader.load_state_dict(state)
    for key in ("epoch", "batches"):
        with pytest.raises(ValueError, match=f"{key} is -1, expected 0 or more"):
            loader.load_state_dict({**loader.state_dict(), key: -1})
    assert len(list(loader)) == 3


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: data.RandomSampler([1], num_samples=-1), ValueError, "num_samples is -1"),
        (lambda: data.WeightedRandomSampler([1, -1], 1), ValueError, "not negative"),
        (lambda: data.WeightedRandomSampler([math.nan], 1), ValueError, "finite numbers"),
        (lambda: data.WeightedRandomSampler([0.0, 0.0], 1), ValueError, "0 of 2 weights"),
        (lambda: data.WeightedRandomSampler([1, 0], 2, False), ValueError, "1 of 2 weights"),
        (lambda: data.BatchSampler([1], 0), ValueError, "batch_size is 0, expected 1 or more"),
        (lambda: data.TensorDataset(), ValueError, "no tensors"),
        (lambda: data.TensorDataset(np.zeros(2), np.zeros(3)), ValueError, r"\[2, 3\] rows"),
        (lambda: data.TensorDataset(np.float32(1)), ValueError, "expected an array that has rows"),
        (lambda: data.ConcatDataset([[1], Numbers(3)]), TypeError, "data set 1 is a Numbers"),
        (lambda: data.random_split([1, 2], [1, 2]), ValueError, "the length 2 of the data set"),
        (lambda: data.random_split([1, 2], [3, -1]), ValueError, "the length 2"),
        (lambda: data.DataLoader(3), TypeError, "dataset is 3, expected an object that has"),
        (lambda: data.DataLoader([1], 0), ValueError, "batch_size is 0, expected 1 or more"),
        (lambda: data.DataLoader([1], 1.5), TypeError, "batch_size is 1.5, expected an integer"),
        (lambda: data.DataLoader([1], num_workers=-1), ValueError, "num_workers is -1"),
        (lambda: data.DataLoader([1], timeout=-1), ValueError, "timeout is -1"),
        (lambda: data.DataLoader([1], timeout="x"), TypeError, "timeout is 'x'"),
        (lambda: data.DataLoader([1], prefetch_factor=0), ValueError, "prefetch_factor is 0"),
        (lambda: data.DataLoader([1], shuffle=True, sampler=[0]), ValueError, "place of shuffle"),
        (lambda: data.DataLoader([1], 2, batch_sampler=[[0]]), ValueError, "place of batch_size"),
        (lambda: data.DataLoader([1], None, drop_last=True), ValueError, "without a batch_size"),
        (lambda: data.DataLoader(Numbers(2), shuffle=True), ValueError, "has its own order"),
        (lambda: data.DataLoader([1], multiprocessing_context="x"), ValueError, "'fork' or"),
        (lambda: data.DataLoader([1], batchsize=2), TypeError, "did you mean 'batch_size'"),
        (lambda: data.default_collate([]), ValueError, "given no items"),
    ],
)
def test_bad_parameters(make, error, message):
    with pytest.raises(error, match=message):
        make()


@pytest.mark.parametrize(
    ("items", "error", "message"),
    [
        ([np.zeros(3), np.zeros(4)], ValueError, r"item 1 has shape \(4,\), but item 0, .* \(3,\)"),
        ([{"a": np.zeros(2)}, {"a": np.zeros(3)}], ValueError, r"shape \(3,\)\['a'\]"),
        ([{"a": 1}, {"b": 1}], ValueError, r"item 1 has the keys \['b'\]"),
        ([(1, 2), (1,)], ValueError, "item 1 has a tuple of 1, but item 0"),
        ([1, "a"], ValueError, "item 1 has a str"),
        ([np.zeros(2), "a"], ValueError, "item 1 has a str"),
        ([object(), object()], TypeError, "item 0 has a object; expected numbers"),
        ([np.array("a")] * 2, TypeError, "dtype <U1"),
        ([2**70, 1], ValueError, "integers of over 64 bits"),
        ([None, None], TypeError, "item 0 has a NoneType"),
    ],
)
def test_items_that_have_no_batch(items, error, message):
    with pytest.raises(error, match=message):
        list(data.DataLoader(items, 2))
    with pytest.raises(error, match=message):
        data.default_collate(items)


def test_messages_name_the_indices_of_items():
    loader = data.DataLoader([np.zeros(k // 3) for k in range(9)], 2, sampler=[3, 4, 5, 6])
    iterator = iter(loader)
    assert next(iterator).shape == (2, 1)
    with pytest.raises(ValueError, match=r"item 6 has shape \(2,\), but item 5"):
        next(iterator)
    assert list(iterator) == []


def test_what_a_data_set_raises_is_told_with_its_index():
    class Bad(Squares):
        def __getitem__(self, index):
            if index == 3:
                raise KeyError("nothing")
            if index == 5:
                raise StopIteration
            return index

    iterator = iter(data.DataLoader(Bad(), 1))
    taken = [next(iterator).item() for _ in range(3)]
    with pytest.raises(KeyError) as told:
        next(iterator)
    assert told.value.__notes__ == ["in item 3 of the data set"]
    assert [*taken, next(iterator).item()] == [0, 1, 2, 4]
    with pytest.raises(RuntimeError, match="item 5 raised StopIteration"):
        next(iterator)
    assert [batch.item() for batch in iterator] == [6, 7, 8, 9]


@pytest.mark.parametrize("index", [3, -4, 2**40])
def test_samplers_out_of_range(index):
    for dataset in ([1, 2, 3], np.arange(3), Rows(np.arange(3))):
        with pytest.raises(IndexError, match=f"index {index}, but the data set has 3 items"):
            list(data.DataLoader(dataset, 2, sampler=[0, 1, 2, index]))
    with pytest.raises(ValueError, match="batch 1 has no items"):
        list(data.DataLoader([1, 2], batch_sampler=[[0], []]))
    (batch,) = data.DataLoader(np.arange(3), 3, sampler=[-1, -3, 2])
    assert batch.tolist() == [2, 0, 2]


def test_structures_of_batches():
    item = {"pair": Pair(1, np.ones(2)), "list": [True, "t"], "od": collections.OrderedDict(z=2.5)}
    (batch,) = data.DataLoader([item] * 3, 3)
    assert type(batch["pair"]) is Pair and type(batch["list"]) is list
    assert type(batch["od"]) is collections.OrderedDict
    kinds = [batch["pair"].a.dtype, batch["pair"].b.dtype, batch["list"][0].dtype]
    assert kinds == ["int64", "float64", "bool"] and batch["list"][1] == ["t"] * 3
    assert batch["od"]["z"].dtype == "float32"
    with mo.default_dtype("float64"):
        assert data.default_collate([1.5, 2]).dtype == "float64"
    assert data.default_collate([np.float64(1), np.float32(2)]).dtype == "float64"
    assert data.default_collate([mo.ones(2), mo.zeros(2)]).tolist() == [[1, 1], [0, 0]]
    with pytest.raises(ValueError, match="item 1 has a Var of shape"):
        data.default_collate([mo.ones(2), mo.ones(3)])
    arrays = next(iter(data.DataLoader([item] * 2, 2, as_arrays=True)))
    assert {type(leaf) for leaf in mo.tree_leaves(arrays)} == {np.ndarray, str}
    assert arrays["od"]["z"].dtype == np.float32
    assert np.shape(data.default_collate([np.zeros((0, 3))] * 2)) == (2, 0, 3)


def test_functions_that_make_batches():
    loader = data.DataLoader(Squares(), 5, collate_fn=lambda items: [len(items), np.ones(2), {"a"}])
    batch = next(iter(loader))
    assert batch[0] == 5 and batch[2] == {"a"} and isinstance(batch[1], mo.Var)
    alone = [*data.DataLoader(Squares(2), None)]
    assert [one["n"] for one in alone] == [0, 1] and alone[1]["x"].shape == (3,)
    assert [*data.DataLoader(range(3), None, collate_fn=lambda n: n * 10)] == [0, 10, 20]


def test_keys_may_be_indices():
    table = {"a": 1, "b": 2, "c": 3}
    batches = data.DataLoader(table, batch_sampler=[("a", "c"), ("b",)])
    assert [batch.tolist() for batch in batches] == [[1, 3], [2]]


def test_streams():
    batches = read(data.DataLoader(Numbers(7), 3, seed=2))
    assert [batch[0].tolist() for batch in batches] == [[0, 1, 2], [3, 4, 5], [6]]
    assert len(set(np.concatenate([batch[1] for batch in batches]).tolist())) == 7
    assert len(read(data.DataLoader(Numbers(7), 3, drop_last=True))) == 2
    assert [float(n) for n, _ in data.DataLoader(Numbers(2), None)] == [0, 1]
    assert read(data.DataLoader(Numbers(0), 3)) == []
    with pytest.raises(TypeError):
        len(data.DataLoader(Numbers(3)))
    counted = map(np.int64, itertools.count())
    assert next(iter(data.DataLoader(counted, 4))).tolist() == [0, 1, 2, 3]


def test_a_stream_that_fails_names_the_place():
    def numbers():
        yield 1
        raise OSError("gone")

    iterator = iter(data.DataLoader(numbers(), 1))
    assert next(iterator).tolist() == [1]
    with pytest.raises(OSError, match="gone") as told:
        next(iterator)
    assert told.value.__notes__ == ["in item 1 of the stream"]


def test_two_iterators_of_a_loader_are_two_epochs():
    loader = data.DataLoader(range(4), 2, shuffle=True, seed=0)
    pairs = [(a.tolist(), b.tolist()) for a, b in zip(loader, loader, strict=True)]
    other = data.DataLoader(range(4), 2, shuffle=True, seed=0)
    first, second = ([b.tolist() for b in other] for _ in range(2))
    assert pairs == [*zip(first, second, strict=True)]
    assert loader.state_dict()["epoch"] == 2


def test_batches_are_no_ones_elses_memory():
    x = np.arange(8.0)
    loader = data.DataLoader(x, 4)
    batch = next(iter(loader))
    x[:] = 0
    assert batch.tolist() == [0, 1, 2, 3]
    arrays = next(iter(data.DataLoader(x, 4, as_arrays=True)))
    arrays[:] = 5
    assert not x.any()
