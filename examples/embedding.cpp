//===- embedding.cpp - MetaOps inside of another compiler -----------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   embedding file.mlir     prints the file's @main in the LLVM dialect
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Pipelines/Pipelines.h"
#include "MetaOps/Target/CPU/CpuTarget.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

int main(int argc, char **argv) {
  DialectRegistry registry;
  metaop::registerSliceDialects(registry);
  MLIRContext context(registry);
  OwningOpRef<ModuleOp> module =
      parseSourceFile<ModuleOp>(argc > 1 ? argv[1] : "-", &context);
  if (!module)
    return 1;

  metaop::CpuTarget target{metaop::Processor()};
  metaop::PipelineOptions options;
  options.target = &target;
  options.from = metaop::findPipelineStart(*module);
  PassManager passes(&context);
  if (llvm::Error error = metaop::buildPipeline(passes, "llvm", options)) {
    llvm::errs() << toString(std::move(error)) << '\n';
    return 1;
  }
  if (failed(passes.run(*module)))
    return 1;
  module->print(llvm::outs());
  return 0;
}
