//===- ProgramBuilder.cpp - Programs from modules -------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The kernels of a module are taken from the cache, which compiles what it
// lacks; then its operations become steps (StepBuilder.cpp).
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/Kernels/ProgramBuilder.h"
#include "StepBuilder.h"

using namespace mlir;

namespace metaops {

/// Programs take and make buffers of sizes that are known.
static llvm::Error verifyTypes(func::FuncOp main) {
  auto verify = [](TypeRange types, StringRef what) -> llvm::Error {
    for (auto [i, type] : llvm::enumerate(types)) {
      auto tensor = dyn_cast<RankedTensorType>(type);
      if (tensor && tensor.hasStaticShape())
        continue;
      std::string text;
      llvm::raw_string_ostream(text) << type;
      return llvm::createStringError(
          "programs are compiled for tensors of static shape, but " + what +
          " " + llvm::Twine(i) + " is " + text);
    }
    return llvm::Error::success();
  };
  if (llvm::Error error = verify(main.getArgumentTypes(), "argument"))
    return error;
  return verify(main.getResultTypes(), "result");
}

std::optional<unsigned> getNode(FileLineColLoc location) {
  return location.getFilename() == "node" ? std::optional(location.getLine())
                                          : std::nullopt;
}

llvm::Expected<BuiltProgram> buildProgram(ModuleOp module, KernelCache &kernels,
                                          StopCheck shouldStop,
                                          llvm::ArrayRef<std::string> lines) {
  SymbolTable symbols(module);
  auto main = symbols.lookup<func::FuncOp>("main");
  if (llvm::Error error = verifyTypes(main))
    return std::move(error);
  llvm::SmallVector<func::FuncOp> callees;
  main.walk<WalkOrder::PreOrder>([&](func::CallOp call) {
    callees.push_back(symbols.lookup<func::FuncOp>(call.getCallee()));
  });
  ProgramInfo info;
  auto calls = kernels.getAll(callees, info.compiledKernels, shouldStop);
  if (!calls)
    return calls.takeError();
  StepBuilder builder(main, std::move(*calls), kernels, lines);
  if (llvm::Error error = builder.build())
    return std::move(error);
  auto program =
      CompiledProgram::create(std::move(builder.data), std::move(info));
  if (!program)
    return program.takeError();
  return BuiltProgram{std::move(*program), std::move(builder.ops)};
}

} // namespace metaops
