//===- RecordRoutine.cpp - Recording prefixes, sorts and code -------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Dialect/MetaOp/IR/ElementwiseOps.h"
#include "MetaOps/Dialect/MetaOp/IR/ExternOps.h"
#include "MetaOps/Dialect/MetaOp/IR/PrefixOps.h"
#include "MetaOps/Dialect/MetaOp/IR/RoutineOps.h"
#include "RecordingTables.h"
#include "mlir/IR/Verifier.h"

using namespace mlir;
using namespace metaops;

static int64_t normalizeDim(llvm::StringRef what, int64_t dim, Node *x) {
  return normalizeDims(what, dim, x->shape().size()).front();
}

Node *Recorder::prefix(llvm::StringRef kind, Node *x, Node *factors,
                       int64_t dim, bool reverse, bool exclusive) {
  if ((kind == "linear") != (factors != nullptr))
    fail(ErrorKind::Value,
         "prefix: factors are given if and only if the operator is linear");
  dim = normalizeDim("prefix", dim, x);
  DType dtype = x->dtype;
  if (factors) {
    if (factors->shape() != x->shape())
      fail(ErrorKind::Value, "prefix: the source has shape " +
                                 formatShape(x->shape()) + ", the factors " +
                                 formatShape(factors->shape()));
    dtype = promote(dtype, factors->dtype);
  }
  metaop::Combiner combiner = parseCombiner(
      "prefix", metaop::CombinerUse::Prefix, kind, dtype, context);
  Node *source = recordCast(x, dtype);
  Value factorValue = factors ? recordCast(factors, dtype)->value() : Value();
  return adopt(metaop::PrefixOp::create(at(), line, source->type(), combiner,
                                        source->value(), factorValue, dim,
                                        reverse, exclusive,
                                        /*serial=*/false));
}

/// The shape of a part of the order along `dim`; without `count`, of all.
static llvm::SmallVector<int64_t> getOrderShape(Node *x, int64_t dim,
                                                int64_t begin,
                                                std::optional<int64_t> count) {
  llvm::SmallVector<int64_t> shape(x->shape());
  int64_t extent = shape[dim];
  shape[dim] = count.value_or(extent);
  if (begin < 0 || shape[dim] < 0 || begin > extent ||
      shape[dim] > extent - begin)
    fail(ErrorKind::Value, "sort: " + llvm::Twine(shape[dim]) +
                               " places from " + llvm::Twine(begin) +
                               " on are not all inside of 0 to " +
                               llvm::Twine(extent));
  return shape;
}

Node *Recorder::sort(Node *x, int64_t dim, bool descending, int64_t begin,
                     std::optional<int64_t> count) {
  dim = normalizeDim("sort", dim, x);
  auto shape = getOrderShape(x, dim, begin, count);
  bool isPart = shape[dim] < x->shape()[dim];
  Value first = isPart ? recordInteger(begin)->value() : Value();
  return adopt(metaop::SortOp::create(at(), line, typeOf(shape, x->dtype),
                                      typeOf(shape, DType::I64), x->value(),
                                      dim, descending, first));
}

/// Returns the values of an attribute as one of MLIR's.
static Attribute toAttribute(Builder builder,
                             const RoutineAttribute &attribute) {
  if (const auto *integers =
          std::get_if<RoutineAttribute::Integers>(&attribute.values))
    return builder.getDenseI64ArrayAttr(*integers);
  if (const auto *floats =
          std::get_if<RoutineAttribute::Floats>(&attribute.values))
    return builder.getDenseF64ArrayAttr(*floats);
  auto texts = llvm::map_to_vector(
      std::get<RoutineAttribute::Texts>(attribute.values),
      [](const std::string &text) { return StringRef(text); });
  return builder.getStrArrayAttr(texts);
}

/// Returns the values of a parameter; null where it has none of the kind.
template <typename ListT>
static const ListT *findParameter(const RoutineRequest &request,
                                  llvm::StringRef name) {
  for (const RoutineAttribute &each : request.parameters)
    if (each.name == name)
      return std::get_if<ListT>(&each.values);
  return nullptr;
}

/// Creates Fourier transforms as the dialect's operation. Returns null where
/// what is requested is none.
static Operation *createFft(OpBuilder builder, Location line,
                            const RoutineRequest &request, TypeRange types,
                            ValueRange inputs) {
  using Integers = RoutineAttribute::Integers;
  using Floats = RoutineAttribute::Floats;
  const auto *dims = findParameter<Integers>(request, "dims");
  const auto *inverse = findParameter<Integers>(request, "inverse");
  const auto *scale = findParameter<Floats>(request, "scale");
  if (!dims || !inverse || inverse->size() != 1 || !scale ||
      scale->size() != 1 || request.parameters.size() != 3)
    return nullptr;
  Operation *op = metaop::FftOp::create(
      builder, line, types, builder.getDenseI64ArrayAttr(*dims),
      inverse->front() ? builder.getUnitAttr() : UnitAttr(),
      builder.getF64FloatAttr(scale->front()), inputs);
  ScopedDiagnosticHandler handler(builder.getContext(),
                                  [](Diagnostic &) { return success(); });
  if (succeeded(verify(op)))
    return op;
  op->erase();
  return nullptr;
}

Node *Recorder::callRoutine(const RoutineRequest &request,
                            llvm::ArrayRef<Node *> inputs) {
  llvm::SmallVector<Type> types;
  for (const auto &[shape, dtype] : request.outputs) {
    checkShape(request.name, shape);
    types.push_back(typeOf(shape, dtype));
  }
  if (request.name == "fft")
    if (Operation *op = createFft(at(), line, request, types, valuesOf(inputs)))
      return adopt(op);
  Builder builder = at();
  NamedAttrList parameters;
  for (const RoutineAttribute &each : request.parameters)
    parameters.append(each.name, toAttribute(builder, each));
  auto roles = llvm::map_to_vector(
      request.roles, [](const std::string &role) { return StringRef(role); });
  auto isIf = [&](bool holds) {
    return holds ? builder.getUnitAttr() : UnitAttr();
  };
  return adopt(metaop::RoutineOp::create(
      at(), line, types, builder.getStringAttr(request.name),
      parameters.empty() ? DictionaryAttr() : parameters.getDictionary(context),
      roles.empty() ? ArrayAttr() : builder.getStrArrayAttr(roles),
      request.over.empty() ? DenseI64ArrayAttr()
                           : builder.getDenseI64ArrayAttr(request.over),
      isIf(request.isBatched), isIf(request.isTotal), valuesOf(inputs)));
}

Node *Recorder::barrier(llvm::ArrayRef<Node *> values) {
  return adopt(metaop::BarrierOp::create(at(), line, valuesOf(values)));
}

Node *Recorder::callExtern(const ExternCall &call,
                           llvm::ArrayRef<Node *> inputs) {
  llvm::SmallVector<Type> types;
  for (const auto &[shape, dtype] : call.outputs) {
    checkShape(llvm::StringRef(call.name).split('.').first, shape);
    types.push_back(typeOf(shape, dtype));
  }
  auto leading = call.isVectorized ? at().getI64IntegerAttr(0) : IntegerAttr();
  return adopt(metaop::ExternOp::create(
      at(), line, types, at().getStringAttr(call.name),
      at().getI64IntegerAttr(call.parallel), leading, valuesOf(inputs)));
}
