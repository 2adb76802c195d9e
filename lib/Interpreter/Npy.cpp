//===- Npy.cpp - NumPy's file format --------------------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The file: "\x93NUMPY", two bytes of version, the length of the header (two
// bytes in version 1, four later), the header, which is a Python dictionary
//
//   {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }
//
// padded with spaces and a newline to a multiple of 64 bytes, and the elements.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Interpreter/Npy.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::metaop;
using llvm::createStringError;
using llvm::Error;
using llvm::Expected;

static constexpr StringLiteral magic("\x93NUMPY");

//===----------------------------------------------------------------------===//
// Type strings
//===----------------------------------------------------------------------===//

static Type typeOfDescr(StringRef descr, MLIRContext *context) {
  Builder b(context);
  // The byte order: '|' and '=' stand where it does not matter.
  if (descr.empty() || descr.front() == '>')
    return {};
  if (StringRef("<|=").contains(descr.front()))
    descr = descr.drop_front();
  auto unsignedType = [&](unsigned width) {
    return IntegerType::get(context, width, IntegerType::Unsigned);
  };
  return llvm::StringSwitch<Type>(descr)
      .Cases({"b1", "?"}, b.getI1Type())
      .Case("i1", b.getI8Type())
      .Case("i2", b.getI16Type())
      .Case("i4", b.getI32Type())
      .Case("i8", b.getI64Type())
      .Case("u1", unsignedType(8))
      .Case("u2", unsignedType(16))
      .Case("u4", unsignedType(32))
      .Case("u8", unsignedType(64))
      .Case("f2", b.getF16Type())
      .Case("V2", b.getBF16Type())
      .Case("f4", b.getF32Type())
      .Case("f8", b.getF64Type())
      .Default({});
}

static StringRef descrOf(ElementKind kind) {
  switch (kind) {
  case ElementKind::Bool:
    return "|b1";
  case ElementKind::I8:
    return "|i1";
  case ElementKind::I16:
    return "<i2";
  case ElementKind::I32:
    return "<i4";
  case ElementKind::I64:
  case ElementKind::Index:
    return "<i8";
  case ElementKind::UI8:
    return "|u1";
  case ElementKind::UI16:
    return "<u2";
  case ElementKind::UI32:
    return "<u4";
  case ElementKind::UI64:
    return "<u8";
  case ElementKind::F16:
    return "<f2";
  case ElementKind::BF16:
    return "|V2";
  case ElementKind::F32:
    return "<f4";
  case ElementKind::F64:
    return "<f8";
  }
  llvm_unreachable("all kinds are handled");
}

//===----------------------------------------------------------------------===//
// The header
//===----------------------------------------------------------------------===//

namespace {

struct Header {
  std::optional<StringRef> descr;
  std::optional<bool> isFortranOrder;
  std::optional<SmallVector<int64_t>> shape;
};

/// Parses the dictionary of the header; what NumPy writes and little more.
class HeaderParser {
public:
  explicit HeaderParser(StringRef text) : text(text) {}

  std::optional<Header> parse() {
    Header header;
    if (!consume("{"))
      return std::nullopt;
    while (!consume("}")) {
      std::optional<StringRef> key = parseString();
      if (!key || !consume(":") || !parseEntry(*key, header))
        return std::nullopt;
      if (!consume(",") && !next().starts_with("}"))
        return std::nullopt;
    }
    if (!next().empty() || !header.descr || !header.isFortranOrder ||
        !header.shape)
      return std::nullopt;
    return header;
  }

private:
  StringRef next() { return text = text.ltrim(); }
  bool consume(StringRef token) {
    next();
    return text.consume_front(token);
  }

  bool parseEntry(StringRef key, Header &header) {
    if (key == "descr")
      return (header.descr = parseString()).has_value();
    if (key == "fortran_order")
      return (header.isFortranOrder = parseBool()).has_value();
    return key == "shape" && (header.shape = parseShape()).has_value();
  }

  std::optional<StringRef> parseString() {
    StringRef quote = next().take_front();
    if (quote != "'" && quote != "\"")
      return std::nullopt;
    size_t end = text.find(quote, 1);
    if (end == StringRef::npos)
      return std::nullopt;
    StringRef string = text.slice(1, end);
    text = text.drop_front(end + 1);
    return string;
  }

  std::optional<bool> parseBool() {
    if (consume("True"))
      return true;
    return consume("False") ? std::optional(false) : std::nullopt;
  }

  std::optional<SmallVector<int64_t>> parseShape() {
    SmallVector<int64_t> shape;
    if (!consume("("))
      return std::nullopt;
    while (!consume(")")) {
      int64_t extent;
      next();
      if (text.consumeInteger(10, extent))
        return std::nullopt;
      shape.push_back(extent);
      if (!consume(",") && !next().starts_with(")"))
        return std::nullopt;
    }
    return shape;
  }

