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
#include "MetaOps/Runtime/Program/CompiledProgram.h"
#include "llvm/ADT/ArrayRef.h"

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace metaops {

/// A result that is made of weights alone.
struct PackedWeight {
  enum class State { Missing, InTheMaking, There };

  int64_t bytes = 0;
  State state = State::Missing;
  /// Null while it is missing.
  std::shared_ptr<PackedCopy> copy;
};

/// The results of a function's programs that are made of weights alone, each
/// once: programs for other sizes may make the same.
class PackedPool {
public:
  /// Returns the result of a step of a program whose arguments are the given
  /// weights; null where it is made of other things, too.
  std::shared_ptr<PackedWeight>
  get(const ProgramData &program, const Step &step,
      llvm::ArrayRef<std::optional<unsigned>> arguments, int64_t bytes);

  /// Guards all results.
  std::mutex mutex;

private:
  /// Those that a program is there for, by what says that two are equal.
  std::map<std::string, std::weak_ptr<PackedWeight>> results;
};

/// The results of a program that are made of weights alone, which never change:
/// one run makes them, later ones use them. All functions may be called from
/// several threads at once.
class PackedWeights {
public:
  /// `arguments` are the program's; see FunctionSignature.
  PackedWeights(std::shared_ptr<PackedPool> pool, const ProgramData &program,
                llvm::ArrayRef<std::optional<unsigned>> arguments);

  /// Has a run use what is there, and make what is not, unless another run is
  /// at it. Does without where there is no memory. To be ended whatever becomes
  /// of the run.
  void begin(ProgramRun &run, Allocator &memory);
  void end(const ProgramRun &run);

  /// Of what is kept.
  int64_t getBytes() const;

private:
  PackedUse use(PackedWeight *result, Allocator &memory);

  std::shared_ptr<PackedPool> pool;
  /// By the program's number of packed results; null for those that are made of
  /// inputs, too.
  std::vector<std::shared_ptr<PackedWeight>> results;
};

} // namespace metaops

#endif // METAOPS_LIB_RUNTIME_EXPORT_PACKEDWEIGHTS_H
