# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Names of other libraries that are not here: what is written instead, or why there is none.

The messages of missing attributes say it, after `_elsewhere.FUNCTIONS`, which tells more
of what is asked for most; `docs/Coverage.md` is made of it by
`test/python/coverage_of_names.py`.
"""

from __future__ import annotations

import functools

__all__ = ["find_advice", "read_table"]

#: "== elsewhere" begins lines of names, and of what is written here; "== not: REASON" names
#: that are left out deliberately, "== missing: REASON" those that would be welcome.
TABLE = """
== elsewhere
adaptive_max_pool1d_with_indices -> mo.nn.adaptive_max_pool1d
adaptive_max_pool2d_with_indices -> mo.nn.adaptive_max_pool2d
adaptive_max_pool3d_with_indices -> mo.nn.adaptive_max_pool3d
addbmm addcdiv addcmul addmm addmv addr baddbmm -> the formula, which is one kernel
adjoint -> mo.matrix_transpose
affine_grid_generator -> mo.nn.affine_grid
amax reduce_max -> mo.max
amin reduce_min -> mo.min
aminmax -> mo.min and mo.max
approx_max_k top_k -> mo.topk
approx_min_k -> mo.topk(x, k, largest=False)
around rint -> mo.round
array2string array_repr array_str -> str(x) and repr(x)
as_strided_copy -> mo.reindex
as_strided_scatter diagonal_scatter dynamic_update_index_in_dim -> x.at[key].set
asanyarray asarray_chkfinite ascontiguousarray asfortranarray require -> mo.asarray
batch_matmul bmm mm mv -> mo.matmul
bessel_i0e -> mo.i0e
bessel_i1e -> mo.i1e
betaln -> mo.gammaln(a) + mo.gammaln(b) - mo.gammaln(a + b)
bilinear -> mo.nn.Bilinear
binary_cross_entropy_with_logits -> mo.nn.bce_with_logits_loss
bitcast_convert_type -> mo.bitcast
bmat -> mo.block
boxcox -> (x**k - 1) / k, or mo.log(x)
boxcox1p -> mo.expm1(k * mo.log1p(x)) / k
broadcast_in_dim broadcast_like broadcast_to_rank -> mo.broadcast
broadcast_tensors -> mo.broadcast_arrays
broadcasted_iota -> mo.iota
bucketize -> mo.searchsorted, or mo.digitize
chain_matmul -> mo.multi_dot
cholesky -> mo.linalg.cholesky
cholesky_solve -> mo.linalg.cholesky_solve
chunk tensor_split unsafe_chunk -> mo.array_split
clamp_max -> mo.minimum
clamp_min -> mo.maximum
clone copy -> x.clone()
collapse -> mo.flatten
comb factorial poch -> mo.exp of sums of mo.gammaln
complex -> mo.Complex
conj_physical conjugate -> mo.conj
Crop -> mo.transforms.functional.crop
crop_and_resize -> mo.transforms.functional.resized_crop
get_image_num_channels get_image_size -> mo.transforms.functional.get_dimensions
gray rgb_to_grayscale -> mo.transforms.functional.to_grayscale
Gray -> mo.transforms.Grayscale and mo.transforms.ToTensor
image_normalize -> mo.transforms.functional.normalize
ImageNormalize -> mo.transforms.Normalize
InterpolationMode -> the name, as in mo.transforms.Resize(224, "bicubic")
is_complex -> mo.iscomplexobj
platform_dependent -> if, or mo.where
constant_pad_nd -> mo.pad
Container -> mo.nn.Module
conv conv_general_dilated -> mo.nn.conv1d, mo.nn.conv2d, mo.nn.conv3d
conv_general_dilated_patches -> mo.nn.unfold
conv_tbc -> mo.nn.conv1d(x.transpose((1, 2, 0)), ...)
conv_transpose -> mo.nn.conv_transpose2d and its kin
conv_with_general_padding convolution -> mo.nn.conv1d, mo.nn.conv2d, mo.nn.conv3d
convert_element_type -> mo.cast
CrossMapLRN2d -> mo.nn.LocalResponseNorm
cumlogsumexp -> mo.logcumsumexp
detach stop_gradient -> x.detach()
det -> mo.linalg.det
dist -> mo.norm(x - y)
div -> mo.divide
dot_general -> mo.einsum
dynamic_index_in_dim dynamic_slice dynamic_slice_in_dim index_in_dim narrow -> x[key]
dynamic_update_slice -> x.at[key].set
dynamic_update_slice_in_dim index_copy index_fill index_put masked_scatter put -> x.at[key].set
symeig -> mo.linalg.eigh
lstsq -> mo.linalg.lstsq
lu -> mo.linalg.lu
matrix_exp -> mo.linalg.expm
matrix_rank -> mo.linalg.matrix_rank
nuclear_norm -> mo.matrix_norm(x, "nuc")
pinverse -> mo.linalg.pinv
qr -> mo.linalg.qr
svd -> mo.linalg.svd
eig -> mo.linalg.eig
inverse -> mo.linalg.inv
logdet slogdet -> mo.linalg.slogdet
triangular_solve -> mo.linalg.solve_triangular
embedding -> weight[indices], or mo.nn.Embedding
embedding_bag -> mo.nn.EmbeddingBag
DType -> mo.dtype
eq -> mo.equal
erf_inv -> mo.erfinv
euler_gamma -> 0.5772156649015329
fabs -> mo.abs
fft -> mo.fft.fft
istft -> mo.fft.istft
stft -> mo.fft.stft
False_ True_ -> False and True
feature_dropout -> mo.nn.dropout1d and its kin
fix -> mo.trunc
frac -> mo.modf(x)[0]
fractional_max_pool2d_with_indices -> mo.nn.fractional_max_pool2d
fractional_max_pool3d_with_indices -> mo.nn.fractional_max_pool3d
frobenius_norm native_norm -> mo.norm
frombuffer -> mo.array(np.frombuffer(...))
fromfunction -> mo.indices, and arithmetic
fromiter -> mo.array(list(...))
gammasgn -> the parity of mo.floor(x)
ge -> mo.greater_equal
ger -> mo.outer
grid_sampler grid_sampler_2d grid_sampler_3d -> mo.nn.grid_sample
gru -> mo.nn.GRU
gru_cell -> mo.nn.GRUCell
gt -> mo.greater
hard_silu -> mo.hardswish
histc -> mo.histogram
igamma -> mo.gammainc
igammac -> mo.gammaincc
index_add -> x.at[key].add
index_reduce scatter_max scatter_min scatter_reduce -> x.at[key].add, x.at[key].max, x.at[key].min
RandomCropAndResize RandomSizedCrop -> mo.transforms.RandomResizedCrop
RandomGray -> mo.transforms.RandomGrayscale
RGB -> image.convert("RGB"), in mo.transforms.Lambda
scatter_sub -> x.at[key].add, x.at[key].max, x.at[key].min
index_select index_take -> mo.take
integer_pow power -> mo.pow
is_finite -> mo.isfinite
is_floating_point is_signed issubdtype -> x.dtype
is_nonzero -> bool(x)
is_same_size -> x.shape == y.shape
le -> mo.less_equal
linear -> mo.matmul(x, weight.T) + bias, or mo.nn.Linear
LinearCrossEntropyLoss linear_cross_entropy -> mo.nn.cross_entropy_loss of mo.nn.Linear
log1mexp -> mo.log(-mo.expm1(-x))
loggamma -> mo.gammaln
logmeanexp -> mo.logsumexp(x, dim) - math.log(n)
lstm -> mo.nn.LSTM
lstm_cell -> mo.nn.LSTMCell
lt -> mo.less
masked_fill select_n -> mo.where
masked_select slice slice_in_dim -> x[key]
max_pool1d_with_indices -> mo.nn.max_pool1d
max_pool2d_with_indices -> mo.nn.max_pool2d
max_pool3d_with_indices -> mo.nn.max_pool3d
modified_bessel_i0 -> mo.i0
modified_bessel_i1 -> mo.i1
movedim rollaxis -> mo.moveaxis
msort -> mo.sort(x, 0)
mul -> mo.multiply
multi_head_attention_forward -> mo.nn.MultiheadAttention
mvlgamma -> mo.multigammaln
native_channel_shuffle -> mo.nn.channel_shuffle
ndim -> x.ndim
ne -> mo.not_equal
neg -> mo.negative
NLLLoss2d -> mo.nn.NLLLoss
nonzero_static -> mo.nonzero(x, size=n)
norm_except_dim -> mo.norm of the other dimensions
numel size -> x.size
ones_ -> mo.ones(p.shape)
optimization_barrier -> mo.stop_fuse
place putmask scatter select_scatter slice_scatter copyto -> x.at[key].set
population_count -> mo.bitwise_count
psi -> mo.digamma
quasirandom -> mo.random
reduce_and -> mo.all
reduce_or -> mo.any
reduce_prod -> mo.prod
reduce_sum -> mo.sum
reduce_window -> x.reindex and a reduction, or mo.nn.avg_pool2d and its kin
rel_entr -> mo.xlogy(x, x / y)
rem -> mo.fmod
resize_as_ -> x.reshape(y.shape)
resolve_conj resolve_neg -> x
rev -> mo.flip
rng_uniform -> mo.uniform
rnn_relu rnn_tanh -> mo.nn.RNN
rnn_relu_cell rnn_tanh_cell -> mo.nn.RNNCell
RNNBase RNNCellBase -> mo.nn.RNN, mo.nn.LSTM, mo.nn.GRU and their cells
row_stack -> mo.vstack
rsub -> y - x
savez savez_compressed -> mo.save
sgn -> mo.sign
shape shape_as_value -> x.shape
shift_left -> mo.bitwise_left_shift
shift_right_arithmetic shift_right_logical -> mo.bitwise_right_shift
sort_key_val -> mo.argsort and mo.take_along_axis
spacing -> mo.nextafter(x, math.inf) - x
split_with_sizes unsafe_split unsafe_split_with_sizes -> mo.split at the places between the parts
squareplus -> (x + mo.sqrt(x * x + b)) / 2
standardize -> (x - mo.mean(x)) / mo.std(x)
std_mean -> mo.std and mo.mean
sub -> mo.subtract
swapdims -> mo.swapaxes
t -> x.t()
take_along_dim -> mo.take_along_axis
testing -> np.testing, which takes Vars
ToDtype -> mo.transforms.ConvertImageDtype
ToImage ToPureTensor -> mo.transforms.PILToTensor
trapz -> mo.trapezoid
typeof -> x.dtype and x.shape
upsample_bilinear upsample_nearest -> mo.nn.interpolate
var_mean -> mo.var and mo.mean
vectorize -> functions of tensors, which take all elements at once
zero_ fill_ -> x.assign(mo.full_like(x, value))
zeros_ -> mo.zeros(p.shape)

