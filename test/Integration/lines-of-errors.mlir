// What a program cannot be compiled for is told by its line.
// RUN: not metaop-run %s 2>&1 | FileCheck %s
func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %k = metaop.kernel(%kx = %x : tensor<8xf32>) -> tensor<8xf32> {
    // CHECK: metaop-run: error: {{.*}}lines-of-errors.mlir:[[@LINE+1]]:10: 'metaop.fused' op (P1) schedule is for a GPU
    %r = metaop.fused(%bx = %kx : tensor<8xf32>) -> tensor<8xf32>
        schedule(#metaop.schedule<[block(0, 256), thread(0)]>) {
      %y = metaop.neg %bx : tensor<8xf32>
      metaop.yield %y : tensor<8xf32>
    }
    metaop.yield %r : tensor<8xf32>
  }
  return %k : tensor<8xf32>
}
