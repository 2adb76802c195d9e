//===- WeightFormat.cpp - Weights as bytes --------------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A section of weights is a file of the safetensors format: the size of a
// header in 8 bytes, the header, and data. The header is a JSON object of
// objects with dtype, shape and data_offsets (begin and end from the end of the
// header), by the names of tensors.
//
// That format allows no gaps between tensors. What fills a tensor up to the
// next multiple of 64 bytes therefore is a tensor, too, of bytes and with a
// name of its own. Blanks fill the header.
//
//===----------------------------------------------------------------------===//

#include "WeightFormat.h"
#include "BoundedJson.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace metaops;
namespace json = llvm::json;
using llvm::ArrayRef;
using llvm::createStringError;
using llvm::Expected;
using llvm::StringRef;
using llvm::Twine;

static constexpr StringRef kGapPrefix = "__metaops_gap_";

/// In the order of DType.
static constexpr llvm::StringLiteral kNames[numDTypes] = {
    "BOOL", "I8",  "I16", "I32",  "I64", "U8", "U16",
    "U32",  "U64", "F16", "BF16", "F32", "F64"};

bool metaops::isGapName(StringRef name) {
  return name.starts_with(kGapPrefix) || name == "__metadata__";
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

static void writeTensor(json::OStream &stream, const TensorSpec &tensor,
                        uint64_t begin) {
  stream.attributeObject(tensor.name, [&] {
    stream.attribute("dtype", kNames[unsigned(tensor.dtype)]);
    stream.attributeArray("shape", [&] {
      for (int64_t extent : tensor.shape)
        stream.value(extent);
    });
    stream.attributeArray("data_offsets", [&] {
      stream.value(begin);
      stream.value(begin + tensor.getBytes());
    });
  });
}

std::string metaops::writeWeightHeader(ArrayRef<TensorSpec> tensors) {
  std::string text(8, '\0');
  llvm::raw_string_ostream buffer(text);
  json::OStream stream(buffer);
  stream.object([&] {
    uint64_t begin = 0;
    for (auto [number, tensor] : llvm::enumerate(tensors)) {
      writeTensor(stream, tensor, begin);
      uint64_t end = begin + tensor.getBytes();
      begin = llvm::alignTo(end, kWeightAlignment);
      if (begin != end)
        writeTensor(stream,
                    {kGapPrefix.str() + std::to_string(number),
                     DType::U8,
                     {int64_t(begin - end)}},
                    end);
    }
  });
  text.resize(llvm::alignTo(text.size(), kWeightAlignment), ' ');
  llvm::support::endian::write64le(text.data(), text.size() - 8);
  return text;
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

static Expected<PlacedTensor>
readTensor(StringRef name, const json::Value &value, uint64_t dataBytes) {
  std::string what = "its weight '" + name.str() + "'";
  const json::Object *object = value.getAsObject();
  auto dtype = object ? object->getString("dtype") : std::nullopt;
  const auto *known = dtype ? llvm::find(kNames, *dtype) : std::end(kNames);
  if (known == std::end(kNames))
    return createStringError(what + " has no dtype that is known");
  PlacedTensor placed;
  placed.tensor.name = name.str();
  placed.tensor.dtype = DType(known - std::begin(kNames));
  auto shape = readShape(object->get("shape"), what);
  if (!shape)
    return shape.takeError();
  placed.tensor.shape = std::move(*shape);
  const json::Array *offsets = object->getArray("data_offsets");
  if (!offsets || offsets->size() != 2)
    return createStringError(what + " has no two data_offsets");
  auto begin = (*offsets)[0].getAsInteger(), end = (*offsets)[1].getAsInteger();
  if (!begin || !end || *begin < 0 || *end < *begin ||
      uint64_t(*end) > dataBytes)
    return createStringError(what + " is outside of the data");
  if (placed.tensor.getBytes() != *end - *begin)
    return createStringError(what + " has " + Twine(*end - *begin) +
                             " bytes, and " + formatType(placed.tensor) +
                             " needs " + Twine(placed.tensor.getBytes()));
  placed.begin = *begin;
  return placed;
}

Expected<std::vector<PlacedTensor>>
metaops::readWeightHeader(StringRef text, uint64_t dataBytes) {
  auto object = parseBoundedJson(text);
  if (!object)
    return object.takeError();
  std::vector<PlacedTensor> tensors;
  for (const json::Object::value_type *member : json::sortedElements(*object)) {
    StringRef name = member->first;
    if (isGapName(name))
      continue;
    auto tensor = readTensor(name, member->second, dataBytes);
    if (!tensor)
      return tensor.takeError();
    tensors.push_back(std::move(*tensor));
  }
  return tensors;
}
