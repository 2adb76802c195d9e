//===- ProgramSignature.cpp - What a program file takes and gives ---------===//
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
//   arguments   a list of tensors, in the order of the program's arguments:
//               objects of name, dtype, shape, and weight: true for weights
//   outputs     a list of tensors, without weight
//   targets     a list of objects of name, and features, a list of texts
//
// Other members are ignored: they are for later readers.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/Export/ProgramSignature.h"
#include "BoundedJson.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

#include <limits>

using namespace metaops;
namespace json = llvm::json;
using llvm::ArrayRef;
using llvm::createStringError;
using llvm::Error;
using llvm::Expected;
using llvm::StringRef;
using llvm::Twine;

/// More than any memory; sums of a few do not overflow.
static constexpr int64_t kMaxBytes = std::numeric_limits<int64_t>::max() / 8;

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

//===----------------------------------------------------------------------===//
// Verifying
//===----------------------------------------------------------------------===//

/// Names go through C, whose texts end at zeros, and into JSON, which is
/// Unicode.
static Error checkText(StringRef text, StringRef what) {
  if (text.contains('\0'))
    return createStringError(what + " contains a zero");
  if (!json::isUTF8(text))
    return createStringError(what + " is no UTF-8");
  return Error::success();
}

static Error checkTensors(ArrayRef<TensorSpec> tensors, StringRef what,
                          llvm::StringSet<> &names) {
  for (const TensorSpec &tensor : tensors) {
    if (tensor.name.empty())
      return createStringError("the name of an " + what + " is empty");
    if (Error error = checkText(tensor.name, ("the name of an " + what).str()))
      return error;
    if (!names.insert(tensor.name).second)
      return createStringError("two " + what + "s have the name '" +
                               tensor.name + "'");
    if (llvm::any_of(tensor.shape, [](int64_t extent) { return extent < 0; }) ||
        tensor.getBytes() > kMaxBytes)
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

Error metaops::verifySignature(const ProgramSignature &signature) {
  llvm::StringSet<> arguments, outputs;
  size_t numWeights = llvm::count(signature.isWeight, true);
  if (numWeights != signature.weights.size() ||
      signature.isWeight.size() - numWeights != signature.inputs.size())
    return createStringError("of " + Twine(signature.isWeight.size()) +
                             " arguments " + Twine(numWeights) +
                             " are weights, and there are " +
                             Twine(signature.weights.size()) + " weights and " +
                             Twine(signature.inputs.size()) + " inputs");
  if (Error error = checkTensors(signature.inputs, "argument", arguments))
    return error;
  if (Error error = checkTensors(signature.weights, "argument", arguments))
    return error;
  if (Error error = checkTensors(signature.outputs, "output", outputs))
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

static void writeTensor(json::OStream &stream, const TensorSpec &tensor,
                        bool isWeight) {
  stream.object([&] {
    stream.attribute("name", tensor.name);
    stream.attribute("dtype", nameOf(tensor.dtype));
    stream.attributeArray("shape", [&] {
      for (int64_t extent : tensor.shape)
        stream.value(extent);
    });
    if (isWeight)
      stream.attribute("weight", true);
  });
}

static void writeArguments(json::OStream &stream,
                           const ProgramSignature &signature) {
  size_t input = 0, weight = 0;
  for (bool isWeight : signature.isWeight)
    writeTensor(stream,
                isWeight ? signature.weights[weight++]
                         : signature.inputs[input++],
                isWeight);
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
    stream.attributeArray("arguments",
                          [&] { writeArguments(stream, signature); });
    stream.attributeArray("outputs", [&] {
      for (const TensorSpec &tensor : signature.outputs)
        writeTensor(stream, tensor, /*isWeight=*/false);
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

static Expected<TensorSpec> readTensor(const json::Value &value) {
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
  auto shape =
      readShape(object->get("shape"), "its tensor '" + tensor.name + "'");
  if (!shape)
    return shape.takeError();
  tensor.shape = std::move(*shape);
  return tensor;
}

static Error readArguments(const json::Object &object,
                           ProgramSignature &signature) {
  auto list = getList(object, "arguments");
  if (!list)
    return list.takeError();
  for (const json::Value &value : **list) {
    auto tensor = readTensor(value);
    if (!tensor)
      return tensor.takeError();
    bool isWeight = value.getAsObject()->getBoolean("weight").value_or(false);
    signature.isWeight.push_back(isWeight);
    (isWeight ? signature.weights : signature.inputs)
        .push_back(std::move(*tensor));
  }
  return Error::success();
}

static Error readOutputs(const json::Object &object,
                         ProgramSignature &signature) {
  auto list = getList(object, "outputs");
  if (!list)
    return list.takeError();
  for (const json::Value &value : **list) {
    auto tensor = readTensor(value);
    if (!tensor)
      return tensor.takeError();
    signature.outputs.push_back(std::move(*tensor));
  }
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
  for (auto *read : {readArguments, readOutputs, readTargets, readKeys})
    if (Error error = read(*object, signature))
      return std::move(error);
  if (Error error = verifySignature(signature))
    return std::move(error);
  return signature;
}
