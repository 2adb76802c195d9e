//===- Passes.td - Passes that apply schedules of users ----*- tablegen -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_TRANSFORMS_SCHEDULE_FILE_PASSES_TD
#define METAOPS_TRANSFORMS_SCHEDULE_FILE_PASSES_TD

include "mlir/Pass/PassBase.td"

def ForceRewritesPass : Pass<"metaop-force-rewrites"> {
  let summary = "Writes on kernels which rewrites a user forces or forbids";
  let description = [{
    Takes the entries of a file of schedules that are of kernels,

    ```
    90a7b14c33d05e12 = forbid join-stages, force split-reductions
    ```

    and writes them on the kernels that have these identities, for the passes
    that follow, up to `metaop-schedule`. Identities are those of kernels here,
    behind fusion; whatever becomes of a kernel keeps its identity in its
    location, where `metaop-explain` finds it.

    Before:
    ```mlir
    %1 = metaop.kernel(%a = %x : tensor<1048576xf32>) -> tensor<f32> { ... }
    ```
    After:
    ```mlir
    %1 = metaop.kernel(%a = %x : tensor<1048576xf32>) -> tensor<f32>
        attributes {rewrites = {"join-stages" = false,
                                       "split-reductions" = true,
                                       place = "schedules.txt:7"}} { ... }
    ```
  }];
  let options = [
    Option<"file", "file", "std::string", "\"\"",
           "A file of schedules; it is an error if an entry is malformed, and a "
           "warning says if one fits no kernel">,
    Option<"text", "text", "std::string", "\"\"",
           "The contents of `file`, if they have been read already; nothing is "
           "said of entries that fit no kernel then">
  ];
}

#endif // METAOPS_TRANSFORMS_SCHEDULE_FILE_PASSES_TD
