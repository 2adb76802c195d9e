# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Workers, as a data set may know the one that it is in."""

from __future__ import annotations

import sys
from typing import Any

__all__ = ["WorkerInfo", "get_worker_info", "set_worker_info"]


class WorkerInfo:
    """The number of a worker, and of how many.

    Parameters
    ----------
    id, num_workers
        The numbers.
    seed
        What its global random numbers were first seeded with.
    dataset
        The data set in this process.
    """

    def __init__(self, id: int, num_workers: int, seed: int, dataset: Any) -> None:
        self._id = id
        self._num_workers = num_workers
        self.seed = seed
        self._dataset = dataset
        #: True when somebody has asked for the data set.
        self.dataset_was_read = False
        #: True when somebody has asked which part is this worker's.
        self.was_read = False

    @property
    def id(self) -> int:
        """The worker's number, from 0 on."""
        self.was_read = True
        return self._id

    @property
    def dataset(self) -> Any:
        """The data set in this process."""
        self.dataset_was_read = True
        return self._dataset

    @property
    def num_workers(self) -> int:
        """The number of workers."""
        self.was_read = True
        return self._num_workers

    def __repr__(self) -> str:
        return f"<WorkerInfo: worker {self._id} of {self._num_workers}>"


_info: WorkerInfo | None = None


def get_worker_info() -> WorkerInfo | None:
    """Return what is known of the worker that calls this; None in the loader's process.

    Examples
    --------
    >>> import metaops as mo
    >>> mo.data.get_worker_info() is None
    True
    """
    return _info


def set_worker_info(info: WorkerInfo) -> None:
    """Have this process be a worker, for PyTorch's data sets, too."""
    global _info
    _info = info
    theirs: Any = sys.modules.get("torch.utils.data._utils.worker")
    if theirs is not None:
        theirs._worker_info = info
