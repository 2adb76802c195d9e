//===- FunctionCode.h - The code of a program file's function ---*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_RUNTIME_EXPORT_FUNCTIONCODE_H
#define METAOPS_LIB_RUNTIME_EXPORT_FUNCTIONCODE_H

#include "MetaOps/Runtime/Export/LoadedProgram.h"
#include "MetaOps/Runtime/Program/CompiledProgram.h"
#include "PackedWeights.h"
#include "llvm/ADT/StringMap.h"

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace metaops {

class CodeImage;

/// A program of a function, ready to run if there is code.
struct ProgramInstance {
  /// Of fixed shapes.
  std::shared_ptr<const FunctionSignature> signature;
  /// Of each of the program's arguments; null for inputs.
  std::vector<BufferRef> weights;
  /// Null without code. The kernels are in the function's image.
  std::shared_ptr<CompiledProgram> program;
  std::unique_ptr<PackedWeights> packed;
};

/// Makes a program of a function without code.
std::shared_ptr<ProgramInstance>
makeInstance(const ProgramFile &file, unsigned function, unsigned program);

/// The code of a function, and those of its programs that were asked for last.
/// All functions may be called from several threads at once.
class FunctionCode {
public:
  /// Reads the code for this processor, or takes what is supplied.
  static llvm::Expected<std::shared_ptr<FunctionCode>>
  load(std::shared_ptr<const ProgramFile> file, unsigned function,
       const LoadOptions &options);

  const std::string &getTarget() const { return target; }

  /// Returns a program of the function, by its place in the signature.
  llvm::Expected<std::shared_ptr<ProgramInstance>> get(unsigned program);

private:
  FunctionCode(std::shared_ptr<const ProgramFile> file, unsigned function)
      : file(std::move(file)), function(function) {}

  llvm::Expected<std::string> readProgramBytes(unsigned program) const;
  llvm::Expected<std::shared_ptr<ProgramInstance>> make(unsigned program);

  std::shared_ptr<const ProgramFile> file;
  unsigned function;
  std::string target;
  /// Its number in the file; none where the code was supplied.
  std::optional<unsigned> targetNumber;
  std::string suppliedProgram;
  std::shared_ptr<const RoutineRegistry> routines;
  /// Null without kernels.
  std::shared_ptr<const CodeImage> image;
  std::shared_ptr<PackedPool> packed = std::make_shared<PackedPool>();

  /// Guards what follows.
  std::mutex mutex;
  /// By name.
  llvm::StringMap<std::shared_ptr<const Kernel>> kernels;
  /// With the last one behind.
  std::vector<std::pair<unsigned, std::shared_ptr<ProgramInstance>>> recent;
};

} // namespace metaops

#endif // METAOPS_LIB_RUNTIME_EXPORT_FUNCTIONCODE_H
