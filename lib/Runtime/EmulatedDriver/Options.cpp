//===- Options.cpp - The emulated driver by a text ------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/EmulatedDriver/EmulatedDriver.h"
#include "llvm/ADT/SmallVector.h"

using namespace metaops;
using llvm::StringRef;

static constexpr unsigned kMostDevices = 16;

/// Reads bytes such as 64M; K, M and G are powers of 1024. Returns true where
/// it is something else, or none.
static bool readBytes(StringRef text, uint64_t &bytes) {
  unsigned shift = 0;
  for (auto [suffix, bits] : {std::pair("K", 10u), {"M", 20u}, {"G", 30u}})
    if (text.consume_back(suffix)) {
      shift = bits;
      break;
    }
  if (text.getAsInteger(10, bytes) || bytes == 0 || bytes > UINT64_MAX >> shift)
    return true;
  bytes <<= shift;
  return false;
}

/// Takes over one option; false where it has no such name or value.
static bool readOption(StringRef name, StringRef value,
                       EmulatedDriverOptions &options) {
  if (name == "devices")
    return !value.getAsInteger(10, options.devices) && options.devices >= 1 &&
           options.devices <= kMostDevices;
  if (name == "memory")
    return !readBytes(value, options.memory);
  if (name == "seed")
    return !value.getAsInteger(10, options.seed);
  if (name != "chip")
    return false;
  auto chip = mlir::metaop::Chip::find(value);
  if (!chip) {
    llvm::consumeError(chip.takeError());
    return false;
  }
  options.chip = *chip;
  return true;
}

llvm::Expected<EmulatedDriverOptions>
EmulatedDriverOptions::parse(StringRef text) {
  auto fail = [&](StringRef part) {
    return llvm::createStringError(
        "given '" + text + "', in which '" + part +
        "' means nothing; expected emulated, or emulated: with some of "
        "devices=N (1 to " +
        llvm::Twine(kMostDevices) +
        "), memory=BYTES (such as 64M), seed=N and chip=NAME (such as " +
        mlir::metaop::Chip::getDefault()->name + "), separated by commas");
  };
  auto [kind, rest] = text.split(':');
  if (kind != "emulated")
    return fail(kind);
  EmulatedDriverOptions options;
  llvm::SmallVector<StringRef> parts;
  rest.split(parts, ',');
  if (kind.size() == text.size())
    return options;
  for (StringRef part : parts) {
    auto [name, value] = part.split('=');
    if (!readOption(name, value, options))
      return fail(part);
  }
  return options;
}
