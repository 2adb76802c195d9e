//===- Passes.td - Memory planning -------------------------*- tablegen -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_TRANSFORMS_MEMORYPLAN_PASSES_TD
#define METAOPS_TRANSFORMS_MEMORYPLAN_PASSES_TD

include "mlir/Pass/PassBase.td"

def StridedPartsPass : Pass<"metaop-strided-parts", "::mlir::func::FuncOp"> {
  let summary = "Has kernels write parts of concats into rows that are apart";
  let description = [{
    The parts of a concat along an inner dimension lie in rows: between the end
    of one and the beginning of the next are the rows of the other parts. A
    kernel that makes such a part is told to write it so, if the part is not
    returned, viewed in a shape that has no such rows, a part of anything else,
    or put into the concat twice, and kernels are all else that read it: they
    are told to read it so. The row and the pitch are numbers of the kernels;
    where the rows begin is for `metaop-plan-memory` to say, which
    places all parts that this pass marks. Stages that have a schedule stay as
    they are, since their loops are other ones in rows.

    Before:
    ```mlir
    %0 = metaop.kernel(%a = %x : tensor<1000x64xf32>) -> tensor<1000x64xf32> {
      %2 = metaop.fused(%b = %a : tensor<1000x64xf32>) -> tensor<1000x64xf32> { ... }
      metaop.yield %2 : tensor<1000x64xf32>
    }
    %1 = metaop.concat %0, %y dim = 1
        : (tensor<1000x64xf32>, tensor<1000x64xf32>) -> tensor<1000x128xf32>
    ```
    After:
    ```mlir
    %0 = metaop.kernel(%a = %x : tensor<1000x64xf32>) -> tensor<1000x64xf32> {
      %2 = metaop.fused(%b = %a : tensor<1000x64xf32>) -> tensor<1000x64xf32>
          attributes {result_rows = [#metaop.rows<64, pitch = 128>]} { ... }
      metaop.yield %2 : tensor<1000x64xf32>
    }
    ```
  }];
  let options = [
    Option<"partAlignment", "part-alignment", "int64_t", "1",
           "Leave parts alone whose first row begins at no multiple of so many bytes">
  ];
}

def HoistChecksPass : Pass<"metaop-hoist-checks", "::mlir::func::FuncOp"> {
  let summary = "Has checks come before what they do not depend on";
  let description = [{
    In each block, a `metaop.check_range`, or a branch or a loop with one inside,
    comes right behind what it depends on, and that before everything else. So a
    program that fails does so early, and `metaop-plan-memory` can have most
    results written over arguments: none is before the last check.

    Before:
    ```mlir
    %0 = call @kernel_0(%w, %g) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %1:2 = call @kernel_1(%i) : (tensor<4xi64>) -> (tensor<i64>, tensor<i64>)
    metaop.check_range %1#0, %1#1 extent = 8
    ```
    After:
    ```mlir
    %1:2 = call @kernel_1(%i) : (tensor<4xi64>) -> (tensor<i64>, tensor<i64>)
    metaop.check_range %1#0, %1#1 extent = 8
    %0 = call @kernel_0(%w, %g) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    ```
  }];
}

def MarkCacheablePass : Pass<"metaop-mark-cacheable", "::mlir::ModuleOp"> {
  let summary = "Marks calls whose results may be kept from run to run";
  let description = [{
    A call of `@main` gets `metaop.may_keep` if the runtime may keep its result
    beside the program and leave the call out of later runs, as long as the
    contents of what it reads are the same. That is a call

    * which reads arguments of `@main` and views of them, and nothing else;
    * whose kernel is one stage that makes one result, element by element:
      it packs or copies, with whatever is computed from each element on the
      way, and reduces nothing;
    * whose result, or views of it, only calls read, one of them as a factor of
      a contraction: it is no result of the program, and no part of a concat.

    So these are the panels and boxes of `metaop-pack-operands` that no
    contraction's kernel packs itself. The result depends on the operands alone:
    random numbers come from counters, which are operands as well. In a program
    with an argument that is `metaop.donatable`, a step of training, nothing is
    marked: what it packs changes from step to step.

    Before:
    ```mlir
    func.func @main(%x: tensor<64x512xf32>, %w: tensor<128x512xf32>) -> tensor<64x128xf32> {
      %0 = call @kernel_0(%w) : (tensor<128x512xf32>) -> tensor<4x512x32xf32>
      %1 = call @kernel_1(%x, %0)
          : (tensor<64x512xf32>, tensor<4x512x32xf32>) -> tensor<64x128xf32>
      return %1 : tensor<64x128xf32>
    }
    ```
    After:
    ```mlir
      %0 = call @kernel_0(%w) {metaop.may_keep} : (tensor<128x512xf32>) -> tensor<4x512x32xf32>
    ```
  }];
}

