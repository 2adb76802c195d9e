# How lit runs the tests in this folder. It is loaded from the build tree's
# lit.site.cfg.py, so run lit there: lit -sv build/release/test

import glob
import os
import shutil

import lit.formats
from lit.llvm import llvm_config
from lit.llvm.subst import ToolSubst

config.name = "MetaOps"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
# python/ belongs to pytest; Inputs/ holds what tests read.
config.excludes = ["python", "Inputs"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.metaops_obj_root, "test")

# Caches go to the build tree, not to the user's home.
config.environment["METAOPS_CACHE_DIR"] = os.path.join(config.test_exec_root, ".cache")
llvm_config.with_system_environment(
    ["HOME", "TMPDIR", "CUDA_ROOT", "CUDA_HOME", "CUDA_PATH", "MALLOC_PERTURB_"]
)
llvm_config.with_environment("PATH", config.llvm_tools_dir, append_path=True)

# FileCheck, not, count and the like.
llvm_config.use_default_substitutions()
llvm_config.add_tool_substitutions(
    [
        "metaop-compile",
        "metaop-opt",
        "metaop-run",
        "metaop-translate",
        # Not built in every configuration.
        "metaop-lsp-server",
    ],
    [config.metaops_tools_dir],
)
llvm_config.add_tool_substitutions(
    [
        # Debian puts the version into the name.
        ToolSubst("mlir-opt-22", command=os.path.join(config.llvm_tools_dir, "mlir-opt")),
        "mlir-opt",
        "mlir-runner",
        "mlir-translate",
        "split-file",
    ],
    [config.llvm_tools_dir],
)

plugin = os.path.join(config.metaops_lib_dir, "MetaOpsPlugin" + config.shlibext)
config.substitutions.append(("%metaops_plugin", plugin))
config.substitutions.append(("%metaops_src_root", config.metaops_src_root))
# In front of LLVM's own %python, which is the Python that runs lit.
config.substitutions.insert(0, ("%python", config.python_executable))

# --- What a test may ask for with REQUIRES -----------------------------------

if os.path.exists(plugin):
    config.available_features.add("plugin")

if config.host_processor in ("x86_64", "AMD64"):
    config.available_features.add("x86_64-host")


def cuda_tool(name):
    """The path of a tool of the CUDA toolkit, or None."""
    roots = [os.environ.get(var) for var in ("CUDA_ROOT", "CUDA_HOME", "CUDA_PATH")]
    places = [os.path.join(root, "bin") for root in roots if root]
    places.append("/usr/local/cuda/bin")
    return shutil.which(name) or shutil.which(name, path=os.pathsep.join(places))


def nvidia_files(pattern):
    """What NVIDIA's packages have in the Python of the tests."""
    environment = os.path.dirname(os.path.dirname(config.python_executable))
    packages = os.path.join(environment, "lib", "python3.*", "site-packages", "nvidia")
    return sorted(glob.glob(os.path.join(packages, pattern)))


# --toolkit=FOLDER for each package.
config.substitutions.append(
    ("%toolkits", " ".join("--toolkit=" + folder for folder in nvidia_files("[!_]*")))
)
if cuda_tool("ptxas") or nvidia_files("*/lib/libnvJitLink.so.1*"):
    config.available_features.add("gpu-assembler")
for feature, pattern in (
    ("libdevice", "*/nvvm/libdevice/libdevice.10.bc"),
    ("nvdisasm", "*/bin/nvdisasm"),
):
    if files := nvidia_files(pattern):
        config.available_features.add(feature)
        config.substitutions.append(("%" + feature, files[0]))

if os.path.exists("/dev/nvidiactl"):
    config.available_features.add("nvidia-gpu")
