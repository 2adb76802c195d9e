# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Data sets, and loaders that make batches of them."""

from .. import _session  # noqa: F401 (batches need all of a session)
from ..compat._names import publish as _publish
from .buckets import BucketBatchSampler
from .collate import default_collate
from .dataset import (
    ConcatDataset,
    Dataset,
    IterableDataset,
    Subset,
    TensorDataset,
    random_split,
)
from .distributed import DistributedSampler
from .imagenet import ImageNet
from .images import CIFAR10, MNIST, FashionMNIST, ImageFolder, load_image
from .loader import DataLoader
from .randomness import rng
from .sampler import (
    BatchSampler,
    RandomSampler,
    Sampler,
    SequentialSampler,
    SubsetRandomSampler,
    WeightedRandomSampler,
)
from .tables import CsvDataset, NpyDataset, NpzDataset, read_idx
from .worker_info import get_worker_info

__all__ = [
    "BatchSampler",
    "BucketBatchSampler",
    "CIFAR10",
    "ConcatDataset",
    "CsvDataset",
    "DataLoader",
    "Dataset",
    "DistributedSampler",
    "FashionMNIST",
    "ImageFolder",
    "ImageNet",
    "IterableDataset",
    "MNIST",
    "NpyDataset",
    "NpzDataset",
    "RandomSampler",
    "Sampler",
    "SequentialSampler",
    "Subset",
    "SubsetRandomSampler",
    "TensorDataset",
    "WeightedRandomSampler",
    "default_collate",
    "get_worker_info",
    "load_image",
    "random_split",
    "read_idx",
    "rng",
]

_publish(vars(), __all__)
