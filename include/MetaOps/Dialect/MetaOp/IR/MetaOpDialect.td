//===- MetaOpDialect.td - The metaop dialect ---------------*- tablegen -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_DIALECT_METAOP_METAOPDIALECT_TD
#define METAOPS_DIALECT_METAOP_METAOPDIALECT_TD

include "mlir/IR/OpBase.td"

def MetaOp_Dialect : Dialect {
  let name = "metaop";
  let cppNamespace = "::mlir::metaop";
  let summary = "Deep learning from three kinds of meta-operator";
  let description = [{
    A tensor program is written in three kinds of operation:

    * *reindex* (one to many): each element of the result is one element of the
      operand, found through an index map, or a fill value;
    * *reindex-reduce* (many to one): each element of the operand is combined
      into one element of the result, found through an index map;
    * *element-wise*: each element of the result is a function of the elements
      of the operands at the same place.

    The gradient of each is again made of these, so a program can be
    differentiated to any order. `metaop.fused` groups operations that live on
    one iteration space; `metaop.kernel` groups fused stages in a loop tree.
    All tensors are immutable values.
  }];
  let dependentDialects = ["::mlir::tensor::TensorDialect"];
  let useDefaultAttributePrinterParser = 1;
  let hasConstantMaterializer = 1;
  // Attributes that passes leave on operations of other dialects. Each is
  // verified for its type, its place and what it says of the operation
  // (DiscardableAttributes.cpp).
  let discardableAttrs = (ins
    // On an scf.while: it makes so many trips at most, and the last value that
    // it carries counts them.
    "::mlir::IntegerAttr":$max_trips,
    // On a scan: its trips are blocks, each of which is some trips of a longer
    // loop, which the scans in its block make. That is so to save memory, and no
    // work of all blocks is done at once. Errors name the trips of the longer
    // loop.
    "::mlir::UnitAttr":$blocks,
    // On a scan: the number that its first trip has in such a loop.
    "::mlir::IntegerAttr":$first_trip,

    // On an scf.execute_region: its gradient computes what is in it again,
    // rather than read values that have been kept. A number in the place of the
    // unit is that of its last results that the gradient does read.
    "::mlir::UnitAttr":$checkpoint,

    // Of a program, @main. On an argument: it may be overwritten.
    "::mlir::UnitAttr":$donatable,
    // On a call: its result may be kept from run to run of the program, and the
    // call left out as long as its operands' contents are the same.
    "::mlir::UnitAttr":$may_keep,
    // On a step or a branch: a #metaop.slot for each value that it makes.
    "::mlir::ArrayAttr":$slots,
    // On a routine: the #metaop.slot of its scratch memory, if it takes any.
    "::mlir::metaop::SlotAttr":$scratch,
    // On a loop: four slots for each value that it carries, the pointers to this
    // trip's and to the next one's, and the two places that serve in turn. Of
    // what is a row that the loop makes, the next one is that row, and a place is
    // given only where the last one is to lie. One slot, of what is in one place
    // in all trips.
    "::mlir::ArrayAttr":$carries,
    // On a scan: two slots for each of its rows, and then for each of those that
    // it makes. The first is the pointer to one of them; the second is where the
    // block has that one, or where all are that are made.
    "::mlir::ArrayAttr":$rows,
    // On a function: a slot for each result, and the size of the arena.
    "::mlir::ArrayAttr":$results,
    "::mlir::IntegerAttr":$arena_bytes,

    // Of a kernel over buffers. On a func.func, as gpu.kernel is on a gpu.func:
    // it is one.
    "::mlir::UnitAttr":$kernel,
    // Facts for its calls.
    "::mlir::metaop::EntryAttr":$entry,
    // The numbers that were taken out of its code.
    "::mlir::DenseI64ArrayAttr":$numbers,
    // The launch on a GPU, and the shared memory that a launch asks for.
    "::mlir::metaop::LaunchAttr":$launch,
    "::mlir::IntegerAttr":$dynamic_shared_bytes,
    // On a gpu.binary: for each of its kernels, its name and these facts.
    "::mlir::ArrayAttr":$kernels,

    // Of a kernel that the emulator runs: the types of its parameters, the
    // variables in shared memory, the instructions that it reports on, what each
    // block counts, and the shapes of a launch, as NVVM's attributes give them.
    "::mlir::ArrayAttr":$parameters,
    "::mlir::ArrayAttr":$shared,
    "::mlir::ArrayAttr":$sites,
    "::mlir::ArrayAttr":$instruction_counts,
    "::mlir::DenseI32ArrayAttr":$reqntid,
    "::mlir::DenseI32ArrayAttr":$maxntid,
    "::mlir::DenseI32ArrayAttr":$cluster_dim
  );
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
  // Each adds a family of ops, and is defined with it.
  let extraClassDeclaration = [{
    void addCheckOps();
    void addCustomOps();
    void addElementwiseOps();
    void addExternOps();
    void addFloatFunctionOps();
    void addLeafOps();
    void addLoopOps();
    void addPlacementOps();
    void addPrefixOps();
    void addReduceOps();
    void addReindexOps();
    void addRoutineOps();
    void addStructureOps();
  }];
}

#endif // METAOPS_DIALECT_METAOP_METAOPDIALECT_TD
