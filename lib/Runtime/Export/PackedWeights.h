//===- PackedWeights.h - What kernels make of weights alone -----*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_RUNTIME_EXPORT_PACKEDWEIGHTS_H
#define METAOPS_LIB_RUNTIME_EXPORT_PACKEDWEIGHTS_H

#include "MetaOps/Runtime/Memory/Allocator.h"
#include "MetaOps/Runtime/Program/Program.h"
#include "MetaOps/Runtime/Program/ProgramData.h"
#include "llvm/ADT/ArrayRef.h"

#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

namespace metaops {

/// The results of a program that are made of weights alone, which never change:
/// one run makes them, later ones use them. All functions may be called from
/// several threads at once.
class PackedWeights {
public:
  /// `arguments` are the function's; see FunctionSignature.
  PackedWeights(const ProgramData &program,
                llvm::ArrayRef<std::optional<unsigned>> arguments);

  /// Has a run use what is there, and make what is not, unless another run is
  /// at it. Does without where there is no memory. To be ended whatever becomes
  /// of the run.
  void begin(ProgramRun &run, Allocator &memory);
  void end(const ProgramRun &run);

  /// Of what is kept.
  int64_t getBytes() const;

private:
  enum class State { Missing, InTheMaking, There };
  /// By the program's number of packed results.
  struct Result {
    int64_t bytes = 0;
    bool isOfWeights = false;
    State state = State::Missing;
    /// Null while it is missing.
    std::shared_ptr<PackedCopy> copy;
  };

  PackedUse use(Result &result, Allocator &memory);

  mutable std::mutex mutex;
  std::vector<Result> results;
};

} // namespace metaops

#endif // METAOPS_LIB_RUNTIME_EXPORT_PACKEDWEIGHTS_H
