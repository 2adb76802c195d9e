//===- ProgramSignature.cpp - Signatures of program files -----------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A signature is a JSON object:
//
//   producer    a text
//   keys        an object of texts
//   weights     a list of tensors: objects of name, dtype and shape
//   functions   a list of objects of
//     name
//     arguments   a list, in the order of the program's arguments: of tensors,
//                 which are inputs, and of objects of weight, a number; of
//                 inputs alone where there are extents
//     extents, programs
//                 of a function of several sizes; see ProgramSizes.cpp
//     outputs     a list of tensors
//     structure   a text; may be left out
//   targets     a list of objects of name, and features, a list of texts
//
// Other members are ignored: they are for later readers.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/Export/ProgramSignature.h"
#include "BoundedJson.h"
#include "ProgramSizes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace metaops;
namespace json = llvm::json;
using llvm::ArrayRef;
using llvm::createStringError;
using llvm::Error;
using llvm::Expected;
using llvm::StringRef;
using llvm::Twine;

std::string metaops::formatType(const TensorSpec &tensor) {
  return nameOf(tensor.dtype).str() + " " + formatShape(tensor.shape);
}

std::optional<unsigned> metaops::findTensor(ArrayRef<TensorSpec> tensors,
                                            StringRef name) {
  for (auto [number, tensor] : llvm::enumerate(tensors))
    if (tensor.name == name)
      return number;
  return std::nullopt;
}

std::string metaops::listNames(ArrayRef<TensorSpec> tensors) {
  return llvm::join(llvm::map_range(tensors,
                                    [](const TensorSpec &tensor) {
                                      return "'" + tensor.name + "'";
                                    }),
                    ", ");
}

std::optional<unsigned> metaops::findFunction(const ProgramSignature &signature,
                                              StringRef name) {
  for (auto [number, function] : llvm::enumerate(signature.functions))
    if (function.name == name)
      return number;
  return std::nullopt;
}

std::string metaops::listFunctions(const ProgramSignature &signature) {
  return llvm::join(llvm::map_range(signature.functions,
                                    [](const FunctionSignature &function) {
                                      return "'" + function.name + "'";
                                    }),
                    ", ");
}

//===----------------------------------------------------------------------===//
// Verifying
//===----------------------------------------------------------------------===//

/// Fails where a text cannot go through C, whose texts end at zeros, or into
/// JSON, which is Unicode.
static Error checkText(StringRef text, StringRef what) {
  if (text.contains('\0'))
    return createStringError(what + " contains a zero");
  if (!json::isUTF8(text))
    return createStringError(what + " is no UTF-8");
  return Error::success();
}

/// Fails unless names are different texts, and shapes can be. Extents of any
/// size are left to verifySizes.
static Error checkTensors(ArrayRef<TensorSpec> tensors, StringRef what,
                          bool hasSizes = false) {
  llvm::StringSet<> names;
  for (const TensorSpec &tensor : tensors) {
    if (tensor.name.empty())
      return createStringError("the name of an " + what + " is empty");
    if (Error error = checkText(tensor.name, ("the name of an " + what).str()))
      return error;
    if (!names.insert(tensor.name).second)
      return createStringError("two " + what + "s have the name '" +
                               tensor.name + "'");
    if (hasSizes && llvm::is_contained(tensor.shape, kAnyExtent))
      continue;
    if (llvm::any_of(tensor.shape, [](int64_t extent) { return extent < 0; }) ||
        tensor.getBytes() > kMaxTensorBytes)
      return createStringError("the " + what + " '" + tensor.name +
                               "' has an impossible shape, " +
                               formatShape(tensor.shape));
  }
  return Error::success();
}

static Error checkTargets(ArrayRef<ProgramTarget> targets) {
  llvm::StringSet<> names;
  for (const ProgramTarget &target : targets) {
    if (target.name.empty() || !names.insert(target.name).second)
      return createStringError("the names of targets are not different ones");
    if (Error error = checkText(target.name, "the name of a target"))
      return error;
    for (const std::string &feature : target.features)
      if (Error error = checkText(feature, "the name of a feature"))
        return error;
  }
  return Error::success();
}

