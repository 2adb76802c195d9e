//===- SharedLayout.cpp - Where shared variables lie ----------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Variables lie apart from each other, so that an access beyond one's end is no
// access to the next, and at multiples of 1024 bytes, as much as any
// instruction asks for: which banks the lanes of a warp meet in does not depend
// on what lies before a variable. Those of dynamic size, arrays of no elements,
// come last and at one address, as on a GPU.
//
//===----------------------------------------------------------------------===//

#include "SharedLayout.h"
#include "mlir/Interfaces/DataLayoutInterfaces.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::metaop;

static constexpr int64_t variableAlignment = 1024;
static constexpr int64_t redZone = 128;
static constexpr unsigned sharedSpace = 3;

SharedLayout::SharedLayout(gpu::GPUModuleOp module) {
  DataLayout dataLayout(module);
  int64_t end = 0;
  for (auto global : module.getOps<LLVM::GlobalOp>()) {
    if (global.getAddrSpace() != sharedSpace)
      continue;
    int64_t bytes = dataLayout.getTypeSize(global.getGlobalType());
    variables.push_back({global.getSymName(), end, bytes, bytes == 0});
    if (bytes > 0)
      end = llvm::alignTo(end + bytes + redZone, variableAlignment);
  }
  for (Variable &variable : variables)
    if (variable.isDynamic)
      variable.offset = end;
}

std::optional<int64_t> SharedLayout::getOffset(StringRef name) const {
  for (const Variable &variable : variables)
    if (variable.name == name)
      return variable.offset;
  return std::nullopt;
}

ArrayAttr SharedLayout::describe(MLIRContext *context) const {
  Builder builder(context);
  SmallVector<Attribute> list;
  for (const Variable &variable : variables) {
    SmallVector<NamedAttribute> fields = {
        builder.getNamedAttr("name", builder.getStringAttr(variable.name)),
        builder.getNamedAttr("offset",
                             builder.getI64IntegerAttr(variable.offset))};
    if (!variable.isDynamic)
      fields.push_back(builder.getNamedAttr(
          "bytes", builder.getI64IntegerAttr(variable.bytes)));
    list.push_back(builder.getDictionaryAttr(fields));
  }
  return builder.getArrayAttr(list);
}
