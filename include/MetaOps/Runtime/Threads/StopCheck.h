//===- StopCheck.h - Asking whether to go on --------------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_RUNTIME_THREADS_STOPCHECK_H
#define METAOPS_RUNTIME_THREADS_STOPCHECK_H

#include "llvm/ADT/STLFunctionalExtras.h"

namespace metaops {

/// Returns true if what is on its way is to stop. Long work asks now and then;
/// null stands for never.
using StopCheck = llvm::function_ref<bool()>;

} // namespace metaops

#endif // METAOPS_RUNTIME_THREADS_STOPCHECK_H