static Error checkFunction(const FunctionSignature &function,
                           size_t numWeights) {
  if (Error error = checkText(function.name, "the name of a function"))
    return error;
  bool hasSizes = !function.extents.empty() || !function.programs.empty();
  if (Error error = checkTensors(function.inputs, "input", hasSizes))
    return error;
  if (Error error = checkTensors(function.outputs, "output", hasSizes))
    return error;
  if (Error error = hasSizes
                        ? verifySizes(function, numWeights)
                        : verifyArguments(function.name, function.arguments,
                                          function.inputs.size(), numWeights))
    return error;
  return checkText(function.structure, "the structure of a function");
}

static Error checkFunctions(const ProgramSignature &signature) {
  if (signature.functions.empty())
    return createStringError("there is no function");
  llvm::StringSet<> names;
  for (const FunctionSignature &function : signature.functions) {
    if (function.name.empty() || !names.insert(function.name).second)
      return createStringError("the names of functions are not different ones");
    if (Error error = checkFunction(function, signature.weights.size()))
      return error;
  }
  return Error::success();
}

Error metaops::verifySignature(const ProgramSignature &signature) {
  if (Error error = checkTensors(signature.weights, "weight"))
    return error;
  if (Error error = checkFunctions(signature))
    return error;
  if (Error error = checkTargets(signature.targets))
    return error;
  if (Error error = checkText(signature.producer, "the producer"))
    return error;
  for (const auto &[key, value] : signature.keys)
    for (const std::string &text : {key, value})
      if (Error error = checkText(text, "a key or its value"))
        return error;
  return Error::success();
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

/// Writes a tensor, of which dimensions may have names.
static void writeTensor(json::OStream &stream, const TensorSpec &tensor,
                        ArrayRef<StringRef> names = {}) {
  stream.object([&] {
    stream.attribute("name", tensor.name);
    stream.attribute("dtype", nameOf(tensor.dtype));
    stream.attributeArray("shape", [&] {
      for (auto [dim, extent] : llvm::enumerate(tensor.shape))
        if (extent != kAnyExtent)
          stream.value(extent);
        else if (names.empty())
          stream.value(nullptr);
        else
          stream.value(names[dim]);
    });
  });
}

/// Writes the inputs of a function of several sizes.
static void writeSizedInputs(json::OStream &stream,
                             const FunctionSignature &function) {
  for (auto [number, input] : llvm::enumerate(function.inputs)) {
    std::vector<StringRef> names(input.shape.size());
    for (const NamedExtent &extent : function.extents)
      for (auto [of, dim] : extent.dims)
        if (of == number)
          names[dim] = extent.name;
    writeTensor(stream, input, names);
  }
}

static void writeTensors(json::OStream &stream, StringRef name,
                         ArrayRef<TensorSpec> tensors) {
  stream.attributeArray(name, [&] {
    for (const TensorSpec &tensor : tensors)
      writeTensor(stream, tensor);
  });
}

static void writeArguments(json::OStream &stream,
                           const FunctionSignature &function) {
  const TensorSpec *input = function.inputs.data();
  for (std::optional<unsigned> weight : function.arguments)
    if (weight)
      stream.object([&] { stream.attribute("weight", int64_t(*weight)); });
    else
      writeTensor(stream, *input++);
}

static void writeFunction(json::OStream &stream,
                          const FunctionSignature &function) {
  stream.object([&] {
    stream.attribute("name", function.name);
    stream.attributeArray("arguments", [&] {
      if (function.extents.empty())
        writeArguments(stream, function);
      else
        writeSizedInputs(stream, function);
    });
    writeTensors(stream, "outputs", function.outputs);
    if (!function.extents.empty())
      writeSizes(stream, function);
    if (!function.structure.empty())
      stream.attribute("structure", function.structure);
  });
}

static void writeTarget(json::OStream &stream, const ProgramTarget &target) {
  stream.object([&] {
    stream.attribute("name", target.name);
    stream.attributeArray("features", [&] {
      for (const std::string &feature : target.features)
        stream.value(feature);
    });
  });
}

std::string metaops::writeSignature(const ProgramSignature &signature) {
  std::string text;
  llvm::raw_string_ostream buffer(text);
  json::OStream stream(buffer);
  stream.object([&] {
    stream.attribute("producer", signature.producer);
    stream.attributeObject("keys", [&] {
      for (const auto &[key, value] : signature.keys)
        stream.attribute(key, value);
    });
    writeTensors(stream, "weights", signature.weights);
    stream.attributeArray("functions", [&] {
      for (const FunctionSignature &function : signature.functions)
        writeFunction(stream, function);
    });
    stream.attributeArray("targets", [&] {
      for (const ProgramTarget &target : signature.targets)
        writeTarget(stream, target);
    });
  });
  return text;
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

static Expected<const json::Array *> getList(const json::Object &object,
                                             StringRef name) {
  if (const json::Array *list = object.getArray(name))
    return list;
  return createStringError("it has no list '" + name + "'");
}

/// Reads a shape, with kAnyExtent for what is null or has a name.
static Expected<std::vector<int64_t>>
readSizedShape(const json::Value *value, const Twine &what,
               llvm::function_ref<bool(unsigned, StringRef)> named) {
  const json::Array *extents = value ? value->getAsArray() : nullptr;
  if (!named || !extents)
    return readShape(value, what);
  json::Array numbers;
  llvm::SmallVector<unsigned> any;
  for (auto [dim, extent] : llvm::enumerate(*extents)) {
    auto name = extent.getAsString();
    if (name && !named(dim, *name))
      return createStringError(what + " has an extent '" + *name +
                               "', which is none of its function's");
    if (name || extent.getAsNull())
      any.push_back(dim);
    numbers.push_back(name || extent.getAsNull() ? json::Value(0) : extent);
  }
  json::Value fixed(std::move(numbers));
  auto shape = readShape(&fixed, what);
  if (shape)
    for (unsigned dim : any)
      (*shape)[dim] = kAnyExtent;
  return shape;
}

/// Reads a tensor. Of a function of several sizes, extents may be names, which
/// `named` is called with, or null.
static Expected<TensorSpec>
readTensor(const json::Value &value,
           llvm::function_ref<bool(unsigned, StringRef)> named = nullptr) {
  const json::Object *object = value.getAsObject();
  auto name = object ? object->getString("name") : std::nullopt;
  if (!name)
    return createStringError("one of its tensors has no name");
  TensorSpec tensor;
  tensor.name = name->str();
  auto dtype = object->getString("dtype");
  auto parsed = dtype ? parseDType(*dtype) : std::nullopt;
  if (!parsed)
    return createStringError("its tensor '" + tensor.name + "' has no dtype, " +
                             "one of " + listDTypes());
  tensor.dtype = *parsed;
  auto shape = readSizedShape(object->get("shape"),
                              "its tensor '" + tensor.name + "'", named);
  if (!shape)
    return shape.takeError();
  tensor.shape = std::move(*shape);
  return tensor;
}

static Expected<std::vector<TensorSpec>>
readTensors(const json::Object &object, StringRef name,
            llvm::function_ref<bool(unsigned, StringRef)> named = nullptr) {
  auto list = getList(object, name);
  if (!list)
    return list.takeError();
  std::vector<TensorSpec> tensors;
  for (const json::Value &value : **list) {
    auto tensor = readTensor(value, named);
    if (!tensor)
      return tensor.takeError();
    tensors.push_back(std::move(*tensor));
  }
  return tensors;
}

static Error readWeights(const json::Object &object,
                         ProgramSignature &signature) {
  return readTensors(object, "weights").moveInto(signature.weights);
}

static Error readArgument(const json::Value &value,
                          FunctionSignature &function) {
  const json::Object *object = value.getAsObject();
  const json::Value *weight = object ? object->get("weight") : nullptr;
  if (!weight) {
    function.arguments.push_back(std::nullopt);
    return readTensor(value).moveInto(function.inputs.emplace_back());
  }
  auto number = weight->getAsInteger();
  if (!number || !llvm::isUInt<32>(*number))
    return createStringError("the number of a weight is none");
  function.arguments.push_back(unsigned(*number));
  return Error::success();
}

/// Reads inputs and outputs of a function of several sizes.
static Error readSizedTensors(const json::Object &object,
                              FunctionSignature &function) {
  auto list = getList(object, "arguments");
  if (!list)
    return list.takeError();
  for (auto [number, value] : llvm::enumerate(**list)) {
    auto named = [&, input = unsigned(number)](unsigned dim, StringRef name) {
      auto extent =
          llvm::find_if(function.extents, [&](const NamedExtent &each) {
            return each.name == name;
          });
      if (extent == function.extents.end())
        return false;
      extent->dims.emplace_back(input, dim);
      return true;
    };
    if (Error error =
            readTensor(value, named).moveInto(function.inputs.emplace_back()))
      return error;
  }
  return readTensors(object, "outputs",
                     [](unsigned, StringRef) { return false; })
      .moveInto(function.outputs);
}

static Error readFunction(const json::Value &value,
                          FunctionSignature &function) {
  const json::Object *object = value.getAsObject();
  auto name = object ? object->getString("name") : std::nullopt;
  if (!name)
    return createStringError("one of its functions has no name");
  function.name = name->str();
  function.structure = object->getString("structure").value_or("").str();
  if (Error error = readSizes(*object, function))
    return error;
  if (!function.extents.empty())
    return readSizedTensors(*object, function);
  auto list = getList(*object, "arguments");
  if (!list)
    return list.takeError();
  for (const json::Value &argument : **list)
    if (Error error = readArgument(argument, function))
      return error;
  return readTensors(*object, "outputs").moveInto(function.outputs);
}

static Error readFunctions(const json::Object &object,
                           ProgramSignature &signature) {
  auto list = getList(object, "functions");
  if (!list)
    return list.takeError();
  for (const json::Value &value : **list)
    if (Error error = readFunction(value, signature.functions.emplace_back()))
      return error;
  return Error::success();
}

static Error readTargets(const json::Object &object,
                         ProgramSignature &signature) {
  auto list = getList(object, "targets");
  if (!list)
    return list.takeError();
  for (const json::Value &value : **list) {
    const json::Object *target = value.getAsObject();
    auto name = target ? target->getString("name") : std::nullopt;
    const json::Array *features =
        target ? target->getArray("features") : nullptr;
    if (!name || !features)
      return createStringError("a target has no name, or no list of features");
    ProgramTarget &added = signature.targets.emplace_back();
    added.name = name->str();
    for (const json::Value &feature : *features) {
      auto text = feature.getAsString();
      if (!text)
        return createStringError("a feature of a target is no text");
      added.features.push_back(text->str());
    }
  }
  return Error::success();
}

static Error readKeys(const json::Object &object, ProgramSignature &signature) {
  signature.producer = object.getString("producer").value_or("").str();
  const json::Object *keys = object.getObject("keys");
  if (!keys)
    return Error::success();
  for (const auto &[key, value] : *keys) {
    auto text = value.getAsString();
    if (!text)
      return createStringError("the value of its key '" + StringRef(key) +
                               "' is no text");
    signature.keys[key.str()] = text->str();
  }
  return Error::success();
}

Expected<ProgramSignature> metaops::readSignature(StringRef text) {
  auto object = parseBoundedJson(text);
  if (!object)
    return object.takeError();
  ProgramSignature signature;
  for (auto *read : {readWeights, readFunctions, readTargets, readKeys})
    if (Error error = read(*object, signature))
      return std::move(error);
  if (Error error = verifySignature(signature))
    return std::move(error);
  return signature;
}
