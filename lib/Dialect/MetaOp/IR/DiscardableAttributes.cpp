//===- DiscardableAttributes.cpp - Attributes on others' operations -------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Discardable attributes: what passes of the dialect note on operations of
// other dialects, as MetaOpDialect.td declares it. Each is verified for its
// type, for the kind of operation that it stands on, and against what of that
// operation, and of the function around it, it counts or numbers.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Dialect/MetaOp/Analysis/VaryingExtents.h"
#include "MetaOps/Dialect/MetaOp/IR/CheckOps.h"
#include "MetaOps/Dialect/MetaOp/IR/LoopOps.h"
#include "MetaOps/Dialect/MetaOp/IR/MetaOpDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace mlir::metaop;

/// Begins the error that an attribute is not what it has to be.
static InFlightDiagnostic emitExpected(Operation *op, NamedAttribute attr) {
  return op->emitOpError("expects `") << attr.getName().strref() << "` to be ";
}

static LogicalResult emitExpected(Operation *op, NamedAttribute attr,
                                  StringRef what) {
  return emitExpected(op, attr) << what << ", given " << attr.getValue();
}

static LogicalResult emitMisplaced(Operation *op, NamedAttribute attr,
                                   StringRef place) {
  return emitExpected(op, attr) << "on " << place;
}

//===----------------------------------------------------------------------===//
// Branches and loops
//===----------------------------------------------------------------------===//

/// Returns whether the condition of a loop, which may not be verified yet,
/// hands on what it is given.
static bool handsOn(scf::WhileOp loop) {
  Region &before = loop.getBefore();
  if (!before.hasOneBlock() || before.front().empty())
    return false;
  auto end = dyn_cast<scf::ConditionOp>(before.front().back());
  return end && llvm::equal(end.getArgs(), before.getArguments());
}

/// Verifies that a loop counts its trips by the last value that it carries, and
/// that its condition hands on what it is given.
static LogicalResult verifyMaxTrips(Operation *op, NamedAttribute attr) {
  auto loop = dyn_cast<scf::WhileOp>(op);
  if (!loop)
    return emitMisplaced(op, attr, "an scf.while");
  auto most = dyn_cast<IntegerAttr>(attr.getValue());
  if (!most || !most.getType().isSignlessInteger(64) || most.getInt() < 0)
    return emitExpected(op, attr, "a number of trips, of type i64");
  auto counter =
      RankedTensorType::get({}, IntegerType::get(op->getContext(), 64));
  if (loop.getInits().empty() || loop.getInits().back().getType() != counter)
    return emitMisplaced(op, attr, "a loop whose last carry is a tensor<i64>");
  if (!handsOn(loop))
    return emitMisplaced(op, attr,
                         "a loop whose condition hands on what it is given");
  return success();
}

static LogicalResult verifyCheckpoint(Operation *op, NamedAttribute attr) {
  if (!isa<scf::ExecuteRegionOp>(op))
    return emitMisplaced(op, attr, "an scf.execute_region");
  auto number = dyn_cast<IntegerAttr>(attr.getValue());
  bool isNumber = number && number.getType().isSignlessInteger(64) &&
                  number.getInt() > 0 && number.getInt() <= op->getNumResults();
  if (!isNumber && !isa<UnitAttr>(attr.getValue()))
    return emitExpected(
        op, attr, "a unit attribute, or a number of results, of type i64");
  return success();
}

/// Verifies that the trips of a scan may be blocks.
static LogicalResult verifyBlocks(Operation *op, NamedAttribute attr) {
  if (!isa<ScanOp>(op))
    return emitMisplaced(op, attr, "a metaop.scan");
  if (!isa<UnitAttr>(attr.getValue()))
    return emitExpected(op, attr, "a unit attribute");
  return success();
}

/// Verifies that a scan has a number of its first trip.
static LogicalResult verifyFirstTrip(Operation *op, NamedAttribute attr) {
  if (!isa<ScanOp>(op))
    return emitMisplaced(op, attr, "a metaop.scan");
  auto number = dyn_cast<IntegerAttr>(attr.getValue());
  if (!number || !number.getType().isSignlessInteger(64) || number.getInt() < 0)
    return emitExpected(op, attr, "a number of trips, of type i64");
  return success();
}

//===----------------------------------------------------------------------===//
// Memory plans of programs
//===----------------------------------------------------------------------===//

