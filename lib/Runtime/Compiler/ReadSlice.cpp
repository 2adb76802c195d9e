//===- ReadSlice.cpp - Slices out of bytes --------------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/Compiler/ReadSlice.h"

#include "MetaOps/Dialect/MetaOp/IR/MetaOpDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"

using namespace mlir;

llvm::Expected<OwningOpRef<ModuleOp>> metaops::readSlice(llvm::StringRef slice,
                                                         MLIRContext &context) {
  context.loadDialect<metaop::MetaOpDialect, func::FuncDialect,
                      arith::ArithDialect, tensor::TensorDialect>();
  DialectRegistry controlFlow;
  controlFlow.insert<scf::SCFDialect>();
  context.appendDialectRegistry(controlFlow);
  std::string message;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    message += diagnostic.str();
    return success();
  });
  auto module = parseSourceString<ModuleOp>(slice, ParserConfig(&context));
  if (!module)
    return llvm::createStringError("the slice could not be read: " + message);
  auto main = module->lookupSymbol<func::FuncOp>("main");
  if (!main || main.isDeclaration())
    return llvm::createStringError("the slice has no function @main");
  return module;
}
