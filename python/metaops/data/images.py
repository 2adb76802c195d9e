# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Images: folders of them, and data sets that everybody knows."""

from __future__ import annotations

import os
import shutil
import tarfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from .._errors import at_line
from .._typing import shown
from ..files.replacing import replaced
from .dataset import Dataset
from .download import check_file, download
from .tables import Function, ImageRows, read_idx
from .tables import Path as AnyPath

__all__ = ["CIFAR10", "MNIST", "FashionMNIST", "ImageFolder", "load_image"]

_EXTENSIONS = (".jpg", ".jpeg", ".png", ".ppm", ".bmp", ".pgm", ".tif", ".tiff", ".webp")


def load_image(path: AnyPath) -> Any:
    """Return the image in a file as one of Pillow's, in red, green and blue.

    Raises
    ------
    ImportError
        If there is no Pillow.
    """
    try:
        from PIL import Image
    except ImportError:
        raise at_line(ImportError("reading images takes Pillow: pip install pillow")) from None
    with Image.open(os.fspath(path)) as image:
        return image.convert("RGB")


class ImageFolder(Dataset[tuple[Any, int]]):
    """Images in folders, one for each class: ``root/dog/x.png``, ``root/cat/a/y.jpg``.

    Items are images of Pillow and the numbers of their classes, which are in the order of their
    names.

    Parameters
    ----------
    root
        The folder.
    transform, target_transform
        Functions of an image and of a class.
    loader
        Returns the image in a file.
    extensions
        How names of images end.

    Raises
    ------
    FileNotFoundError
        If there is no class, or one has no images.
    """

    def __init__(
        self,
        root: AnyPath,
        transform: Function | None = None,
        target_transform: Function | None = None,
        loader: Callable[[str], Any] = load_image,
        extensions: Sequence[str] = _EXTENSIONS,
    ) -> None:
        self.root = os.fspath(root)
        self.transform = transform
        self.target_transform = target_transform
        self.loader = loader
        with os.scandir(self.root) as entries:
            self.classes = sorted(entry.name for entry in entries if entry.is_dir())
        if not self.classes:
            raise at_line(FileNotFoundError(f"ImageFolder: {self.root!r} has no folders"))
        self.class_to_idx = {name: number for number, name in enumerate(self.classes)}
        self.samples: list[tuple[str, int]] = []
        ends = tuple(extension.lower() for extension in extensions)
        for name, number in self.class_to_idx.items():
            found = sorted(
                os.path.join(folder, file)
                for folder, _, files in os.walk(os.path.join(self.root, name), followlinks=True)
                for file in files
                if file.lower().endswith(ends)
            )
            if not found:
                raise at_line(
                    FileNotFoundError(
                        f"ImageFolder: the folder {name!r} of {self.root!r} has no images "
                        f"({', '.join(ends)})"
                    )
                )
            self.samples += [(path, number) for path in found]
        self.targets = [number for _, number in self.samples]

    def __len__(self) -> int:
        return len(self.samples)

    def __getitem__(self, index: Any) -> tuple[Any, int]:
        path, target = self.samples[index]
        try:
            image = self.loader(path)
        except OSError as error:
            raise OSError(f"{path}: {error}") from error
        if self.transform is not None:
            image = self.transform(image)
        return image, target if self.target_transform is None else self.target_transform(target)


class MNIST(ImageRows):
    """Handwritten digits: images of 28 x 28 pixels (uint8), and labels from 0 to 9.

    Parameters
    ----------
    root
        A folder with the four idx files, packed or not, in itself or in ``MNIST/raw``.
    train
        Whether it is the 60,000 for training, or the 10,000 others.
    transform, target_transform
        Functions of an image and of a label. Without them batches are gathered.
    download
        Whether files that are not there are downloaded.

    Raises
    ------
    FileNotFoundError
        If a file is not there.
    """

    #: Sources of downloads, and the files' checksums (MD5).
    mirrors: Sequence[str] = ("https://ossci-datasets.s3.amazonaws.com/mnist/",)
    checksums: dict[str, str] = {  # noqa: RUF012 (as the mirrors, it may be set)
        "train-images-idx3-ubyte.gz": "f68b3c2dcbeaaa9fbdd348bbdeb94873",
        "train-labels-idx1-ubyte.gz": "d53e105ee54ea40749a09fcbcd1e9432",
        "t10k-images-idx3-ubyte.gz": "9fb629c4189551a2d022fa330f9573f3",
        "t10k-labels-idx1-ubyte.gz": "ec29112dd5afa0611ce80d1b7f02629c",
    }

    def __init__(
        self,
        root: AnyPath,
        train: bool = True,
        transform: Function | None = None,
        target_transform: Function | None = None,
        download: bool = False,
    ) -> None:
        start = "train" if train else "t10k"
        paths = [self._find(Path(root), name, download) for name in self.checksums if start in name]
        images, labels = map(read_idx, paths)
        super().__init__(images, labels.astype("int64"), transform, target_transform)

    @classmethod
    def _find(cls, root: Path, name: str, is_downloaded: bool) -> Path:
        folder = root / cls.__name__ / "raw"
        plain = name.removesuffix(".gz")
        for path in (root / plain, root / name, folder / plain, folder / name):
            if path.is_file():
                return path
        if not is_downloaded:
            raise at_line(
                FileNotFoundError(
                    f"{cls.__name__}: {name} is neither in {shown(root)} nor in {shown(folder)}; "
                    "with download=True it is downloaded"
                )
            )
        download([f"{mirror}{name}" for mirror in cls.mirrors], folder / name, cls.checksums[name])
        return folder / name


