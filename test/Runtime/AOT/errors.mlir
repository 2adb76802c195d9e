// RUN: split-file %s %t

//--- dynamic.mlir
// RUN: not metaop-compile %t/dynamic.mlir -o %t/x.o 2>&1 | FileCheck %t/dynamic.mlir
// CHECK: dynamic.mlir:[[@LINE+1]]:1: error: argument 1 of @main is 'tensor<?xf32>'; expected a tensor of static shape, of booleans or numbers
func.func @main(%x: tensor<4xf32>, %y: tensor<?xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

//--- index.mlir
// RUN: not metaop-compile %t/index.mlir -o %t/x.o 2>&1 | FileCheck %t/index.mlir
// CHECK: index.mlir:[[@LINE+1]]:1: error: argument 0 of @main is 'tensor<2xindex>'; expected
func.func @main(%x: tensor<2xindex>) -> tensor<2xindex> {
  return %x : tensor<2xindex>
}

//--- number.mlir
// RUN: not metaop-compile %t/number.mlir -o %t/x.o 2>&1 | FileCheck %t/number.mlir
// CHECK: number.mlir:[[@LINE+1]]:1: error: argument 0 of @main is 'i64'; expected
func.func @main(%n: i64) {
  return
}

//--- no-main.mlir
// RUN: not metaop-compile %t/no-main.mlir -o %t/x.o 2>&1 | FileCheck %t/no-main.mlir
// CHECK: no-main.mlir:[[@LINE+1]]:1: error: expected a function @main with a body in the file
func.func @other(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

//--- empty.mlir
// RUN: not metaop-compile %t/empty.mlir -o %t/x.o 2>&1 | FileCheck %t/empty.mlir
// CHECK: empty.mlir:{{.*}}: error: expected a function @main with a body in the file

//--- sort.mlir
// RUN: not metaop-compile %t/sort.mlir -o %t/x.o 2>&1 | FileCheck %t/sort.mlir
// CHECK: sort.mlir:[[@LINE+2]]:{{.*}}: error: 'metaop.sort' op is a routine of the runtime, which object files do without; a program file (metaops.export) can have it
func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0, %unused = metaop.sort %x dim = 0 : tensor<8xf32> -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

//--- extern.mlir
// RUN: not metaop-compile %t/extern.mlir -o %t/x.o 2>&1 | FileCheck %t/extern.mlir
// CHECK: extern.mlir:[[@LINE+2]]:{{.*}}: error: 'metaop.extern' op is code of a process, which object files do without
func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = metaop.extern "code" (%x) : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

//--- syntax.mlir
// RUN: not metaop-compile %t/syntax.mlir -o %t/x.o 2>&1 | FileCheck %t/syntax.mlir
// CHECK: syntax.mlir:[[@LINE+1]]:1: error
fnuc.func

//--- command-line.mlir
// RUN: not metaop-compile %t/command-line.mlir -o %t/x.o --target=z80 2>&1 | FileCheck %t/command-line.mlir --check-prefix=TARGET
// TARGET: error: there is no target 'z80'; there are: x86-64-v3, x86-64-v4, aarch64, and native, which is this machine
// RUN: not metaop-compile %t/command-line.mlir -o %t/x.o --name=7up 2>&1 | FileCheck %t/command-line.mlir --check-prefix=NAME
// NAME: error: --name=7up: expected an identifier of C
// RUN: not metaop-compile %t/command-line.mlir -o %t/x.o --header=%t/x.o 2>&1 | FileCheck %t/command-line.mlir --check-prefix=SAME
// SAME: error: the object and the header are one file
// RUN: not metaop-compile %t/no-such-file.mlir -o %t/x.o 2>&1 | FileCheck %t/command-line.mlir --check-prefix=FILE
// FILE: error: cannot open input file '{{.*}}no-such-file.mlir'
// RUN: not metaop-compile %t/command-line.mlir -o %t/no/x.o 2>&1 | FileCheck %t/command-line.mlir --check-prefix=OBJECT
// OBJECT: error: '{{.*}}no/x.o' could not be written: No such file or directory
// RUN: not metaop-compile %t/command-line.mlir -o %t/x.o --schedules=%t/no.sched 2>&1 | FileCheck %t/command-line.mlir --check-prefix=SCHEDULES
// SCHEDULES: no.sched
// No file is left where one of the two cannot be written.
// RUN: rm -rf %t.folder && mkdir -p %t.folder/folder.h
// RUN: not metaop-compile %t/command-line.mlir -o %t.folder/x.o --header=%t/no/x.h 2>&1 | FileCheck %t/command-line.mlir --check-prefix=HEADER
// HEADER: error: '{{.*}}no/x.h' could not be written: No such file or directory
// RUN: not metaop-compile %t/command-line.mlir -o %t.folder/x.o --header=%t.folder/folder.h 2>&1 | FileCheck %t/command-line.mlir --check-prefix=FOLDER
// FOLDER: error: '{{.*}}folder.h' could not be written: Is a directory
// RUN: ls %t.folder | FileCheck %t/command-line.mlir --check-prefix=LEFT
// LEFT-NOT: x.o
// LEFT: folder.h
// LEFT-NOT: {{.}}
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = metaop.add %x, %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}

//--- routine.mlir
// RUN: not metaop-compile %t/routine.mlir -o %t/x.o 2>&1 | FileCheck %t/routine.mlir
// CHECK: routine.mlir:[[@LINE+2]]:{{.*}}: error: 'metaop.routine' op is a routine of the runtime, which object files do without
func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = metaop.routine "any"(%x) : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
