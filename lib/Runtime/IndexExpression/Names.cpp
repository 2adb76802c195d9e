//===- Names.cpp - The names known to index expressions -------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Names.h"
#include "mlir/IR/BuiltinTypeInterfaces.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;

namespace metaops::indexexpression {

/// "stem0..stem3" for a count of 4.
static void describeFamily(StringRef stem, size_t count,
                           SmallVectorImpl<std::string> &names) {
  if (count == 0)
    return;
  names.push_back((stem + "0").str());
  if (count > 1)
    names.back() += (".." + stem + Twine(count - 1)).str();
}

std::string describeNames(const IndexContext &context) {
  SmallVector<std::string> names;
  describeFamily("i", context.iterationShape.size(), names);
  describeFamily("xshape", context.xShape.size(), names);
  describeFamily("xstride", context.xShape.size(), names);
  describeFamily("yshape", context.yShape.size(), names);
  describeFamily("ystride", context.yShape.size(), names);
  names.append({"XDIM", "YDIM", "min(a,b)", "max(a,b)", "abs(a)"});
  return join(names, ", ");
}

/// The K of "stemK", where `name` is one of `count` such names.
static std::optional<size_t> matchFamily(StringRef name, StringRef stem,
                                         size_t count) {
  if (!name.consume_front(stem) || name.empty() || !all_of(name, isDigit) ||
      (name.size() > 1 && name.front() == '0'))
    return std::nullopt;
  size_t number;
  if (name.getAsInteger(10, number) || number >= count)
    return std::nullopt;
  return number;
}

/// The product of `extents`, or none where one is not known or it is too large.
static std::optional<int64_t> multiplyExtents(ArrayRef<int64_t> extents) {
  int64_t product = 1;
  for (int64_t extent : extents)
    if (extent < 0 || MulOverflow(product, extent, product))
      return std::nullopt;
  return product;
}

std::optional<NamedValue> resolveName(StringRef name, size_t offset,
                                      Source &source,
                                      const IndexContext &context) {
  if (auto index = matchFamily(name, "i", context.iterationShape.size()))
    return NamedValue{true, static_cast<int64_t>(*index)};
  if (name == "XDIM")
    return NamedValue{false, static_cast<int64_t>(context.xShape.size())};
  if (name == "YDIM")
    return NamedValue{false, static_cast<int64_t>(context.yShape.size())};

  std::pair<StringRef, ArrayRef<int64_t>> tensors[] = {{"x", context.xShape},
                                                       {"y", context.yShape}};
  for (auto [letter, shape] : tensors) {
    ArrayRef<int64_t> factors;
    if (auto axis = matchFamily(name, (letter + "shape").str(), shape.size()))
      factors = shape.slice(*axis, 1);
    else if (auto axis =
                 matchFamily(name, (letter + "stride").str(), shape.size()))
      factors = shape.drop_front(*axis + 1);
    else
      continue;
    if (auto value = multiplyExtents(factors))
      return NamedValue{false, *value};
    source.fail(offset, "'" + name + "' depends on an extent that is not known",
                "names of known extents and strides");
    return std::nullopt;
  }
  source.fail(offset, "unknown name '" + name + "'", describeNames(context));
  return std::nullopt;
}

} // namespace metaops::indexexpression
