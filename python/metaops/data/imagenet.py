# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""ImageNet (ILSVRC 2012), as its archives or Kaggle's have it."""

from __future__ import annotations

import csv
import importlib
import io
import os
import shutil
import tarfile
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from .._errors import at_line
from .._typing import shown
from .download import check_file
from .images import ImageFolder, load_image
from .tables import Function
from .tables import Path as AnyPath

__all__ = ["ImageNet"]

_DEVKIT = "ILSVRC2012_devkit_t12"
_MAPPING, _SOLUTION = "LOC_synset_mapping.txt", "LOC_val_solution.csv"
_TRUTH = "ILSVRC2012_validation_ground_truth.txt"
#: Folders of a split below the root: torchvision's, and Kaggle's.
_PLACES = ("", "ILSVRC/Data/CLS-LOC")


class Meta(NamedTuple):
    """Names of the classes, and the classes of images for validation, by the images' names."""

    names: dict[str, tuple[str, ...]]
    of_images: dict[str, str]


class ImageNet(ImageFolder):
    """Photographs of a thousand kinds of things, of files that are there.

    Items are images of Pillow and the numbers of their classes: those of all classes that have
    names, in the order of WordNet's numbers. The folder has what torchvision's `ImageNet`
    takes, or what Kaggle gives:

    * the images in ``train/n01440764/x.JPEG`` and ``val/n01440764/x.JPEG``, in itself or in
      ``ILSVRC/Data/CLS-LOC``, where those for validation may be in ``val`` itself. Or the
      archive of a split, which is unpacked then.
    * the names of classes in ``LOC_synset_mapping.txt``; or the development kit, unpacked or
      as an archive, which SciPy reads; or torchvision's ``meta.bin``.

    Parameters
    ----------
    root
        The folder.
    split
        "train" or "val".
    transform, target_transform
        Functions of an image and of a class.
    loader
        Returns the image in a file.

    Attributes
    ----------
    wnids : list of str
        WordNet's numbers of the classes.
    classes : list of tuple of str
        Their names.

    Raises
    ------
    FileNotFoundError
        If images, or the names of classes, are not there.
    ValueError
        If an archive has another checksum, an image is of no known class, or the names of
        classes are in another form.
    """

    #: Archives of what is unpacked, and their checksums (MD5).
    checksums: dict[str, str] = {  # noqa: RUF012 (it may be set)
        "ILSVRC2012_img_train.tar": "1d675b47d978889d74fa0da5fadfb00e",
        "ILSVRC2012_img_val.tar": "29b22e2961454d5413ddabcf34fc5622",
    }

    classes: list[tuple[str, ...]]  # type: ignore[assignment]

    def __init__(
        self,
        root: AnyPath,
        split: str = "train",
        transform: Function | None = None,
        target_transform: Function | None = None,
        loader: Callable[[str], Any] = load_image,
    ) -> None:
        if split not in ("train", "val"):
            raise at_line(
                ValueError(f"ImageNet: split is {shown(split)}, expected 'train' or 'val'")
            )
        if not isinstance(root, str | os.PathLike):
            raise at_line(TypeError(f"ImageNet: root is {shown(root)}, expected a path"))
        self.split = split
        folder, meta = Path(root), _read_meta(Path(root))
        self.wnids: list[str] = sorted(meta.names)
        self.wnid_to_idx = {wnid: number for number, wnid in enumerate(self.wnids)}
        images = self._find(folder, meta)
        if next(_folders_of(images), None) is None:
            self.transform, self.target_transform = transform, target_transform
            self.loader = loader
            self._take_flat(images, _with_images(meta, folder))
        else:
            super().__init__(images, transform, target_transform, loader)
            self._take_numbers(meta)
        self.targets = [number for _, number in self.samples]
        self.root = os.fspath(root)
        self.classes = [meta.names[wnid] for wnid in self.wnids]
        self.class_to_idx = {
            name: number for number, names in enumerate(self.classes) for name in names
        }

    def _find(self, root: Path, meta: Meta) -> Path:
        """Return the folder of the split's images, which may be unpacked for it."""
        found = [root / place / self.split for place in _PLACES]
        found = [folder for folder in found if folder.is_dir()]
        if found:
            return next((folder for folder in found if any(folder.iterdir())), found[0])
        (archive,) = (root / name for name in self.checksums if f"_{self.split}." in name)
        if not archive.is_file():
            raise at_line(
                FileNotFoundError(
                    f"ImageNet: {str(root)!r} has neither a folder {self.split!r}, in itself or in"
                    f" {_PLACES[1]!r}, nor {archive.name}"
                )
            )
        if not check_file(archive, self.checksums[archive.name]):
            raise at_line(ValueError(f"ImageNet: {str(archive)!r} has another checksum"))
        self._unpack(archive, root, meta)
        return root / self.split

    def _unpack(self, archive: Path, root: Path, meta: Meta) -> None:
        """Unpack the images, unless another process has done so first."""
        # The folder is there when all of it is.
        with tempfile.TemporaryDirectory(".part", f"{self.split}.", root) as part:
            made = Path(part) / self.split
            made.mkdir()
            if self.split == "train":
                _unpack_training(archive, made, meta)
            else:
                _unpack_validation(archive, made, _with_images(meta, root))
            try:
                os.replace(made, root / self.split)
            except OSError:
                if not (root / self.split).is_dir():
                    raise

    def _take_flat(self, folder: Path, meta: Meta) -> None:
        """Take images for validation from one folder, with their classes from the meta data."""
        self.samples = [
            (str(path), self.wnid_to_idx[_class_of(path.name, meta)])
            for path in sorted(folder.glob("*.JPEG"))
        ]
        if not self.samples:
            raise at_line(FileNotFoundError(f"ImageNet: {str(folder)!r} has no images"))

    def _take_numbers(self, meta: Meta) -> None:
        """Have the classes of folders be numbered among all."""
        unknown = sorted(self.class_to_idx.keys() - meta.names.keys())
        if unknown:
            raise at_line(
                ValueError(
                    f"ImageNet: the folder {unknown[0]!r} of {str(self.root)!r} is none of the"
                    f" {len(meta.names)} classes that have names"
                )
            )
        folders = list(self.class_to_idx)
        self.samples = [(path, self.wnid_to_idx[folders[number]]) for path, number in self.samples]