/// Verifies that a slot of a value is one that the function around it has.
static LogicalResult verifySlot(Operation *op, NamedAttribute attr,
                                FunctionOpInterface function, SlotAttr slot) {
  if (!function)
    return success();
  bool isArgument = slot.getKind() == SlotKind::Argument;
  int64_t count =
      isArgument ? function.getNumArguments() : function.getNumResults();
  if ((!isArgument && slot.getKind() != SlotKind::Result) ||
      slot.getIndex() < count)
    return success();
  return op->emitOpError("has ") << slot << " in `" << attr.getName().strref()
                                 << "`, but the function has " << count
                                 << (isArgument ? " arguments" : " results");
}

/// Verifies that `slots` is an array of so many slots.
static LogicalResult verifySlots(Operation *op, NamedAttribute attr,
                                 Attribute slots, size_t count,
                                 FunctionOpInterface function) {
  auto array = dyn_cast<ArrayAttr>(slots);
  if (!array || !llvm::all_of(array, llvm::IsaPred<SlotAttr>))
    return emitExpected(op, attr) << "an array of slots, given " << slots;
  if (array.size() != count)
    return emitExpected(op, attr)
           << "an array of " << count << " slots, given " << array.size();
  for (auto slot : array.getAsRange<SlotAttr>())
    if (failed(verifySlot(op, attr, function, slot)))
      return failure();
  return success();
}

/// Verifies the slots of what a step, or a branch, makes.
static LogicalResult verifySlots(Operation *op, NamedAttribute attr) {
  bool isBranch =
      isa<RegionBranchOpInterface>(op) && !isa<LoopLikeOpInterface>(op);
  if (!isBranch && !isa<CallOpInterface, PlacementOpInterface,
                        RoutineOpInterface, CheckRangeOp>(op))
    return emitMisplaced(op, attr, "a step of a program or a branch");
  size_t count = op->getNumResults();
  if (auto routine = dyn_cast<RoutineOpInterface>(op))
    count = llvm::count_if(op->getResults(), [&](OpResult result) {
      return routine.makes(result);
    });
  return verifySlots(op, attr, attr.getValue(), count,
                     op->getParentOfType<FunctionOpInterface>());
}

static LogicalResult verifyScratch(Operation *op, NamedAttribute attr) {
  if (!isa<RoutineOpInterface>(op))
    return emitMisplaced(op, attr, "a routine");
  auto slot = dyn_cast<SlotAttr>(attr.getValue());
  if (!slot || slot.getKind() != SlotKind::Arena)
    return emitExpected(op, attr, "a slot of the arena");
  return success();
}

static LogicalResult verifyCarries(Operation *op, NamedAttribute attr) {
  if (!isa<LoopLikeOpInterface>(op))
    return emitMisplaced(op, attr, "a loop");
  auto scan = dyn_cast<ScanOp>(op);
  unsigned count = scan ? scan.getNumCarries() : op->getNumOperands();
  auto carries = dyn_cast<ArrayAttr>(attr.getValue());
  if (!carries || carries.size() != count)
    return emitExpected(op, attr)
           << "an array for the " << count
           << " values that the loop carries, given " << attr.getValue();
  auto function = op->getParentOfType<FunctionOpInterface>();
  for (Attribute slots : carries) {
    auto array = dyn_cast<ArrayAttr>(slots);
    size_t size = array ? array.size() : 0;
    bool hasFewer = size == 1 || (scan && (size == 2 || size == 3));
    if (failed(verifySlots(op, attr, slots, hasFewer ? size : 4, function)))
      return failure();
    for (auto [i, slot] : llvm::enumerate(array.getAsRange<SlotAttr>()))
      if ((slot.getKind() == SlotKind::Pointer) != (i < 2 && size > 1))
        return emitExpected(op, attr)
               << "two pointers and then two places for each value, given "
               << slots;
  }
  return success();
}

static LogicalResult verifyRows(Operation *op, NamedAttribute attr) {
  auto scan = dyn_cast<ScanOp>(op);
  if (!scan)
    return emitMisplaced(op, attr, "a scan");
  size_t count = scan.getRows().size() + scan.getStackedRows().size();
  auto rows = dyn_cast<ArrayAttr>(attr.getValue());
  if (!rows || rows.size() != count)
    return emitExpected(op, attr)
           << "an array for " << count << " values of rows, given "
           << attr.getValue();
  auto function = op->getParentOfType<FunctionOpInterface>();
  for (Attribute slots : rows) {
    if (failed(verifySlots(op, attr, slots, /*count=*/2, function)))
      return failure();
    if (cast<SlotAttr>(cast<ArrayAttr>(slots)[0]).getKind() !=
        SlotKind::Pointer)
      return emitExpected(op, attr)
             << "a pointer and then a place for each value, given " << slots;
  }
  return success();
}

