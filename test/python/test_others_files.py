# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Files of tensors that others write: safetensors, PyTorch's."""

from __future__ import annotations

import json
import os
import pathlib
import pickle
import random
import struct
import zipfile
from collections.abc import Mapping

import metaops as mo
import numpy as np
import pytest
from metaops import nn
from metaops.files.pickles import Known, Placeholder, read_pickle

pytestmark = pytest.mark.processor

DATA = pathlib.Path(__file__).parent / "data"
DTYPES = ["bool", "uint8", "int8", "uint16", "int16", "float16", "bfloat16", "uint32", "int32"]
DTYPES += ["float32", "uint64", "int64", "float64"]
MUTANTS = int(os.environ.get("METAOPS_TEST_MUTANTS", "2000"))


def draw(dtype, *shape):
    values = np.random.default_rng(len(shape)).standard_normal(shape) * 4
    return mo.array(np.abs(values) if dtype.startswith("u") else values).cast(dtype)


def write(path, header, data=b""):
    """Write a file with a header as it is given."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)
    return path


# safetensors


@pytest.mark.parametrize("is_mapped", [True, False])
def test_all_dtypes_come_back(tmp_path, is_mapped):
    path = tmp_path / "x.safetensors"
    value = {dtype: draw(dtype, 3, 5) for dtype in DTYPES}
    value |= {"empty": draw("float32", 0, 4), "scalar": draw("int8"), "odd": draw("int8", 7)}
    mo.save(value, path)
    found = mo.load(path, mmap=is_mapped)
    assert found.keys() == value.keys()
    for name, expected in value.items():
        assert (found[name].dtype, found[name].shape) == (expected.dtype, expected.shape)
        np.testing.assert_array_equal(found[name].numpy(), expected.numpy())


def test_files_are_as_the_format_says(tmp_path):
    path = tmp_path / "x.safetensors"
    x = np.arange(6, dtype="float32").reshape(2, 3)
    mo.save({"x": mo.array(x), "y": np.arange(3, dtype="int8")}, path)
    data = path.read_bytes()
    length = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + length])
    assert header == {
        "__metadata__": {"format": "pt"},
        "x": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]},
        "y": {"dtype": "I8", "shape": [3], "data_offsets": [24, 27]},
    }
    assert (8 + length) % 64 == 0
    assert data[8 + length :] == x.tobytes() + bytes([0, 1, 2])


def test_a_tensor_of_several_names_is_written_once(tmp_path):
    path = tmp_path / "x.safetensors"
    x = draw("float32", 1000)
    mo.save({"first": x, "second": x, "other": draw("float32", 2)}, path)
    assert path.stat().st_size < 5000
    found = mo.load(path)
    assert found["first"] is found["second"]
    np.testing.assert_array_equal(found["second"].numpy(), x.numpy())


def test_mapped_tensors_cost_no_memory_of_their_own(tmp_path):
    path = tmp_path / "x.safetensors"
    mo.save({"x": mo.ones((1 << 20,)), "b": mo.ones((1 << 20,), "bfloat16")}, path)
    before = mo.stats()["bytes_in_use"]
    found = mo.load(path)
    assert mo.stats()["bytes_in_use"] - before < 1 << 16
    # The file may be replaced while they are in use.
    mo.save({"x": mo.zeros(4)}, path)
    assert found["x"].sum().item() == 1 << 20
    assert found["b"].sum().item() == 1 << 20


def test_tensors_that_are_made_when_they_are_asked_for(tmp_path):
    class Lazy(Mapping):
        def __len__(self):
            return 6

        def __iter__(self):
            return iter(f"k{i}" for i in range(6))

        def __getitem__(self, name):
            return mo.array(np.full(3, float(name[1:]))).cast("bfloat16")

    path = tmp_path / "x.safetensors"
    mo.save(Lazy(), path)
    found = mo.load(path)
    for i in range(6):
        np.testing.assert_array_equal(found[f"k{i}"].numpy(), i)


def test_names_that_mean_something_in_the_header(tmp_path):
    path = tmp_path / "x.safetensors"
    x = mo.ones(2)
    mo.save({"pt": x, "format": x}, path)
    assert set(mo.load(path)) == {"pt", "format"}
    with pytest.raises(ValueError, match=r"no tensor of a \.safetensors file is named '__metadata"):
        mo.save({"__metadata__": x}, path)


def test_several_files_by_an_index(tmp_path):
    mo.save({"a": mo.ones(2)}, tmp_path / "model-1.safetensors")
    mo.save({"b": mo.zeros(3)}, tmp_path / "model-2.safetensors")
    index = tmp_path / "model.safetensors.index.json"
    weights = {"a": "model-1.safetensors", "b": "model-2.safetensors"}
    index.write_text(json.dumps({"metadata": {}, "weight_map": weights}))
    found = mo.load(index)
    assert {name: x.shape for name, x in found.items()} == {"a": (2,), "b": (3,)}
    for wrong, message in (
        ({"c": "model-1.safetensors"}, "'c' is not in model-1"),
        ({"a": "../model-1.safetensors"}, "expected a file's name"),
        ({"a": "/etc/passwd"}, "expected a file's name"),
        ({"a": 3}, "expected a file's name"),
        ([], "no object 'weight_map'"),
    ):
        index.write_text(json.dumps({"weight_map": wrong}))
        with pytest.raises(ValueError, match=message):
            mo.load(index)


ENTRY = {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}


@pytest.mark.parametrize(
    ("header", "message"),
    [
        ({"x": {**ENTRY, "dtype": "F8_E4M3"}}, r"'x' has the dtype 'F8_E4M3'; expected BOOL, U8"),
        ({"x": {**ENTRY, "shape": [3]}}, r"'x' of shape \(3,\) and dtype F32 has 8 bytes"),
        ({"x": {**ENTRY, "shape": [-2]}}, "has the shape"),
        ({"x": {**ENTRY, "shape": [2.0]}}, "has the shape"),
        ({"x": {**ENTRY, "shape": [1 << 62, 1 << 62, 0]}}, "has 8 bytes"),
        ({"x": {**ENTRY, "shape": [1] * 100}}, "has the shape"),
        ({"x": {**ENTRY, "data_offsets": [0, 9]}}, "has the offsets .* in 8 bytes"),
        ({"x": {**ENTRY, "data_offsets": [8, 0]}}, "has the offsets"),
        ({"x": {**ENTRY, "data_offsets": [-8, 0]}}, "has the offsets"),
        ({"x": {**ENTRY, "data_offsets": [True, 8]}}, "has the offsets"),
        ({"x": ENTRY, "y": ENTRY}, "belong to two tensors, or to none"),
        ({"x": {**ENTRY, "shape": [1], "data_offsets": [0, 4]}}, "4 bytes at its end belong to no"),
        ({"x": {**ENTRY, "shape": [1], "data_offsets": [4, 8]}}, "bytes from 0 on belong to"),
        ({"x": 3}, "has the offsets"),
        ({}, "8 bytes at its end"),
        (b'{"x": 1, "x": 2}', "a name is in its header twice"),
        (b'{"x": ' + b"[" * 100000 + b"]" * 100000 + b"}", "nested too deeply"),
        (b'{"x": ' + b"1" * 5000 + b"}", "a number of more than 64 bits"),
        (b'{"x"', "damaged"),
    ],
)
def test_what_is_not_sound_is_an_error(tmp_path, header, message):
    path = write(tmp_path / "x.safetensors", header, b"\0" * 8)
    with pytest.raises(ValueError, match=message):
        mo.load(path)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ([mo.ones(2)], r"given \(a Var .*\) for a .safetensors file; expected a dict"),
        ({"x": 3}, "the entry 'x' is 3; a .safetensors file has tensors by texts"),
        ({1: np.ones(2)}, "the entry 1 is"),
        ({"x": np.ones(2, complex)}, "'x' is complex128; expected bool"),
    ],
)
def test_what_the_format_cannot_hold(tmp_path, value, message):
    path = tmp_path / "x.safetensors"
    path.write_text("before")
    with pytest.raises(TypeError, match=message):
        mo.save(value, path)
    assert path.read_text() == "before"
    assert os.listdir(tmp_path) == ["x.safetensors"]


def test_saved_files_are_as_any_new_file(tmp_path):
    mask = os.umask(0o027)
    try:
        mo.save({"x": mo.ones(2)}, tmp_path / "x")
        assert (tmp_path / "x").stat().st_mode & 0o777 == 0o640
    finally:
        os.umask(mask)


# PyTorch


def test_a_pytorch_file():
    found = mo.load(DATA / "tensors.pt")
    x = np.arange(12, dtype="float32").reshape(3, 4)
    for name in ("x", "same", "bfloat16", "float16", "parameter"):
        np.testing.assert_array_equal(found[name].numpy(), x)
    assert found["bfloat16"].dtype == "bfloat16" and found["float16"].dtype == "float16"
    assert found["x"] is found["same"]
    np.testing.assert_array_equal(found["transposed"].numpy(), x.T)
    np.testing.assert_array_equal(found["view"].numpy(), x[1:, 2:])
    np.testing.assert_array_equal(found["expanded"].numpy(), np.ones(5))
    np.testing.assert_array_equal(found["bool"].numpy(), x > 3)
    assert found["int8"].numpy().tolist() == [1, -2]
    assert found["uint16"].numpy().tolist() == [1, 65535]
    assert found["scalar"].item() == 3.5 and found["empty"].shape == (0, 3)
    assert (found["epoch"], found["rate"], found["name"]) == (7, 0.1, "é")
    assert found["list"] == [1, (2, 3), None, True] and found["size"] == (3, 4)
    assert (found["dtype"], found["device"], found["set"]) == ("float32", "cpu", {1, 2})
    assert found["number"] == 2.5 and isinstance(found["number"], float)
    assert found["optimizer"]["param_groups"][0]["betas"] == (0.9, 0.999)
    assert found["optimizer"]["state"][0]["exp_avg"].shape == (3, 4)


def test_a_module_takes_it():
    model = nn.Sequential(nn.Linear(4, 3), nn.BatchNorm1d(3))
    state = mo.load(DATA / "tensors.pt")["model"]
    model.load_state_dict(state)
    weight = state["0.weight"].numpy().copy()
    np.testing.assert_array_equal(model[0].weight.numpy(), weight)
    # Loaded values stay as they are when the module is trained.
    optimizer = mo.optim.SGD(model.parameters(), 0.1)
    for _ in range(2):
        optimizer.step((model(mo.array(np.eye(4, dtype="float32"))) ** 3).sum())
    mo.sync_all()
    assert np.abs(model[0].weight.numpy() - weight).max() > 1e-4
    np.testing.assert_array_equal(state["0.weight"].numpy(), weight)
    fresh = mo.load(DATA / "tensors.pt", mmap=False)["model"]["0.weight"].numpy()
    np.testing.assert_array_equal(fresh, weight)


def make_archive(path, data, storages=None, root="a/"):
    """Write an archive as PyTorch does."""
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(root + "data.pkl", data)
        for key, each in (storages or {}).items():
            archive.writestr(f"{root}data/{key}", each)
    return path


class Evil:
    """A pickle that does something to those who run it."""

    def __reduce__(self):
        return os.system, ("echo ran > ran",)


def test_code_is_not_run_and_all_names_are_told(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    value = {"x": Evil(), "y": pathlib.PurePosixPath("a"), "z": 3}
    path = make_archive(tmp_path / "x.pt", pickle.dumps(value, 2))
    with pytest.raises(ValueError, match=r"it has objects of \w+\.system, pathlib\S*PurePosixPath"):
        mo.load(path)
    found = mo.load(path, objects="placeholder")
    assert found["z"] == 3
    assert isinstance(found["x"], Placeholder) and found["x"].name.endswith(".system")
    assert found["x"].arguments == ("echo ran > ran",)
    assert not (tmp_path / "ran").exists()
    with pytest.raises(ValueError, match="given objects='run'; expected 'error' or 'placeholder'"):
        mo.load(path, objects="run")


def assemble(storage="FloatStorage", offset=0, shape=(2,), strides=(1,)):
    """Return a pickle of one tensor of a storage '0'."""
    numbers = lambda values: b"(" + b"".join(map(number, values)) + b"t"  # noqa: E731
    number = lambda n: b"\x8a\x10" + n.to_bytes(16, "little", signed=True)  # noqa: E731
    text = lambda t: b"X" + struct.pack("<I", len(t)) + t.encode()  # noqa: E731
    return (
        b"\x80\x02ctorch._utils\n_rebuild_tensor_v2\n("
        + b"("
        + text("storage")
        + f"ctorch\n{storage}\n".encode()
        + text("0")
        + text("cpu")
        + number(2)
        + b"tQ"
        + number(offset)
        + numbers(shape)
        + numbers(strides)
        + b"\x89ccollections\nOrderedDict\n)RtR."
    )


def test_an_assembled_tensor_is_read(tmp_path):
    data = np.arange(6, dtype="float32")
    for wanted, numbers in (
        (data[2:4], {"offset": 2}),
        (data.reshape(2, 3).T, {"shape": (3, 2), "strides": (1, 3)}),
        (data[::2], {"shape": (3,), "strides": (2,)}),
    ):
        path = make_archive(tmp_path / "x.pt", assemble(**numbers), {"0": data.tobytes()})
        np.testing.assert_array_equal(mo.load(path).numpy(), wanted)


@pytest.mark.parametrize(
    ("numbers", "message"),
    [
        ({"offset": 5}, "elements up to number 6 of 6"),
        ({"offset": -1}, "wrong numbers"),
        ({"strides": (-1,)}, "wrong numbers"),
        ({"strides": (1, 1)}, "wrong numbers"),
        ({"shape": (1 << 40,)}, "elements up to number"),
        ({"shape": (1 << 61, 1 << 61), "strides": (1, 1)}, "elements up to number"),
        ({"shape": (1 << 70,)}, "wrong numbers"),
        ({"shape": (4, 4), "strides": (1, 0)}, None),
        ({"shape": (4, 3), "strides": (1, 1)}, "12 elements are to be made of 6"),
        ({"storage": "QInt8Storage"}, "a storage of torch.QInt8Storage, which is not known"),
    ],
)
def test_tensors_stay_in_their_storage(tmp_path, numbers, message):
    data = np.arange(6, dtype="float32")
    path = make_archive(tmp_path / "x.pt", assemble(**numbers), {"0": data.tobytes()})
    if message is None:
        np.testing.assert_array_equal(mo.load(path).numpy(), np.repeat(data[:4, None], 4, 1))
        return
    with pytest.raises(ValueError, match=message):
        mo.load(path)


def test_repeated_elements_take_no_memory_until_they_are_used(tmp_path):
    numbers = {"shape": (1 << 20, 1 << 20), "strides": (0, 0)}
    path = make_archive(tmp_path / "x.pt", assemble(**numbers), {"0": bytes(24)})
    assert mo.load(path).shape == (1 << 20, 1 << 20)


def test_what_lacks_is_told(tmp_path):
    with pytest.raises(ValueError, match="its storage '0' is not there"):
        mo.load(make_archive(tmp_path / "x.pt", assemble()))
    old = pickle.dumps(0x1950A86A20F9469CFC6C, 2)
    (tmp_path / "y.pt").write_bytes(old + pickle.dumps(1001, 2))
    with pytest.raises(ValueError, match=r"it is of PyTorch before 1\.6"):
        mo.load(tmp_path / "y.pt")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"\x80\x02]q", "damaged"),
        (b"\x80\x02.", "takes a value where there is none"),
        (b"\x80\x02(.", "takes a value where there is none"),
        (b"\x80\x02]K\x01K\x02a", "appends to a int"),
        (b"\x80\x02h\x05.", "asks for value 5, which it has not kept"),
        (b"\x80\x02u.", "ends a group where none has begun"),
        (b"\x80\x02}(K\x01u.", "sets an item without a value"),
        (b"\x80\x02}]Ns.", "key of type list"),
        (b"\x80\x02N)K\x01s.", "sets items of a NoneType"),
        (b"\x80\x02K\x01)R.", "calls a int"),
        (b"\x80\x02i\nos\nsystem\n.", "which is not for data|damaged"),
        (b"\x80\x02\x8f(\x85\x90.", "takes a value|key of type"),
        # Twelve bytes for which Python's own reader makes room for 2^32 values.
        (b"\x80\x02]r\xff\xff\xff\xff", "has no end|damaged"),
        (b"\x80\x02\x8b\xff\xff\xff\x7f", "damaged"),
        (b"\x80\x04\x8e\xff\xff\xff\xff\xff\xff\xff\x0f", "damaged"),
    ],
)
def test_pickles_that_are_not_sound(tmp_path, data, message):
    with pytest.raises(ValueError, match=message):
        mo.load(make_archive(tmp_path / "x.pt", data))


def test_hashing_does_not_take_for_ever():
    # ((a, a), (a, a)), ... of which each doubles what is to be hashed.
    data = b"\x80\x02}K\x01" + b"q\x00h\x00\x86" * 200 + b"K\x01s."
    with pytest.raises(ValueError, match="key of type tuple"):
        read_pickle(data, lambda *_: None, lambda _: None)


NESTED = b")" + b"2\x86" * 60


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"\x80\x02ctorch\ndevice\n" + NESTED + b"\x85R.", "makes a device of"),
        (b"\x80\x02" + NESTED + b"Q.", "a storage of a kind that is not known"),
        (b"\x80\x02X\x07\0\0\0storage" + NESTED + b"\x86Q.", "a storage of a kind"),
        (b"\x80\x02cnumpy\ndtype\n" + NESTED + b"\x85R.", "the NumPy dtype of type tuple"),
    ],
)
def test_messages_do_not_take_for_ever(tmp_path, data, message):
    with pytest.raises(ValueError, match=message):
        mo.load(make_archive(tmp_path / "x.pt", data))


def test_keys_cannot_all_have_one_hash(tmp_path):
    key = b"\x8a\x09" + (2**61 - 1).to_bytes(9, "little")
    with pytest.raises(ValueError, match="a number of more than 60 bits as a key"):
        mo.load(make_archive(tmp_path / "x.pt", b"\x80\x02}" + key + b"K\x01s."))


def test_copies_are_bounded_by_the_file(tmp_path):
    one = assemble(shape=(1000, 1000), strides=(1, 1000))
    body = one.removeprefix(b"\x80\x02").removesuffix(b".")
    offsets = [
        body.replace((0).to_bytes(16, "little"), n.to_bytes(16, "little"), 1) for n in range(40)
    ]
    data = b"\x80\x02](" + b"".join(offsets) + b"e."
    path = make_archive(tmp_path / "x.pt", data, {"0": bytes(4 * 1000 * 1001)})
    with pytest.raises(ValueError, match="copies of overlapping parts"):
        mo.load(path)


def test_known_functions_are_called():
    data = b"\x80\x02ca\nadd\nK\x01K\x02\x86R."
    value, unknown = read_pickle(data, lambda *_: Known("add", lambda a, b: a + b), lambda _: None)
    assert (value, unknown) == (3, [])


# Mutants


def mutate(data, rng):
    data = bytearray(data)
    for _ in range(rng.randint(1, 4)):
        place = rng.randrange(len(data))
        match rng.randrange(5):
            case 0:
                data[place] = rng.randrange(256)
            case 1:
                data[place] ^= 1 << rng.randrange(8)
            case 2:
                del data[place : place + rng.randint(1, 8)]
            case 3:
                data[place:place] = rng.randbytes(rng.randint(1, 8))
            case 4:
                data[place : place + 8] = rng.choice(
                    [b"\xff" * 8, b"\0" * 8, b"\x7f" + b"\xff" * 7]
                )
        if not data:
            break
    return bytes(data)


def load_mutants(path, seed, write_mutant):
    rng, loaded = random.Random(7), 0
    for i in range(MUTANTS):
        write_mutant(mutate(seed, rng))
        try:
            value = mo.load(path, mmap=i % 2 == 0, objects="placeholder")
        except (ValueError, MemoryError):
            continue
        loaded += 1
        del value
    return loaded


def test_mutants_of_safetensors_are_loaded_or_refused(tmp_path):
    path = tmp_path / "x.safetensors"
    mo.save({dtype: draw(dtype, 3, 2) for dtype in DTYPES}, path)
    assert load_mutants(path, path.read_bytes(), path.write_bytes) < MUTANTS


def test_mutants_of_pytorch_files_are_loaded_or_refused(tmp_path):
    path = tmp_path / "x.pt"
    whole = (DATA / "tensors.pt").read_bytes()
    assert load_mutants(path, whole, path.write_bytes) < MUTANTS
    with zipfile.ZipFile(DATA / "tensors.pt") as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    root = next(name for name in members if name.endswith("data.pkl")).removesuffix("data.pkl")
    storages = {n.rpartition("/")[2]: each for n, each in members.items() if "/data/" in n}

    def write_mutant(data):
        make_archive(path, data, storages)

    assert load_mutants(path, members[root + "data.pkl"], write_mutant) < MUTANTS


# Into modules


class Pair(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(2, 3), nn.Linear(3, 4)


def arrays(model):
    return {name: x.numpy() + 1 for name, x in model.state_dict().items()}


def test_vars_are_taken_without_a_copy():
    model = nn.Linear(1 << 10, 1 << 10)
    state = {name: (x * 2).detach() for name, x in model.state_dict().items()}
    mo.sync(list(state.values()))
    before = mo.stats()["bytes_in_use"]
    model.load_state_dict(state)
    mo.sync_all()
    assert mo.stats()["bytes_in_use"] <= before
    np.testing.assert_array_equal(model.weight.numpy(), state["weight"].numpy())
    # Each goes on by itself.
    kept = state["weight"].numpy().copy()
    model.weight.update(model.weight + 1)
    np.testing.assert_array_equal(state["weight"].numpy(), kept)
    np.testing.assert_array_equal(model.weight.numpy(), kept + 1)


def test_arrays_are_copied():
    model = nn.Linear(2, 2)
    state = arrays(model)
    model.load_state_dict(state)
    expected = state["weight"].copy()
    state["weight"][:] = 7
    np.testing.assert_array_equal(model.weight.numpy(), expected)


@pytest.mark.parametrize(
    "prefix", ["module.", "_orig_mod.", "module._orig_mod.", "_orig_mod.module."]
)
def test_wrappers_names_are_left_out(prefix):
    model = Pair()
    state = {prefix + name: x for name, x in arrays(model).items()}
    model.load_state_dict(state)
    np.testing.assert_array_equal(model.first.weight.numpy(), state[prefix + "first.weight"])
    # Not where some have none.
    with pytest.raises(KeyError, match="unknown names"):
        model.load_state_dict({**state, "other": np.ones(2)})


def test_renaming_and_ignoring():
    model = Pair()
    given = arrays(model)
    state = {
        name.replace("first", "layers.0").replace("second", "layers.1"): x
        for name, x in given.items()
    }
    state["layers.0.extra"] = np.ones(2)
    model.load_state_dict(
        state, rename={r"^layers\.0": "first", r"^layers\.1": "second"}, ignore=[r"extra$"]
    )
    np.testing.assert_array_equal(model.second.bias.numpy(), given["second.bias"])
    with pytest.raises(ValueError, match="rename makes 'a' of both"):
        model.load_state_dict(state, rename={"^.*$": "a"})


def test_all_differences_are_one_error():
    model = Pair()
    state = arrays(model)
    state["first.weigth"] = state.pop("first.weight")
    state["second.bias"] = np.ones(7)
    before = arrays(model)
    with pytest.raises(KeyError) as caught:
        model.load_state_dict(state)
    message = str(caught.value)
    for part in (
        "missing names ['first.weight']",
        "unknown names ['first.weigth']",
        "'first.weigth' may be 'first.weight'",
        "'second.bias' has shape (7,), expected (4,)",
    ):
        assert part in message
    for name, x in arrays(model).items():
        np.testing.assert_array_equal(x, before[name])
    skipped = model.load_state_dict(state, strict=False)
    assert skipped == (["first.weight", "second.bias"], ["first.weigth"])
    np.testing.assert_array_equal(model.second.weight.numpy(), before["second.weight"])
    with pytest.raises(ValueError, match=r"'second\.bias' has shape \(7,\), expected \(4,\)"):
        model.load_state_dict({**before, "second.bias": np.ones(7)})
