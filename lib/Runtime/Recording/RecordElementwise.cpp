//===- RecordElementwise.cpp - Recording element-wise ops -----------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Ops of one to three operands are found by the mnemonics of the dialect, and
// asked which element types they take; so an op added to the dialect can be
// recorded without a change here. Operands are promoted (Promotion.h), cast to
// a type that the op takes, and broadcast to one shape. A Python number becomes
// a `metaop.scalar`: its value is no part of the program.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Dialect/MetaOp/IR/ElementwiseOps.h"
#include "MetaOps/Dialect/MetaOp/IR/LeafOps.h"
#include "MetaOps/Runtime/Compiler/ElementTypes.h"
#include "RecordingTables.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace metaops;

//===----------------------------------------------------------------------===//
// What an op takes
//===----------------------------------------------------------------------===//

/// Returns whether an op's own constraints accept operands and a result of
/// `type`.
static bool accepts(OperationName name, unsigned arity, Type elementType) {
  MLIRContext *context = name.getContext();
  Location unknown = UnknownLoc::get(context);
  auto type = RankedTensorType::get({}, elementType);
  OpBuilder builder(context);
  auto leaf = metaop::ScalarOp::create(builder, unknown, type);
  llvm::SmallVector<Value> operands(arity, leaf);
  Operation *op = Operation::create(unknown, name, TypeRange(type), operands,
                                    NamedAttrList(), /*properties=*/nullptr);
  ScopedDiagnosticHandler silent(context,
                                 [](Diagnostic &) { return success(); });
  bool accepted = succeeded(name.verifyInvariants(op));
  op->destroy();
  leaf->destroy();
  return accepted;
}

const Recorder::ElementwiseInfo &
Recorder::lookUpElementwise(llvm::StringRef mnemonic, unsigned arity) {
  auto [it, isNew] = tables->elementwise.try_emplace(mnemonic);
  if (isNew) {
    OperationName name(("metaop." + mnemonic).str(), context);
    auto info = std::make_unique<ElementwiseInfo>(ElementwiseInfo{name, 0});
    if (name.isRegistered() &&
        name.hasInterface<metaop::ElementwiseOpInterface>())
      for (unsigned operands : {1, 2, 3}) {
        auto takes = [&](DType dtype) {
          return accepts(name, operands, toElementType(dtype, context));
        };
        info->takesBool = takes(DType::Bool);
        info->takesSigned = takes(DType::I32);
        info->takesUnsigned = takes(DType::U32);
        info->takesFloat = takes(DType::F32);
        info->arity = operands;
        if (info->takesBool || info->takesSigned || info->takesFloat)
          break;
        info->arity = 0;
      }
    it->second = std::move(info);
  }
  if (it->second->arity != arity)
    fail(ErrorKind::Value, "there is no element-wise operator '" + mnemonic +
                               "' with " + llvm::Twine(arity) +
                               (arity == 1 ? " operand" : " operands"));
  return *it->second;
}