static LogicalResult verifyResults(Operation *op, NamedAttribute attr) {
  auto function = dyn_cast<FunctionOpInterface>(op);
  if (!function)
    return emitMisplaced(op, attr, "a function");
  if (failed(verifySlots(op, attr, attr.getValue(), function.getNumResults(),
                         function)))
    return failure();
  for (auto slot : cast<ArrayAttr>(attr.getValue()).getAsRange<SlotAttr>())
    if (slot.getKind() != SlotKind::Argument &&
        slot.getKind() != SlotKind::Result)
      return emitExpected(op, attr)
             << "slots of arguments and results, given " << slot;
  return success();
}

static LogicalResult verifyMayKeep(Operation *op, NamedAttribute attr) {
  if (!isa<CallOpInterface>(op) || op->getNumResults() != 1)
    return emitMisplaced(op, attr, "a call with one result");
  if (!isa<UnitAttr>(attr.getValue()))
    return emitExpected(op, attr, "without a value");
  return success();
}

//===----------------------------------------------------------------------===//
// Facts of functions
//===----------------------------------------------------------------------===//

/// Verifies an attribute of a function whose type says all.
template <typename AttrTy>
static LogicalResult verifyOnFunction(Operation *op, NamedAttribute attr,
                                      StringRef what) {
  if (!isa<FunctionOpInterface>(op))
    return emitMisplaced(op, attr, "a function");
  if (!isa<AttrTy>(attr.getValue()))
    return emitExpected(op, attr, what);
  return success();
}

static LogicalResult verifyBytes(Operation *op, NamedAttribute attr) {
  constexpr StringLiteral what = "a number of bytes, of type i64";
  if (failed(verifyOnFunction<IntegerAttr>(op, attr, what)))
    return failure();
  auto bytes = cast<IntegerAttr>(attr.getValue());
  if (!bytes.getType().isSignlessInteger(64) || bytes.getInt() < 0)
    return emitExpected(op, attr, what);
  return success();
}

static LogicalResult verifyKernel(Operation *op, NamedAttribute attr) {
  return verifyOnFunction<UnitAttr>(op, attr, "without a value");
}

/// Verifies that the buffers are where the entry says; behind a lowering they
/// are no memrefs any more.
static LogicalResult verifyEntry(Operation *op, NamedAttribute attr) {
  if (failed(verifyOnFunction<EntryAttr>(op, attr, "a #metaop.entry")))
    return failure();
  int64_t buffers = cast<EntryAttr>(attr.getValue()).getBuffers();
  ArrayRef<Type> types = cast<FunctionOpInterface>(op).getArgumentTypes();
  if (static_cast<int64_t>(types.size()) < buffers ||
      llvm::any_of(types.drop_front(buffers), llvm::IsaPred<MemRefType>))
    return op->emitOpError("has ")
           << buffers << " buffers by `" << attr.getName().strref()
           << "`, but arguments of types " << types;
  return success();
}

static LogicalResult verifyNumbers(Operation *op, NamedAttribute attr) {
  return verifyOnFunction<DenseI64ArrayAttr>(op, attr, "an array of i64");
}

static LogicalResult verifyLaunch(Operation *op, NamedAttribute attr) {
  return verifyOnFunction<LaunchAttr>(op, attr, "a #metaop.launch");
}

static LogicalResult verifyExtents(Operation *op, NamedAttribute attr) {
  return verifyOnFunction<DenseI32ArrayAttr>(op, attr, "an array of i32");
}

template <typename ElementTy> static bool isArrayOf(Attribute attr) {
  auto array = dyn_cast<ArrayAttr>(attr);
  return array && llvm::all_of(array, llvm::IsaPred<ElementTy>);
}

/// Verifies an array of a function.
template <typename ElementTy>
static LogicalResult verifyArray(Operation *op, NamedAttribute attr,
                                 StringRef what) {
  if (failed(verifyOnFunction<ArrayAttr>(op, attr, what)))
    return failure();
  if (!isArrayOf<ElementTy>(attr.getValue()))
    return emitExpected(op, attr, what);
  return success();
}

static LogicalResult verifyParameters(Operation *op, NamedAttribute attr) {
  return verifyArray<TypeAttr>(op, attr, "an array of types");
}

static LogicalResult verifyRecords(Operation *op, NamedAttribute attr) {
  return verifyArray<DictionaryAttr>(op, attr, "an array of dictionaries");
}

