//===- Passes.td - Passes that make functions of kernels ---*- tablegen -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_TRANSFORMS_OUTLINE_PASSES_TD
#define METAOPS_TRANSFORMS_OUTLINE_PASSES_TD

include "mlir/Pass/PassBase.td"

def OutlinePass : Pass<"metaop-outline", "::mlir::ModuleOp"> {
  let summary = "Make each kernel a function";
  let description = [{
    Moves each `metaop.kernel` into a private function of its own and leaves a
    call, which keeps the location of the kernel; so it does in branches and
    loops. A value that is passed twice
    becomes one argument. Functions that are kernels already stay, so the pass
    can run again. `duplicate-function-elimination` after it leaves one function
    of each set of equal kernels; the calls keep their locations.

    ```mlir
    func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
      %0 = metaop.kernel(%a = %x : tensor<4xf32>, %b = %x : tensor<4xf32>)
          -> tensor<4xf32> {...}
      return %0 : tensor<4xf32>
    }
    ```

    becomes

    ```mlir
    func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
      %0 = call @kernel_0(%x) : (tensor<4xf32>) -> tensor<4xf32>
      return %0 : tensor<4xf32>
    }
    func.func private @kernel_0(%x: tensor<4xf32>) -> tensor<4xf32> {
      %0 = metaop.kernel(%a = %x : tensor<4xf32>) -> tensor<4xf32> {...}
      return %0 : tensor<4xf32>
    }
    ```
  }];
  let dependentDialects = [
    "::mlir::func::FuncDialect", "::mlir::metaop::MetaOpDialect"];
}

#endif // METAOPS_TRANSFORMS_OUTLINE_PASSES_TD
