//===- Compiler.cpp - What calls should take ------------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/Compiler/Compiler.h"
#include "llvm/ADT/STLExtras.h"

#include <algorithm>

using namespace metaops;

double metaops::predictSeconds(const KernelInfo &call,
                               const mlir::metaop::MachineFigures &machine,
                               int64_t threads) {
  if (call.cardWork > 0)
    return static_cast<double>(call.cardWork) * 1e-12;
  mlir::metaop::KernelWork work;
  work.bytesRead = call.bytesRead;
  work.bytesWritten = call.bytesWritten;
  work.flops = call.flops;
  for (auto [to, from] : llvm::zip(work.instructions, call.instructions))
    to = from;
  threads = std::min(threads, call.maxThreads);
  return std::max(mlir::metaop::predictSeconds(work, machine, threads),
                  double(call.routineWork) * 1e-12 / double(threads));
}
