//===- RegionText.h - Operations with regions from text ---------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_UNITTESTS_RUNTIME_REGIONTEXT_H
#define METAOPS_UNITTESTS_RUNTIME_REGIONTEXT_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"

#include <string>

namespace metaops {

/// Builds the first operation of a text, in which %a, %b, ... are the given
/// values. Null if the text cannot be parsed.
inline mlir::Operation *buildFromText(mlir::OpBuilder &builder,
                                      llvm::StringRef text,
                                      mlir::ValueRange given) {
  std::string source = "func.func @f(";
  llvm::raw_string_ostream os(source);
  for (auto [index, value] : llvm::enumerate(given))
    os << (index ? ", %" : "%") << char('a' + index) << ": " << value.getType();
  os << ") {\n" << text << "\nreturn\n}\n";
  auto module = mlir::parseSourceString<mlir::ModuleOp>(
      source, mlir::ParserConfig(builder.getContext(),
                                 /*verifyAfterParse=*/false));
  if (!module)
    return nullptr;
  auto function = *module->getOps<mlir::func::FuncOp>().begin();
  mlir::IRMapping mapping;
  mapping.map(function.getArguments(), given);
  return builder.clone(function.getBody().front().front(), mapping);
}

} // namespace metaops

#endif // METAOPS_UNITTESTS_RUNTIME_REGIONTEXT_H
