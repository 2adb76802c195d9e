# In which form LLVM and MLIR are linked.
#
#   METAOPS_LLVM_LIBRARIES   what links MLIR and LLVM
#
# As a rule the two shared libraries, which all tools have in common. The option
# METAOPS_STATIC_LLVM has the archives linked instead, into a Python extension that needs
# neither library (script/wheel). Archives need not be linked as a whole: dialects and
# passes register in functions that are called, not in initialisers. The objects of lib/
# are the same in both forms.
#
# The top-level CMakeLists.txt includes it after it has found MLIR, and zlib by then as an
# archive where archives are meant (ZLIB_USE_STATIC_LIBS).

include_guard(DIRECTORY)

# Archives beside the shared libraries would register everything a second time, so one
# form is not filled up with the other.
if(NOT METAOPS_STATIC_LLVM)
  foreach(target MLIR LLVM)
    if(NOT TARGET ${target})
      message(FATAL_ERROR "${MLIR_DIR} has no shared library ${target}")
    endif()
  endforeach()
  set(METAOPS_LLVM_LIBRARIES MLIR LLVM)
  return()
endif()

# What is included of each; they name the rest. Of LLVM's targets those that programs are
# exported for, and that of NVIDIA's GPUs.
set(llvm_archives
  LLVMJITLink
  LLVMLinker
  LLVMOrcJIT
  LLVMPasses
  LLVMAArch64CodeGen
  LLVMNVPTXCodeGen
  LLVMX86CodeGen)
set(mlir_archives
  MLIRArithToLLVM
  MLIRArithTransforms
  MLIRBuiltinToLLVMIRTranslation
  MLIRBytecodeReader
  MLIRBytecodeWriter
  MLIRControlFlowToLLVM
  MLIRFuncToLLVM
  MLIRFuncTransforms
  MLIRGPUDialect
  MLIRGPUToLLVMIRTranslation
  MLIRGPUToNVVMTransforms
  MLIRIndexToLLVM
  MLIRLLVMToLLVMIRTranslation
  MLIRMathToLibm
  MLIRMathToLLVM
  MLIRMemRefToLLVM
  MLIRMemRefTransforms
  MLIRNVVMDialect
  MLIRNVVMToLLVM
  MLIRNVVMToLLVMIRTranslation
  MLIRParser
  MLIRReconcileUnrealizedCasts
  MLIRSCFToControlFlow
  MLIRTargetLLVMIRExport
  MLIRTransforms
  MLIRUBToLLVM
  MLIRVectorToLLVMPass
  MLIRVectorToSCF)
set(METAOPS_LLVM_LIBRARIES ${mlir_archives} ${llvm_archives})

# Debian's MLIR was linked with the shared LLVM, and its archives still ask for it.
get_property(mlir_libraries GLOBAL PROPERTY MLIR_ALL_LIBS)
foreach(library IN LISTS mlir_libraries)
  get_target_property(type ${library} TYPE)
  get_target_property(links ${library} INTERFACE_LINK_LIBRARIES)
  if(type STREQUAL "STATIC_LIBRARY" AND links MATCHES "(^|;)LLVM(;|$)")
    list(REMOVE_ITEM links LLVM)
    set_target_properties(${library} PROPERTIES
      INTERFACE_LINK_LIBRARIES "${links};${llvm_archives}")
  endif()
endforeach()
# Of LLVMSupport, the interface to the solver Z3 is not used.
get_target_property(links LLVMSupport INTERFACE_LINK_LIBRARIES)
list(FILTER links EXCLUDE REGEX "/libz3\\.so$")
list(TRANSFORM links REPLACE "^zstd::libzstd_shared$" "zstd::libzstd_static")
set_target_properties(LLVMSupport PROPERTIES INTERFACE_LINK_LIBRARIES "${links}")
