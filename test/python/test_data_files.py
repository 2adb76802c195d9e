# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Data sets in files: arrays, tables, folders of images, and what is downloaded."""

from __future__ import annotations

import gc
import gzip
import hashlib
import http.server
import io
import os
import socket
import struct
import tarfile
import threading
import tracemalloc
import warnings

import metaops as mo
import numpy as np
import pytest
from metaops import data
from metaops.data.download import download
from metaops.data.making import MapMaker

pytestmark = pytest.mark.processor


def to_idx(array, code):
    """Return an array as the bytes of an idx file."""
    extents = struct.pack(f">{array.ndim}I", *array.shape)
    return (
        bytes([0, 0, code, array.ndim])
        + extents
        + array.astype(array.dtype.newbyteorder(">")).tobytes()
    )


IDX = {8: "u1", 9: "i1", 11: "i2", 12: "i4", 13: "f4", 14: "f8"}


@pytest.mark.parametrize("code", IDX)
def test_idx(tmp_path, code):
    array = np.random.default_rng(code).normal(0, 50, (3, 4, 2)).astype(IDX[code])
    content = to_idx(array, code)
    for name, written in (("plain", content), ("packed", gzip.compress(content))):
        (tmp_path / name).write_bytes(written)
        np.testing.assert_array_equal(data.read_idx(tmp_path / name), array, strict=True)


def test_idx_files_are_closed(tmp_path):
    for pack in (bytes, gzip.compress):
        (tmp_path / "file").write_bytes(pack(to_idx(np.arange(3, dtype="u1"), 8)))
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            assert data.read_idx(tmp_path / "file").tolist() == [0, 1, 2]
            gc.collect()
        assert not told


def test_damaged_idx(tmp_path):
    content = to_idx(np.arange(12, dtype="u1").reshape(3, 4), 8)
    path = tmp_path / "file"
    damaged = [content[:k] for k in range(len(content))] + [content + b"x", b"\1" + content[1:]]
    damaged += [b"\0\0\x08\xff" + b"\xff" * 1020, b"\0\0\x08\x02" + b"\xff" * 100]
    packed = gzip.compress(content)
    damaged += [packed[:k] for k in range(2, len(packed))]
    for one in damaged:
        path.write_bytes(one)
        with pytest.raises(ValueError, match="is no whole idx file"):
            data.read_idx(path)


def test_npy_files_are_mapped(tmp_path):
    x, y = np.random.default_rng(0).random((9, 2)), np.arange(9)
    np.save(tmp_path / "x.npy", x)
    np.save(tmp_path / "y.npy", y)
    np.savez(tmp_path / "both.npz", x=x, y=y)
    mapped = data.NpyDataset(tmp_path / "x.npy", tmp_path / "y.npy")
    assert isinstance(mapped.tensors[0].base, np.memmap)
    for dataset in (
        mapped,
        data.NpzDataset(tmp_path / "both.npz"),
        data.NpzDataset(tmp_path / "both.npz", ["x", "y"]),
    ):
        for workers in (0, 1):
            batches = list(data.DataLoader(dataset, 4, num_workers=workers))
            np.testing.assert_array_equal(np.concatenate([b[0].numpy() for b in batches]), x)
            np.testing.assert_array_equal(np.concatenate([b[1].numpy() for b in batches]), y)
    np.save(tmp_path / "objects.npy", np.array([{}]), allow_pickle=True)
    (tmp_path / "short.npy").write_bytes((tmp_path / "x.npy").read_bytes()[:140])
    for name in ("objects", "short"):
        with pytest.raises(ValueError, match="cannot be read"):
            data.NpyDataset(tmp_path / f"{name}.npy")
    with pytest.raises(ValueError, match=r"is no \.npz file"):
        data.NpzDataset(tmp_path / "x.npy")
    with pytest.raises(KeyError, match=r"has no \['z'\], but \['x', 'y'\]"):
        data.NpzDataset(tmp_path / "both.npz", ["z"])
    with pytest.raises(FileNotFoundError):
        data.NpyDataset(tmp_path / "nothing.npy")


@pytest.mark.parametrize(
    "read", [data.read_idx, data.CsvDataset, data.NpyDataset, data.load_image, data.MNIST]
)
def test_a_number_is_no_path(read):
    """It would be a descriptor, which is somebody else's."""
    with pytest.raises((TypeError, ValueError)):
        read(0)
    os.fstat(0)


