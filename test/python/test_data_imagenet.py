# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""ImageNet in the forms that its files have: folders, archives, and names of classes."""

from __future__ import annotations

import hashlib
import io
import pickle
import tarfile
import threading
import zipfile

import numpy as np
import pytest
from metaops import data
from metaops.data import imagenet

pytestmark = pytest.mark.processor

NAMES = {"n01440764": "tench, Tinca tinca", "n01443537": "goldfish", "n02114367": "grey wolf"}
WNIDS = list(NAMES)
#: The classes of images for validation.
TRUTH = [WNIDS[2], WNIDS[0], WNIDS[0], WNIDS[1]]


def make_image(number):
    """Return the bytes of an image of one colour."""
    image = pytest.importorskip("PIL.Image")
    file = io.BytesIO()
    image.fromarray(np.full((3, 4, 3), number, "uint8")).save(file, "PNG")
    return file.getvalue()


def make_archive(files):
    """Return the bytes of an archive."""
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as archive:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return file.getvalue()


def training_images():
    """Return the images of each class, two of each."""
    return {
        wnid: {f"{wnid}_{k}.JPEG": make_image(10 * place + k) for k in range(2)}
        for place, wnid in enumerate(WNIDS)
    }


def validation_images():
    """Return images, whose names tell no class."""
    names = [f"ILSVRC2012_val_{number:08d}.JPEG" for number in range(1, len(TRUTH) + 1)]
    return {name: make_image(100 + number) for number, name in enumerate(names, 1)}


