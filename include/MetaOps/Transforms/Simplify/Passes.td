//===- Passes.td - Passes that prepare a graph for fusion --*- tablegen -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_TRANSFORMS_SIMPLIFY_PASSES_TD
#define METAOPS_TRANSFORMS_SIMPLIFY_PASSES_TD

include "mlir/Pass/PassBase.td"

def WidenAddendsPass : Pass<"metaop-widen-addends", "::mlir::func::FuncOp"> {
  let summary = "Round to halves at the end of sums, not before";
  let description = [{
    A product of f16 or bf16, or a cast of f32 to these, that nothing but sums
    read is not rounded: it and the sums are in f32. The program that is recorded
    decides, so this is the first of all passes.

    ```mlir
    %0 = metaop.mul %x, %w : tensor<4x8xbf16>
    %1 = metaop.reduce add %0 dims = [1] : tensor<4x8xbf16> -> tensor<4xbf16>
    ```

    becomes

    ```mlir
    %x32 = metaop.cast %x : tensor<4x8xbf16> -> tensor<4x8xf32>
    %w32 = metaop.cast %w : tensor<4x8xbf16> -> tensor<4x8xf32>
    %0 = metaop.mul %x32, %w32 : tensor<4x8xf32>
    %s = metaop.reduce add %0 dims = [1] : tensor<4x8xf32> -> tensor<4xf32>
    %1 = metaop.cast %s : tensor<4xf32> -> tensor<4xbf16>
    ```

    What something else reads too, or what is a result, is rounded to its type,
    and its sums are of the rounded numbers, as are those in another block, such
    as that of a loop. A sum is always rounded.
  }];
  let dependentDialects = ["::mlir::metaop::MetaOpDialect"];
}

def UnrollScansPass : Pass<"metaop-unroll-scans", "::mlir::func::FuncOp"> {
  let summary = "Write short loops out, and have others make several trips at once";
  let description = [{
    A `metaop.scan` makes as many trips in an iteration as its `unroll` says.
    Where that is all of them, no loop is left. Without `unroll`, that is done
    with loops of 64 operators or less in all trips, whose bodies have neither
    checks nor loops that stay.

    ```mlir
    %r, %ys = metaop.scan 2 carries(%c = %init : tensor<4xf32>)
        rows(%x = %xs : tensor<2x4xf32>) -> (tensor<4xf32>, tensor<2x4xf32>) {
      %next = metaop.add %c, %x : tensor<4xf32>
      metaop.scan_yield %next, %next : tensor<4xf32>, tensor<4xf32>
    }
    ```

    becomes

    ```mlir
    %x0 = metaop.reindex %xs map affine_map<(d0) -> (0, d0)> fill 0.0 : f32 : tensor<2x4xf32> -> tensor<4xf32>
    %c1 = metaop.add %init, %x0 : tensor<4xf32>
    %x1 = metaop.reindex %xs map affine_map<(d0) -> (1, d0)> fill 0.0 : f32 : tensor<2x4xf32> -> tensor<4xf32>
    %r = metaop.add %c1, %x1 : tensor<4xf32>
    %y0 = metaop.reshape %c1 : tensor<4xf32> -> tensor<1x4xf32>
    %y1 = metaop.reshape %r : tensor<4xf32> -> tensor<1x4xf32>
    %ys = metaop.concat %y0, %y1 dim = 0 : (tensor<1x4xf32>, tensor<1x4xf32>) -> tensor<2x4xf32>
    ```

    Rows that a concat has put together, as another loop that was unrolled does,
    are read as the parts that they are. With `unroll 4`, 10 trips become a loop
    of two iterations over rows in groups of 4, and two trips behind it.
  }];
  let dependentDialects = ["::mlir::metaop::MetaOpDialect"];
}

