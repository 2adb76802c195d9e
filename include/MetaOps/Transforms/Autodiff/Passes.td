//===- Passes.td - Differentiation passes ------------------*- tablegen -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_TRANSFORMS_AUTODIFF_PASSES_TD
#define METAOPS_TRANSFORMS_AUTODIFF_PASSES_TD

include "mlir/Pass/PassBase.td"

def AutodiffPass : Pass<"metaop-autodiff", "::mlir::ModuleOp"> {
  let summary = "Adds the gradient of each function to its results";
  let description = [{
    Turns a function that returns one tensor of floats into one that also
    returns the gradient of that tensor's sum with respect to its arguments, in
    reverse mode. The gradients follow in the order of `wrt`; the default is
    every argument that is a tensor of floats. Fails for a function that another
    one of the module calls, and for a loop of no number of trips that a gradient
    flows through. Loops whose trips would save more than `saved-bytes` save each
    k-th carry, and make the trips between again.

    With `order` n, the gradients of order k are those of the sum of all
    elements of all gradients of order k - 1, and the gradients of each order
    follow those of the order before.

    Before:

    ```mlir
    func.func @f(%x: tensor<4xf32>) -> tensor<f32> {
      %0 = metaop.exp %x : tensor<4xf32>
      %1 = metaop.reduce add %0 dims = [0] : tensor<4xf32> -> tensor<f32>
      return %1 : tensor<f32>
    }
    ```

    After:

    ```mlir
    func.func @f(%x: tensor<4xf32>) -> (tensor<f32>, tensor<4xf32>) {
      %0 = metaop.exp %x : tensor<4xf32>
      %1 = metaop.reduce add %0 dims = [0] : tensor<4xf32> -> tensor<f32>
      %2 = metaop.constant dense<1.0> : tensor<f32>
      %3 = metaop.reindex %2 map affine_map<(d0) -> ()> fill 0.0 : f32
          : tensor<f32> -> tensor<4xf32>
      %4 = metaop.mul %3, %0 : tensor<4xf32>
      return %1, %4 : tensor<f32>, tensor<4xf32>
    }
    ```
  }];
  let options = [
    ListOption<"wrt", "wrt", "int64_t",
      "Numbers of the arguments to differentiate with respect to">,
    Option<"order", "order", "int64_t", /*default=*/"1",
      "How many times to differentiate">,
    Option<"savedBytes", "saved-bytes", "int64_t",
      /*default=*/"::mlir::metaop::DerivativeOptions::kDefaultSavedBytes",
      "How many bytes the trips of a loop may save for its gradient">
  ];
  let dependentDialects = ["::mlir::metaop::MetaOpDialect",
                           "::mlir::scf::SCFDialect"];
}

def PushForwardPass : Pass<"metaop-push-forward", "::mlir::ModuleOp"> {
  let summary = "Adds the tangents of each function's results to them";
  let description = [{
    Turns a function of tensors into one that takes a tangent for each argument
    that `wrt` names, after all others, and also returns, in forward mode, the
    tangent of each result that is a tensor of floats: the Jacobian times the
    given tangents. The default of `wrt` is every argument that is a tensor of
    floats. Fails for a function that another one of the module calls, or that has
    branches or loops.

    Before:

    ```mlir
    func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
      %0 = metaop.exp %x : tensor<4xf32>
      return %0 : tensor<4xf32>
    }
    ```

    After:

    ```mlir
    func.func @f(%x: tensor<4xf32>, %t: tensor<4xf32>)
        -> (tensor<4xf32>, tensor<4xf32>) {
      %0 = metaop.exp %x : tensor<4xf32>
      %1 = metaop.mul %t, %0 : tensor<4xf32>
      return %0, %1 : tensor<4xf32>, tensor<4xf32>
    }
    ```
  }];
  let options = [
    ListOption<"wrt", "wrt", "int64_t",
      "Numbers of the arguments that move">
  ];
  let dependentDialects = ["::mlir::metaop::MetaOpDialect"];
}

def VerifyClosurePass : Pass<"metaop-verify-closure", "::mlir::func::FuncOp"> {
  let summary = "Checks that a function is made of meta-operators only";
  let description = [{
    Fails if a function holds operations other than those of the metaop dialect,
    `func.return`, `tensor.dim` and `arith.constant`. Gradients have to pass: it
    is what makes them differentiable again. Changes nothing.

    Before and after, for a function that passes:

    ```mlir
    func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
      %0 = metaop.exp %x : tensor<4xf32>
      return %0 : tensor<4xf32>
    }
    ```
  }];
}

#endif // METAOPS_TRANSFORMS_AUTODIFF_PASSES_TD