def write(folder, files):
    """Write files into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (folder / name).write_bytes(content)


def write_mapping(root):
    """Write the names of classes, and the classes of images, as Kaggle has them."""
    lines = [f"{wnid} {names}" for wnid, names in NAMES.items()]
    write(root, {"LOC_synset_mapping.txt": "\n".join(lines).encode()})
    rows = [f"ILSVRC2012_val_{k:08d},{wnid} 1 2 3 4 " for k, wnid in enumerate(TRUTH, 1)]
    text = "\n".join(["ImageId,PredictionString", *rows])
    write(root, {"LOC_val_solution.csv": text.encode()})


def write_archives(root, monkeypatch):
    """Write the archives of images."""
    inner = {f"{wnid}.tar": make_archive(files) for wnid, files in training_images().items()}
    archives = {
        "ILSVRC2012_img_train.tar": make_archive(inner),
        "ILSVRC2012_img_val.tar": make_archive(validation_images()),
    }
    write(root, archives)
    sums = {name: hashlib.md5(content).hexdigest() for name, content in archives.items()}
    monkeypatch.setattr(data.ImageNet, "checksums", sums)


def check_training(images):
    """Check the images for training."""
    assert images.wnids == WNIDS and images.targets == [0, 0, 1, 1, 2, 2]
    assert images.classes == [("tench", "Tinca tinca"), ("goldfish",), ("grey wolf",)]
    assert images.class_to_idx["Tinca tinca"] == images.class_to_idx["tench"] == 0
    assert images.wnid_to_idx[WNIDS[2]] == 2
    items = [(int(np.asarray(image)[0, 0, 0]), target) for image, target in images]
    assert items == [(0, 0), (1, 0), (10, 1), (11, 1), (20, 2), (21, 2)]


def check_validation(images):
    """Check the images for validation."""
    assert images.wnids == WNIDS
    items = {int(np.asarray(image)[0, 0, 0]): target for image, target in images}
    assert items == {100 + k: WNIDS.index(wnid) for k, wnid in enumerate(TRUTH, 1)}


def test_folders_of_classes(tmp_path):
    write_mapping(tmp_path)
    for wnid, files in training_images().items():
        write(tmp_path / "train" / wnid, files)
    for (name, content), wnid in zip(validation_images().items(), TRUTH, strict=True):
        write(tmp_path / "val" / wnid, {name: content})
    check_training(data.ImageNet(tmp_path))
    check_validation(data.ImageNet(tmp_path, "val"))
    scaled = data.ImageNet(tmp_path, "val", lambda image: np.float32(image), lambda k: -k)
    images, labels = next(iter(data.DataLoader(scaled, 4)))
    assert images.shape == (4, 3, 4, 3) and labels.tolist() == [0, 0, -1, -2]
    write(tmp_path / "train" / "n99999999", {"x.JPEG": make_image(1)})
    with pytest.raises(ValueError, match=r"'n99999999' .* is none of the 3 classes that have"):
        data.ImageNet(tmp_path)


def test_folders_of_kaggle(tmp_path):
    write_mapping(tmp_path)
    folder = tmp_path / "ILSVRC" / "Data" / "CLS-LOC"
    for wnid, files in training_images().items():
        write(folder / "train" / wnid, files)
    write(folder / "val", validation_images())
    check_training(data.ImageNet(tmp_path))
    images = data.ImageNet(tmp_path, "val", target_transform=lambda k: k)
    check_validation(images)
    assert images.targets == [WNIDS.index(wnid) for wnid in TRUTH]
    write(folder / "val", {"ILSVRC2012_val_00000077.JPEG": make_image(1)})
    with pytest.raises(ValueError, match=r"nothing tells the class of .*00077\.JPEG"):
        data.ImageNet(tmp_path, "val")


def test_archives_are_unpacked_once(tmp_path, monkeypatch):
    write_mapping(tmp_path)
    write_archives(tmp_path, monkeypatch)
    check_training(data.ImageNet(tmp_path))
    check_validation(data.ImageNet(tmp_path, "val"))
    for archive in tmp_path.glob("*.tar"):
        archive.unlink()
    check_training(data.ImageNet(tmp_path))
    check_validation(data.ImageNet(tmp_path, "val"))
    assert not list(tmp_path.glob("*.part"))


def test_files_of_an_archive_stay_in_the_folder(tmp_path, monkeypatch):
    write_mapping(tmp_path)
    inner = make_archive({"../../outside.JPEG": make_image(1)})
    content = make_archive({f"../{WNIDS[0]}.tar": inner})
    write(tmp_path, {"ILSVRC2012_img_train.tar": content})
    sums = {"ILSVRC2012_img_train.tar": hashlib.md5(content).hexdigest()}
    monkeypatch.setattr(data.ImageNet, "checksums", sums)
    images = data.ImageNet(tmp_path)
    assert images.samples == [(str(tmp_path / "train" / WNIDS[0] / "outside.JPEG"), 0)]


def test_archives_of_no_class(tmp_path, monkeypatch):
    write_mapping(tmp_path)
    content = make_archive({"...tar": make_archive({"outside.JPEG": make_image(1)})})
    write(tmp_path, {"ILSVRC2012_img_train.tar": content})
    sums = {"ILSVRC2012_img_train.tar": hashlib.md5(content).hexdigest()}
    monkeypatch.setattr(data.ImageNet, "checksums", sums)
    with pytest.raises(ValueError, match=r"has '\.\.\.tar', which is of none of the 3 classes"):
        data.ImageNet(tmp_path)
    assert not list(tmp_path.rglob("*.JPEG")) and not list(tmp_path.glob("train*"))


def test_several_unpack_at_once(tmp_path, monkeypatch):
    """Each unpacks for itself; the first one's images stay."""
    write_mapping(tmp_path)
    write_archives(tmp_path, monkeypatch)
    plain, barrier, results = imagenet._write, threading.Barrier(2), []

    def write_beside(source, path):
        barrier.wait(30)
        plain(source, path)

    monkeypatch.setattr(imagenet, "_write", write_beside)
    threads = [
        threading.Thread(target=lambda: results.append(data.ImageNet(tmp_path).samples))
        for _ in range(2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 2 and results[0] == results[1]
    assert len(results[0]) == 6 == len(list(tmp_path.rglob("*.JPEG")))
    assert not list(tmp_path.glob("*.part"))


def test_numbers_of_classes_are_those_of_all(tmp_path):
    write_mapping(tmp_path)
    for wnid in WNIDS[1:]:
        write(tmp_path / "train" / wnid, training_images()[wnid])
    (tmp_path / "val").mkdir()  # one that is empty hides none
    write(tmp_path / "ILSVRC/Data/CLS-LOC/val", validation_images())
    images = data.ImageNet(tmp_path)
    assert images.targets == [1, 1, 2, 2] == [target for _, target in images]
    validation = data.ImageNet(tmp_path, "val")
    check_validation(validation)
    assert images.wnid_to_idx == validation.wnid_to_idx
    assert images.class_to_idx == validation.class_to_idx


def write_meta(root, content):
    """Write a file as torchvision does."""
    with zipfile.ZipFile(root / "meta.bin", "w") as file:
        file.writestr("meta/data.pkl", pickle.dumps(content, 2))
        file.writestr("meta/version", "3\n")


def test_names_without_the_classes_of_images(tmp_path):
    write_mapping(tmp_path)
    (tmp_path / "LOC_val_solution.csv").unlink()
    write(tmp_path / "val", validation_images())
    with pytest.raises(ValueError, match="nothing tells the class of"):
        data.ImageNet(tmp_path, "val")
    write_meta(tmp_path, ({}, TRUTH))
    check_validation(data.ImageNet(tmp_path, "val"))


@pytest.mark.parametrize("content", [({}, [], 3), ([], []), ({"n1": 3}, [])])
def test_names_in_another_form(tmp_path, content):
    write_meta(tmp_path, content)
    with pytest.raises(ValueError, match=r"meta\.bin.* has .*, expected the names of classes"):
        data.ImageNet(tmp_path, "val")


def test_a_development_kit_that_is_none(tmp_path):
    pytest.importorskip("scipy")
    files = {"meta.mat": b"zz" * 200, "ILSVRC2012_validation_ground_truth.txt": b"1"}
    write(tmp_path / "ILSVRC2012_devkit_t12" / "data", files)
    with pytest.raises(ValueError, match=r"meta\.mat and .* of .*devkit_t12.* are not those of"):
        data.ImageNet(tmp_path)


def test_the_development_kit(tmp_path, monkeypatch):
    savemat = pytest.importorskip("scipy.io").savemat
    kind = [("ILSVRC2012_ID", "O"), ("WNID", "O"), ("words", "O"), ("gloss", "O")]
    kind += [("num_children", "O")]
    rows = [(k, wnid, NAMES[wnid], "", 0) for k, wnid in enumerate(reversed(WNIDS), 1)]
    rows.append((4, "n00001740", "entity", "", 3))
    file = io.BytesIO()
    savemat(file, {"synsets": np.array(rows, kind)})
    numbers = [3 - WNIDS.index(wnid) for wnid in TRUTH]
    files = {
        "meta.mat": file.getvalue(),
        "ILSVRC2012_validation_ground_truth.txt": "\n".join(map(str, numbers)).encode(),
    }
    write_archives(tmp_path, monkeypatch)
    kit = tmp_path / "ILSVRC2012_devkit_t12"
    with tarfile.open(f"{kit}.tar.gz", "w:gz") as archive:
        for name, content in files.items():
            member = tarfile.TarInfo(f"ILSVRC2012_devkit_t12/data/{name}")
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    check_training(data.ImageNet(tmp_path))
    check_validation(data.ImageNet(tmp_path, "val"))
    write(kit / "data", files)
    check_training(data.ImageNet(tmp_path))
    (kit / "data" / "meta.mat").unlink()
    with pytest.raises(FileNotFoundError, match=r"has no meta\.mat"):
        data.ImageNet(tmp_path)


def test_names_that_torchvision_has_written(tmp_path):
    names = {wnid: tuple(text.split(", ")) for wnid, text in NAMES.items()}
    write_meta(tmp_path, (names, TRUTH))
    write(tmp_path / "val", validation_images())
    check_validation(data.ImageNet(tmp_path, "val"))


def test_what_is_not_there(tmp_path, monkeypatch):
    with pytest.raises(ValueError, match="split is 'test', expected 'train' or 'val'"):
        data.ImageNet(tmp_path, "test")
    with pytest.raises(TypeError, match="root is None, expected a path"):
        data.ImageNet(None)
    with pytest.raises(FileNotFoundError, match=r"no names of classes: .* ImageFolder does with"):
        data.ImageNet(tmp_path)
    write_mapping(tmp_path)
    with pytest.raises(FileNotFoundError, match=r"neither a folder 'val'.*nor ILSVRC2012_img_val"):
        data.ImageNet(tmp_path, "val")
    write(tmp_path, {"ILSVRC2012_img_val.tar": b"anything"})
    with pytest.raises(ValueError, match="has another checksum"):
        data.ImageNet(tmp_path, "val")
    assert not (tmp_path / "val").exists()
    (tmp_path / "val").mkdir()
    with pytest.raises(FileNotFoundError, match="has no images"):
        data.ImageNet(tmp_path, "val")
