//===- BoundedJson.cpp - JSON from files that may be hostile --------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A first look at the text counts brackets outside of strings. It need not know
// more of JSON: the parser recurses at brackets alone, and a text in which it
// sees a string where this look sees none is wrong before that place.
//
//===----------------------------------------------------------------------===//

#include "BoundedJson.h"
#include "llvm/ADT/Twine.h"

using namespace metaops;
using llvm::createStringError;
using llvm::Error;
using llvm::Expected;
using llvm::StringRef;
using llvm::Twine;

/// Signatures need 6.
static constexpr unsigned kMaxDepth = 16;
/// NumPy's limit.
static constexpr size_t kMaxRank = 64;

static Error checkDepth(StringRef text) {
  unsigned depth = 0;
  bool isString = false;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == '"')
      isString = !isString;
    else if (isString && c == '\\')
      ++i;
    else if (!isString && (c == '[' || c == '{') && ++depth > kMaxDepth)
      return createStringError("its JSON is nested too deeply");
    else if (!isString && (c == ']' || c == '}') && depth > 0)
      --depth;
  }
  return Error::success();
}

Expected<llvm::json::Object> metaops::parseBoundedJson(StringRef text) {
  if (text.size() > kMaxJsonBytes)
    return createStringError("its JSON has " + Twine(text.size()) +
                             " bytes, of " + Twine(kMaxJsonBytes) + " at most");
  if (Error error = checkDepth(text))
    return std::move(error);
  auto value = llvm::json::parse(text);
  if (!value)
    return createStringError("its JSON is wrong: " +
                             llvm::toString(value.takeError()));
  llvm::json::Object *object = value->getAsObject();
  if (!object)
    return createStringError("its JSON is no object");
  return std::move(*object);
}

Expected<std::vector<int64_t>>
metaops::readShape(const llvm::json::Value *value, const Twine &what) {
  const llvm::json::Array *extents = value ? value->getAsArray() : nullptr;
  if (!extents || extents->size() > kMaxRank)
    return createStringError(what + " has no shape, a list of up to " +
                             Twine(kMaxRank) + " numbers");
  std::vector<int64_t> shape;
  for (const llvm::json::Value &extent : *extents) {
    auto number = extent.getAsInteger();
    if (!number || *number < 0)
      return createStringError(what + " has a shape with an extent that is no "
                                      "number from 0 on");
    shape.push_back(*number);
  }
  return shape;
}