class FashionMNIST(MNIST):
    """Pictures of clothes, in the place of digits; see `MNIST`."""

    mirrors = ("http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/",)
    checksums = {  # noqa: RUF012
        "train-images-idx3-ubyte.gz": "8d4fb7e6c68d591d4c3dfef9ec88bf0d",
        "train-labels-idx1-ubyte.gz": "25c81989df183df01b3e8a0aad5dffbe",
        "t10k-images-idx3-ubyte.gz": "bef4ecab320f06d8554ea6380940ec79",
        "t10k-labels-idx1-ubyte.gz": "bb300cfdad3c16e7a12a480ee83cd310",
    }


class CIFAR10(ImageRows):
    """Photographs of ten kinds of things: images of 32 x 32 x 3 pixels (uint8), and labels.

    It reads the files of bytes (``cifar-10-batches-bin``); those for Python are pickles, which
    may run code.

    Parameters
    ----------
    root
        A folder with that folder, or with its archive.
    train
        Whether it is the 50,000 for training, or the 10,000 others.
    transform, target_transform
        Functions of an image and of a label. Without them batches are gathered.
    download
        Whether the archive is downloaded if it is not there.

    Raises
    ------
    FileNotFoundError
        If the files are not there.
    ValueError
        If one has another number of bytes.
    """

    #: Sources of the archive, and its checksum (MD5).
    mirrors: Sequence[str] = ("https://www.cs.toronto.edu/~kriz/",)
    archive = "cifar-10-binary.tar.gz"
    checksum = "c32a1d4ab5d03f1284b67883e8d87530"
    classes = (
        *("airplane", "automobile", "bird", "cat", "deer"),
        *("dog", "frog", "horse", "ship", "truck"),
    )

    def __init__(
        self,
        root: AnyPath,
        train: bool = True,
        transform: Function | None = None,
        target_transform: Function | None = None,
        download: bool = False,
    ) -> None:
        folder = Path(root) / "cifar-10-batches-bin"
        names = [f"data_batch_{k}.bin" for k in range(1, 6)] if train else ["test_batch.bin"]
        if not all((folder / name).is_file() for name in names):
            self._unpack(Path(root), download)
        records = np.concatenate([_read_records(folder / name) for name in names])
        images = records[:, 1:].reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1)
        labels = records[:, 0].astype("int64")
        super().__init__(np.ascontiguousarray(images), labels, transform, target_transform)

    @classmethod
    def _unpack(cls, root: Path, is_downloaded: bool) -> None:
        archive = root / cls.archive
        if is_downloaded:
            download([f"{mirror}{cls.archive}" for mirror in cls.mirrors], archive, cls.checksum)
        if not archive.is_file():
            raise at_line(
                FileNotFoundError(
                    f"{cls.__name__}: {shown(root)} has neither cifar-10-batches-bin nor "
                    f"{cls.archive}; with download=True it is downloaded"
                )
            )
        if not check_file(archive, cls.checksum):
            raise at_line(ValueError(f"{cls.__name__}: {shown(archive)} has another checksum"))
        with tarfile.open(archive) as content:
            for member in content:
                # Nothing but these files, whatever else an archive may have.
                if member.isfile() and member.name.startswith("cifar-10-batches-bin/"):
                    path = root / "cifar-10-batches-bin" / Path(member.name).name
                    path.parent.mkdir(exist_ok=True)
                    source = content.extractfile(member)
                    assert source is not None
                    with source, replaced(os.fspath(path)) as file:
                        shutil.copyfileobj(source, file)


def _read_records(path: Path) -> npt.NDArray[np.uint8]:
    data = np.fromfile(path, np.uint8)
    if not data.size or data.size % 3073:
        raise at_line(ValueError(f"{shown(path)} has {data.size} bytes, no multiple of 3,073"))
    records = data.reshape(-1, 3073)
    if records[:, 0].max() > 9:
        raise at_line(ValueError(f"{shown(path)} has the label {records[:, 0].max()}, at most 9"))
    return records
