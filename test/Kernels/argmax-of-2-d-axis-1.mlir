// RUN: metaop-opt %s -metaop-pipeline="to=loops processor=avx512" | diff %s.loops -

// Places of the largest elements.
module {
  func.func @main(%arg0: tensor<13x37xf32>, %arg1: tensor<i32>) -> tensor<13xi64> {
    %0 = metaop.reduce max %arg0 dims = [1] keep_dims : tensor<13x37xf32> -> tensor<13x1xf32>
    %1 = metaop.broadcast %0 dims = [0, 1] : tensor<13x1xf32> -> tensor<13x37xf32>
    %2 = metaop.cmp eq %arg0, %1 : tensor<13x37xf32> -> tensor<13x37xi1>
    %3 = metaop.cmp ne %arg0, %arg0 : tensor<13x37xf32> -> tensor<13x37xi1>
    %4 = metaop.or %2, %3 : tensor<13x37xi1>
    %5 = metaop.iota dim = 1 : tensor<13x37xi32>
    %6 = metaop.broadcast %arg1 dims = [] : tensor<i32> -> tensor<13x37xi32>
    %7 = metaop.select %4, %5, %6 : tensor<13x37xi1>, tensor<13x37xi32>
    %8 = metaop.reduce min %7 dims = [1] : tensor<13x37xi32> -> tensor<13xi32>
    %9 = metaop.cast %8 : tensor<13xi32> -> tensor<13xi64>
    return %9 : tensor<13xi64>
  }
}