== not: A Complex is a pair of halves, without flags or views, of float32 or float64.
chalf clongdouble common_type complex256 complex32 ComplexType ComplexWarning is_conj is_neg
real_if_close sort_complex view_as_complex_copy view_as_real_copy

== not: Files, texts and dates are NumPy's, and mo.array takes its arrays.
base_repr binary_repr busday_count busday_offset datetime_as_string datetime_data
format_float_positional format_float_scientific fromfile fromregex fromstring genfromtxt is_busday
isnat loadtxt savetxt busdaycalendar bytes bytes_ char character core ctypeslib datetime64 f2py
flexible from_file lib memmap object_ rec recarray record str_ strings timedelta64 typecodes void

== not: This is about another library itself: its memory, types, printing and errors.
asmatrix frompyfunc get_include get_printoptions getbufsize geterr geterrcall info isfortran
may_share_memory min_scalar_type mintypecode nested_iters printoptions set_printoptions setbufsize
seterr seterrcall shares_memory show_config show_runtime test typename emath errors errstate
exceptions hub inspect library math ops os overrides package platform sys typing ufunc warnings

== not: Python says it, as isinstance(x, float) or iter(x).
is_distributed is_inference isscalar iterable sym_float sym_int sym_ite sym_max sym_min sym_not
sym_sqrt sym_sum get_device

