// RUN: metaop-opt %s -metaop-pipeline="to=loops processor=avx512" | diff %s.loops -

// Results that are written over arguments.
module {
  func.func @main(%arg0: tensor<13x7xf32>, %arg1: tensor<f32>, %arg2: tensor<f32>, %arg3: tensor<13x7xf32>, %arg4: tensor<f32>, %arg5: tensor<13x7xf32>, %arg6: tensor<f32>, %arg7: tensor<13x7xf32>, %arg8: tensor<f32>, %arg9: tensor<f32>, %arg10: tensor<f32>, %arg11: tensor<7xf32>, %arg12: tensor<f32>, %arg13: tensor<f32>, %arg14: tensor<7xf32>, %arg15: tensor<f32>, %arg16: tensor<7xf32>, %arg17: tensor<f32>, %arg18: tensor<7xf32>, %arg19: tensor<f32>, %arg20: tensor<f32>, %arg21: tensor<f32>, %arg22: tensor<3x5x3xf32>, %arg23: tensor<f32>, %arg24: tensor<f32>, %arg25: tensor<3x5x3xf32>, %arg26: tensor<f32>, %arg27: tensor<3x5x3xf32>, %arg28: tensor<f32>, %arg29: tensor<3x5x3xf32>, %arg30: tensor<f32>, %arg31: tensor<f32>, %arg32: tensor<f32>) -> (tensor<13x7xf32>, tensor<7xf32>, tensor<3x5x3xf32>, tensor<13x7xf32>, tensor<7xf32>, tensor<3x5x3xf32>, tensor<13x7xf32>, tensor<7xf32>, tensor<3x5x3xf32>) {
    %0 = metaop.broadcast %arg1 dims = [] : tensor<f32> -> tensor<13x7xf32>
    %1 = metaop.broadcast %arg2 dims = [] : tensor<f32> -> tensor<13x7xf32>
    %2 = metaop.mul %1, %arg3 : tensor<13x7xf32>
    %3 = metaop.broadcast %arg4 dims = [] : tensor<f32> -> tensor<13x7xf32>
    %4 = metaop.mul %3, %arg5 : tensor<13x7xf32>
    %5 = metaop.add %2, %4 : tensor<13x7xf32>
    %6 = metaop.mul %0, %5 : tensor<13x7xf32>
    %7 = metaop.broadcast %arg6 dims = [] : tensor<f32> -> tensor<13x7xf32>
    %8 = metaop.mul %7, %arg7 : tensor<13x7xf32>
    %9 = metaop.broadcast %arg8 dims = [] : tensor<f32> -> tensor<13x7xf32>
    %10 = metaop.mul %9, %arg5 : tensor<13x7xf32>
    %11 = metaop.mul %10, %arg5 : tensor<13x7xf32>
    %12 = metaop.add %8, %11 : tensor<13x7xf32>
    %13 = metaop.sqrt %12 : tensor<13x7xf32>
    %14 = metaop.broadcast %arg9 dims = [] : tensor<f32> -> tensor<13x7xf32>
    %15 = metaop.mul %13, %14 : tensor<13x7xf32>
    %16 = metaop.broadcast %arg10 dims = [] : tensor<f32> -> tensor<13x7xf32>
    %17 = metaop.add %15, %16 : tensor<13x7xf32>
    %18 = metaop.div %6, %17 : tensor<13x7xf32>
    %19 = metaop.sub %arg0, %18 : tensor<13x7xf32>
    %20 = metaop.stop_grad %19 : tensor<13x7xf32>
    %21 = metaop.broadcast %arg12 dims = [] : tensor<f32> -> tensor<7xf32>
    %22 = metaop.broadcast %arg13 dims = [] : tensor<f32> -> tensor<7xf32>
    %23 = metaop.mul %22, %arg14 : tensor<7xf32>
    %24 = metaop.broadcast %arg15 dims = [] : tensor<f32> -> tensor<7xf32>
    %25 = metaop.mul %24, %arg16 : tensor<7xf32>
    %26 = metaop.add %23, %25 : tensor<7xf32>
    %27 = metaop.mul %21, %26 : tensor<7xf32>
    %28 = metaop.broadcast %arg17 dims = [] : tensor<f32> -> tensor<7xf32>
    %29 = metaop.mul %28, %arg18 : tensor<7xf32>
    %30 = metaop.broadcast %arg19 dims = [] : tensor<f32> -> tensor<7xf32>
    %31 = metaop.mul %30, %arg16 : tensor<7xf32>
    %32 = metaop.mul %31, %arg16 : tensor<7xf32>
    %33 = metaop.add %29, %32 : tensor<7xf32>
    %34 = metaop.sqrt %33 : tensor<7xf32>
    %35 = metaop.broadcast %arg20 dims = [] : tensor<f32> -> tensor<7xf32>
    %36 = metaop.mul %34, %35 : tensor<7xf32>
    %37 = metaop.broadcast %arg21 dims = [] : tensor<f32> -> tensor<7xf32>
    %38 = metaop.add %36, %37 : tensor<7xf32>
    %39 = metaop.div %27, %38 : tensor<7xf32>
    %40 = metaop.sub %arg11, %39 : tensor<7xf32>
    %41 = metaop.stop_grad %40 : tensor<7xf32>
    %42 = metaop.broadcast %arg23 dims = [] : tensor<f32> -> tensor<3x5x3xf32>
    %43 = metaop.broadcast %arg24 dims = [] : tensor<f32> -> tensor<3x5x3xf32>
    %44 = metaop.mul %43, %arg25 : tensor<3x5x3xf32>
    %45 = metaop.broadcast %arg26 dims = [] : tensor<f32> -> tensor<3x5x3xf32>
    %46 = metaop.mul %45, %arg27 : tensor<3x5x3xf32>
    %47 = metaop.add %44, %46 : tensor<3x5x3xf32>
    %48 = metaop.mul %42, %47 : tensor<3x5x3xf32>
    %49 = metaop.broadcast %arg28 dims = [] : tensor<f32> -> tensor<3x5x3xf32>
    %50 = metaop.mul %49, %arg29 : tensor<3x5x3xf32>
    %51 = metaop.broadcast %arg30 dims = [] : tensor<f32> -> tensor<3x5x3xf32>
    %52 = metaop.mul %51, %arg27 : tensor<3x5x3xf32>
    %53 = metaop.mul %52, %arg27 : tensor<3x5x3xf32>
    %54 = metaop.add %50, %53 : tensor<3x5x3xf32>
    %55 = metaop.sqrt %54 : tensor<3x5x3xf32>
    %56 = metaop.broadcast %arg31 dims = [] : tensor<f32> -> tensor<3x5x3xf32>
    %57 = metaop.mul %55, %56 : tensor<3x5x3xf32>
    %58 = metaop.broadcast %arg32 dims = [] : tensor<f32> -> tensor<3x5x3xf32>
    %59 = metaop.add %57, %58 : tensor<3x5x3xf32>
    %60 = metaop.div %48, %59 : tensor<3x5x3xf32>
    %61 = metaop.sub %arg22, %60 : tensor<3x5x3xf32>
    %62 = metaop.stop_grad %61 : tensor<3x5x3xf32>
    %63 = metaop.stop_grad %5 : tensor<13x7xf32>
    %64 = metaop.stop_grad %26 : tensor<7xf32>
    %65 = metaop.stop_grad %47 : tensor<3x5x3xf32>
    %66 = metaop.stop_grad %12 : tensor<13x7xf32>
    %67 = metaop.stop_grad %33 : tensor<7xf32>
    %68 = metaop.stop_grad %54 : tensor<3x5x3xf32>
    return %20, %41, %62, %63, %64, %65, %66, %67, %68 : tensor<13x7xf32>, tensor<7xf32>, tensor<3x5x3xf32>, tensor<13x7xf32>, tensor<7xf32>, tensor<3x5x3xf32>, tensor<13x7xf32>, tensor<7xf32>, tensor<3x5x3xf32>
  }
}
