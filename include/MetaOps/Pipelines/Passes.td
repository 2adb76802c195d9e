//===- Passes.td - Passes over what several targets have ---*- tablegen -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_PIPELINES_PASSES_TD
#define METAOPS_PIPELINES_PASSES_TD

include "mlir/Pass/PassBase.td"

def ExplainPass : Pass<"metaop-explain"> {
  let summary = "Prints what each scheduled kernel will do";
  let description = [{
    For each `metaop.kernel`: its stages with their iteration spaces, accesses
    and loops, the bytes and floating-point operations, and how long a call
    should take on one thread of a typical machine. Nothing is changed. The
    identity of a stage is what a file of schedules (`metaop-schedule=file=...`)
    calls it.

    ```
    kernel of @main
      stage 0f3a...: S = 64x128
        operators: exp reduce
        loops to S: (d0, d1) -> (d0, d1)
        read  tensor<64x128xf32> at (d0, d1) -> (d0, d1): unit stride
        write tensor<64xf32> at (d0, d1) -> (d0): invariant, reduced by add
        loops:
          for d0 < 64, parallel
            for d1 < 128, reduced, vectors of 16, unrolled by 4
        schedule: #metaop.schedule<[parallel(0), step(1, 64)], ...>
      bytes: 32768 read, 256 written; FLOPs: 16384 (0.496 a byte)
      predicted: 2.7 us
    ```

    Of a kernel with schedules for a GPU it says, besides, how many blocks there
    are and what one takes of the chip, and how long a call should take on each
    card that has the chip.
  }];
  let options = [
    Option<"target", "target", "std::string", "\"\"",
           "The target, with its options, as {cuda chip=sm_80}; by default, for "
           "each kernel the one whose schedules it has">,
    Option<"processor", "processor", "std::string", "\"\"",
           "The same as in target={cpu processor=...}">,
    Option<"chip", "chip", "std::string", "\"\"",
           "The same as in target={cuda chip=...}">
  ];
  // It takes the targets that there are, so it is registered by hand.
  let constructor = "::mlir::metaop::createExplainPass()";
}

def VerifySchedulesPass : Pass<"metaop-verify-schedules"> {
  let summary = "Checks that a target can have the schedules of kernels";
  let description = [{
    Asks the target of each `metaop.kernel` whether its schedules are legal:
    whether code can be made of them that computes what the stages say. What is
    not is an error at the stage, with the label of the
    [rule](Schedule.md#rules) that is broken, and the line of the file that the
    schedule is from, if there is one. Nothing is changed. Pipelines do so where
    they reach the phase `scheduled`.

    ```
    error: 'metaop.fused' op (P3) loop 1 is not parallel: its iterations write
    the same elements of result 0
    ```
  }];
  let options = [
    Option<"target", "target", "std::string", "\"cpu\"",
           "The target, with its options, as {cuda chip=sm_80}">
  ];
  // It takes the targets that there are, so it is registered by hand.
  let constructor = "::mlir::metaop::createVerifySchedulesPass()";
}

#endif // METAOPS_PIPELINES_PASSES_TD