def _folders_of(path: Path) -> Iterator[Path]:
    return (entry for entry in path.iterdir() if entry.is_dir())


def _class_of(image: str, meta: Meta) -> str:
    """Return the class of an image for validation."""
    wnid = meta.of_images.get(Path(image).stem)
    if wnid not in meta.names:
        raise at_line(ValueError(f"ImageNet: nothing tells the class of {image}"))
    return wnid


# Archives


def _members(archive: tarfile.TarFile) -> Iterator[tuple[str, BinaryIO]]:
    """Return the files of an archive by their names alone, whatever folders it has."""
    for member in archive:
        source = archive.extractfile(member) if member.isfile() else None
        if source is not None:
            with source:
                yield Path(member.name).name, source  # type: ignore[misc]


def _write(source: BinaryIO, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "wb") as file:
        shutil.copyfileobj(source, file)


def _unpack_training(path: Path, folder: Path, meta: Meta) -> None:
    """Unpack an archive of archives, one for each class."""
    with tarfile.open(path) as outer:
        for name, source in _members(outer):
            wnid = Path(name).stem
            if wnid not in meta.names:
                raise at_line(
                    ValueError(
                        f"ImageNet: {str(path)!r} has {name!r}, which is of none of the"
                        f" {len(meta.names)} classes that have names"
                    )
                )
            with tarfile.open(fileobj=source) as inner:
                for image, content in _members(inner):
                    _write(content, folder / wnid / image)


def _unpack_validation(path: Path, folder: Path, meta: Meta) -> None:
    """Unpack an archive of images into folders of their classes."""
    with tarfile.open(path) as archive:
        for image, content in _members(archive):
            _write(content, folder / _class_of(image, meta) / image)


# Names


