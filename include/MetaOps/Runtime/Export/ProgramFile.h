//===- ProgramFile.h - Programs in files of their own -----------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A program file has all that its functions need to run: what they take and
// give, machine code for one or several kinds of processors, and weights, which
// the functions share. Its bytes are described in docs/ProgramFile.md.
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_RUNTIME_EXPORT_PROGRAMFILE_H
#define METAOPS_RUNTIME_EXPORT_PROGRAMFILE_H

#include "MetaOps/Runtime/Export/ProgramSignature.h"
#include "MetaOps/Runtime/Memory/Buffer.h"
#include "MetaOps/Runtime/Program/ProgramData.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace llvm {
class raw_ostream;
} // namespace llvm

namespace metaops {

/// Contents of a program file. Bytes are views of memory that somebody else
/// keeps until the file is written.
struct ProgramFileContents {
  /// A function's programs for one kind of processors.
  struct Code {
    /// As writeProgram writes them: one, or those of the signature's sizes.
    std::vector<llvm::StringRef> programs;
    /// As linkImage or writeImage makes it; the kernels' names are its entries.
    /// Empty for programs without kernels.
    llvm::StringRef image;
  };

  struct Function {
    /// For each of the signature's targets.
    std::vector<Code> code;
    /// MLIR as text; empty where the file is to have none, as of a function of
    /// several sizes.
    llvm::StringRef ir;
  };

  ProgramSignature signature;
  /// For each of the signature's functions.
  std::vector<Function> functions;
  /// The bytes of each of the signature's weights, in their order.
  std::vector<llvm::ArrayRef<char>> weights;
};

/// Writes a program file, the same bytes for equal contents. Fails, before
/// anything is written, where the contents are not sound.
llvm::Error writeProgramFile(const ProgramFileContents &contents,
                             llvm::raw_ostream &stream);
llvm::Expected<std::string>
writeProgramFile(const ProgramFileContents &contents);

class FileSource;

/// A program file that is open for reading. Whatever its bytes are: what is
/// returned is inside of the file and agrees with the signature. The file must
/// not be changed as long as it, or a weight, is in use.
class ProgramFile {
public:
  /// Reads the header and the signature and finds the weights, but looks at no
  /// program, code, or contents of weights.
  static llvm::Expected<ProgramFile> open(llvm::StringRef path);
  /// The same for a file in memory, which is copied.
  static llvm::Expected<ProgramFile> read(llvm::StringRef bytes);
  ~ProgramFile();
  ProgramFile(ProgramFile &&other) noexcept;
  ProgramFile &operator=(ProgramFile &&other) noexcept;

  const ProgramSignature &getSignature() const { return signature; }
  bool hasIR(unsigned function) const;
  /// Returns the layout of the programs of the file's version.
  ProgramLayout getProgramLayout() const { return layout; }

  /// Returns the bytes of a function's section, whose checksum was right.
  llvm::Expected<std::string> readProgram(unsigned function, unsigned target,
                                          unsigned program = 0) const;
  llvm::Expected<std::string> readImage(unsigned function,
                                        unsigned target) const;
  llvm::Expected<std::string> readIR(unsigned function) const;
  /// Memory of a weight, by its place among the signature's weights: mapped
  /// from the file, and never to be written.
  BufferRef getWeight(unsigned number) const;
  /// Compares all sections with their checksums.
  llvm::Error verify() const;

private:
  struct Section {
    uint32_t kind = 0, target = 0, function = 0, program = 0;
    uint64_t offset = 0, size = 0;
    std::string checksum;
  };

  explicit ProgramFile(std::unique_ptr<FileSource> source);
  static llvm::Expected<ProgramFile> read(std::unique_ptr<FileSource> source);

  llvm::Error readHeader();
  llvm::Error parseTable(llvm::StringRef table);
  llvm::Error addSection(Section section, uint64_t tableEnd);
  llvm::Error readSignature();
  llvm::Error checkCode() const;
  llvm::Error findWeights();
  llvm::Error checkWeight(const TensorSpec &expected,
                          const TensorSpec &found) const;

  const Section *find(uint32_t kind, uint32_t function = 0, uint32_t target = 0,
                      uint32_t program = 0) const;
  llvm::Expected<std::string> readSection(const Section &section) const;
  llvm::Expected<std::string> readSection(uint32_t kind, uint32_t function,
                                          uint32_t target,
                                          uint32_t program = 0) const;

  std::unique_ptr<FileSource> source;
  ProgramLayout layout = ProgramLayout::Current;
  std::vector<Section> sections;
  /// The places of sections by kind, function, target and program.
  std::map<std::array<uint32_t, 4>, size_t> places;
  ProgramSignature signature;
  /// The section of weights in memory; null where there is none.
  std::shared_ptr<const char> weights;
  /// Of the signature's weights, from the start of that section.
  std::vector<uint64_t> weightOffsets;
};

} // namespace metaops

#endif // METAOPS_RUNTIME_EXPORT_PROGRAMFILE_H