def HoistInvariantsPass : Pass<"metaop-hoist-invariants", "::mlir::func::FuncOp"> {
  let summary = "Compute before a loop what each trip would compute again";
  let description = [{
    An operation in the block of a loop that reads nothing of that block is moved
    in front of the loop, out of all loops of which that holds: of a `metaop.scan`,
    or of an `scf.while` or `scf.for`. Checks stay, since a trip may not be reached,
    and so does what is inside of a branch.

    ```mlir
    %r = metaop.scan 8 carries(%c = %x : tensor<4xf32>) -> tensor<4xf32> {
      %s = metaop.exp %w : tensor<4xf32>
      %next = metaop.mul %c, %s : tensor<4xf32>
      metaop.scan_yield %next : tensor<4xf32>
    }
    ```

    becomes

    ```mlir
    %s = metaop.exp %w : tensor<4xf32>
    %r = metaop.scan 8 carries(%c = %x : tensor<4xf32>) -> tensor<4xf32> {
      %next = metaop.mul %c, %s : tensor<4xf32>
      metaop.scan_yield %next : tensor<4xf32>
    }
    ```
  }];
}

def BatchTripsPass : Pass<"metaop-batch-trips", "::mlir::func::FuncOp"> {
  let summary = "Compute products of all trips of a loop at once";
  let description = [{
    In a `metaop.scan` of known trips, sums that depend on rows and on no carry
    are computed before the loop, for all trips, and are rows of it. Sums of
    repeated elements of which no carry is made are computed behind it, from
    rows. In memory for all trips is so at most 16 MiB, or four times the
    elements of the rows that it takes the place of and 256 MiB.

    ```mlir
    %r = metaop.scan 8 carries(%c = %x : tensor<4xf32>)
        rows(%row = %xs : tensor<8x6xf32>) -> tensor<4xf32> {
      %b = metaop.broadcast %row dims = [1] : tensor<6xf32> -> tensor<4x6xf32>
      %p = metaop.mul %b, %w : tensor<4x6xf32>
      %s = metaop.reduce add %p dims = [1] : tensor<4x6xf32> -> tensor<4xf32>
      %next = metaop.mul %c, %s : tensor<4xf32>
      metaop.scan_yield %next : tensor<4xf32>
    }
    ```

    becomes

    ```mlir
    %b = metaop.reindex %xs map affine_map<(d0, d1, d2) -> (d0, d2)> fill 0.0 : f32
        : tensor<8x6xf32> -> tensor<8x4x6xf32>
    %a = metaop.reindex %w map affine_map<(d0, d1, d2) -> (d1, d2)> fill 0.0 : f32
        : tensor<4x6xf32> -> tensor<8x4x6xf32>
    %p = metaop.mul %b, %a : tensor<8x4x6xf32>
    %ss = metaop.reindex_reduce add %p map affine_map<(d0, d1, d2) -> (d0, d1)>
        : tensor<8x4x6xf32> -> tensor<8x4xf32>
    %r = metaop.scan 8 carries(%c = %x : tensor<4xf32>)
        rows(%s = %ss : tensor<8x4xf32>) -> tensor<4xf32> {
      %next = metaop.mul %c, %s : tensor<4xf32>
      metaop.scan_yield %next : tensor<4xf32>
    }
    ```
  }];
  let dependentDialects = ["::mlir::metaop::MetaOpDialect"];
}

def ForToWhilePass : Pass<"metaop-for-to-while", "::mlir::func::FuncOp"> {
  let summary = "Have loops count in tensors";
  let description = [{
    An `scf.for` becomes an `scf.while` that carries its counter, as a 0-d tensor
    of i64: kernels compute what a program is to go on with. It stays as it is
    unless its bounds are constants or out of tensors, and its step is a constant
    of 1 or more. Tensors made of numbers are replaced by those that the numbers
    are read from.

    ```mlir
    %n = tensor.extract %end[] : tensor<i64>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%v = %x) -> (tensor<4xf32>) : i64 {
      %w = metaop.add %v, %v : tensor<4xf32>
      scf.yield %w : tensor<4xf32>
    }
    ```

    becomes

    ```mlir
    %zero = metaop.constant dense<0> : tensor<i64>
    %r:2 = scf.while (%k = %zero, %v = %x) : (tensor<i64>, tensor<4xf32>)
        -> (tensor<i64>, tensor<4xf32>) {
      %isLess = metaop.cmp lt %k, %end : tensor<i64> -> tensor<i1>
      %goesOn = tensor.extract %isLess[] : tensor<i1>
      scf.condition(%goesOn) %k, %v : tensor<i64>, tensor<4xf32>
    } do {
    ^bb0(%k: tensor<i64>, %v: tensor<4xf32>):
      %w = metaop.add %v, %v : tensor<4xf32>
      %largest = metaop.constant dense<9223372036854775806> : tensor<i64>
      %bounded = metaop.min %k, %largest : tensor<i64>
      %one = metaop.constant dense<1> : tensor<i64>
      %next = metaop.add %bounded, %one : tensor<i64>
      scf.yield %next, %w : tensor<i64>, tensor<4xf32>
    }
    ```
  }];
  let dependentDialects = ["::mlir::metaop::MetaOpDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::scf::SCFDialect",
                           "::mlir::tensor::TensorDialect"];
}