== not: This calls a Python function for each part; functions of tensors take a dimension.
apply_along_axis apply_over_axes mask_indices reduce

== not: There are no views that could be copied: every result is a value.
alias_copy detach_copy diagonal_copy expand_copy narrow_copy permute_copy select_copy slice_copy
slice_inverse split_copy split_with_sizes_copy squeeze_copy t_copy transpose_copy unbind_copy
unfold_copy unsqueeze_copy values_copy view_copy indices_copy

== not: There are no sparse tensors.
ccol_indices_copy col_indices_copy crow_indices_copy dsmm hsmm hspmm row_indices_copy saddmm smm
spmm sspaddmm SparseAdam sparse_bsc sparse_bsr sparse_coo sparse_csc sparse_csr sparse_bsc_tensor
sparse_bsr_tensor sparse_compressed_tensor sparse_coo_tensor sparse_csc_tensor sparse_csr_tensor
resize_as_sparse_

== not: There are no quantised numbers, nor products of 8 bits.
choose_qparams_optimized dequantize fake_quantize_per_channel_affine
fake_quantize_per_tensor_affine fbgemm_linear_fp16_weight
fbgemm_linear_fp16_weight_fp32_activation fbgemm_linear_int8_weight
fbgemm_linear_int8_weight_fp32_activation fbgemm_linear_quantize_weight
fbgemm_pack_gemm_matrix_fp16 fbgemm_pack_quantized_matrix fused_moving_avg_obs_fake_quant int_repr
q_per_channel_axis q_per_channel_scales q_per_channel_zero_points q_scale q_zero_point
quantize_per_channel quantize_per_tensor quantize_per_tensor_dynamic quantized_batch_norm
quantized_gru_cell quantized_lstm_cell quantized_max_pool1d quantized_max_pool2d
quantized_max_pool3d quantized_rnn_relu_cell quantized_rnn_tanh_cell reduce_precision scaled_dot
scaled_grouped_mm scaled_mm ao qint32 qint8 quint8 qat intrinsic quantized_gru quantized_lstm

