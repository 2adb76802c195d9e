// Roles are no part of what a file knows a stage by, and explanations say them.
// RUN: metaop-opt %s -metaop-schedule -metaop-explain -o /dev/null | FileCheck %s

// A file's blocks or tiles for a contraction give it the role.
// RUN: metaop-opt %s -metaop-schedule -metaop-explain -o /dev/null \
// RUN:   | sed -n 's/^  stage \([^:]*\):.*/\1/p' | head -n 1 > %t.identity
// RUN: sed 's/$/ = #metaop.schedule<[step(0, 8), step(0, 4), step(2, 16), step(1)], tile = [0: 4, 2: 16], lanes = 2: 16>/' %t.identity > %t.tile
// RUN: metaop-opt %s -metaop-schedule=file=%t.tile --mlir-print-local-scope | FileCheck %s --check-prefix=TILE
// TILE-COUNT-2: schedule(#metaop.schedule<[step(0, 8), step(0, 4), step(2, 16), step(1)], tile = [0: 4, 2: 16], lanes = 2: 16>) role(contraction)

// Plain loops give none, and leave one that is there.
// RUN: sed 's/$/ = #metaop.schedule<[step(0), step(2), step(1)]>/' %t.identity > %t.plain
// RUN: metaop-opt %s -metaop-schedule=file=%t.plain --mlir-print-local-scope | FileCheck %s --check-prefix=PLAIN
// PLAIN: schedule(#metaop.schedule<[step(0), step(2), step(1)]>) role(contraction)
// PLAIN: schedule(#metaop.schedule<[step(0), step(2), step(1)]>) {

// CHECK-LABEL: kernel of @planned
// CHECK-NEXT: stage [[ID:[0-9a-f]+]].0: S = 28x8x48
// CHECK: role: contraction of m d0, n d2, k d1
// CHECK-NEXT: schedule: #metaop.schedule<[step(0, 14),
func.func @planned(%x: tensor<28x8xf32>, %w: tensor<8x48xf32>) -> tensor<28x48xf32> {
  %k = metaop.kernel(%kx = %x : tensor<28x8xf32>, %kw = %w : tensor<8x48xf32>) -> tensor<28x48xf32> {
    %s = metaop.fused(%a = %kx : tensor<28x8xf32>, %b = %kw : tensor<8x48xf32>) -> tensor<28x48xf32>
        schedule(#metaop.schedule<[step(0, 14), step(0, 7), step(2, 16), step(1)], tile = [0: 7, 2: 16], lanes = 2: 16>) role(contraction) {
      %0 = metaop.broadcast %a dims = [0, 1] : tensor<28x8xf32> -> tensor<28x8x48xf32>
      %1 = metaop.broadcast %b dims = [1, 2] : tensor<8x48xf32> -> tensor<28x8x48xf32>
      %2 = metaop.mul %0, %1 : tensor<28x8x48xf32>
      %3 = metaop.reduce add %2 dims = [1] : tensor<28x8x48xf32> -> tensor<28x48xf32>
      metaop.yield %3 : tensor<28x48xf32>
    }
    metaop.yield %s : tensor<28x48xf32>
  }
  return %k : tensor<28x48xf32>
}

// CHECK-LABEL: kernel of @unplanned
// CHECK-NEXT: stage [[ID]].0: S = 28x8x48
// CHECK-NOT: role:
func.func @unplanned(%x: tensor<28x8xf32>, %w: tensor<8x48xf32>) -> tensor<28x48xf32> {
  %k = metaop.kernel(%kx = %x : tensor<28x8xf32>, %kw = %w : tensor<8x48xf32>) -> tensor<28x48xf32> {
    %s = metaop.fused(%a = %kx : tensor<28x8xf32>, %b = %kw : tensor<8x48xf32>) -> tensor<28x48xf32> {
      %0 = metaop.broadcast %a dims = [0, 1] : tensor<28x8xf32> -> tensor<28x8x48xf32>
      %1 = metaop.broadcast %b dims = [1, 2] : tensor<8x48xf32> -> tensor<28x8x48xf32>
      %2 = metaop.mul %0, %1 : tensor<28x8x48xf32>
      %3 = metaop.reduce add %2 dims = [1] : tensor<28x8x48xf32> -> tensor<28x48xf32>
      metaop.yield %3 : tensor<28x48xf32>
    }
    metaop.yield %s : tensor<28x48xf32>
  }
  return %k : tensor<28x48xf32>
}
