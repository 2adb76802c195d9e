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

def PlanMemoryPass : Pass<"metaop-plan-memory", "::mlir::ModuleOp"> {
  let summary = "Gives each value of a program its memory";
  let description = [{
    Reads the calls and placements of `@main` in order. A value that `@main` returns gets a
    buffer of its own; any other gets a place in an arena that values with
    disjoint live ranges share. A kernel writes a result over an input that dies
    there, where every read of an element comes before its write; an argument
    marked `metaop.donatable` may be overwritten in this way too. Views share
    the memory of what they view. A part of a concat that a kernel makes lies in
    its place in the result, where that is contiguous, and an insert writes over
    a destination that dies there. What is written in place by all calls of a
    kernel is not stored past the caches, unless a file of schedules says so.
    Without `reuse`, every value has a place of
    its own, and no argument is overwritten. With `report`, a remark gives the
    size of the arena, and the most bytes that live in it at a time, which it
    cannot be smaller than.

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
           "Give the size of the arena as a remark">
  ];
  let dependentDialects = ["::mlir::metaop::MetaOpDialect"];
}

#endif // METAOPS_TRANSFORMS_MEMORYPLAN_PASSES_TD
