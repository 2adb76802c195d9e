//===- Target.cpp - Targets of compilation --------------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Target/Target.h"
#include "MetaOps/Conversion/Passes.h"
#include "MetaOps/Transforms/Schedule/Report/DescribeStage.h"

using namespace mlir;
using namespace mlir::metaop;

std::string Target::str() const {
  std::string text;
  llvm::raw_string_ostream stream(text);
  print(stream);
  return text;
}

FailureOr<KernelDescription> Target::describe(KernelOp kernel) const {
  FailureOr<KernelMeasures> measures = measure(kernel);
  if (failed(measures))
    return failure();
  KernelDescription result{std::move(*measures), /*name=*/"", {}};
  StageModels models;
  for (auto op : kernel.getBody().front().getOps<FusedOp>()) {
    FailureOr<const Stage *> stage = models.get(op);
    if (failed(stage))
      return failure();
    result.stages.push_back(describeStage(**stage));
  }
  return result;
}

void Target::addPhase(OpPassManager &pm, StringRef phase) const {
  ArrayRef<StringRef> phases = getPhases();
  if (phase == phases[0])
    return addLoops(pm);
  if (phase != phases[1])
    return addFurther(pm, phase);
  size_t before = pm.size();
  addFamily(pm);
  bool hasNumbers = pm.size() != before;
  if (hasNumbers) {
    pm.addPass(createAbstractNumbersPass());
    pm.addPass(createBindNumbersPass());
  }
  addCode(pm);
}
