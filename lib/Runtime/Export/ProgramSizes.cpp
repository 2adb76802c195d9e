//===- ProgramSizes.cpp - Functions of several sizes ----------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A function of several sizes has a program for each of them. They have names
// of inputs and outputs in common, and kernels and weights; what they take
// beside inputs, and the shapes of outputs, is each one's own. In JSON, members
// of the function:
//
//   extents     a list of texts, the names. A shape of an input has such a name
//               in the place of the extent, and one of an output null where the
//               extents of programs differ
//   programs    a list of objects of
//     sizes       a list of numbers, of each extent
//     arguments   a list, in the order of the program's arguments: the number
//                 of a weight, or null for the next input
//     outputs     a list of shapes
//
//===----------------------------------------------------------------------===//

#include "ProgramSizes.h"
#include "BoundedJson.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/MathExtras.h"

#include <set>

using namespace metaops;
namespace json = llvm::json;
using llvm::ArrayRef;
using llvm::createStringError;
using llvm::Error;
using llvm::StringRef;
using llvm::Twine;

/// Messages list so many sizes one by one.
static constexpr size_t kMaxListed = 8;

//===----------------------------------------------------------------------===//
// Finding
//===----------------------------------------------------------------------===//

std::optional<unsigned> metaops::findSizes(const FunctionSignature &function,
                                           ArrayRef<int64_t> sizes) {
  auto found =
      llvm::partition_point(function.programs, [&](const SizedProgram &each) {
        return ArrayRef(each.sizes) < sizes;
      });
  if (found == function.programs.end() || ArrayRef(found->sizes) != sizes)
    return std::nullopt;
  return found - function.programs.begin();
}

FunctionSignature metaops::fixSizes(const FunctionSignature &function,
                                    unsigned program) {
  const SizedProgram &sized = function.programs[program];
  // Without the other programs.
  FunctionSignature fixed;
  fixed.name = function.name;
  fixed.structure = function.structure;
  fixed.inputs = function.inputs;
  fixed.outputs = function.outputs;
  fixed.arguments = sized.arguments;
  for (auto [extent, size] : llvm::zip_equal(function.extents, sized.sizes))
    for (auto [input, dim] : extent.dims)
      fixed.inputs[input].shape[dim] = size;
  for (auto [output, shape] : llvm::zip_equal(fixed.outputs, sized.outputs))
    output.shape = shape;
  return fixed;
}

/// Returns "1 to 64", or a list.
static std::string describeNumbers(const std::set<int64_t> &numbers) {
  int64_t first = *numbers.begin(), last = *numbers.rbegin();
  if (numbers.size() > 2 && size_t(last - first) + 1 == numbers.size())
    return (Twine(first) + " to " + Twine(last)).str();
  std::string text;
  for (auto [place, number] : llvm::enumerate(numbers)) {
    if (place == kMaxListed)
      return (text + ", ... and " + Twine(last)).str();
    text += (place > 0 ? ", " : "") + std::to_string(number);
  }
  return text;
}

std::string metaops::describeSizes(const FunctionSignature &function) {
  std::string text;
  for (auto [place, extent] : llvm::enumerate(function.extents)) {
    std::set<int64_t> numbers;
    for (const SizedProgram &program : function.programs)
      numbers.insert(program.sizes[place]);
    text += (place > 0 ? ", " : "") + extent.name + " of " +
            describeNumbers(numbers);
  }
  return text;
}

//===----------------------------------------------------------------------===//
// Verifying
//===----------------------------------------------------------------------===//

static Error wrong(const FunctionSignature &function, const Twine &what) {
  return createStringError("the function '" + function.name + "' has " + what);
}

Error metaops::verifyArguments(StringRef function,
                               ArrayRef<std::optional<unsigned>> arguments,
                               size_t numInputs, size_t numWeights) {
  size_t numOthers = 0;
  for (std::optional<unsigned> weight : arguments) {
    if (!weight)
      ++numOthers;
    else if (*weight >= numWeights)
      return createStringError("an argument of the function '" + function +
                               "' is weight number " + Twine(*weight) + " of " +
                               Twine(numWeights));
  }
  if (numOthers == numInputs)
    return Error::success();
  return createStringError(
      "of the " + Twine(arguments.size()) + " arguments of the function '" +
      function + "' " + Twine(numOthers) + " are no weights, and there are " +
      Twine(numInputs) + " inputs");
}

static Error verifyExtents(const FunctionSignature &function) {
  llvm::StringSet<> names;
  std::set<std::pair<unsigned, unsigned>> dims;
  for (const NamedExtent &extent : function.extents) {
    if (extent.name.empty() || StringRef(extent.name).contains('\0') ||
        !json::isUTF8(extent.name) || !names.insert(extent.name).second)
      return wrong(function, "extents whose names are not different texts");
    if (extent.dims.empty())
      return wrong(function,
                   "an extent '" + extent.name + "' that no input has");
    for (auto dim : extent.dims)
      if (dim.first >= function.inputs.size() ||
          dim.second >= function.inputs[dim.first].shape.size() ||
          function.inputs[dim.first].shape[dim.second] != kAnyExtent ||
          !dims.insert(dim).second)
        return wrong(function, "an extent '" + extent.name +
                                   "' of a dimension that there is not");
  }
  size_t numAny = 0;
  for (const TensorSpec &input : function.inputs)
    numAny += llvm::count(input.shape, kAnyExtent);
  if (numAny != dims.size())
    return wrong(function, "an input with an extent that has no name");
  return Error::success();
}

