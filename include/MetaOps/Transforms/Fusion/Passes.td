//===- Passes.td - Passes that make fused stages -----------*- tablegen -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_TRANSFORMS_FUSION_PASSES_TD
#define METAOPS_TRANSFORMS_FUSION_PASSES_TD

include "mlir/Pass/PassBase.td"

def FusePass : Pass<"metaop-fuse", "::mlir::func::FuncOp"> {
  let summary = "Partition meta-operators into fused stages";
  let description = [{
    Merges operations into groups, producers with consumers, so that as little
    as possible goes through memory, and makes each group a `metaop.kernel` of one `metaop.fused`. All
    operations of a group have one iteration space. The rules:

    1. a reindex is not in the group of what it reads;
    2. a reindex-reduce is not in the group of what reads it;
    3. there are no cycles between groups.

    A group has at most 256 operations, is at most 1024 instructions for one
    vector of its space, and reads at most 64 tensors. So the time to compile a
    kernel is bounded; a larger group saves less than 1/32 of its memory traffic,
    and is likely to compute for longer than that takes.

    Also, reductions whose common parallel extent would be small are not in one
    group. Views and other operations stay between the kernels. Each block of a
    branch or a loop is partitioned by itself, and no group reaches over its
    border. Extended rules
    also merge groups that read one tensor at the same points (sibling, or
    horizontal, fusion). Constants and
    iotas are copied into each group that reads them. With the rules `none`,
    every meta-operator is a group.

    The cost is eq. (9) of Hu et al. (2020): the sum of the sizes of the
    variables that cross between groups. A variable counts once for each group,
    other than its own, that reads it, and once if the function returns it;
    a view counts as what it views. With `report`, remarks give the groups and
    the cost, where before each operation was a group of its own.

    ```mlir
    func.func @main(%x: tensor<4x8xf32>) -> tensor<4xf32> {
      %0 = metaop.exp %x : tensor<4x8xf32>
      %1 = metaop.reduce add %0 dims = [1] : tensor<4x8xf32> -> tensor<4xf32>
      return %1 : tensor<4xf32>
    }
    ```

    becomes

    ```mlir
    func.func @main(%x: tensor<4x8xf32>) -> tensor<4xf32> {
      %0 = metaop.kernel(%a = %x : tensor<4x8xf32>) -> tensor<4xf32> {
        %1 = metaop.fused(%b = %a : tensor<4x8xf32>) -> tensor<4xf32> {
          %2 = metaop.exp %b : tensor<4x8xf32>
          %3 = metaop.reduce add %2 dims = [1]
              : tensor<4x8xf32> -> tensor<4xf32>
          metaop.yield %3 : tensor<4xf32>
        }
        metaop.yield %1 : tensor<4xf32>
      }
      return %0 : tensor<4xf32>
    }
    ```
  }];
  let options = [
    Option<"rules", "rules", "::mlir::metaop::FusionRules",
           "::mlir::metaop::FusionRules::Extended", "Which rules apply",
           [{::llvm::cl::values(
             clEnumValN(::mlir::metaop::FusionRules::None, "none",
                        "every operation is a kernel of its own"),
             clEnumValN(::mlir::metaop::FusionRules::Paper, "paper",
                        "merge along edges only"),
             clEnumValN(::mlir::metaop::FusionRules::Extended, "extended",
                        "also merge groups that read the same"))}]>,
    Option<"maxGroupOps", "max-group-ops", "unsigned", "256",
           "The most operations in a group">,
    Option<"maxGroupCode", "max-group-code", "int64_t",
           "::mlir::metaop::kMaxBodyCode",
           "The most instructions, about, for one vector of a group's space">,
    Option<"maxGroupReads", "max-group-reads", "unsigned", "64",
           "The most tensors that a group reads">,
    Option<"minParallelExtent", "min-parallel-extent", "int64_t", "64",
           "Reductions merge if they share a parallel extent that large, or as "
           "large as each has alone">,
    Option<"report", "report", "bool", "false",
           "Give the groups and the cost as remarks">
  ];
  let dependentDialects = ["::mlir::metaop::MetaOpDialect"];
}

def RecomputeValuesPass
    : Pass<"metaop-recompute-values", "::mlir::func::FuncOp"> {
  let summary = "Compute cheap values again rather than keep them";
  let description = [{
    Rematerialisation: a value that one kernel gives to others is computed
    again in each of them where that moves fewer bytes: its write and its reads are saved, and what it
    is computed from is read instead, which the readers often read anyway. An
    exponential or a division counts as memory traffic, too.

    ```mlir
    %0, %1 = metaop.kernel(%a = %x, %b = %mean : ...) -> (tensor<64xf32>, tensor<64x999xf32>) {
      // ...
      %4 = metaop.sub %d, %3 : tensor<64x999xf32>
      %5 = metaop.mul %4, %4 : tensor<64x999xf32>
      %6 = metaop.reduce add %5 dims = [1] : tensor<64x999xf32> -> tensor<64xf32>
      metaop.yield %6, %4 : tensor<64xf32>, tensor<64x999xf32>
      // ...
    }
    %2 = metaop.kernel(%a = %1, %b = %0 : ...) -> tensor<64x999xf32> {
      // ... reads the difference
    }
    ```

    becomes

    ```mlir
    %0 = metaop.kernel(%a = %x, %b = %mean : ...) -> tensor<64xf32> {
      // ...
    }
    %2 = metaop.kernel(%a = %0, %b = %x, %c = %mean : ...) -> tensor<64x999xf32> {
      // ... subtracts again
    }
    ```
  }];
  let dependentDialects = ["::mlir::metaop::MetaOpDialect"];
}

def RecomputeFarValuesPass
    : Pass<"metaop-recompute-far-values", "::mlir::func::FuncOp"> {
  let summary = "Compute values again that would live long";
  let description = [{
    Rematerialisation in time: where some readers of a value come long after the
    others, with kernels between that write at least eight times its bytes, those
    get it from a kernel of their own, which computes it again in front of the
    first of them. The value has 64 KiB to 1 MiB, and is computed element by
    element from arguments of the function, from what is eight times smaller, or
    from what others read behind such a gap, too; of what costs time, it may have one
    division. `metaop-join-stages` leaves the new kernel alone.

    Before:
    ```mlir
    %0:2 = metaop.kernel(%a = %x : ...) -> (tensor<512x512xf32>, tensor<512xf32>)  // exp, its sums
    %1 = metaop.kernel(%a = %0#0, %b = %0#1 : ...) -> tensor<512x512xf32>          // the quotient
    %2 = metaop.kernel(%a = %1 : ...)
    // ... much is computed ...
    %8 = metaop.kernel(%a = %0#0 : ...)
    %9 = metaop.kernel(%a = %1 : ...)
    ```
    After:
    ```mlir
    // ...
    %7 = metaop.kernel(%a = %0#0, %b = %0#1 : ...) -> tensor<512x512xf32>
        attributes {rewrites = {"join-stages" = false}}
    %9 = metaop.kernel(%a = %7 : ...)
    ```
  }];
  let dependentDialects = ["::mlir::metaop::MetaOpDialect"];
}

#endif // METAOPS_TRANSFORMS_FUSION_PASSES_TD
