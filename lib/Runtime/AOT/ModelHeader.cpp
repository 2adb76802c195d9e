//===- ModelHeader.cpp - C headers of models ------------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All that is fixed about a model is a macro, so that a C program can have all
// of its memory as variables. The names of a model begin with its own, so that
// several can be linked into one program.
//
//===----------------------------------------------------------------------===//

#include "ModelInterface.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

using namespace metaops;
using llvm::formatv;

/// The type of an element in C. Halves are their bits.
static llvm::StringRef getCType(DType dtype) {
  switch (dtype) {
  case DType::Bool:
  case DType::U8:
    return "uint8_t";
  case DType::I8:
    return "int8_t";
  case DType::I16:
    return "int16_t";
  case DType::I32:
    return "int32_t";
  case DType::I64:
    return "int64_t";
  case DType::U16:
  case DType::F16:
  case DType::BF16:
    return "uint16_t";
  case DType::U32:
    return "uint32_t";
  case DType::U64:
    return "uint64_t";
  case DType::F32:
    return "float";
  case DType::F64:
    return "double";
  }
  llvm_unreachable("all types are handled");
}

/// The macros of one tensor. Without dimensions there is no SHAPE: C has no
/// empty arrays.
static void writeTensor(llvm::raw_ostream &os, const std::string &prefix,
                        const TensorSpec &tensor) {
  os << formatv("\n/* {0} */\n", formatType(tensor));
  os << formatv("#define {0}_DTYPE \"{1}\"\n", prefix, nameOf(tensor.dtype));
  os << formatv("#define {0}_TYPE {1}\n", prefix, getCType(tensor.dtype));
  os << formatv("#define {0}_RANK {1}\n", prefix, tensor.shape.size());
  if (!tensor.shape.empty())
    os << formatv("#define {0}_SHAPE {{{1}}\n", prefix,
                  llvm::join(llvm::map_range(tensor.shape,
                                             [](int64_t extent) {
                                               return std::to_string(extent);
                                             }),
                             ", "));
  os << formatv("#define {0}_ELEMENTS {1}\n", prefix,
                getNumElements(tensor.shape));
  os << formatv("#define {0}_BYTES {1}\n", prefix, tensor.getBytes());
}

static constexpr llvm::StringLiteral kFront = R"(/*
 * The model {0}, for {2} under Linux. Written by metaop-compile.
 *
 * Nothing here takes memory from the heap, keeps state, or starts threads, so
 * any number of threads may run the model at once, with an arena each:
 *
 *   static _Alignas({1}_ALIGNMENT) char arena[{1}_ARENA_BYTES];
 *   int error = {0}_init(arena, sizeof(arena));
 *   if (!error)
 *     error = {0}_run(inputs, outputs, arena);
 *
 * Tensors are dense and row-major. Elements of bool are bytes of 0 or 1, those
 * of float16 and bfloat16 their bits.
 */
#ifndef METAOPS_MODEL_{1}_H
#define METAOPS_MODEL_{1}_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {{
#endif

/* Of the arena and of the memory of outputs. */
#define {1}_ALIGNMENT {3}
/* What a run needs beside inputs and outputs; 1 at least, for C has no empty
 * arrays. */
#define {1}_ARENA_BYTES {4}

#define {1}_NUM_INPUTS {5}
#define {1}_NUM_OUTPUTS {6}
)";

static constexpr llvm::StringLiteral kFunctions = R"(
/* Whether `bytes` of memory at `arena` can be that of runs: {1}_OK, or
 * {1}_ERROR_ARENA. What is in it does not matter. */
int {0}_init(void *arena, size_t bytes);

/* Computes the outputs from the inputs, in the memory of `arena`, of which
 * nothing else is needed afterwards. Inputs are aligned to their elements and
 * may overlap each other; outputs are aligned to {1}_ALIGNMENT and overlap
 * nothing else. */
int {0}_run(const void *const *inputs, void *const *outputs, void *arena);

/* What is wrong, for people. */
const char *{0}_error_string(int error);

#ifdef __cplusplus
}
#endif

#endif /* METAOPS_MODEL_{1}_H */
)";

std::string metaops::writeModelHeader(const ModelInterface &model) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << formatv(kFront.data(), model.name, model.macro, model.targetName,
                kModelAlignment, std::max<int64_t>(model.arenaBytes, 1),
                model.inputs.size(), model.outputs.size());
  for (auto [number, tensor] : llvm::enumerate(model.inputs))
    writeTensor(os, formatv("{0}_INPUT_{1}", model.macro, number), tensor);
  for (auto [number, tensor] : llvm::enumerate(model.outputs))
    writeTensor(os, formatv("{0}_OUTPUT_{1}", model.macro, number), tensor);
  os << "\n/* What functions return. */\n";
  for (auto [number, error] : llvm::enumerate(model.errors))
    os << formatv("#define {0}_{1} {2}\n", model.macro, error.suffix, number);
  os << formatv(kFunctions.data(), model.name, model.macro);
  return text;
}
