// RUN: not metaop-opt %s -metaop-schedule="processor={vector-bits=100}" 2>&1 | FileCheck %s
// RUN: not metaop-opt %s -metaop-schedule="processor={vector-bits=4096}" 2>&1 | FileCheck %s
// CHECK: vector-bits is 0 or a power of two up to 2048, given {{100|4096}}

// RUN: not metaop-opt %s -metaop-schedule="processor={vector-bits=-1}" 2>&1 | FileCheck %s --check-prefix=NUMBER
// NUMBER: expected FACT=NUMBER of a processor, given 'vector-bits=-1'

module {}
