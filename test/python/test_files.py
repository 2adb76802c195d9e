# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""mo.save and mo.load."""

import collections
import io
import json
import math
import pathlib
import pickle
import zipfile

import metaops as mo
import numpy as np
import pytest
from util import same

DTYPES = "float16 bfloat16 float32 float64 int8 int16 int32 int64 uint8 uint16 uint32 uint64 bool"


def check_same(actual, expected):
    """Compare values: types, keys and their order, dtypes, and every element."""
    assert type(actual) is type(expected)
    if isinstance(expected, dict):
        assert list(actual) == list(expected)
        assert [type(key) for key in actual] == [type(key) for key in expected]
        for key, value in expected.items():
            check_same(actual[key], value)
    elif isinstance(expected, list | tuple):
        assert len(actual) == len(expected)
        for item, other in zip(actual, expected, strict=True):
            check_same(item, other)
    elif isinstance(expected, mo.Var):
        assert actual.dtype == expected.dtype
        same(actual, expected.numpy())
    elif isinstance(expected, np.ndarray | np.generic):
        same(actual, expected)
    elif isinstance(expected, float):
        assert np.float64(actual).tobytes() == np.float64(expected).tobytes()
    else:
        assert actual == expected


def round_trip(value, path):
    mo.save(value, path)
    check_same(mo.load(path), value)


@pytest.mark.parametrize("dtype", DTYPES.split())
@pytest.mark.parametrize("shape", [(), (0,), (7,), (2, 0, 3), (2, 3)])
def test_vars(rng, tmp_path, dtype, shape):
    x = mo.array(rng.integers(0, 2, shape) if dtype == "bool" else rng.uniform(0, 99, shape), dtype)
    round_trip({"x": x, "y": [x + x]}, tmp_path / "file")


def test_every_bfloat16(tmp_path):
    bits = np.arange(1 << 16, dtype="uint32") << 16
    x = mo.array(bits.view("float32"), "bfloat16")
    mo.save(x, tmp_path / "file")
    loaded = mo.load(tmp_path / "file")
    assert loaded.dtype == "bfloat16"
    same(loaded, x.numpy())
    numbers = ~np.isnan(x.numpy())
    np.testing.assert_array_equal(loaded.numpy().view("uint32")[numbers], bits[numbers])


VALUES = {
    "numbers": [0, -1, 2**70, 1.5, -0.0, 5e-324, math.inf, -math.inf, math.nan, True, False, None],
    "strings": ["", "a", "é\n\0\ud800", "x" * 1000],
    "nothing": [[], (), {}, [[], ({},)]],
    "keys": {"a": 1, 2: "b", None: 3, 1.5: 4, ("x", (0, None)): 5, "": 6, "2": 7, False: 8},
    "paths that meet": {"a": {"b": np.arange(2)}, "a.b": np.arange(3), "": {"": np.arange(4)}},
    "strange names": {"/etc/passwd": np.arange(2), "../x": np.arange(3), "\0": np.arange(4)},
    "names of members": {"metaops.json": np.arange(2), "x.npy": np.arange(3), "tensor.0": 1},
    "long names": {"n" * 70000: np.arange(2), "n" * 70001: np.arange(3)},
    "arrays": [
        np.arange(6.0).reshape(2, 3).T,
        np.arange(10)[::3],
        np.array(["ab", "c"]),
        np.array([b"ab"]),
        np.array([1 + 2j]),
        np.arange(3, dtype=">i4"),
        np.array("2026-01-02", "datetime64[D]"),
        np.zeros((0, 2), "bool"),
    ],
    "NumPy's numbers": [
        np.float16(1.5),
        np.int8(-3),
        np.bool_(True),
        np.float64("nan"),
        np.str_("x"),
    ],
}


@pytest.mark.parametrize("name", VALUES)
def test_values(tmp_path, name):
    round_trip(VALUES[name], tmp_path / "file")


def test_mappings_come_back_as_dicts(tmp_path):
    mo.save(collections.OrderedDict(a=1, b=np.arange(2)), tmp_path / "file")
    check_same(mo.load(tmp_path / "file"), {"a": 1, "b": np.arange(2)})