== not: There is one process, whose devices hand each other values by x.to.
all_gather all_to_all auto_pcast axis_index axis_size DataParallel pbroadcast pcast pmax pmean
pmin ppermute precv psend pshuffle psum psum_scatter pswapaxes ragged_all_to_all SyncBatchNorm
with_sharding_constraint distributed fork futures multiprocessing parallel sharding shard_map
make_mesh set_mesh wait

== not: This is a part of another library's implementation.
after_all batch_norm_backward_elemt batch_norm_backward_reduce batch_norm_elemt
batch_norm_gather_stats batch_norm_gather_stats_with_counts batch_norm_stats
batch_norm_update_stats composite conv_dimension_numbers conv_general_dilated_local
conv_general_permutations conv_general_shape_tuple conv_shape_tuple conv_transpose_shape_tuple
ConvGeneralDilatedDimensionNumbers create_token dce_sink DotDimensionNumbers hash_tensor
igamma_grad_a miopen_batch_norm miopen_convolution miopen_convolution_add_relu
miopen_convolution_relu miopen_convolution_transpose miopen_depthwise_convolution miopen_rnn
native_batch_norm native_dropout native_group_norm native_layer_norm padtype_to_pads
random_gamma_grad reduce_window_shape_tuple rng_bit_generator stage AggregationType Block Code
ListType Node SUM AVG ad cudnn_affine_grid_generator cudnn_batch_norm cudnn_convolution
cudnn_convolution_add_relu cudnn_convolution_relu cudnn_convolution_transpose cudnn_grid_sampler
cudnn_is_acceptable init_num_threads linear_transpose mkldnn_adaptive_avg_pool2d
mkldnn_convolution mkldnn_linear_backward_weights mkldnn_max_pool2d mkldnn_max_pool3d
mkldnn_rnn_layer mtrand miopen_ctc_loss bit_generator

== not: The shapes of a layer's parameters are given when it is made.
LazyBatchNorm1d LazyBatchNorm2d LazyBatchNorm3d LazyConv1d LazyConv2d LazyConv3d
LazyConvTranspose1d LazyConvTranspose2d LazyConvTranspose3d LazyInstanceNorm1d LazyInstanceNorm2d
LazyInstanceNorm3d LazyLinear UninitializedBuffer UninitializedParameter

