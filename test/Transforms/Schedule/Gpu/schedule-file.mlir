// A schedule from a file takes the place of the one that is chosen; what breaks a
// constraint is named, at the file's line.
// RUN: metaop-opt %s -metaop-schedule-gpu -metaop-explain -o /dev/null \
// RUN:   | sed -n 's/^  stage \([^:]*\):.*/\1/p' > %t.identity
// RUN: sed 's/$/ = #metaop.schedule<[block(0, 4), step(1, 64), thread(0), thread(1)], tile = [1: 2]>/' %t.identity > %t.good
// RUN: metaop-opt %s -metaop-schedule-gpu=file=%t.good -metaop-explain -o /dev/null | FileCheck %s
// RUN: metaop-opt %s --metaop-pipeline="from=fused to=scheduled target=cuda schedule-file=%t.good" | FileCheck %s --check-prefix=IR
// CHECK: for d0 < 64 in steps of 4, a block each{{$}}
// CHECK-NEXT: for d1 < 128 in steps of 64, reduced{{$}}
// CHECK-NEXT: for d0 < 64, a thread each{{$}}
// CHECK-NEXT: for d1 < 128, a thread each, reduced, unrolled by 2
// CHECK-NEXT: schedule: {{.*}} (from line 1 of the schedule file)
// CHECK: grid: 16 blocks of 128 threads, 0 bytes of shared memory, about {{[0-9]+}} registers a thread; {{[0-9]+}} blocks a multiprocessor of sm_90a, {{[0-9]+}}% of its threads
// CHECK-NEXT: warps: {{[0-9]+}} instructions, {{[0-9]+}} passes of shared memory
// CHECK-NEXT: predicted: {{[0-9.]+}} us on H100 (waiting), {{[0-9.]+}} us on H200 (waiting)
// IR: schedule(#metaop.schedule<[block(0, 4), step(1, 64), thread(0), thread(1)], tile = [1: 2]>)

// RUN: sed 's/block(0, 4)/block(0, 64)/' %t.good > %t.threads
// RUN: not metaop-opt %s -metaop-schedule-gpu=file=%t.threads 2>&1 | FileCheck %s --check-prefix=THREADS
// THREADS: .threads:1: (G3) schedule has 2048 threads, but a block has at most 1024

// RUN: sed 's/block(0, 4), step(1, 64)/block(0, 4), block(1, 64)/' %t.good > %t.blocks
// RUN: not metaop-opt %s -metaop-schedule-gpu=file=%t.blocks 2>&1 | FileCheck %s --check-prefix=BLOCKS
// BLOCKS: .blocks:1: (G7) blocks have parts of loop 1, which result 0 is reduced over

// RUN: sed 's/\[1: 2\]/[1: 3]/' %t.good > %t.tile
// RUN: not metaop-opt %s -metaop-schedule-gpu=file=%t.tile 2>&1 | FileCheck %s --check-prefix=TILE
// TILE: .tile:1: expects the threads of dimension 1 to have whole tiles of 3 of the 64 that they go together

// RUN: sed 's/\[1: 2\]/[1: 2], lanes = 1: 4/' %t.good > %t.lanes
// RUN: not metaop-opt %s -metaop-schedule-gpu=file=%t.lanes 2>&1 | FileCheck %s --check-prefix=LANES
// LANES: .lanes:1: expects whole vectors of 4 lanes in `tile`, given 2 iterations of dimension 1

// RUN: not metaop-opt %s -metaop-schedule-gpu=chip=sm_75 2>&1 | FileCheck %s --check-prefix=OLD
// OLD: the chip 'sm_75' is too old; code is made for sm_80, sm_86
// RUN: not metaop-opt %s -metaop-schedule-gpu=chip=gpu 2>&1 | FileCheck %s --check-prefix=CHIP
// CHIP: there is no chip 'gpu'; expected one of sm_80, sm_86

func.func @rows(%x: tensor<64x128xf32>) -> tensor<64xf32> {
  %0 = metaop.kernel(%k = %x : tensor<64x128xf32>) -> tensor<64xf32> {
    %1 = metaop.fused(%a = %k : tensor<64x128xf32>) -> tensor<64xf32> {
      %2 = metaop.exp %a : tensor<64x128xf32>
      %3 = metaop.reduce add %2 dims = [1] : tensor<64x128xf32> -> tensor<64xf32>
      metaop.yield %3 : tensor<64xf32>
    }
    metaop.yield %1 : tensor<64xf32>
  }
  return %0 : tensor<64xf32>
}