def test_one_tensor_under_two_names_is_one(tmp_path):
    x, y = mo.array([1.0]), np.arange(3)
    mo.save({"a": x, "b": [x, y], "c": y, "d": +x}, tmp_path / "file")
    loaded = mo.load(tmp_path / "file")
    assert loaded["a"] is loaded["b"][0] and loaded["c"] is loaded["b"][1]
    assert loaded["d"] is not loaded["a"]
    with np.load(tmp_path / "file") as archive:
        assert set(archive.files) == {"a", "b.1", "d", "metaops.json"}


def test_loaded_arrays_may_be_written(tmp_path):
    mo.save([np.arange(3), np.zeros((2, 2)).T], tmp_path / "file")
    for array in mo.load(tmp_path / "file"):
        array += 1


def test_states(tmp_path):
    path = tmp_path / "file"
    model = mo.nn.Linear(3, 2)
    optimizer = mo.optim.Adam(model.parameters(), 0.1)
    optimizer.step((model(mo.ones((1, 3))) ** 2).sum())
    mo.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "epoch": 3}, path)
    loaded = mo.load(path)
    assert loaded["epoch"] == 3
    other = mo.nn.Linear(3, 2)
    other.load_state_dict(loaded["model"])
    twin = mo.optim.Adam(other.parameters(), 0.5)
    twin.load_state_dict(loaded["optimizer"])
    assert (twin.lr, twin.steps) == (0.1, 1)
    for descent, layer in [(optimizer, model), (twin, other)]:
        descent.step((layer(mo.ones((1, 3))) ** 2).sum())
    same(other.weight, model.weight.numpy())


class Record(tuple):
    """A tuple that would come back as another type."""


UNSAVABLE = {
    "object": ({"a": [1, object()]}, TypeError, r"'a\.1' is a object"),
    "function": (len, TypeError, "the value is a builtin_function"),
    "set": ({"a": {1}}, TypeError, "'a' is a set"),
    "complex": ([1j], TypeError, "'0' is a complex"),
    "module": ({"net": mo.nn.ReLU()}, TypeError, "'net' is a ReLU"),
    "subclass": ([Record((1, 2))], TypeError, "'0' is a Record"),
    "key": ({"a": {b"x": 1}}, TypeError, "a key of 'a' is a bytes"),
    "key inside": ({(1, b"x"): 1}, TypeError, "a key of the value is a bytes"),
    "array of objects": ({"a": np.array([object()])}, TypeError, "'a' has dtype object"),
    "records": ({"a": np.zeros(2, "i4,f4")}, TypeError, "'a' has dtype"),
    "masked array": ([np.ma.masked_array([1], [True])], TypeError, "'0' is a MaskedArray"),
    "huge integer": ({"a": [1 << 20000]}, ValueError, r"'a\.0' has more than 10000 bits"),
}


@pytest.mark.parametrize("name", UNSAVABLE)
def test_what_cannot_be_saved(tmp_path, name):
    value, exception, message = UNSAVABLE[name]
    path = tmp_path / "file"
    mo.save([1], path)
    with pytest.raises(exception, match=rf"save: {message}.*test_files\.py:"):
        mo.save(value, path)
    # The failed call left the file as it was, and no other.
    assert mo.load(path) == [1]
    assert list(tmp_path.iterdir()) == [path]


def test_cycles_and_depth(tmp_path):
    around = {"a": []}
    around["a"].append(around)
    with pytest.raises(ValueError, match=r"save: 'a\.0' contains itself"):
        mo.save(around, tmp_path / "file")
    twice = [1]
    round_trip([twice, twice], tmp_path / "file")
    deep = []
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(ValueError, match="nested too deeply"):
        mo.save(deep, tmp_path / "file")


def test_files_of_numpy(tmp_path):
    path = tmp_path / "file.npz"
    np.savez_compressed(path, a=np.zeros((1000, 100)), b=np.arange(3))
    check_same(mo.load(path), {"a": np.zeros((1000, 100)), "b": np.arange(3)})