== not: There is no such type of elements; mo.isdtype and docs/Names.md tell which there are.
bit bits16 bits1x8 bits2x4 bits4x2 bits8 float0 float128 float4_e2m1fn float4_e2m1fn_x2
float6_e2m3fn float6_e3m2fn float8_e3m4 float8_e4m3 float8_e4m3b11fnuz float8_e4m3fn
float8_e4m3fnuz float8_e5m2 float8_e5m2fnuz float8_e8m0fnu int1 int2 int3 int4 int5 int6 int7
longdouble uint1 uint2 uint3 uint4 uint5 uint6 uint7

== not: Masks are tensors of bool, for mo.where and the where of reductions.
ma masked

== not: Boxes are left, top, right and bottom; they are cut at an image's edges, and all stay.
ClampBoundingBoxes ConvertBoundingBoxFormat SanitizeBoundingBoxes SetClampingMode

== not: Samples have images, masks and boxes, no key points and no videos.
ClampKeyPoints SanitizeKeyPoints UniformTemporalSubsample

== missing: Decompositions of matrices, which are runtime routines to be written.
cholesky_inverse custom_linear_solve geqrf lobpcg lu_solve lu_unpack
orgqr ormqr poly polydiv polyfit roots householder_product ldl_factor ldl_factor_ex
ldl_solve LinAlgError lu_factor lu_factor_ex pca_lowrank poly1d polynomial svd_lowrank
tensorinv tensorsolve

== missing: Transforms of images: other policies, elastic ones, noise, crops by boxes.
AugMix AutoAugment AutoAugmentPolicy elastic_transform ElasticTransform GaussianNoise JPEG
LinearTransformation RandomChannelPermutation RandomIoUCrop RandomPhotometricDistort RandomResize
RandomShortestSize RandomZoomOut ScaleJitter TrivialAugmentWide

== missing: Special functions that need series and continued fractions of their own.
airy_ai bessel_j0 bessel_j1 bessel_jn bessel_y0 bessel_y1 chebyshev_polynomial_t
chebyshev_polynomial_u chebyshev_polynomial_v chebyshev_polynomial_w dawsn erfcx exp1 expi expn
fresnel hermite_polynomial_h hermite_polynomial_he hyp1f1 hyp2f1 laguerre_polynomial_l
legendre_polynomial_p modified_bessel_k0 modified_bessel_k1 owens_t scaled_modified_bessel_k0
scaled_modified_bessel_k1 shifted_chebyshev_polynomial_t shifted_chebyshev_polynomial_u
shifted_chebyshev_polynomial_v shifted_chebyshev_polynomial_w sici spence sph_harm_y
spherical_bessel_j0 wofz

== missing: Functions of data types; x.dtype and mo.dtype compare, arithmetic promotes.
promote_types

== missing: Scatters by products and by any function.
scatter_apply scatter_mul

== missing: Matrix products of ragged groups.
grouped_mm ragged_dot ragged_dot_general

== missing: Bits: the zeros in front of a number, the upper half of a product; by parity.
clz mulhi reduce_xor

== missing: It searches a root, and differentiates through the search.
custom_root

== missing: Random numbers of these distributions.
ball double_sided_maxwell f generalized_normal hypergeometric logseries maxwell
multivariate_normal noncentral_chisquare noncentral_f random_gamma_p standard_t vonmises wald zipf
"""


def read_table() -> list[tuple[str, list[str]]]:
    """Return the titles of the table's parts, and the lines below each."""
    parts: list[tuple[str, list[str]]] = []
    for line in TABLE.splitlines():
        if line.startswith("== "):
            parts.append((line[3:], []))
        elif line:
            parts[-1][1].append(line)
    return parts


@functools.cache
def find_advice() -> dict[str, str]:
    """Return what a message says of each name, after "there is none"."""
    advice = {}
    for title, lines in read_table():
        kind, _, reason = title.partition(": ")
        for line in lines:
            names, _, here = line.partition(" -> ")
            if kind == "not":
                here = reason[:1].lower() + reason[1:].rstrip(".")
            elif kind == "missing":
                here = "there is none in this version"
            else:
                here = f"use {here}"
            advice.update(dict.fromkeys(names.split(), here))
    return advice