  StringRef text;
};

} // namespace

/// Takes the header off the contents, which leaves the elements.
static Expected<Header> parseHeader(StringRef &contents, StringRef name) {
  if (!contents.consume_front(magic))
    return createStringError(name + " is no .npy file: it does not begin as "
                                    "NumPy's files do");
  if (contents.size() < 2)
    return createStringError(name + " ends inside of its header");
  unsigned version = contents[0];
  contents = contents.drop_front(2);
  if (version < 1 || version > 3)
    return createStringError(name + " has version " + Twine(version) +
                             " of the .npy format; 1, 2 and 3 can be read");

  size_t lengthBytes = version == 1 ? 2 : 4;
  if (contents.size() < lengthBytes)
    return createStringError(name + " ends inside of its header");
  size_t length = version == 1
                      ? llvm::support::endian::read16le(contents.data())
                      : llvm::support::endian::read32le(contents.data());
  contents = contents.drop_front(lengthBytes);
  if (contents.size() < length)
    return createStringError(name + " ends inside of its header");
  StringRef text = contents.take_front(length);
  std::optional<Header> header = HeaderParser(text).parse();
  if (!header) {
    std::string shown;
    llvm::raw_string_ostream os(shown);
    llvm::printEscapedString(text.trim().take_front(200), os);
    return createStringError(
        name + " has a header that cannot be understood: " + shown);
  }
  contents = contents.drop_front(length);
  return *header;
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

Expected<Tensor> metaop::parseNpy(StringRef contents, MLIRContext *context,
                                  StringRef name) {
  Expected<Header> header = parseHeader(contents, name);
  if (!header)
    return header.takeError();
  Type elementType = typeOfDescr(*header->descr, context);
  if (!elementType)
    return createStringError(
        name + " has elements of type '" + *header->descr +
        "'; what can be read are little-endian booleans, integers of 8 to 64 "
        "bits and floats of 16 to 64 bits");
  if (*header->isFortranOrder && header->shape->size() > 1)
    return createStringError(name + " is in Fortran order; save "
                                    "numpy.ascontiguousarray of the array");

  Expected<Tensor> tensor = Tensor::create(elementType, *header->shape);
  if (!tensor)
    return createStringError(name + ": " + toString(tensor.takeError()));
  if (contents.size() != tensor->getData().size())
    return createStringError(name + " holds " + Twine(contents.size()) +
                             " bytes of elements where " +
                             formatShape(*header->shape) +
                             " elements of type '" + *header->descr +
                             "' take " + Twine(tensor->getData().size()));
  llvm::copy(contents, tensor->getMutableData().begin());
  if (tensor->getElementKind() == ElementKind::Bool)
    for (char &byte : tensor->getMutableData())
      byte = byte != 0;
  return tensor;
}

std::string metaop::encodeNpy(const Tensor &tensor) {
  std::string header;
  llvm::raw_string_ostream os(header);
  os << "{'descr': '" << descrOf(tensor.getElementKind())
     << "', 'fortran_order': False, 'shape': (";
  llvm::interleaveComma(tensor.getShape(), os);
  os << (tensor.getRank() == 1 ? ",), }" : "), }");

  // A header longer than version 1 can say takes thousands of dimensions.
  bool isShort = header.size() + 64 < 65536;
  size_t fixedBytes = magic.size() + 2 + (isShort ? 2 : 4);
  size_t length =
      llvm::alignTo(fixedBytes + header.size() + 1, 64) - fixedBytes;
  header.resize(length - 1, ' ');
  header += '\n';

  std::string contents(magic);
  contents += {static_cast<char>(isShort ? 1 : 2), '\0'};
  for (size_t byte = 0; byte < (isShort ? 2 : 4); ++byte)
    contents += static_cast<char>(length >> (8 * byte));
  contents += header;
  contents.append(tensor.getData().begin(), tensor.getData().end());
  return contents;
}

Expected<Tensor> metaop::readNpy(StringRef path, MLIRContext *context) {
  llvm::ErrorOr<std::unique_ptr<llvm::MemoryBuffer>> buffer =
      llvm::MemoryBuffer::getFile(path, /*IsText=*/false,
                                  /*RequiresNullTerminator=*/false);
  if (!buffer)
    return createStringError("cannot read '" + path +
                             "': " + buffer.getError().message());
  return parseNpy((*buffer)->getBuffer(), context, ("'" + path + "'").str());
}

Error metaop::writeNpy(StringRef path, const Tensor &tensor) {
  std::error_code error;
  llvm::raw_fd_ostream os(path, error, llvm::sys::fs::OF_None);
  if (!error) {
    os << encodeNpy(tensor);
    os.close();
    error = os.error();
    os.clear_error();
  }
  if (error)
    return createStringError("cannot write '" + path + "': " + error.message());
  return Error::success();
}