/// The type in which an op is computed on operands of `dtype`.
DType Recorder::elementwiseType(const ElementwiseInfo &info,
                                llvm::StringRef name, DType dtype) const {
  if (info.takes(dtype))
    return dtype;
  // A boolean counts as an integer, as in Python.
  if (isBool(dtype) && info.takesSigned)
    return DType::I64;
  if (!isFloat(dtype) && info.takesFloat && !info.takesSigned)
    return DType::F32;
  llvm::StringRef expected = !info.takesFloat     ? "integers or booleans"
                             : info.takesUnsigned ? "numbers"
                                                  : "signed numbers";
  fail(ErrorKind::Type,
       name + ": given " + nameOf(dtype) + ", expected " + expected);
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

static bool isRounding(llvm::StringRef name) {
  return name == "floor" || name == "ceil" || name == "round" ||
         name == "trunc";
}

static DType dtypeOf(Operand operand) {
  return operand.isNumber() ? operand.getNumber().getDType()
                            : operand.getNode()->dtype;
}

/// The common type of tensors, and of numbers beside them, which are weak.
static DType promoteOperands(llvm::ArrayRef<Operand> operands) {
  std::optional<DType> dtype;
  bool areNumbers = llvm::all_of(
      operands, [](Operand operand) { return operand.isNumber(); });
  for (Operand operand : operands)
    if (areNumbers || !operand.isNumber())
      dtype = dtype ? promote(*dtype, dtypeOf(operand)) : dtypeOf(operand);
  if (areNumbers)
    return *dtype;
  for (Operand operand : operands)
    if (operand.isNumber())
      dtype = promote(*dtype, operand.getNumber().getKind());
  return *dtype;
}

static llvm::ArrayRef<int64_t> shapeOf(Operand operand) {
  return operand.isNumber() ? llvm::ArrayRef<int64_t>()
                            : operand.getNode()->shape();
}

bool metaops::extendShape(llvm::SmallVectorImpl<int64_t> &shape,
                          llvm::ArrayRef<int64_t> other) {
  if (shape.size() < other.size())
    shape.insert(shape.begin(), other.size() - shape.size(), 1);
  size_t offset = shape.size() - other.size();
  for (auto [index, extent] : llvm::enumerate(other)) {
    int64_t &mine = shape[offset + index];
    if (mine == 1)
      mine = extent;
    else if (extent != 1 && extent != mine)
      return false;
  }
  return true;
}

/// Extends `shape` to the common shape of itself and `other`.
static void broadcastShapes(llvm::StringRef name,
                            llvm::SmallVectorImpl<int64_t> &shape,
                            llvm::ArrayRef<int64_t> other) {
  if (shape == other)
    return;
  auto before = llvm::to_vector<8>(shape);
  if (!extendShape(shape, other))
    fail(ErrorKind::Value, name + ": shapes " + formatShape(before) + " and " +
                               formatShape(other) +
                               " do not broadcast together");
}

Node *Recorder::recordOperand(Operand operand, DType dtype,
                              llvm::ArrayRef<int64_t> shape) {
  Node *node = operand.isNumber() ? scalar(operand.getNumber(), dtype)
                                  : recordCast(operand.getNode(), dtype);
  return recordBroadcast(node, shape);
}

Node *Recorder::recordCast(Node *x, DType dtype) {
  if (x->dtype == dtype)
    return x;
  return adopt(metaop::CastOp::create(at(), line, typeOf(x->shape(), dtype),
                                      x->value()));
}

Node *Recorder::recordElementwise(OperationName name,
                                  llvm::ArrayRef<Node *> nodes) {
  llvm::SmallVector<Value, 2> operands;
  for (Node *node : nodes)
    operands.push_back(node->value());
  Operation *op =
      Operation::create(line, name, TypeRange(operands[0].getType()), operands,
                        DictionaryAttr::get(context),
                        /*properties=*/nullptr, BlockRange(), /*numRegions=*/0);
  graph.getBlock().push_back(op);
  return adopt(op);
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

Node *Recorder::unary(llvm::StringRef name, Operand x) {
  const ElementwiseInfo &info = lookUpElementwise(name, 1);
  // Integers are round already, and keep their type.
  bool isIdentity = isRounding(name) && !isFloat(dtypeOf(x));
  DType dtype =
      isIdentity ? dtypeOf(x) : elementwiseType(info, name, dtypeOf(x));
  Node *operand = recordOperand(x, dtype, shapeOf(x));
  return isIdentity ? operand : recordElementwise(info.name, operand);
}

/// The operator that an operator of numbers is where both are booleans, which
/// the result is then as well; empty if there is none.
static llvm::StringRef getBooleanName(llvm::StringRef name) {
  return llvm::StringSwitch<llvm::StringRef>(name)
      .Cases({"add", "max"}, "or")
      .Cases({"mul", "min"}, "and")
      .Default("");
}

Node *Recorder::recordSeveral(llvm::StringRef name,
                              llvm::ArrayRef<Operand> operands) {
  DType promoted = promoteOperands(operands);
  if (isBool(promoted) && name == "sub")
    fail(ErrorKind::Type, "sub: given booleans, of which there is no "
                          "difference; use x ^ y, or cast one to an integer");
  if (llvm::StringRef other = getBooleanName(name);
      isBool(promoted) && !other.empty())
    return recordSeveral(other, operands);
  const ElementwiseInfo &info = lookUpElementwise(name, operands.size());
  DType dtype = elementwiseType(info, name, promoted);
  llvm::SmallVector<int64_t, 8> shape(shapeOf(operands.front()));
  for (Operand operand : operands.drop_front())
    broadcastShapes(name, shape, shapeOf(operand));
  for (Operand operand : operands)
    if (operand.isNumber())
      (void)operand.getNumber().encode(dtype);
  llvm::SmallVector<Node *, 3> nodes;
  for (Operand operand : operands)
    nodes.push_back(recordOperand(operand, dtype, shape));
  return recordElementwise(info.name, nodes);
}

/// Small constant powers are products and roots, which are faster. Products of
/// halves are numbers of f32 until the last.
Node *Recorder::recordPower(Operand x, Operand y) {
  constexpr int64_t mostMultiplied = 64;
  DType dtype = promoteOperands({x, y});
  bool isSmall = y.isNumber() && !x.isNumber() && y.getNumber().fitsInt64() &&
                 y.getNumber().getKind() == Number::Kind::Int;
  int64_t exponent = isSmall ? y.getNumber().getInt() : 0;
  if (!isFloat(dtype)) {
    if (isSmall && exponent < 0)
      fail(ErrorKind::Value, "pow: an integer to the power of " +
                                 llvm::Twine(exponent) +
                                 " is no integer; cast it to a float");
    isSmall &= exponent <= mostMultiplied;
  } else if (isSmall) {
    isSmall = exponent >= 1 && exponent <= 4;
  }
  if (!isSmall) {
    if (y.isNumber() && !x.isNumber() && y.getNumber().getDouble() == 0.5)
      return recordElementwise(lookUpElementwise("sqrt", 1).name,
                               recordCast(x.getNode(), dtype));
    return recordSeveral("pow", {x, y});
  }
  bool isWidened = isFloat(dtype) && sizeOf(dtype) == 2 && exponent > 2;
  Node *base = recordCast(x.getNode(), isWidened ? DType::F32 : dtype);
  if (exponent == 0)
    return recordOperand(Number::ofInt(1), dtype, base->shape());
  OperationName mul = lookUpElementwise("mul", 2).name;
  Node *result = nullptr;
  for (int64_t rest = exponent;; base = recordElementwise(mul, {base, base})) {
    if (rest & 1)
      result = result ? recordElementwise(mul, {result, base}) : base;
    rest >>= 1;
    if (!rest)
      return recordCast(result, dtype);
  }
}

Node *Recorder::binary(llvm::StringRef name, Operand x, Operand y) {
  if (name == "pow")
    return recordPower(x, y);
  return recordSeveral(name, {x, y});
}

Node *Recorder::ternary(llvm::StringRef name, Operand x, Operand y, Operand z) {
  return recordSeveral(name, {x, y, z});
}

Node *Recorder::compare(llvm::StringRef predicate, Operand x, Operand y) {
  auto kind = metaop::symbolizeComparePredicate(predicate);
  if (!kind)
    fail(ErrorKind::Value, "there is no comparison '" + predicate +
                               "'; expected eq, ne, lt, le, gt or ge");
  DType dtype = promoteOperands({x, y});
  llvm::SmallVector<int64_t, 8> shape(shapeOf(x));
  broadcastShapes(predicate, shape, shapeOf(y));
  Node *lhs = recordOperand(x, dtype, shape);
  Node *rhs = recordOperand(y, dtype, shape);
  return adopt(metaop::CmpOp::create(at(), line, typeOf(shape, DType::Bool),
                                     *kind, lhs->value(), rhs->value()));
}

Node *Recorder::recordSelect(Node *condition, Node *onTrue, Node *onFalse) {
  return adopt(metaop::SelectOp::create(at(), line, onTrue->type(),
                                        condition->value(), onTrue->value(),
                                        onFalse->value()));
}

Node *Recorder::select(Operand condition, Operand onTrue, Operand onFalse) {
  if (!isBool(dtypeOf(condition)))
    fail(ErrorKind::Type, "select: the condition is " +
                              nameOf(dtypeOf(condition)) + ", expected bool");
  DType dtype = promoteOperands({onTrue, onFalse});
  llvm::SmallVector<int64_t, 8> shape(shapeOf(condition));
  broadcastShapes("select", shape, shapeOf(onTrue));
  broadcastShapes("select", shape, shapeOf(onFalse));
  return recordSelect(recordOperand(condition, DType::Bool, shape),
                      recordOperand(onTrue, dtype, shape),
                      recordOperand(onFalse, dtype, shape));
}

Node *Recorder::bitcast(Operand x, DType dtype) {
  DType from = dtypeOf(x);
  if (isBool(from) || isBool(dtype) || sizeOf(from) != sizeOf(dtype))
    fail(ErrorKind::Type, "bitcast: given " + nameOf(from) + " and " +
                              nameOf(dtype) +
                              ", expected numbers of one width");
  Node *node = recordOperand(x, from, shapeOf(x));
  if (from == dtype)
    return node;
  return adopt(metaop::BitcastOp::create(
      at(), line, typeOf(node->shape(), dtype), node->value()));
}

Node *Recorder::cast(Operand x, DType dtype) {
  if (x.isNumber())
    return scalar(x.getNumber(), dtype);
  return recordCast(x.getNode(), dtype);
}

Node *Recorder::stopGrad(Node *x) {
  return adopt(metaop::StopGradOp::create(at(), line, x->type(), x->value()));
}

Node *Recorder::transfer(Node *x, llvm::StringRef from, llvm::StringRef to) {
  return adopt(
      metaop::TransferOp::create(at(), line, x->type(), x->value(), from, to));
}

Node *Recorder::stopFuse(Node *x) {
  return adopt(metaop::StopFuseOp::create(at(), line, x->type(), x->value()));
}