def HoistCallsPass : Pass<"metaop-hoist-calls", "::mlir::ModuleOp"> {
  let summary = "Call before a loop what each trip would call again";
  let description = [{
    A call in the block of a loop of `@main`, and a view, that reads nothing of
    that block is moved in front of the loop: the packing of weights, above all,
    which the schedule of a contraction has put there.

    ```mlir
    %r = metaop.scan 8 carries(%c = %x : tensor<4x512xf32>) -> tensor<4x512xf32> {
      %0 = func.call @kernel_0(%w) : (tensor<512x512xf32>) -> tensor<16x512x32xf32>
      %1 = func.call @kernel_1(%c, %0)
          : (tensor<4x512xf32>, tensor<16x512x32xf32>) -> tensor<4x512xf32>
      metaop.scan_yield %1 : tensor<4x512xf32>
    }
    ```

    becomes

    ```mlir
    %0 = call @kernel_0(%w) : (tensor<512x512xf32>) -> tensor<16x512x32xf32>
    %r = metaop.scan 8 carries(%c = %x : tensor<4x512xf32>) -> tensor<4x512xf32> {
      %1 = func.call @kernel_1(%c, %0) : ...
      metaop.scan_yield %1 : tensor<4x512xf32>
    }
    ```
  }];
}

def OrderStepsPass : Pass<"metaop-order-steps", "::mlir::ModuleOp"> {
  let summary = "Puts steps into an order in which little lives";
  let description = [{
    Moves the calls, placements, routines, branches and loops of `@main`, each
    behind those whose results it reads, so that the values which live at the
    same time have fewer bytes: what frees memory comes early, and what takes it
    late. A call that may write over an argument which is `metaop.donatable`
    comes behind the others that read it. What comes before the last
    `metaop.check_range` stays where it is, and so does all, where another order
    would save less than a 64th part of the most that lives, or that is less
    than 256 KiB.

    What reads a result of a `metaop.barrier` comes behind all that makes the
    barrier's operands.

    In loops and branches, what reads a tensor moves to before the insert, or the
    branch or loop with inserts, that may write over it.

    Before:
    ```mlir
    func.func @main(%x: tensor<1x1024xf32>, %v: tensor<512x1024xf32>, %w: tensor<512x512xf32>)
        -> tensor<1x512xf32> {
      %0 = call @kernel_0(%v) : (tensor<512x1024xf32>) -> tensor<16x1024x32xf32>
      %1 = call @kernel_1(%w) : (tensor<512x512xf32>) -> tensor<16x512x32xf32>
      %2 = call @kernel_2(%x, %0) : ...
      %3 = call @kernel_3(%2, %1) : ...
      return %3 : tensor<1x512xf32>
    }
    ```
    After:
    ```mlir
      %0 = call @kernel_0(%v) : (tensor<512x1024xf32>) -> tensor<16x1024x32xf32>
      %2 = call @kernel_2(%x, %0) : ...
      %1 = call @kernel_1(%w) : (tensor<512x512xf32>) -> tensor<16x512x32xf32>
      %3 = call @kernel_3(%2, %1) : ...
    ```
  }];
  let options = [
    Option<"partAlignment", "part-alignment", "int64_t", "1",
           "That of metaop-plan-memory">
  ];
}