def test_tables(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text('a,b,name\n1,2.5,"x, y"\n\n-3,,z\n', encoding="utf-8")
    table = data.CsvDataset(path)
    assert len(table) == 2 and table[0] == {"a": 1, "b": 2.5, "name": "x, y"}
    (batch,) = data.DataLoader(table, 2)
    assert batch["a"].tolist() == [1, -3] and batch["a"].dtype == "int64"
    assert np.isnan(batch["b"].numpy()[1]) and batch["name"] == ["x, y", "z"]
    path.write_text("1;2\n3;4\n", encoding="utf-8")
    pairs = data.CsvDataset(path, ";", has_header=False, transform=lambda row: row[0] + row[1])
    assert next(iter(data.DataLoader(pairs, 2))).tolist() == [3, 7]
    path.write_text("a,b\n1,2\n3\n", encoding="utf-8")
    with pytest.raises(ValueError, match="line 3 has 1 fields, the first one 2"):
        data.CsvDataset(path)
    path.write_text("", encoding="utf-8")
    assert len(data.CsvDataset(path)) == 0


def test_columns_of_tables(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text(f"id,n,x,t\n{2**64},{-(2**63)},,a\n1,{2**63 - 1},2.5,\n")
    first, second = data.CsvDataset(path)
    assert first["id"] == str(2**64) and second["id"] == "1"
    assert first["n"] == -(2**63) and second["n"] == 2**63 - 1 and first["n"].dtype == "int64"
    assert np.isnan(first["x"]) and second["x"] == 2.5 and second["t"] == ""
    path.write_text("a,b,a\n1,2,3\n")
    with pytest.raises(ValueError, match=r"several columns are named .*'a'"):
        data.CsvDataset(path)
    assert data.CsvDataset(path, has_header=False)[1] == {0: "1", 1: "2", 2: "3"}


def test_a_long_field_takes_memory_once(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("t,y\n" + "x" * 20_000 + ",1\n" + "ab,2\n" * 2000)
    tracemalloc.start()
    try:
        table = data.CsvDataset(path)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(table) == 2001 and table[7]["y"] == 2 and peak < 4e6


def test_folders_of_images(tmp_path):
    image = pytest.importorskip("PIL.Image")
    pixels = np.random.default_rng(0).integers(0, 256, (4, 6, 5, 3), dtype="uint8")
    for name, one in zip(["b/1.png", "a/z.PNG", "a/inner/2.png", "b/0.bmp"], pixels, strict=True):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        image.fromarray(one).save(path)
    (tmp_path / "a" / "notes.txt").write_text("no image")
    folder = data.ImageFolder(tmp_path)
    assert folder.classes == ["a", "b"] and folder.targets == [0, 0, 1, 1]
    order = [2, 1, 3, 0]
    for workers in (0, 2):
        images, labels = next(iter(data.DataLoader(folder, 4, num_workers=workers)))
        assert labels.tolist() == [0, 0, 1, 1]
        np.testing.assert_array_equal(images.numpy(), pixels[order])
    scaled = data.ImageFolder(tmp_path, lambda x: np.float32(x) / 255, lambda label: label + 10)
    images, labels = next(iter(data.DataLoader(scaled, 4)))
    assert images.dtype == "float32" and labels.tolist() == [10, 10, 11, 11]
    (tmp_path / "b" / "2.png").write_bytes(b"no image")
    with pytest.raises(OSError, match=r"2\.png: cannot identify") as told:
        list(data.DataLoader(data.ImageFolder(tmp_path)))
    assert told.value.__notes__ == ["in item 4 of the data set"]
    (tmp_path / "c").mkdir()
    with pytest.raises(FileNotFoundError, match=r"the folder 'c' of .* has no images"):
        data.ImageFolder(tmp_path)
    with pytest.raises(FileNotFoundError, match="has no folders"):
        data.ImageFolder(tmp_path / "c")


@pytest.fixture
def server(tmp_path):
    """Serve a folder; what was asked for is listed."""
    folder = tmp_path / "served"
    folder.mkdir()

    class Handler(http.server.SimpleHTTPRequestHandler):
        def __init__(self, *args):
            super().__init__(*args, directory=str(folder))

        def log_message(self, *args):
            asked.append(self.path)

    asked = []
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as serving:
        thread = threading.Thread(target=serving.serve_forever)
        thread.start()
        yield folder, f"http://127.0.0.1:{serving.server_port}/", asked
        serving.shutdown()
        thread.join()


def md5(content):
    return hashlib.md5(content).hexdigest()


def test_mnist_is_downloaded_once(tmp_path, server, monkeypatch):
    folder, url, asked = server
    rng = np.random.default_rng(0)
    images = rng.integers(0, 256, (7, 28, 28), dtype="uint8")
    labels = rng.integers(0, 10, 7, dtype="uint8")
    files = {
        name: gzip.compress(to_idx(images if "images" in name else labels, 8))
        for name in data.MNIST.checksums
    }
    for name, content in files.items():
        (folder / name).write_bytes(content)
    monkeypatch.setattr(data.MNIST, "mirrors", (f"{url}nowhere/", url))
    monkeypatch.setattr(data.MNIST, "checksums", {k: md5(v) for k, v in files.items()})
    root = tmp_path / "root"
    with pytest.raises(FileNotFoundError, match="with download=True it is downloaded"):
        data.MNIST(root)
    for train in (True, False, True):
        dataset = data.MNIST(root, train, download=True)
        np.testing.assert_array_equal(dataset.tensors[0], images)
        assert dataset.tensors[1].tolist() == labels.tolist()
    # Each of four files, from the first place, which has none, and the second.
    assert len([path for path in asked if "nowhere" not in path and "gz" in path]) == 4
    assert MapMaker(dataset, None, True, 0).arrays is not None
    half = data.MNIST(root, transform=lambda image: image[::2, ::2], target_transform=str)
    batch = next(iter(data.DataLoader(half, 7)))
    assert batch[0].shape == (7, 14, 14) and batch[1] == [str(label) for label in labels]
    # A file that is damaged on its way is not there.
    monkeypatch.setattr(data.MNIST, "checksums", dict.fromkeys(files, "0" * 32))
    other = tmp_path / "other"
    with pytest.raises(OSError, match=r"nowhere.*404.*the checksum is .* expected 0000"):
        data.MNIST(other, download=True)
    assert not any(path.is_file() for path in other.rglob("*"))


def test_a_place_that_answers_with_anything_else(tmp_path, server):
    """The next one is asked; the file is as any new one."""
    folder, url, _ = server
    (folder / "file").write_bytes(b"hello")

    def answer():
        connection, _ = listener.accept()
        with connection:
            connection.recv(1000)
            connection.sendall(b"no answer\r\n\r\n")

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=answer)
        thread.start()
        wrong = f"http://127.0.0.1:{listener.getsockname()[1]}/"
        path = tmp_path / "there" / "file"
        download([f"{wrong}file", f"{url}file"], path, md5(b"hello"))
        thread.join()
    assert path.read_bytes() == b"hello" and [*path.parent.iterdir()] == [path]
    other = tmp_path / "other"
    other.touch()
    assert path.stat().st_mode == other.stat().st_mode


def test_cifar(tmp_path, server, monkeypatch):
    folder, url, _ = server
    rng = np.random.default_rng(0)
    archive = io.BytesIO()
    names = [f"data_batch_{k}.bin" for k in range(1, 6)] + ["test_batch.bin"]
    records = rng.integers(0, 256, (6, 4, 3073), dtype="uint8")
    records[:, :, 0] %= 10
    with tarfile.open(fileobj=archive, mode="w:gz") as packed:
        for name, content in zip([*names, "../../out.bin"], [*records, records[0]], strict=True):
            member = tarfile.TarInfo(f"cifar-10-batches-bin/{name}")
            member.size = content.nbytes
            packed.addfile(member, io.BytesIO(content.tobytes()))
    (folder / data.CIFAR10.archive).write_bytes(archive.getvalue())
    monkeypatch.setattr(data.CIFAR10, "mirrors", (url,))
    monkeypatch.setattr(data.CIFAR10, "checksum", md5(archive.getvalue()))
    root = tmp_path / "root"
    with pytest.raises(FileNotFoundError, match="has neither cifar-10-batches-bin nor"):
        data.CIFAR10(root)
    train, test = data.CIFAR10(root, download=True), data.CIFAR10(root, train=False)
    assert len(train) == 20 and len(test) == 4
    image, label = train[5]
    assert image.shape == (32, 32, 3) and label == records[1, 1, 0]
    np.testing.assert_array_equal(image.transpose(2, 0, 1).ravel(), records[1, 1, 1:])
    assert not (tmp_path / "out.bin").exists()
    path = root / "cifar-10-batches-bin" / "test_batch.bin"
    path.write_bytes(b"x" * 3073)
    with pytest.raises(ValueError, match="has the label 120, at most 9"):
        data.CIFAR10(root, train=False)
    path.write_bytes(b"x" * 100)
    with pytest.raises(ValueError, match="has 100 bytes, no multiple of 3,073"):
        data.CIFAR10(root, train=False)
    (root / data.CIFAR10.archive).write_bytes(b"other")
    path.unlink()
    with pytest.raises(ValueError, match="has another checksum"):
        data.CIFAR10(root, train=False)


def test_other_libraries_data_sets():
    """They are objects with these methods, whose items have tensors."""

    class Tensor:
        def __init__(self, array):
            self.array = array
            self.dtype = array.dtype

        def __array__(self, dtype=None, copy=None):
            return self.array

    class Dataset:
        def __getitem__(self, index):
            raise NotImplementedError

    class Theirs(Dataset):
        def __len__(self):
            return 5

        def __getitem__(self, index):
            return {"pixels": Tensor(np.full(2, index, "float32")), "label": index}

    class IterableDataset(Dataset):
        def __iter__(self):
            return iter([Tensor(np.ones(3)), Tensor(np.zeros(3))])

    for workers in (0, 1):
        batch = next(iter(data.DataLoader(Theirs(), 5, num_workers=workers)))
        assert batch["pixels"].tolist() == [[k, k] for k in range(5)]
        (stream,) = data.DataLoader(IterableDataset(), 2, num_workers=workers)
        assert stream.tolist() == [[1] * 3, [0] * 3] and isinstance(stream, mo.Var)
