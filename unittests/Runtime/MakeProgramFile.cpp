//===- MakeProgramFile.cpp - Writes a program file for other tests --------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// MakeProgramFile PATH writes the perceptron of ExportSlice.h, for tests of the
// languages that cannot compile one themselves; MakeProgramFile PATH chain the
// chain, for measurements.
//
//===----------------------------------------------------------------------===//

#include "ExportSlice.h"

#include <exception>
#include <fstream>
#include <iostream>
#include <string>

int main(int count, char **arguments) {
  bool isChain = count == 3 && std::string(arguments[2]) == "chain";
  if (count != 2 && !isChain) {
    std::cerr << "usage: MakeProgramFile PATH [chain]\n";
    return 2;
  }
  try {
    std::ofstream file(arguments[1], std::ios::binary);
    file << (isChain ? metaops::exportChain() : metaops::exportPerceptron());
    return file.flush() ? 0 : 1;
  } catch (const std::exception &error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
}
