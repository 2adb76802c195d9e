# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Written by test/python/public_names.py.
"""The names of the package, for type checkers."""

from .. import Explanation as Explanation
from .. import KernelExplanation as KernelExplanation
from .. import KernelProfile as KernelProfile
from .. import LastProgram as LastProgram
from .. import MemoryHolder as MemoryHolder
from .. import ProfileReport as ProfileReport
from .. import ProgramProfile as ProgramProfile
from .. import TunedKernel as TunedKernel
from .. import Tuning as Tuning
from .. import estimate as estimate
from .. import explain as explain
from .. import last_program as last_program
from .. import memory_holders as memory_holders
from .. import memory_stats as memory_stats
from .. import memory_summary as memory_summary
from .. import profile_scope as profile_scope
from .. import summary as summary
from .. import tune as tune
from .. import tuned_schedules as tuned_schedules

__all__ = [
    "Explanation",
    "KernelExplanation",
    "KernelProfile",
    "LastProgram",
    "MemoryHolder",
    "ProfileReport",
    "ProgramProfile",
    "TunedKernel",
    "Tuning",
    "estimate",
    "explain",
    "last_program",
    "memory_holders",
    "memory_stats",
    "memory_summary",
    "profile_scope",
    "summary",
    "tune",
    "tuned_schedules",
]
