# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs that are loops, as users of MetaOps, PyTorch and JAX write them.

Each module is a group of rows of bench/loops.py: `measure(task, quick)` measures one task of
its `TASKS` in this process, and `make_tables(measured)` says what was measured, by the number
of processors and the task.
"""
