//===- Target.cpp - Targets of compilation --------------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Target/Target.h"
#include "MetaOps/Conversion/Passes.h"

using namespace mlir;
using namespace mlir::metaop;

std::string Target::str() const {
  std::string text;
  llvm::raw_string_ostream stream(text);
  print(stream);
  return text;
}

void Target::addPhase(OpPassManager &pm, StringRef phase) const {
  ArrayRef<StringRef> phases = getPhases();
  if (phase == phases[0])
    return addLoops(pm);
  if (phase != phases[1])
    return addFurther(pm, phase);
  addFamily(pm);
  pm.addPass(createBindNumbersPass());
  addCode(pm);
}
