# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The checks and tests of the project, as script/test runs them.

``landings`` says which commits a run is about, ``changes`` which sources and tests these
concern, ``sections`` what is run, ``results`` what has run.
"""
