//===- VectorToLLVM.cpp - From loops and vectors to the LLVM dialect ------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// MLIR's own conversions, in order: transcendentals, where a lane needs them,
// the entry points, loops to branches, then every dialect that is left to LLVM.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Conversion/Passes.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

void metaop::buildVectorToLLVMPipeline(OpPassManager &pm,
                                       unsigned vectorMathBits) {
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  pm.addPass(createSkipUnchosenPass());
  ExpandMathPassOptions math;
  math.vectorMathBits = vectorMathBits;
  pm.addPass(createExpandMathPass(math));
  pm.addPass(createLoopInvariantCodeMotionPass());
  pm.addPass(createCSEPass());
  pm.addPass(createKernelEntryPass());
  pm.addPass(createConvertVectorToSCFPass());
  pm.addPass(createSCFToControlFlowPass());
  // Calls of libm take vectors apart, so they come before the vectors go.
  pm.addPass(createConvertMathToLLVMPass());
  pm.addPass(createConvertMathToLibmPass());
  pm.addPass(createConvertVectorToLLVMPass());
  pm.addPass(createFinalizeMemRefToLLVMConversionPass());
  pm.addPass(createArithToLLVMConversionPass());
  pm.addPass(createConvertIndexToLLVMPass());
  pm.addPass(createConvertControlFlowToLLVMPass());
  pm.addPass(createConvertFuncToLLVMPass());
  pm.addPass(createReconcileUnrealizedCastsPass());
  pm.addPass(createBFloat16BitsPass());
}
