//===- Passes.td - Rewrites of stages, for every target ----*- tablegen -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_TRANSFORMS_SCHEDULE_REWRITES_PASSES_TD
#define METAOPS_TRANSFORMS_SCHEDULE_REWRITES_PASSES_TD

include "mlir/Pass/PassBase.td"

def CallLibrariesPass : Pass<"metaop-call-libraries", "::mlir::func::FuncOp"> {
  let summary = "Has libraries compute products of matrices";
  let description = [{
    A kernel that is a product of two tensors of bf16, or a batch of such
    products, with sums of f32, becomes a call of the routine `product`, if a
    library should take less time for it (docs/Libraries.md): by classes of
    extents, so that all lengths of a dimension that varies are computed alike.
    The tensors stay as they lie; their strides are parameters. Kernels with a
    schedule, or with anything else in them, stay. Without a function that tells
    what libraries take, each product that is large enough becomes a call.

    Before:
    ```mlir
    %0 = metaop.kernel(%a = %x : tensor<128x256xbf16>,
                       %b = %w : tensor<512x256xbf16>) -> tensor<128x512xf32> {
      ...
        %5 = metaop.mul %3, %4 : tensor<128x256x512xf32>
        %6 = metaop.reindex_reduce add %5
            map affine_map<(d0, d1, d2) -> (d0, d2)>
            : tensor<128x256x512xf32> -> tensor<128x512xf32>
    ```
    After:
    ```mlir
    %0 = metaop.routine "product"(%x, %w)
        parameters = {extents = array<i64: 1, 128, 512, 256>,
                      strides_a = array<i64: 0, 256, 1>,
                      strides_b = array<i64: 0, 1, 256>,
                      strides_product = array<i64: 0, 512, 1>}
        roles = ["a", "b", "product"] total
        : (tensor<128x256xbf16>, tensor<512x256xbf16>) -> tensor<128x512xf32>
    ```
  }];
  let options = [
    Option<"report", "report", "bool", "false",
           "say of each product that a library computes, as a remark">
  ];
  let dependentDialects = ["::mlir::metaop::MetaOpDialect"];
}

def GatherScattersPass : Pass<"metaop-gather-scatters", "::mlir::func::FuncOp"> {
  let summary = "Gathers what reductions scatter";
  let description = [{
    A reduction whose map holds `d0 + d1` adds to memory, and reaches each
    result from several places, as the gradient of a convolution by its image
    does. Where its new loops are not many more iterations, it is re-indexed by
    the result: one loop becomes the result's, and its bounds conditions. With a
    stride, `2 * d0 + d1` or `2 * d0 + 3 * d1`, the result's loop is two: steps,
    and phases within them, each of which has its own taps. Of several ways that
    which leaves the fewest iterations is taken. Stages with a schedule stay as
    they are.

    Before:
    ```mlir
    %1 = metaop.reindex_reduce add %x map affine_map<(d0, d1) -> (d0 + d1)>
        : tensor<30x3xf32> -> tensor<32xf32>
    ```
    After:
    ```mlir
    %1 = metaop.reindex %x map affine_map<(d0, d1) -> (d0 - d1, d1)>
        fill 0.0 : f32 : tensor<30x3xf32> -> tensor<32x3xf32>
    %2 = metaop.reindex_reduce add %1 map affine_map<(d0, d1) -> (d0)>
        where affine_set<(d0, d1) : (d0 - d1 >= 0, -d0 + d1 + 29 >= 0)>
        : tensor<32x3xf32> -> tensor<32xf32>
    ```
  }];
  let options = [
    Option<"report", "report", "bool", "false",
           "say of each reduction that is gathered so, as a remark">
  ];
  let dependentDialects = ["::mlir::metaop::MetaOpDialect"];
}

def MarkVaryingPass : Pass<"metaop-mark-varying", "::mlir::func::FuncOp"> {
  let summary = "Marks the dimensions of stages whose extents vary";
  let description = [{
    Follows the dimensions of arguments that are marked `metaop.varying`, as
    that of a batch whose size is another each time, to the iteration spaces of
    stages. Schedules are then chosen for a usual length in place of such an
    extent, and the runtime compiles a kernel for all lengths. Branches, loops
    and scans hand marks on to what is inside, and to their results. A constant
    that is such an extent is marked, too. Without marks nothing changes.

    Before:
    ```mlir
    func.func @main(%x: tensor<5x64xf32> {metaop.varying = array<i64: 0>}) ... {
      %0 = metaop.fused(%a = %x : tensor<5x64xf32>) -> tensor<64x5xf32> { ... }
    ```
    After:
    ```mlir
      %0 = metaop.fused(%a = %x : tensor<5x64xf32>) -> tensor<64x5xf32>
          attributes {metaop.varying = array<i64: 1>} { ... }
    ```
  }];
}

#endif // METAOPS_TRANSFORMS_SCHEDULE_REWRITES_PASSES_TD