def DropBarriersPass : Pass<"metaop-drop-barriers", "::mlir::func::FuncOp"> {
  let summary = "Replaces barriers by what they are given";
  let description = [{
    When the order of steps has been decided, and nothing is merged any more, a
    `metaop.barrier` has done its work: what reads its results reads its
    operands, which are where they were.

    Before:
    ```mlir
    %0 = call @kernel_0(%x) : (tensor<8xf32>) -> tensor<8xf32>
    %1:2 = metaop.barrier %x, %0 : tensor<8xf32>, tensor<8xf32> -> tensor<8xf32>, tensor<8xf32>
    %2 = call @kernel_1(%1#0, %1#1) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    ```
    After:
    ```mlir
    %0 = call @kernel_0(%x) : (tensor<8xf32>) -> tensor<8xf32>
    %2 = call @kernel_1(%x, %0) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    ```
  }];
}

def PlanMemoryPass : Pass<"metaop-plan-memory", "::mlir::ModuleOp"> {
  let summary = "Gives each value of a program its memory";
  let description = [{
    Reads the calls and placements of `@main` in order. A value that `@main` returns gets a
    buffer of its own; any other gets a place in an arena that values with
    disjoint live ranges share. A kernel writes a result over an input that dies
    there, where every read of an element comes before its write; an argument
    marked `metaop.donatable` may be overwritten in this way too, behind the last
    `metaop.check_range` of the program. Views share the memory of what they view. A part of a concat that a kernel makes lies in
    its place in the result, where that is contiguous, or in the rows in which
    the kernel writes it (`metaop-strided-parts`), and an insert writes over a
    destination that dies there.
    A routine writes a result over an operand that dies
    there, where it says so, and has a place for its scratch memory, which is
    free before and behind it: `metaop.scratch`. Without `reuse`, every value has a place of
    its own, and no argument is overwritten. Kernels for GPUs count on the alignment
    of their buffers (`part-alignment`). With `report`, a remark gives the
    size of the arena, and the most bytes that live in it at a time, which it
    cannot be smaller than.

    A result of an `scf.if` has a place of its own, which both blocks write, or
    is a `pointer`, where a block yields what it does not make. What an
    `scf.while` carries is a `pointer`; `metaop.carries` gives, for each of these
    values, the pointers to this trip's and to the next one's, and the two places
    that serve in turn. Or it has one place, where the body makes the next value
    over this trip's, by inserts, kernels, branches and loops inside: that of an
    argument marked `metaop.donatable`, too, if no check is in the loop or comes
    later. So it is with a `metaop.scan`, whose rows are pointers,
    too: `metaop.rows` gives, for each of its rows, and then for each of those that
    it makes, the pointer, and where the block has the row, or where all rows are
    that are made. Other control flow is an error.

    Before:
    ```mlir
    func.func @main(%p: tensor<8xf32> {metaop.donatable}, %x: tensor<8xf32>)
        -> tensor<8xf32> {
      %0 = call @kernel_0(%x) : (tensor<8xf32>) -> tensor<8xf32>
      %1 = call @kernel_1(%p, %0) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
      return %1 : tensor<8xf32>
    }
    ```
    After:
    ```mlir
    func.func @main(...) attributes {
        metaop.arena_bytes = 64,
        metaop.results = [#metaop.slot<argument, 0>]} {
      %0 = call @kernel_0(%x) {metaop.slots = [#metaop.slot<arena, 0>]} ...
      %1 = call @kernel_1(%p, %0) {metaop.slots = [#metaop.slot<argument, 0>]} ...
      return %1 : tensor<8xf32>
    }
    ```
  }];
  let options = [
    Option<"reuse", "reuse", "bool", "true",
           "Let values share memory, and overwrite what dies">,
    Option<"report", "report", "bool", "false",
           "Give the size of the arena as a remark">,
    Option<"partAlignment", "part-alignment", "int64_t", "1",
           "Copy parts of concats whose places are no multiples of so many bytes">
  ];
  let dependentDialects = ["::mlir::metaop::MetaOpDialect"];
}

#endif // METAOPS_TRANSFORMS_MEMORYPLAN_PASSES_TD
