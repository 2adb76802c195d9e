# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What to use for functions and methods that NumPy, PyTorch and JAX have by other names.

The messages of missing attributes say it. `docs/FromPyTorch.md` and `docs/FromJax.md`
are the tables for users.
"""

from __future__ import annotations

__all__ = ["FUNCTIONS", "METHODS", "MISSING"]

_GRADIENTS = (
    "gradients are values: mo.grad(loss, parameters) returns them, and"
    " optimizer.step(loss) computes and applies them"
)
_IN_PLACE = "x.assign(value) gives it other values, and x.at[key].set(y) is x with y there"
_LOOPS = "loops and conditions are Python's; mo.associative_scan and mo.linear_recurrence"
_COMPILED = "what is recorded is compiled where a value is asked for, and nothing is marked"
_MAPPED = "functions broadcast, and work along any dim; there is none that maps a function"
_NO_COMPLEX = "there are no complex numbers"
_PRINTED = "Vars are printed by the options of NumPy, np.printoptions"
_PLACES = "x[key] reads and x[key] = y writes any places"

#: Functions and classes of the modules of the package.
FUNCTIONS: dict[str, str] = {
    # Made and converted
    "as_tensor": "use mo.asarray",
    "asanyarray": "use mo.asarray",
    "ascontiguousarray": "use mo.asarray; Vars have no strides",
    "copy": "use x.clone()",
    "clone": "use x.clone()",
    "detach": "use x.detach()",
    "double": "use mo.float64",
    "float": "use mo.float32",
    "frombuffer": "use mo.array(np.frombuffer(...))",
    "fromfunction": "use mo.indices, and compute with the results",
    "from_numpy": "use mo.array, or mo.asarray, which shares memory",
    "half": "use mo.float16",
    "int": "use mo.int32",
    "long": "use mo.int64",
    "range": "use mo.arange",
    "scalar_tensor": "use mo.array",
    "short": "use mo.int16",
    "single": "use mo.float32",
    "savez": "use mo.save",
    "DoubleTensor": "use mo.array(values, mo.float64)",
    "FloatTensor": "use mo.array(values, mo.float32)",
    "IntTensor": "use mo.array(values, mo.int32)",
    "LongTensor": "use mo.array(values, mo.int64)",
    "Tensor": "tensors are mo.Var; mo.array makes them",
    "Array": "tensors are mo.Var; mo.array makes them",
    "ndarray": "tensors are mo.Var; mo.array makes them",
    "complex": _NO_COMPLEX,
    "complex64": _NO_COMPLEX,
    "complex128": _NO_COMPLEX,
    # Element-wise
    "addcdiv": "write a + value * b / c, which is one kernel",
    "addcmul": "write a + value * b * c, which is one kernel",
    "around": "use mo.round",
    "clamp_max": "use mo.minimum",
    "clamp_min": "use mo.maximum",
    "convert_element_type": "use x.cast(dtype)",
    "bitcast_convert_type": "use mo.bitcast",
    "div": "use mo.divide",
    "eq": "use mo.equal",
    "erf_inv": "use mo.erfinv",
    "expit": "use mo.sigmoid",
    "fabs": "use mo.abs",
    "fix": "use mo.trunc",
    "ge": "use mo.greater_equal",
    "gt": "use mo.greater",
    "integer_pow": "use mo.pow",
    "le": "use mo.less_equal",
    "lt": "use mo.less",
    "masked_fill": "use mo.where(mask, y, x)",
    "mul": "use mo.multiply",
    "ne": "use mo.not_equal",
    "neg": "use mo.negative",
    "population_count": "use mo.bitwise_count",
    "power": "use mo.pow",
    "rint": "use mo.round",
    "sub": "use mo.subtract",
    "vectorize": "functions of Vars work on all elements",
    # Reduced
    "amax": "use mo.max",
    "amin": "use mo.min",
    "aminmax": "use mo.min and mo.max, which are one kernel",
    "bucketize": "use mo.searchsorted",
    "histc": "use mo.histogram",
    "segment_reduce": "use mo.segment_sum, mo.segment_mean, mo.segment_max or mo.segment_min",
    "std_mean": "use mo.std and mo.mean",
    "trapz": "use mo.trapezoid",
    "var_mean": "use mo.var and mo.mean",
    # Shapes and places
    "as_strided": "use x.reindex(shape, indexes)",
    "broadcast_in_dim": "use mo.broadcast(x, shape, dims)",
    "broadcasted_iota": "use mo.iota",
    "chunk": "use mo.split, or mo.array_split for parts that differ by 1",
    "dynamic_slice": "use x[start : start + n]; the start makes no new program",
    "dynamic_update_slice": "use x.at[start : start + n].set(y)",
    "expand": "use mo.broadcast_to",
    "index_add": "use x.at[index].add(y)",
    "index_put": "use x.at[key].set(y)",
    "index_select": "use mo.take",
    "masked_select": "use x[mask]",
    "movedim": "use mo.moveaxis",
    "narrow": "use x[start : start + n]",
    "put": _PLACES,
    "rollaxis": "use mo.moveaxis",
    "row_stack": "use mo.vstack",
    "scatter": "use x.at[key].set(y), or mo.put_along_axis",
    "scatter_reduce": "use x.at[key], which has add, max and min",
    "split_with_sizes": "use mo.split at the places between the parts",
    "swapdims": "use mo.swapaxes",
    "t": "use x.t()",
    "take_along_dim": "use mo.take_along_axis",
    "tensor_split": "use mo.array_split",
    "top_k": "use mo.topk",
    "numel": "use x.size",
    "shape": "use x.shape",
    "size": "use x.size",
    "ndim": "use x.ndim",
    "is_tensor": "use isinstance(x, mo.Var)",
    "is_floating_point": 'use "float" in x.dtype',
    # Products
    "addmm": "write c + a @ b, which is one kernel",
    "addmv": "write c + a @ b, which is one kernel",
    "baddbmm": "write c + a @ b, which is one kernel",
    "bmm": "use mo.matmul",
    "conv_general_dilated": "use mo.nn.conv1d, mo.nn.conv2d or mo.nn.conv3d",
    "dot_general": "use mo.einsum",
    "mm": "use mo.matmul",
    "mv": "use mo.matmul",
    "reduce_window": "use mo.nn.avg_pool2d and its like, or x.reindex and a reduction",
    # Random numbers
    "PRNGKey": "use mo.Key",
    "Generator": "use mo.Key",
    "fold_in": "use the method of mo.Key",
    "key": "use mo.Key",
    "manual_seed": "use mo.seed",
    "randint_like": "use mo.randint(low, high, x.shape)",
    "randperm": "use mo.permutation",
    "get_rng_state": "use a mo.Key, which is a value",
    "set_rng_state": "use a mo.Key, which is a value",
    # Derivatives
    "autograd": _GRADIENTS,
    "checkpoint": "values that are cheap to compute again are; see mo.flags.saved_values_budget",
    "custom_jvp": "x.detach() and mo.stop_grad cut gradients; there are no rules of one's own",
    "custom_vjp": "x.detach() and mo.stop_grad cut gradients; there are no rules of one's own",
    "hessian": "use mo.hessian_vector_product, or mo.grad of a gradient",
    "inference_mode": "use mo.no_grad",
    "jacfwd": "use mo.jvp, for a direction",
    "jacrev": "use mo.vjp, for a direction",
    "remat": "values that are cheap to compute again are; see mo.flags.saved_values_budget",
    "set_grad_enabled": "use mo.no_grad and mo.enable_grad",
    "stop_gradient": "use mo.stop_grad",
    "value_and_grad": "use mo.grad(loss, parameters), which computes with the loss",
    # Running
    "block_until_ready": "use x.sync(), or mo.sync_all()",
    "compile": _COMPILED,
    "cond": _LOOPS,
    "cuda": "mo.devices() are the devices that there are",
    "device_put": "use x.to(device)",
    "disable_jit": "use mo.flag_scope(lazy_execution=False)",
    "eval_shape": "use x.shape, which is known before x is computed",
    "fori_loop": _LOOPS,
    "jit": _COMPILED,
    "make_jaxpr": "use mo.dump() or mo.last_program().ir(phase)",
    "lax": "its functions are in mo and in mo.nn",
    "pmap": "use `with mo.device(name)`, and x.to(device)",
    "pure_callback": "use x.fetch(callback)",
    "scan": _LOOPS,
    "vmap": _MAPPED,
    "while_loop": _LOOPS,
    "printoptions": _PRINTED,
    "set_printoptions": _PRINTED,
    # Layers and losses
    "binary_cross_entropy": "use mo.nn.bce_loss",
    "binary_cross_entropy_with_logits": "use mo.nn.bce_with_logits_loss",
    "bilinear": "use mo.nn.Bilinear",
    "clip_grad_norm_": "use mo.optim.clip_grad_norm, which returns gradients",
    "clip_grad_value_": "use mo.optim.clip_grad_value, which returns gradients",
    "cross_entropy": "use mo.nn.cross_entropy_loss",
    "dot_product_attention": "use mo.nn.scaled_dot_product_attention",
    "embedding": "use weight[indices], or mo.nn.Embedding",
    "embedding_bag": "use mo.nn.EmbeddingBag",
    "functional": "its functions are in mo and in mo.nn",
    "hard_sigmoid": "use mo.hardsigmoid",
    "hard_swish": "use mo.hardswish",
    "hard_tanh": "use mo.hardtanh",
    "linear": "use x @ weight.T + bias, or mo.nn.Linear",
    "logsigmoid": "use mo.log_sigmoid",
    "multi_head_attention_forward": "use mo.nn.MultiheadAttention",
    "pack_padded_sequence": "layers such as mo.nn.LSTM take the lengths",
    "pad_packed_sequence": "layers such as mo.nn.LSTM take the lengths",
    "Parameter": "every float Var that is an attribute of a module is one",
    "Buffer": "use the module's register_buffer",
    "soft_sign": "use mo.softsign",
    "swish": "use mo.silu",
    "upsample": "use mo.nn.interpolate",
    "upsample_bilinear": 'use mo.nn.interpolate(x, size, mode="bilinear", align_corners=True)',
    "upsample_nearest": "use mo.nn.interpolate",
}

_MISSING = """
    cholesky cholesky_inverse cholesky_solve det eig eigh eigvals eigvalsh fft ifft inv
    inverse irfft linalg logdet lstsq lu lu_solve matrix_exp matrix_rank pinv pinverse qr rfft
    slogdet solve stft svd svdvals triangular_solve
    betainc digamma frexp i0 igamma igammac ldexp lgamma mvlgamma polygamma sinc xlogy zeta
    choose mode nanargmax nanargmin nanmedian nanpercentile nanquantile poly1d polyfit polyval
    roots unravel_index
    cdist pdist ctc_loss CTCLoss AdaptiveLogSoftmaxWithLoss CrossMapLRN2d DataParallel
    LazyBatchNorm1d LazyBatchNorm2d LazyBatchNorm3d LazyConv1d LazyConv2d LazyConv3d
    LazyConvTranspose1d LazyConvTranspose2d LazyConvTranspose3d LazyInstanceNorm1d
    LazyInstanceNorm2d LazyInstanceNorm3d LazyLinear SyncBatchNorm
    ASGD Adafactor LBFGS Muon Rprop SparseAdam
    autocast data distributed