def ExpandChecksPass : Pass<"metaop-expand-checks", "::mlir::func::FuncOp"> {
  let summary = "Make checks of indices those of their lowest and highest";
  let description = [{
    A `metaop.check` becomes two reductions and a `metaop.check_range` of what
    they give, and whoever reads the checked value reads the indices. What is not
    used, is known to be in range, or has been checked in the same block is not
    checked.

    ```mlir
    %c = metaop.check %i extent = 10 dim = 0 : tensor<4xi64>
    %y = metaop.gather %x[%c] map affine_map<(d0)[s0] -> (s0)> fill 0.0 : f32
        : (tensor<10xf32>, tensor<4xi64>) -> tensor<4xf32>
    ```

    becomes

    ```mlir
    %lowest = metaop.reduce min %i dims = [0] : tensor<4xi64> -> tensor<i64>
    %highest = metaop.reduce max %i dims = [0] : tensor<4xi64> -> tensor<i64>
    metaop.check_range %lowest, %highest extent = 10 dim = 0
    %y = metaop.gather %x[%i] map affine_map<(d0)[s0] -> (s0)> fill 0.0 : f32
        : (tensor<10xf32>, tensor<4xi64>) -> tensor<4xf32>
    ```
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::metaop::MetaOpDialect",
    "::mlir::tensor::TensorDialect"];
}

def SimplifyPass : Pass<"metaop-simplify", "::mlir::func::FuncOp"> {
  let summary = "Canonicalise, merge equal operations, drop what is not used";
  let description = [{
    Removes `stop_grad` (gradients are complete when this runs) and `transfer`
    (a program runs on one device), applies the canonicalisation patterns and folders of all ops, gives every `tensor.dim`
    of a computed tensor in terms of arguments, merges operations of a block
    that compute the same, and erases dead ones.

    ```mlir
    %0 = metaop.stop_grad %x : tensor<?x8xf32>
    %1 = metaop.exp %0 : tensor<?x8xf32>
    %2 = metaop.exp %x : tensor<?x8xf32>
    %3 = metaop.add %1, %2 : tensor<?x8xf32>
    %n = tensor.dim %3, %c0 : tensor<?x8xf32>
    ```

    becomes

    ```mlir
    %0 = metaop.exp %x : tensor<?x8xf32>
    %1 = metaop.add %0, %0 : tensor<?x8xf32>
    %n = tensor.dim %x, %c0 : tensor<?x8xf32>
    ```
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::metaop::MetaOpDialect",
    "::mlir::tensor::TensorDialect"];
}

def PermuteReductionsPass
    : Pass<"metaop-permute-reductions", "::mlir::func::FuncOp"> {
  let summary = "Sum products in the order in which the result is read";
  let description = [{
    A contraction whose result is read by a permutation alone has its result in
    that order.

    ```mlir
    %0 = metaop.reindex_reduce add %p map affine_map<(k, m, n) -> (m, n)>
        : tensor<4x8x16xf32> -> tensor<8x16xf32>
    %1 = metaop.reindex %0 map affine_map<(n, m) -> (m, n)>
        fill 0.0 : f32 : tensor<8x16xf32> -> tensor<16x8xf32>
    ```

    becomes, where `%p` is the product of two broadcast values,

    ```mlir
    %1 = metaop.reindex_reduce add %p map affine_map<(k, m, n) -> (n, m)>
        : tensor<4x8x16xf32> -> tensor<16x8xf32>
    ```
  }];
  let dependentDialects = ["::mlir::metaop::MetaOpDialect"];
}

def SplitPrefixesPass
    : Pass<"metaop-split-prefixes", "::mlir::func::FuncOp"> {
  let summary = "Compute the blocks of long prefixes side by side";
  let description = [{
    A prefix along few lines of at least eight blocks, of 1008 elements each,
    becomes one along each block, and one along what the blocks make. The bits
    of the result are the same.

    ```mlir
    %y = metaop.prefix add %x dim = 0 : tensor<10080xf32>
    ```

    becomes

    ```mlir
    %s = metaop.reindex %x map affine_map<(b, k) -> (b * 1008 + k)>
        fill 0.0 : f32 : tensor<10080xf32> -> tensor<10x1008xf32>
    %local = metaop.prefix add %s dim = 1 serial : tensor<10x1008xf32>
    %total = metaop.reindex %local map affine_map<(b, k) -> (b, 1007)>
        fill 0.0 : f32 : tensor<10x1008xf32> -> tensor<10x1xf32>
    %carry = metaop.prefix add %total dim = 0 exclusive serial : tensor<10x1xf32>
    %before = metaop.reindex %carry map affine_map<(b, k) -> (b, 0)>
        fill 0.0 : f32 : tensor<10x1xf32> -> tensor<10x1008xf32>
    %result = metaop.add %before, %local : tensor<10x1008xf32>
    %y = metaop.reshape %result : tensor<10x1008xf32> -> tensor<10080xf32>
    ```
  }];
  let dependentDialects = ["::mlir::metaop::MetaOpDialect"];
}

def WidenReductionsPass
    : Pass<"metaop-widen-reductions", "::mlir::func::FuncOp"> {
  let summary = "Accumulate sums and products of half floats in f32";
  let description = [{
    A reduction whose map is a projection onto all of its result accumulates in
    registers, in f32. Any other may meet an element of its result many times,
    and combines with what memory holds; for f16 and bf16 that memory has to be
    f32.

    ```mlir
    %y = metaop.reindex_reduce add %x map affine_map<(i) -> (i mod 4)>
        : tensor<64xbf16> -> tensor<4xbf16>
    ```

    becomes

    ```mlir
    %0 = metaop.cast %x : tensor<64xbf16> -> tensor<64xf32>
    %1 = metaop.reindex_reduce add %0 map affine_map<(i) -> (i mod 4)>
        : tensor<64xf32> -> tensor<4xf32>
    %y = metaop.cast %1 : tensor<4xf32> -> tensor<4xbf16>
    ```
  }];
  let dependentDialects = ["::mlir::metaop::MetaOpDialect"];
}

def ReadBeforeInsertsPass
    : Pass<"metaop-read-before-inserts", "::mlir::func::FuncOp"> {
  let summary = "Read parts of what loops write over by kernels of their own";
  let description = [{
    In loops and branches: a part of a tensor that an insert, or a branch or a
    loop with inserts, may write over is read by a kernel of its own where what
    is computed from it reads the result of these as well. That kernel would
    need the tensor as it was and as it is, and all of it would be copied in each
    trip.

    ```mlir
    %p = metaop.slice %t[%i, %zero] strides = [1, 1]
        : tensor<8x4xf32> -> tensor<1x4xf32>
    %u = metaop.insert none %z into %t[%i, %zero]
        : tensor<1x4xf32> into tensor<8x4xf32>
    %s = metaop.slice %u[%j, %zero] strides = [1, 1]
        : tensor<8x4xf32> -> tensor<1x4xf32>
    %q = metaop.add %s, %p : tensor<1x4xf32>
    ```

    becomes

    ```mlir
    %0 = metaop.slice %t[%i, %zero] strides = [1, 1]
        : tensor<8x4xf32> -> tensor<1x4xf32>
    %p = metaop.stop_fuse %0 : tensor<1x4xf32>
    %u = metaop.insert none %z into %t[%i, %zero]
        : tensor<1x4xf32> into tensor<8x4xf32>
    ...
    ```
  }];
  let dependentDialects = ["::mlir::metaop::MetaOpDialect"];
}

def ExpandPlacementsPass
    : Pass<"metaop-expand-placements", "::mlir::func::FuncOp"> {
  let summary = "Choose from parts where a concat need not be in memory";
  let description = [{
    A concat of few parts, most of them not computed by this program, whose
    readers all read each element at its own place, becomes a chain of selects
    that fuses with them.

    ```mlir
    %c = metaop.concat %a, %b dim = 0
        : (tensor<4xf32>, tensor<6xf32>) -> tensor<10xf32>
    %y = metaop.exp %c : tensor<10xf32>
    ```

    becomes

    ```mlir
    %0 = metaop.reindex %a map affine_map<(i) -> (i)> fill 0.0 : f32
        : tensor<4xf32> -> tensor<10xf32>
    %1 = metaop.reindex %b map affine_map<(i) -> (i - 4)> fill 0.0 : f32
        : tensor<6xf32> -> tensor<10xf32>
    %i = metaop.iota dim = 0 : tensor<10xi64>
    %4 = metaop.constant dense<4> : tensor<10xi64>
    %m = metaop.cmp lt %i, %4 : tensor<10xi64> -> tensor<10xi1>
    %c = metaop.select %m, %0, %1 : tensor<10xi1>, tensor<10xf32>
    %y = metaop.exp %c : tensor<10xf32>
    ```

    So do chains of as many inserts into what no reduction has computed.
  }];
  let options = [
    Option<"maxParts", "max-parts", "unsigned", "8",
           "The most parts that a kernel chooses from">
  ];
  let dependentDialects = ["::mlir::metaop::MetaOpDialect"];
}

def PushIntoPartsPass : Pass<"metaop-push-into-parts", "::mlir::func::FuncOp"> {
  let summary = "Compute element-wise ops of a concat for each of its parts";
  let description = [{
    Element-wise ops that alone read a concat of few parts, and each other, are
    computed for each part, and the last of their values is the concat, if
    something reads it from memory and nothing else reads the others. Half of the bytes at least have to be of
    parts that are not the results of reductions: those fuse with the ops, or
    would have been copied.

    ```mlir
    %0 = metaop.neg %a : tensor<4xf32>
    %c = metaop.concat %0, %b dim = 0
        : (tensor<4xf32>, tensor<6xf32>) -> tensor<10xf32>
    %y = metaop.exp %c : tensor<10xf32>
    return %y : tensor<10xf32>
    ```

    becomes

    ```mlir
    %0 = metaop.neg %a : tensor<4xf32>
    %1 = metaop.exp %0 : tensor<4xf32>
    %2 = metaop.exp %b : tensor<6xf32>
    %y = metaop.concat %1, %2 dim = 0
        : (tensor<4xf32>, tensor<6xf32>) -> tensor<10xf32>
    return %y : tensor<10xf32>
    ```
  }];
  let options = [
    Option<"maxParts", "max-parts", "unsigned", "8",
           "The most parts that an op is computed for one by one">
  ];
  let dependentDialects = ["::mlir::metaop::MetaOpDialect"];
}

def CloneProducersPass
    : Pass<"metaop-clone-producers", "::mlir::func::FuncOp"> {
  let summary = "Compute cheap producers again for each consumer";
  let description = [{
    Prepares fusion by rematerialisation (what Halide computes inline). A value
    that is cheaper to compute than to keep in memory is computed once for each consumer, so that each copy can fuse with its
    consumer. Nothing after this pass and before `metaop-fuse` may merge equal
    operations; copies that end in one stage are merged there.

    Paper and extended rules: reindexes, iotas and constants are copied for each
    element-wise op or reduction that reads them, also for those in branches and
    loops inside of their block.

    ```mlir
    %b = metaop.broadcast %w dims = [1] : tensor<8xf32> -> tensor<4x8xf32>
    %0 = metaop.mul %x, %b : tensor<4x8xf32>
    %1 = metaop.add %y, %b : tensor<4x8xf32>
    ```

    becomes

    ```mlir
    %b0 = metaop.broadcast %w dims = [1] : tensor<8xf32> -> tensor<4x8xf32>
    %0 = metaop.mul %x, %b0 : tensor<4x8xf32>
    %b1 = metaop.broadcast %w dims = [1] : tensor<8xf32> -> tensor<4x8xf32>
    %1 = metaop.add %y, %b1 : tensor<4x8xf32>
    ```

    Extended rules also move element-wise ops on small spaces through the
    reindex that reads them,

    ```mlir
    %0 = metaop.sqrt %v : tensor<64xf32>
    %1 = metaop.broadcast %0 dims = [1] : tensor<64xf32> -> tensor<128x64xf32>
    ```

    becomes

    ```mlir
    %0 = metaop.broadcast %v dims = [1] : tensor<64xf32> -> tensor<128x64xf32>
    %1 = metaop.sqrt %0 : tensor<128x64xf32>
    ```

    and those whose value reindexes alone read, each element at most once, as
    a transpose does. They copy expanded values, such as the 7-dimensional product of a
    convolution, for each reduction or other consumer that needs them. With the
    rules `none` the program stays as it is.
  }];
  let options = [
    Option<"rules", "rules", "::mlir::metaop::FusionRules",
           "::mlir::metaop::FusionRules::Extended", "Which rules apply",
           [{::llvm::cl::values(
             clEnumValN(::mlir::metaop::FusionRules::None, "none",
                        "copy nothing"),
             clEnumValN(::mlir::metaop::FusionRules::Paper, "paper",
                        "copy reindexes, iotas and constants only"),
             clEnumValN(::mlir::metaop::FusionRules::Extended, "extended",
                        "also small producers and expanded values"))}]>,
    Option<"smallProducerRatio", "small-producer-ratio", "int64_t",
           "::mlir::metaop::kSmallProducerRatio",
           "A producer moves through a reindex whose result is at least so "
           "many times larger">,
    Option<"expandedRatio", "expanded-ratio", "int64_t", "4",
           "An element-wise value is expanded if it is at least so many times "
           "larger than all that it is computed from">,
    Option<"maxClonedOps", "max-cloned-ops", "unsigned", "16",
           "The longest chain that moves through a reindex">,
    Option<"maxRoots", "max-roots", "unsigned", "16",
           "The most copies of one expanded value">
  ];
  let dependentDialects = ["::mlir::metaop::MetaOpDialect"];
}

def VerifyPhasePass : Pass<"metaop-verify-phase", "::mlir::ModuleOp"> {
  let summary = "Check that a program is in a given phase";
  let description = [{
    * `graph`: functions hold meta-operators and views, `tensor.dim` and
      constant indices.
    * `fused`: every meta-operator is inside a `metaop.fused` inside a
      `metaop.kernel`; views, `tensor.dim` and constant indices are outside.
    * `scheduled`: `fused`, and every `metaop.fused` has a schedule.
    * `kernels`: a private function is one kernel; all other functions hold
      calls, views, `tensor.dim` and constant indices.

    In all phases functions may have `scf.if`, `scf.for` and `scf.while` as well,
    which carry tensors of static shapes, and `tensor.extract`,
    `tensor.from_elements` and `arith.index_cast` of the numbers that decide in
    them. Their blocks hold what the function may hold.

    Leaves the program as it is; an error names the first operation that does
    not belong. For example, after `metaop-verify-phase{phase=fused}`:

    ```
    error: 'metaop.exp' op is not legal in phase 'fused' here: expected it
    inside of a metaop.fused
    ```
  }];
  let options = [
    Option<"phase", "phase", "::mlir::metaop::Phase",
           "::mlir::metaop::Phase::Graph", "The phase",
           [{::llvm::cl::values(
             clEnumValN(::mlir::metaop::Phase::Graph, "graph",
                        "meta-operators in functions"),
             clEnumValN(::mlir::metaop::Phase::Fused, "fused",
                        "meta-operators in stages"),
             clEnumValN(::mlir::metaop::Phase::Scheduled, "scheduled",
                        "stages with schedules"),
             clEnumValN(::mlir::metaop::Phase::Kernels, "kernels",
                        "kernels in functions of their own"))}]>
  ];
}

#endif // METAOPS_TRANSFORMS_SIMPLIFY_PASSES_TD
