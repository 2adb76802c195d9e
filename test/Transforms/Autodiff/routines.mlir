// Prefixes go back as prefixes in the opposite direction, sorts by their places.
// RUN: metaop-opt %s --metaop-autodiff --metaop-verify-closure | FileCheck %s