"""
#: Functions and classes that nothing here stands for: the nearest name would mislead.
MISSING = frozenset(_MISSING.split())

#: Attributes of Var.
METHODS: dict[str, str] = {
    "add": "write x + y",
    "add_": "write x += y",
    "backward": _GRADIENTS,
    "bmm": "write x @ y",
    "chunk": "x.split(n) makes n parts, and mo.array_split(x, n) such that differ by 1",
    "contiguous": "Vars have no strides, and need no call",
    "copy_": _IN_PLACE,
    "cpu": "x.to('cpu:0') is there; mo.devices() are all devices",
    "cuda": "mo.devices() are the devices that there are",
    "div": "write x / y",
    "element_size": "use x.dtype.itemsize",
    "eq": "write x == y",
    "expand": "x.broadcast_to(shape) repeats it to a shape",
    "expand_as": "x.broadcast_to(y.shape) repeats it to a shape",
    "fill": _IN_PLACE,
    "fill_": _IN_PLACE,
    "ge": "write x >= y",
    "grad": _GRADIENTS,
    "gt": "write x > y",
    "index_add": "x.at[index].add(y) is x with y added there",
    "index_add_": "x.at[index].add(y) is x with y added there",
    "index_copy_": "x[index] = y puts y there",
    "index_fill": "x.at[index].set(y) is x with y there",
    "index_put": "x.at[key].set(y) is x with y there",
    "index_select": "x.take(index, dim) takes slices",
    "le": "write x <= y",
    "lt": "write x < y",
    "masked_fill": "x.at[mask].set(y) is x with y there, as mo.where(mask, y, x)",
    "masked_fill_": "x[mask] = y puts y there",
    "masked_select": "write x[mask]",
    "mm": "write x @ y",
    "mul": "write x * y",
    "mul_": "write x *= y",
    "mv": "write x @ y",
    "narrow": "write x[start : start + n]",
    "ne": "write x != y",
    "neg": "write -x",
    "nelement": "use x.size",
    "new_ones": "use mo.ones(shape, x.dtype)",
    "new_zeros": "use mo.zeros(shape, x.dtype)",
    "register_hook": "gradients are values: mo.grad(loss, x) returns that of any x",
    "requires_grad": (
        "gradients flow to every float Var; `detach`, `stop_grad` and mo.no_grad cut them"
    ),
    "requires_grad_": (
        "gradients flow to every float Var; `detach`, `stop_grad` and mo.no_grad cut them"
    ),
    "reshape_as": "use x.reshape(y.shape)",
    "retain_grad": "gradients are values: mo.grad(loss, x) returns that of any x",
    "scatter": "x.at[key].set(y) and mo.put_along_axis(x, index, y, dim) put y into x",
    "scatter_": "x.at[key].set(y) and mo.put_along_axis(x, index, y, dim) put y into x",
    "scatter_add_": "x.scatter_add(dim, index, src) is x with src added there",
    "scatter_reduce": "x.at[key] has add, max and min",
    "select": "write x[:, index]",
    "sub": "write x - y",
    "sub_": "write x -= y",
    "tobytes": "use x.numpy().tobytes()",
    "type_as": "use x.cast(y.dtype)",
    "unbind": "use mo.unstack(x, dim)",
    "unfold": "use x.reindex, or mo.sliding_window_view",
    "view_as": "use x.reshape(y.shape)",
    "zero_": _IN_PLACE,
}