/// Fails unless a shape is one of those that a tensor may have.
static Error verifyShape(const FunctionSignature &function,
                         const TensorSpec &tensor, ArrayRef<int64_t> shape) {
  bool fits = shape.size() == tensor.shape.size();
  for (size_t dim = 0; fits && dim < shape.size(); ++dim)
    fits = shape[dim] >= 0 &&
           (tensor.shape[dim] == kAnyExtent || tensor.shape[dim] == shape[dim]);
  if (fits && getNumBytes(shape, tensor.dtype) <= kMaxTensorBytes)
    return Error::success();
  return wrong(function, "a program in which '" + tensor.name +
                             "' has an impossible shape, " +
                             formatShape(shape));
}

static Error verifyProgram(const FunctionSignature &function,
                           const SizedProgram &program, size_t numWeights) {
  if (program.sizes.size() != function.extents.size() ||
      program.outputs.size() != function.outputs.size())
    return wrong(function, "a program of " + Twine(program.sizes.size()) +
                               " sizes and " + Twine(program.outputs.size()) +
                               " outputs");
  if (Error error = verifyArguments(function.name, program.arguments,
                                    function.inputs.size(), numWeights))
    return error;
  std::vector<std::vector<int64_t>> inputs;
  for (const TensorSpec &input : function.inputs)
    inputs.push_back(input.shape);
  for (auto [extent, size] : llvm::zip_equal(function.extents, program.sizes))
    for (auto [input, dim] : extent.dims)
      inputs[input][dim] = size;
  for (auto [input, shape] : llvm::zip_equal(function.inputs, inputs))
    if (Error error = verifyShape(function, input, shape))
      return error;
  for (auto [output, shape] :
       llvm::zip_equal(function.outputs, program.outputs))
    if (Error error = verifyShape(function, output, shape))
      return error;
  return Error::success();
}

Error metaops::verifySizes(const FunctionSignature &function,
                           size_t numWeights) {
  if (!function.arguments.empty() || function.programs.empty())
    return wrong(function, "extents with names, and no programs for these, or "
                           "arguments beside them");
  if (Error error = verifyExtents(function))
    return error;
  const SizedProgram *before = nullptr;
  for (const SizedProgram &program : function.programs) {
    if (Error error = verifyProgram(function, program, numWeights))
      return error;
    if (before && !(before->sizes < program.sizes))
      return wrong(function, "programs that are not in the order of sizes");
    before = &program;
  }
  return Error::success();
}

//===----------------------------------------------------------------------===//
// Writing and reading
//===----------------------------------------------------------------------===//

static void writeNumbers(json::OStream &stream, ArrayRef<int64_t> numbers) {
  for (int64_t number : numbers)
    stream.value(number);
}

static void writeProgram(json::OStream &stream, const SizedProgram &program) {
  stream.object([&] {
    stream.attributeArray("sizes",
                          [&] { writeNumbers(stream, program.sizes); });
    stream.attributeArray("arguments", [&] {
      for (std::optional<unsigned> weight : program.arguments)
        if (weight)
          stream.value(int64_t(*weight));
        else
          stream.value(nullptr);
    });
    stream.attributeArray("outputs", [&] {
      for (const std::vector<int64_t> &shape : program.outputs)
        stream.array([&] { writeNumbers(stream, shape); });
    });
  });
}

void metaops::writeSizes(json::OStream &stream,
                         const FunctionSignature &function) {
  stream.attributeArray("extents", [&] {
    for (const NamedExtent &extent : function.extents)
      stream.value(extent.name);
  });
  stream.attributeArray("programs", [&] {
    for (const SizedProgram &program : function.programs)
      writeProgram(stream, program);
  });
}

static Error readArguments(const json::Array &list, SizedProgram &program) {
  for (const json::Value &value : list) {
    if (value.getAsNull()) {
      program.arguments.push_back(std::nullopt);
      continue;
    }
    auto number = value.getAsInteger();
    if (!number || !llvm::isUInt<32>(*number))
      return createStringError("the number of a weight is none");
    program.arguments.push_back(unsigned(*number));
  }
  return Error::success();
}

static Error readProgram(const json::Value &value, SizedProgram &program) {
  const json::Object *object = value.getAsObject();
  const json::Array *arguments =
      object ? object->getArray("arguments") : nullptr;
  const json::Array *outputs = object ? object->getArray("outputs") : nullptr;
  if (!arguments || !outputs)
    return createStringError("a program for sizes has no list of arguments, or "
                             "none of outputs");
  if (Error error = readShape(object->get("sizes"), "a program for sizes")
                        .moveInto(program.sizes))
    return error;
  for (const json::Value &shape : *outputs)
    if (Error error = readShape(&shape, "an output of a program for sizes")
                          .moveInto(program.outputs.emplace_back()))
      return error;
  return readArguments(*arguments, program);
}

Error metaops::readSizes(const json::Object &object,
                         FunctionSignature &function) {
  const json::Array *extents = object.getArray("extents");
  if (!extents)
    return Error::success();
  for (const json::Value &value : *extents) {
    auto name = value.getAsString();
    if (!name)
      return createStringError("the name of an extent is no text");
    function.extents.push_back({name->str(), {}});
  }
  const json::Array *programs = object.getArray("programs");
  if (!programs)
    return createStringError("there are extents with names and no programs");
  for (const json::Value &value : *programs)
    if (Error error = readProgram(value, function.programs.emplace_back()))
      return error;
  return Error::success();
}
