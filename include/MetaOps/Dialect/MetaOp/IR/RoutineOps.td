//===- RoutineOps.td - Routines ----------------------------*- tablegen -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_DIALECT_METAOP_ROUTINEOPS_TD
#define METAOPS_DIALECT_METAOP_ROUTINEOPS_TD

include "MetaOps/Dialect/MetaOp/IR/MetaOpBase.td"

def MetaOp_SortOp : MetaOp_Op<"sort", [
    Pure,
    DeclareOpInterfaceMethods<MetaOp_RoutineOpInterface, [
      "getRoutineName", "getRoutineAttributes", "getOperandRole",
      "getResultRole"]>,
    TypesMatchWith<"indices are i64 and of the values' shape", "values",
                   "indices",
                   "::llvm::cast<::mlir::RankedTensorType>($_self).clone("
                   "::mlir::IntegerType::get($_self.getContext(), 64))">,
    MetaOp_DifferentiableByProducts]> {
  let summary = "Elements in rising order along a dimension, and where they were";
  let description = [{
    `indices[..., k, ...]` is the index along `dim` of the element that comes at
    place `begin` + k, `values[..., k, ...]` that element. NaN is larger than every
    number, and both zeros are equal; of equal elements the one with the lower
    index comes first. In falling order if `descending`, where this holds, too.

    The extent of the results along `dim` says how many places of the order are
    wanted, and `begin` the first of them, 0 if it is not given. It is an operand,
    so another one makes no new code. As there are as many elements as places
    wanted, one that is too small or too large counts as the nearest that is not.

    Either result may be unused; then it is not computed. Without indices, zeros
    that are beside each other may change places among the values.

    Constraints: (C1) `dim` is a dimension; (C2) the values have the source's
    elements and, but along `dim`, its shape; (C3) no more places are wanted than
    there are elements.

    VJP: a scatter of the values' cotangent by the indices.

    ```mlir
    %y, %i = metaop.sort %x dim = 1 : tensor<4x8xf32> -> tensor<4x8xf32>
    %largest, %at = metaop.sort %x dim = 1 descending
        : tensor<4x8xf32> -> tensor<4x1xf32>
    %middle, %_ = metaop.sort %x dim = 1 begin = %k
        : tensor<4x8xf32> -> tensor<4x2xf32>
    ```
  }];
  let arguments = (ins MetaOp_Tensor:$source, I64Attr:$dim,
                       UnitAttr:$descending, Optional<MetaOp_Symbol>:$begin);
  let results = (outs MetaOp_Tensor:$values, MetaOp_IndexTensor:$indices);
  let assemblyFormat = [{
    $source `dim` `=` $dim (`descending` $descending^)? (`begin` `=` $begin^)?
    attr-dict `:` type($source) `->` type($values)
  }];
  let hasVerifier = 1;
}

// Not speculatable: what may fail runs where the program says so.
def MetaOp_RoutineOp : MetaOp_Op<"routine", [
    NoMemoryEffect,
    DeclareOpInterfaceMethods<MetaOp_RoutineOpInterface, [
      "makes", "getRoutineName", "getRoutineAttributes", "getOperandRole",
      "getResultRole", "getOverwritten", "mayFail"]>]> {
  let summary = "The results of a routine of the runtime's, by its name";
  let description = [{
    The `routine` is one of the registry that a session has. It is a function of
    the inputs and of `parameters` alone, and writes all elements of its outputs,
    so equal calls are merged, and one that nobody reads does not run.

    Parameters are integers, floats, strings, and arrays of one of these. `roles`
    says of each input, and then of each output, what it is to the routine; all
    are empty where it is not there. By `over`, an output may be made in the
    memory of the input of that number, where nobody reads that any more; -1
    stands for none. A routine that is `batched` takes any number of dimensions
    in front of those that it knows, the same of all inputs and outputs. One that
    is `total` never fails.

    It has no derivatives: one through it is an error.

    Constraints: (C1) there is an output; (C2) parameters are of these kinds;
    (C3) there is a role for each input and output, or for none; (C4) `over` has
    a number for each output, each of an input of its type, and of no two one.

    ```mlir
    %y = metaop.routine "logsumexp"(%x) roles = ["source", "values"] batched total
        : (tensor<4x8xf32>) -> tensor<4xf32>
    ```
  }];
  let arguments = (ins StrAttr:$routine,
                       OptionalAttr<DictionaryAttr>:$parameters,
                       OptionalAttr<StrArrayAttr>:$roles,
                       OptionalAttr<DenseI64ArrayAttr>:$over,
                       UnitAttr:$batched, UnitAttr:$total,
                       Variadic<MetaOp_Tensor>:$inputs);
  let results = (outs Variadic<MetaOp_Tensor>:$outputs);
  let assemblyFormat = [{
    $routine `(` $inputs `)` (`parameters` `=` $parameters^)?
    (`roles` `=` $roles^)? (`over` `=` $over^)? (`batched` $batched^)?
    (`total` $total^)? attr-dict `:` functional-type($inputs, $outputs)
  }];
  let hasVerifier = 1;
}