class Bomb:
    """Makes a file when it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return (pathlib.Path.touch, (self.path,))


def test_nothing_is_executed(tmp_path):
    path, trace = tmp_path / "file.npz", tmp_path / "trace"
    np.savez(path, x=np.array([Bomb(trace)], dtype=object))
    with pytest.raises(ValueError, match=r"file\.npz.*[Oo]bject"):
        mo.load(path)
    path.write_bytes(pickle.dumps(Bomb(trace)))
    with pytest.raises(ValueError, match=r"file\.npz"):
        mo.load(path)
    assert not trace.exists()


def archive(structure, **members):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as opened:
        for name, array in members.items():
            with opened.open(f"{name}.npy", "w") as member:
                np.lib.format.write_array(member, array)
        opened.writestr("metaops.json", structure)
    return file.getvalue()


def described(value, version=1):
    return json.dumps({"version": version, "value": value})


BAD_FILES = {
    "empty": b"",
    "no archive": b"no archive",
    "an archive of nothing": archive("")[-22:],
    "no JSON": archive("{"),
    "no structure": archive("[]"),
    "no value": archive('{"version": 1}'),
    "a later version": archive(described(1, version=2)),
    "a list without kind": archive(described([1])),
    "no such kind": archive(described({"eval": "1"})),
    "two kinds": archive(described({"list": [], "tuple": []})),
    "no pairs": archive(described({"dict": [[1]]})),
    "an unhashable key": archive(described({"dict": [[{"list": []}, 1]]})),
    "no float": archive(described({"float": "one"})),
    "no such member": archive(described({"array": "x"})),
    "the structure as an array": archive(described({"array": "metaops.json"})),
    "another dtype": archive(described({"var": ["x", "float32"]}), x=np.arange(2)),
    "no dtype": archive(described({"var": ["x", "float31"]}), x=np.arange(2)),
    "not bfloat16": archive(described({"var": ["x", "bfloat16"]}), x=np.arange(2)),
    "too deep": archive('{"version": 1, "value": ' + '{"list": [' * 50000),
    "a bomb": archive(described(1) + " " * 10_000_000),
}


@pytest.mark.parametrize("name", BAD_FILES)
def test_bad_files(tmp_path, name):
    path = tmp_path / "file.mo"
    path.write_bytes(BAD_FILES[name])
    if name == "a bomb":
        # What is compressed by zlib is no more than it can be.
        assert mo.load(path) == 1
        return
    with pytest.raises(ValueError, match=r"load: .*file\.mo is not a file.*test_files\.py:"):
        mo.load(path)


def test_files_that_are_not_there(tmp_path):
    with pytest.raises(FileNotFoundError):
        mo.load(tmp_path / "none")
    with pytest.raises(IsADirectoryError):
        mo.load(tmp_path)
    with pytest.raises(ValueError, match="holds a list, expected a state"):
        mo.save([1], tmp_path / "file")
        mo.nn.Linear(1, 1).load(tmp_path / "file")


def mutants(rng, data, count):
    """Yield damaged copies: bytes changed, cut out, doubled, cut off, swapped."""
    for number in range(count):
        damaged = bytearray(data)
        begin, end = sorted(rng.integers(0, len(data), 2))
        kind = number % 6
        if kind < 2:
            for place in rng.integers(0, len(data), 1 + number % 3):
                damaged[place] = rng.integers(256)
        elif kind == 2:
            # Counts and offsets stand in the archive's last bytes.
            damaged[-rng.integers(1, 150)] ^= 1 << rng.integers(8)
        elif kind == 3:
            del damaged[begin : min(end, begin + 40)]
        elif kind == 4:
            damaged[begin:begin] = damaged[begin : min(end, begin + 40)]
        else:
            del damaged[end:]
        if damaged != data:
            yield bytes(damaged)


@pytest.mark.parametrize("is_compressed", [False, True])
def test_damaged_files(rng, tmp_path, is_compressed):
    """Only the documented error comes out, or the value as it was saved."""
    path = tmp_path / "file.mo"
    value = {
        "weight": mo.array(rng.random((5, 7)), "bfloat16"),
        "state": [np.arange(40), (1, 2.5, None, "text"), {"key": np.float16(3)}],
    }
    mo.save(value, path)
    if is_compressed:
        with zipfile.ZipFile(path) as opened:
            members = {name: opened.read(name) for name in opened.namelist()}
            comment = opened.comment
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as opened:
            opened.comment = comment
            for name, content in members.items():
                opened.writestr(name, content)
    data = path.read_bytes()
    refused = 0
    for damaged in mutants(rng, data, 600):
        path.write_bytes(damaged)
        try:
            loaded = mo.load(path)
        except ValueError as error:
            assert type(error) is ValueError and "file.mo" in str(error)
            refused += 1
        else:
            check_same(loaded, value)
    assert refused > 300