def _read_meta(root: Path) -> Meta:
    """Return what the files of a folder say of the classes."""
    meta = _read_mapping(root) if (root / _MAPPING).is_file() else _read_others(root)
    if meta is None:
        raise at_line(
            FileNotFoundError(
                f"ImageNet: {str(root)!r} has no names of classes: neither {_MAPPING}, {_DEVKIT},"
                f" {_DEVKIT}.tar.gz nor meta.bin; ImageFolder does without"
            )
        )
    return meta


def _with_images(meta: Meta, root: Path) -> Meta:
    """Return names with the classes of images, which may be in another file."""
    others = None if meta.of_images else _read_others(root)
    return meta if others is None else Meta(meta.names, others.of_images)


def _read_others(root: Path) -> Meta | None:
    """Return what the development kit says, or what torchvision has written of it."""
    for path in (root / _DEVKIT, root / f"{_DEVKIT}.tar.gz"):
        if path.exists():
            return _read_devkit(path)
    return _read_torchvision(root / "meta.bin") if (root / "meta.bin").is_file() else None


def _read_mapping(root: Path) -> Meta:
    """Read Kaggle's files of text."""
    lines = (root / _MAPPING).read_text().splitlines()
    rows = [line.split(maxsplit=1) for line in lines if line.strip()]
    names = {wnid: tuple(rest[0].split(", ")) if rest else (wnid,) for wnid, *rest in rows}
    of_images: dict[str, str] = {}
    if (root / _SOLUTION).is_file():
        with open(root / _SOLUTION, newline="") as file:
            for row in csv.reader(file):
                # The first line has the names of columns.
                if len(row) > 1 and row[1].split()[:1] and row[1].split()[0] in names:
                    of_images[row[0]] = row[1].split()[0]
    return Meta(names, of_images)


def _read_devkit(path: Path) -> Meta:
    """Read the development kit, a folder or an archive."""
    try:
        scipy_io = importlib.import_module("scipy.io")
    except ImportError:
        raise at_line(
            ImportError(
                f"reading {path.name} takes SciPy: pip install scipy; {_MAPPING} does without"
            )
        ) from None
    files = _read_files(path)
    try:
        synsets = scipy_io.loadmat(io.BytesIO(files["meta.mat"]), squeeze_me=True)["synsets"]
        # Of a synset the number, WordNet's, the names, a gloss, and how many are below it.
        leaves = [row for row in synsets.tolist() if int(row[4]) == 0]
        names = {str(row[1]): tuple(str(row[2]).split(", ")) for row in leaves}
        by_number = {int(row[0]): str(row[1]) for row in leaves}
        truth = [by_number[int(number)] for number in files[_TRUTH].decode().split()]
    except Exception as error:
        raise at_line(
            ValueError(
                f"ImageNet: meta.mat and {_TRUTH} of {str(path)!r} are not those of the"
                f" development kit: {type(error).__name__}: {error}"
            )
        ) from error
    return Meta(names, _by_images(truth))


def _read_files(path: Path) -> dict[str, bytes]:
    """Return the development kit's files of data by their names."""
    wanted = ("meta.mat", _TRUTH)
    if path.is_dir():
        files = (path / "data" / name for name in wanted)
        found = {file.name: file.read_bytes() for file in files if file.is_file()}
    else:
        with tarfile.open(path) as archive:
            found = {name: file.read() for name, file in _members(archive) if name in wanted}
    missing = [name for name in wanted if name not in found]
    if missing:
        raise at_line(FileNotFoundError(f"ImageNet: {str(path)!r} has no {missing[0]}"))
    return found


def _read_torchvision(path: Path) -> Meta:
    """Read what torchvision has written of the development kit."""
    from ..io import load

    found = load(os.fspath(path))
    try:
        names, truth = found
        own = {str(wnid): tuple(map(str, each)) for wnid, each in names.items()}
        return Meta(own, _by_images(list(truth)))
    except (AttributeError, TypeError, ValueError):
        raise at_line(
            ValueError(
                f"ImageNet: {str(path)!r} has {shown(found)}, expected the names of classes and"
                " the classes of images, as torchvision writes them"
            )
        ) from None


def _by_images(wnids: list[str]) -> dict[str, str]:
    """Return the classes of images for validation, which are numbered from 1."""
    return {f"ILSVRC2012_val_{number:08d}": wnid for number, wnid in enumerate(wnids, 1)}
