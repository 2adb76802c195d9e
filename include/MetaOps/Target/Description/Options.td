//===- Options.td - Facts of a target as a pass's option ---*- tablegen -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_TARGET_DESCRIPTION_OPTIONS_TD
#define METAOPS_TARGET_DESCRIPTION_OPTIONS_TD

include "mlir/Pass/PassBase.td"

def ProcessorOption : Option<
    "processor", "processor", "::mlir::metaop::Processor", "",
    "What the target's registers and caches are: scalar, sse, avx2, avx512 or "
    "neon, or facts, as {vector-bits=256 registers=16 l1=32768 l2=524288 "
    "stream=33554432 fma=1 vector-math=1}, or the one and then the others; avx512 by default">;

def ChipOption : Option<
    "chip", "chip", "const ::mlir::metaop::Chip *",
    "::mlir::metaop::Chip::getDefault()",
    "The GPU that schedules are for, such as sm_80; sm_90a by default">;

#endif // METAOPS_TARGET_DESCRIPTION_OPTIONS_TD
