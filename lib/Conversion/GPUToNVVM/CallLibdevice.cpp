//===- CallLibdevice.cpp - Functions of NVIDIA's library ------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Functions of f32 have become arithmetic before, the same as on the CPU. What
// is left are those of f64, and remainders, which LLVM would make a quotient's:
// that is not exact. Each is a call for each lane of a function that the linker
// takes from libdevice.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Conversion/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/StringMap.h"

namespace mlir::metaop {
#define GEN_PASS_DEF_CALLLIBDEVICEPASS
#include "MetaOps/Conversion/Passes.h.inc"
} // namespace mlir::metaop

using namespace mlir;

/// The names of functions of f64 by that of the operation; those of f32 have an
/// `f` behind them.
static const llvm::StringMap<StringRef> &getFunctions() {
  static const llvm::StringMap<StringRef> functions = {
      {arith::RemFOp::getOperationName(), "__nv_fmod"},
      {math::AcosOp::getOperationName(), "__nv_acos"},
      {math::AcoshOp::getOperationName(), "__nv_acosh"},
      {math::AsinOp::getOperationName(), "__nv_asin"},
      {math::AsinhOp::getOperationName(), "__nv_asinh"},
      {math::Atan2Op::getOperationName(), "__nv_atan2"},
      {math::AtanOp::getOperationName(), "__nv_atan"},
      {math::AtanhOp::getOperationName(), "__nv_atanh"},
      {math::CbrtOp::getOperationName(), "__nv_cbrt"},
      {math::CosOp::getOperationName(), "__nv_cos"},
      {math::CoshOp::getOperationName(), "__nv_cosh"},
      {math::ErfOp::getOperationName(), "__nv_erf"},
      {math::ErfcOp::getOperationName(), "__nv_erfc"},
      {math::Exp2Op::getOperationName(), "__nv_exp2"},
      {math::ExpM1Op::getOperationName(), "__nv_expm1"},
      {math::ExpOp::getOperationName(), "__nv_exp"},
      {math::Log10Op::getOperationName(), "__nv_log10"},
      {math::Log1pOp::getOperationName(), "__nv_log1p"},
      {math::Log2Op::getOperationName(), "__nv_log2"},
      {math::LogOp::getOperationName(), "__nv_log"},
      {math::PowFOp::getOperationName(), "__nv_pow"},
      {math::SinOp::getOperationName(), "__nv_sin"},
      {math::SinhOp::getOperationName(), "__nv_sinh"},
      {math::TanOp::getOperationName(), "__nv_tan"},
      {math::TanhOp::getOperationName(), "__nv_tanh"},
  };
  return functions;
}

/// The function that the operation is a call of; empty for none.
static std::string getFunction(Operation *op) {
  StringRef name = getFunctions().lookup(op->getName().getStringRef());
  if (name.empty())
    return std::string();
  Type element = getElementTypeOrSelf(op->getResult(0));
  if (element.isF64())
    return name.str();
  return element.isF32() ? (name + "f").str() : std::string();
}

static LLVM::LLVMFuncOp declare(gpu::GPUModuleOp module, StringRef name,
                                unsigned numOperands, Type type) {
  if (auto found = module.lookupSymbol<LLVM::LLVMFuncOp>(name))
    return found;
  OpBuilder b = OpBuilder::atBlockBegin(module.getBody());
  auto signature =
      LLVM::LLVMFunctionType::get(type, SmallVector<Type>(numOperands, type));
  return LLVM::LLVMFuncOp::create(b, module.getLoc(), name, signature);
}

static void call(gpu::GPUModuleOp module, Operation *op, StringRef name) {
  OpBuilder b(op);
  Location loc = op->getLoc();
  Type type = op->getResult(0).getType();
  Type element = getElementTypeOrSelf(type);
  LLVM::LLVMFuncOp function =
      declare(module, name, op->getNumOperands(), element);
  auto emitCall = [&](ValueRange operands) {
    return LLVM::CallOp::create(b, loc, function, operands).getResult();
  };
  auto vector = dyn_cast<VectorType>(type);
  if (!vector) {
    op->getResult(0).replaceAllUsesWith(emitCall(op->getOperands()));
    op->erase();
    return;
  }
  SmallVector<SmallVector<Value>> lanes;
  for (Value operand : op->getOperands())
    lanes.emplace_back(
        vector::ToElementsOp::create(b, loc, operand).getResults());
  SmallVector<Value> results;
  for (int64_t lane = 0; lane < vector.getNumElements(); ++lane)
    results.push_back(emitCall(llvm::map_to_vector(
        lanes, [&](ArrayRef<Value> elements) { return elements[lane]; })));
  op->getResult(0).replaceAllUsesWith(
      vector::FromElementsOp::create(b, loc, vector, results));
  op->erase();
}

namespace {
struct CallLibdevicePass
    : metaop::impl::CallLibdevicePassBase<CallLibdevicePass> {
  void runOnOperation() override {
    for (auto module : getOperation().getOps<gpu::GPUModuleOp>())
      module.walk([&](Operation *op) {
        if (std::string name = getFunction(op); !name.empty())
          call(module, op, name);
      });
  }
};
} // namespace