static LogicalResult verifyCounts(Operation *op, NamedAttribute attr) {
  return verifyArray<DenseI64ArrayAttr>(op, attr, "an array of arrays of i64");
}

/// Verifies the facts of a binary's kernels: each has a name.
static LogicalResult verifyKernels(Operation *op, NamedAttribute attr) {
  auto hasName = [](Attribute facts) {
    return cast<DictionaryAttr>(facts).getAs<StringAttr>("name") != nullptr;
  };
  if (!isArrayOf<DictionaryAttr>(attr.getValue()) ||
      !llvm::all_of(cast<ArrayAttr>(attr.getValue()), hasName))
    return emitExpected(op, attr, "an array of dictionaries with a `name`");
  return success();
}

//===----------------------------------------------------------------------===//
// Hooks
//===----------------------------------------------------------------------===//

static LogicalResult emitUnknown(Operation *op, NamedAttribute attr,
                                 StringRef place) {
  return op->emitOpError("has an attribute `")
         << attr.getName().strref() << "`, which the dialect does not have on "
         << place;
}

LogicalResult MetaOpDialect::verifyOperationAttribute(Operation *op,
                                                      NamedAttribute attr) {
  using Verify = LogicalResult (*)(Operation *, NamedAttribute);
  auto isKnown = [](Operation *, NamedAttribute) { return success(); };
  auto verify =
      llvm::StringSwitch<Verify>(attr.getName())
          .Case(MaxTripsAttrHelper::getNameStr(), verifyMaxTrips)
          .Case(CheckpointAttrHelper::getNameStr(), verifyCheckpoint)
          .Case(BlocksAttrHelper::getNameStr(), verifyBlocks)
          .Case(FirstTripAttrHelper::getNameStr(), verifyFirstTrip)
          .Case(RowsAttrHelper::getNameStr(), verifyRows)
          .Case(SlotsAttrHelper::getNameStr(), verifySlots)
          .Case(ScratchAttrHelper::getNameStr(), verifyScratch)
          .Case(CarriesAttrHelper::getNameStr(), verifyCarries)
          .Case(ResultsAttrHelper::getNameStr(), verifyResults)
          .Case(ArenaBytesAttrHelper::getNameStr(), verifyBytes)
          .Case(MayKeepAttrHelper::getNameStr(), verifyMayKeep)
          .Case(KernelAttrHelper::getNameStr(), verifyKernel)
          .Case(EntryAttrHelper::getNameStr(), verifyEntry)
          .Case(NumbersAttrHelper::getNameStr(), verifyNumbers)
          .Case(LaunchAttrHelper::getNameStr(), verifyLaunch)
          .Case(DynamicSharedBytesAttrHelper::getNameStr(), verifyBytes)
          .Case(KernelsAttrHelper::getNameStr(), verifyKernels)
          .Case(ParametersAttrHelper::getNameStr(), verifyParameters)
          .Cases(
              {SharedAttrHelper::getNameStr(), SitesAttrHelper::getNameStr()},
              verifyRecords)
          .Case(InstructionCountsAttrHelper::getNameStr(), verifyCounts)
          .Cases({ReqntidAttrHelper::getNameStr(),
                  MaxntidAttrHelper::getNameStr(),
                  ClusterDimAttrHelper::getNameStr()},
                 verifyExtents)
          .Case(kVaryingAttr, isKnown)
          .Default(nullptr);
  return verify ? verify(op, attr) : emitUnknown(op, attr, "operations");
}

LogicalResult MetaOpDialect::verifyRegionArgAttribute(Operation *op,
                                                      unsigned regionIndex,
                                                      unsigned argIndex,
                                                      NamedAttribute attr) {
  if (attr.getName() == kVaryingAttr)
    return success();
  if (attr.getName() != DonatableAttrHelper::getNameStr())
    return emitUnknown(op, attr, "arguments");
  if (!isa<UnitAttr>(attr.getValue()))
    return emitExpected(op, attr, "without a value");
  auto function = dyn_cast<FunctionOpInterface>(op);
  if (!function || !isa<TensorType>(function.getArgumentTypes()[argIndex]))
    return emitMisplaced(op, attr, "a function's argument that is a tensor");
  return success();
}

LogicalResult MetaOpDialect::verifyRegionResultAttribute(Operation *op,
                                                         unsigned regionIndex,
                                                         unsigned resultIndex,
                                                         NamedAttribute attr) {
  return emitUnknown(op, attr, "results");
}
