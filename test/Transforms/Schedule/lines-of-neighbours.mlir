// A stage that is refused for what stands beside it is told with the line of the
// file that its neighbour's schedule is from.
// RUN: metaop-opt %s -metaop-explain -o /dev/null \
// RUN:   | sed -n 's/^  stage \([^:]*\):.*/\1/p' > %t.stages
// RUN: echo '# the sum' > %t.first
// RUN: sed -n '1s/$/ = #metaop.schedule<[step(1), step(0)]>/p' %t.stages >> %t.first
// RUN: not metaop-opt %s -metaop-schedule=file=%t.first 2>&1 | FileCheck %s
// CHECK: error: {{.*}}.first:2: (P16) shares 1 loops with a stage before they have computed what it reads of that stage

// A stage with a line of its own is told with that one alone.
// RUN: sed -n '2s/$/ = #metaop.schedule<[step(1), step(0)], shared = 1>/p' %t.stages > %t.both
// RUN: sed -n '1s/$/ = #metaop.schedule<[step(0), step(1)]>/p' %t.stages >> %t.both
// RUN: not metaop-opt %s -metaop-schedule=file=%t.both 2>&1 | FileCheck %s --check-prefix=OWN
// OWN: error: {{.*}}.both:1: (P16) shares 1 loops
func.func private @rows(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %k = metaop.kernel(%kx = %x : tensor<8x8xf32>) -> tensor<8x8xf32> {
    %s = metaop.fused(%a = %kx : tensor<8x8xf32>) -> tensor<8xf32>
        schedule(#metaop.schedule<[step(0), step(1)]>) {
      %y = metaop.reduce add %a dims = [1] : tensor<8x8xf32> -> tensor<8xf32>
      metaop.yield %y : tensor<8xf32>
    }
    %r = metaop.fused(%a = %kx : tensor<8x8xf32>, %b = %s : tensor<8xf32>) -> tensor<8x8xf32>
        schedule(#metaop.schedule<[step(0), step(1)], shared = 1>) {
      %0 = metaop.broadcast %b dims = [0] : tensor<8xf32> -> tensor<8x8xf32>
      %y = metaop.sub %a, %0 : tensor<8x8xf32>
      metaop.yield %y : tensor<8x8xf32>
    }
    metaop.yield %r : tensor<8x8xf32>
  }
  return %k : tensor<8x8xf32>
}
