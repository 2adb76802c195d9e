// RUN: metaop-run %s --compare --seed=1
// RUN: metaop-run %s --compare --seed=2

// Transposes by tiles: borders on both sides, other types, operations before
// and after, several reads and results of different orders.

func.func @odd(%x: tensor<131x77xf32>) -> tensor<77x131xf32> {
  %0 = metaop.transpose %x perm = [1, 0] : tensor<131x77xf32> -> tensor<77x131xf32>
  return %0 : tensor<77x131xf32>
}

func.func @whole(%x: tensor<64x96xf32>) -> tensor<96x64xf32> {
  %0 = metaop.transpose %x perm = [1, 0] : tensor<64x96xf32> -> tensor<96x64xf32>
  return %0 : tensor<96x64xf32>
}

func.func @narrow(%x: tensor<200x9xf32>) -> tensor<9x200xf32> {
  %0 = metaop.transpose %x perm = [1, 0] : tensor<200x9xf32> -> tensor<9x200xf32>
  return %0 : tensor<9x200xf32>
}

func.func @flat(%x: tensor<9x200xf32>) -> tensor<200x9xf32> {
  %0 = metaop.transpose %x perm = [1, 0] : tensor<9x200xf32> -> tensor<200x9xf32>
  return %0 : tensor<200x9xf32>
}

func.func @bytes(%x: tensor<67x45xi8>) -> tensor<45x67xi8> {
  %0 = metaop.transpose %x perm = [1, 0] : tensor<67x45xi8> -> tensor<45x67xi8>
  return %0 : tensor<45x67xi8>
}

func.func @booleans(%x: tensor<67x45xi1>) -> tensor<45x67xi1> {
  %0 = metaop.transpose %x perm = [1, 0] : tensor<67x45xi1> -> tensor<45x67xi1>
  %1 = metaop.not %0 : tensor<45x67xi1>
  return %1 : tensor<45x67xi1>
}

func.func @halves(%x: tensor<67x45xbf16>) -> tensor<45x67xbf16> {
  %0 = metaop.transpose %x perm = [1, 0] : tensor<67x45xbf16> -> tensor<45x67xbf16>
  return %0 : tensor<45x67xbf16>
}

func.func @doubles(%x: tensor<67x45xf64>) -> tensor<45x67xf64> {
  %0 = metaop.transpose %x perm = [1, 0] : tensor<67x45xf64> -> tensor<45x67xf64>
  return %0 : tensor<45x67xf64>
}

func.func @to_channels_last(%x: tensor<3x19x7x11xf32>) -> tensor<3x7x11x19xf32> {
  %0 = metaop.transpose %x perm = [0, 2, 3, 1] : tensor<3x19x7x11xf32> -> tensor<3x7x11x19xf32>
  return %0 : tensor<3x7x11x19xf32>
}

func.func @from_channels_last(%x: tensor<3x7x11x19xf32>) -> tensor<3x19x7x11xf32> {
  %0 = metaop.transpose %x perm = [0, 3, 1, 2] : tensor<3x7x11x19xf32> -> tensor<3x19x7x11xf32>
  return %0 : tensor<3x19x7x11xf32>
}

func.func @reversed(%x: tensor<9x5x7x21xf32>) -> tensor<21x7x5x9xf32> {
  %0 = metaop.transpose %x perm = [3, 2, 1, 0] : tensor<9x5x7x21xf32> -> tensor<21x7x5x9xf32>
  return %0 : tensor<21x7x5x9xf32>
}

func.func @between(%x: tensor<67x45xf32>, %y: tensor<45x67xf32>, %r: tensor<45xf32>, %c: tensor<67xf32>) -> tensor<45x67xf32> {
  %0 = metaop.abs %x : tensor<67x45xf32>
  %1 = metaop.transpose %0 perm = [1, 0] : tensor<67x45xf32> -> tensor<45x67xf32>
  %2 = metaop.sub %1, %y : tensor<45x67xf32>
  %3 = metaop.broadcast %r dims = [0] : tensor<45xf32> -> tensor<45x67xf32>
  %4 = metaop.broadcast %c dims = [1] : tensor<67xf32> -> tensor<45x67xf32>
  %5 = metaop.mul %2, %3 : tensor<45x67xf32>
  %6 = metaop.add %5, %4 : tensor<45x67xf32>
  %7 = metaop.tanh %6 : tensor<45x67xf32>
  return %7 : tensor<45x67xf32>
}

// The update is in place of its operand, which is read as it is written.
func.func @in_place(%w: tensor<67x45xf32> {metaop.donatable}, %g: tensor<45x67xf32>) -> tensor<67x45xf32> {
  %0 = metaop.transpose %g perm = [1, 0] : tensor<45x67xf32> -> tensor<67x45xf32>
  %1 = metaop.sub %w, %0 : tensor<67x45xf32>
  return %1 : tensor<67x45xf32>
}

// Rows and lanes outside of the source are the fill.
func.func @padded(%x: tensor<37x50xf32>) -> tensor<53x41xf32> {
  %0 = metaop.transpose %x perm = [1, 0] : tensor<37x50xf32> -> tensor<50x37xf32>
  %1 = metaop.pad %0 low = [1, 3] high = [2, 1] fill 2.5 : f32 : tensor<50x37xf32> -> tensor<53x41xf32>
  return %1 : tensor<53x41xf32>
}