def MetaOp_FftOp : MetaOp_Op<"fft", [
    Pure,
    DeclareOpInterfaceMethods<MetaOp_RoutineOpInterface, [
      "makes", "getRoutineName", "getRoutineAttributes", "getOperandRole",
      "getResultRole"]>,
    MetaOp_DifferentiableByProducts]> {
  let summary = "Discrete Fourier transforms along dimensions";
  let description = [{
    Complex numbers are two tensors: real parts and imaginary parts. Along a
    dimension of n elements

        result[k] = sum over j of source[j] * exp(-2 pi i j k / n),

    with a plus if `inverse`; along several `dims` one after the other, and all
    times `scale`. The numbers of inputs and outputs say of what:

    * two and two: of complex numbers;
    * one and two: of real numbers. Along the last of `dims` there are the
      results of k = 0 to n / 2 alone: the others are their conjugates;
    * two and one, `inverse`: of such results to the real numbers. n is the
      extent of the output. Imaginary parts that have to be 0, at k = 0 and at n
      / 2, are not read.

    Constraints: (C1) there are inputs and outputs of one of these three kinds;
    real inputs have no `inverse`, real outputs have it; (C2) all have the same
    elements, f32 or f64; (C3) `dims` are different dimensions, one at least,
    of static extents above 0; (C4) inputs have one shape, and outputs another,
    which is the same but along the last of `dims`: n of complex numbers and of
    real ones, n / 2 + 1 of their results.

    VJP: the transform the other way round, with the same `scale`. Of real
    numbers, what stands for two results counts twice.

    ```mlir
    %re, %im = metaop.fft (%x) dims = [1] scale = 1.0
        : (tensor<4x8xf32>) -> (tensor<4x5xf32>, tensor<4x5xf32>)
    %y = metaop.fft (%re, %im) dims = [1] inverse scale = 0.125
        : (tensor<4x5xf32>, tensor<4x5xf32>) -> tensor<4x8xf32>
    ```
  }];
  let arguments = (ins DenseI64ArrayAttr:$dims, UnitAttr:$inverse,
                       F64Attr:$scale, Variadic<MetaOp_FloatTensor>:$inputs);
  let results = (outs Variadic<MetaOp_FloatTensor>:$outputs);
  let assemblyFormat = [{
    `(` $inputs `)` `dims` `=` $dims (`inverse` $inverse^)? `scale` `=` $scale
    attr-dict `:` functional-type($inputs, $outputs)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Returns true if the inputs, or the outputs, are real numbers.
    bool isFromReal() { return getInputs().size() == 1; }
    bool isToReal() { return getOutputs().size() == 1; }
    /// Returns the extent of the real numbers, or of all, along the last of the
    /// dimensions.
    int64_t getLength() {
      Value full = isToReal() ? getOutputs().front() : getInputs().front();
      return ::llvm::cast<::mlir::RankedTensorType>(full.getType())
          .getDimSize(getDims().back());
    }
  }];
}

#endif // METAOPS_DIALECT_METAOP_ROUTINEOPS_TD
