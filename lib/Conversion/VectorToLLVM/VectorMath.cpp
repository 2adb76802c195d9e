//===- VectorMath.cpp - Functions of f64 by the C library -----------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The GNU C library has the functions of <math.h> on vectors, too, in libmvec,
// within four units in the last place; special numbers have the results that
// the scalar functions give. They are called by the names of x86's vector
// function ABI:
//
//   _ZGV + b, d or e + N + lanes + a v for each operand + _ + name in C
//
// where b is for SSE, d for AVX2 and e for AVX-512 (H. Lu et al., "x86-64
// Vector Function Application Binary Interface", section 2.6).
//
// Each of these instruction sets has code of its own, with roundings of its
// own. So an element has one result wherever it stands: all are computed by the
// widest vectors that the target has. Longer vectors are taken in pieces;
// shorter ones and scalars have lanes that are the first one again.
//
//===----------------------------------------------------------------------===//

#include "VectorMath.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

/// Returns the name in C of a function that libmvec has; empty for others.
/// The natural logarithm is arithmetic by then (WideFunctions.cpp).
static StringRef getFunctionName(Operation *op) {
  return llvm::TypeSwitch<Operation *, StringRef>(op)
      .Case([](math::AcosOp) { return "acos"; })
      .Case([](math::AcoshOp) { return "acosh"; })
      .Case([](math::AsinOp) { return "asin"; })
      .Case([](math::AsinhOp) { return "asinh"; })
      .Case([](math::AtanOp) { return "atan"; })
      .Case([](math::Atan2Op) { return "atan2"; })
      .Case([](math::AtanhOp) { return "atanh"; })
      .Case([](math::CbrtOp) { return "cbrt"; })
      .Case([](math::CosOp) { return "cos"; })
      .Case([](math::CoshOp) { return "cosh"; })
      .Case([](math::ErfOp) { return "erf"; })
      .Case([](math::ErfcOp) { return "erfc"; })
      .Case([](math::ExpOp) { return "exp"; })
      .Case([](math::Exp2Op) { return "exp2"; })
      .Case([](math::ExpM1Op) { return "expm1"; })
      .Case([](math::Log10Op) { return "log10"; })
      .Case([](math::Log1pOp) { return "log1p"; })
      .Case([](math::Log2Op) { return "log2"; })
      .Case([](math::PowFOp) { return "pow"; })
      .Case([](math::SinOp) { return "sin"; })
      .Case([](math::SinhOp) { return "sinh"; })
      .Case([](math::TanOp) { return "tan"; })
      .Case([](math::TanhOp) { return "tanh"; })
      .Default([](Operation *) { return ""; });
}

namespace {
/// Calls functions of vectors of one width.
class VectorMathCaller {
public:
  VectorMathCaller(ModuleOp module, unsigned vectorBits)
      : symbols(module), module(module), builder(module.getContext()),
        whole(VectorType::get(vectorBits / 64, builder.getF64Type())),
        instructions(vectorBits == 512   ? "e"
                     : vectorBits == 256 ? "d"
                                         : "b") {}

  void replace(Operation *op, StringRef name);

private:
  func::FuncOp declare(StringRef name, unsigned numOperands);
  Value widen(Location loc, Value operand, int64_t first);
  Value combine(Location loc, Type type, ArrayRef<Value> pieces);

  SymbolTable symbols;
  ModuleOp module;
  OpBuilder builder;
  /// A whole register.
  VectorType whole;
  /// The letter of the instruction set.
  StringRef instructions;
};
} // namespace

func::FuncOp VectorMathCaller::declare(StringRef name, unsigned numOperands) {
  std::string symbol =
      ("_ZGV" + instructions + "N" + Twine(whole.getNumElements()) +
       std::string(numOperands, 'v') + "_" + name)
          .str();
  if (auto function = symbols.lookup<func::FuncOp>(symbol))
    return function;
  SmallVector<Type> operands(numOperands, whole);
  auto function = func::FuncOp::create(
      module.getLoc(), symbol, builder.getFunctionType(operands, whole));
  function.setPrivate();
  function->setAttr(LLVM::LLVMDialect::getReadnoneAttrName(),
                    builder.getUnitAttr());
  symbols.insert(function);
  return function;
}

/// Returns the elements of an operand from the first on, as many as fill a
/// register.
Value VectorMathCaller::widen(Location loc, Value operand, int64_t first) {
  auto type = dyn_cast<VectorType>(operand.getType());
  if (!type)
    return vector::BroadcastOp::create(builder, loc, whole, operand);
  if (type == whole)
    return operand;
  SmallVector<int64_t> lanes;
  for (int64_t lane = 0; lane < whole.getNumElements(); ++lane)
    lanes.push_back(first + lane < type.getNumElements() ? first + lane : 0);
  return vector::ShuffleOp::create(builder, loc, operand, operand, lanes);
}

/// Makes a value of a type of what pieces of it have become.
Value VectorMathCaller::combine(Location loc, Type type,
                                ArrayRef<Value> pieces) {
  auto vector = dyn_cast<VectorType>(type);
  if (!vector)
    return vector::ExtractOp::create(builder, loc, pieces.front(), 0);
  if (vector == whole)
    return pieces.front();
  if (vector.getNumElements() < whole.getNumElements())
    return vector::ExtractStridedSliceOp::create(
        builder, loc, pieces.front(), /*offsets=*/0,
        /*sizes=*/vector.getNumElements(), /*strides=*/1);
  Value result =
      arith::ConstantOp::create(builder, loc, builder.getZeroAttr(vector));
  for (auto [number, piece] : llvm::enumerate(pieces))
    result = vector::InsertStridedSliceOp::create(
        builder, loc, piece, result,
        /*offsets=*/static_cast<int64_t>(number) * whole.getNumElements(),
        /*strides=*/1);
  return result;
}

void VectorMathCaller::replace(Operation *op, StringRef name) {
  Type type = op->getResult(0).getType();
  auto vector = dyn_cast<VectorType>(type);
  int64_t count = vector ? vector.getNumElements() : 1;
  func::FuncOp function = declare(name, op->getNumOperands());
  builder.setInsertionPoint(op);
  SmallVector<Value> pieces;
  for (int64_t first = 0; first < count; first += whole.getNumElements()) {
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(widen(op->getLoc(), operand, first));
    auto call = func::CallOp::create(builder, op->getLoc(), function, operands);
    pieces.push_back(call.getResult(0));
  }
  op->getResult(0).replaceAllUsesWith(combine(op->getLoc(), type, pieces));
  op->erase();
}

LogicalResult metaop::callVectorMath(ModuleOp module, unsigned vectorBits) {
  if (vectorBits != 128 && vectorBits != 256 && vectorBits != 512)
    return module.emitError("expects functions of vectors of 128, 256 or 512 "
                            "bits, given ")
           << vectorBits;
  VectorMathCaller caller(module, vectorBits);
  SmallVector<Operation *> functions;
  module.walk([&](Operation *op) {
    if (getFunctionName(op).empty())
      return;
    Type type = op->getResult(0).getType();
    auto vector = dyn_cast<VectorType>(type);
    if (getElementTypeOrSelf(type).isF64() &&
        (!vector || (vector.getRank() == 1 && !vector.isScalable() &&
                     llvm::isPowerOf2_64(vector.getNumElements()))))
      functions.push_back(op);
  });
  for (Operation *op : functions)
    caller.replace(op, getFunctionName(op));
  return success();
}
