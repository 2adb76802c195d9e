# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What numbers parameters of networks cannot be."""

import metaops as mo
import numpy as np
from bad_calls import (
    COUNT,
    FINITE,
    INF,
    LENGTH,
    NAN,
    NOT_NEGATIVE,
    NOT_ZERO,
    NUMBER,
    ORDER,
    POSITIVE,
    SHARE,
    SIZE,
)
from metaops import nn
from metaops.nn import init

x = mo.array(np.arange(12, dtype="f4").reshape(3, 4))
whole = mo.array(np.array([0, 1, 2, 1]))
seq, image, volume = mo.ones((2, 4, 8)), mo.ones((2, 4, 8, 8)), mo.ones((2, 4, 6, 6, 6))
weight = {rank: mo.ones((4, 4, *(3,) * rank)) for rank in (1, 2, 3)}
pair = (mo.ones((3, 4)), mo.zeros((3, 4)))
signs = mo.array(np.array([1.0, -1, 1], "f4"))
query = mo.ones((2, 3, 4))

#: Addends of a square.
EPS = [-1.0, NAN, INF]


def conv(rank, transposed=False):
    f = getattr(nn, f"conv_transpose{rank}d" if transposed else f"conv{rank}d")
    return f, {1: seq, 2: image, 3: volume}[rank], weight[rank]


def of_image(name, **fixed):
    """Return a call of a function of images by the last of its name, and one option."""
    rank = int(name[-2])
    given = {1: seq, 2: image, 3: volume}[rank]

    def with_option(option):
        return lambda n: getattr(nn, name)(given, **{**fixed, option: n})

    return with_option


#: As `bad_calls.CALLS`.
CALLS = [
    # Functions.
    ("dropout p", lambda n: nn.dropout(x, n), SHARE),
    ("alpha_dropout p", lambda n: nn.alpha_dropout(x, n), SHARE),
    ("dropout1d p", lambda n: nn.dropout1d(seq, n), SHARE),
    ("dropout2d p", lambda n: nn.dropout2d(image, n), SHARE),
    ("dropout3d p", lambda n: nn.dropout3d(volume, n), SHARE),
    ("feature_alpha_dropout p", lambda n: nn.feature_alpha_dropout(seq, n), SHARE),
    ("layer_norm eps", lambda n: nn.layer_norm(x, 4, eps=n), [-1.0, NAN, INF]),
    ("rms_norm eps", lambda n: nn.rms_norm(x, 4, eps=n), [-1.0, NAN, INF]),
    ("group_norm eps", lambda n: nn.group_norm(seq, 2, eps=n), [-1.0, NAN, INF]),
    ("group_norm num_groups", lambda n: nn.group_norm(seq, n), [0, -1, 3]),
    ("batch_norm eps", lambda n: nn.batch_norm(seq, None, None, is_train=True, eps=n), [-1.0, NAN]),
    (
        "batch_norm momentum",
        lambda n: nn.batch_norm(seq, None, None, is_train=True, momentum=n),
        SHARE,
    ),
    ("instance_norm eps", lambda n: nn.instance_norm(seq, eps=n), [-1.0, NAN, INF]),
    ("instance_norm momentum", lambda n: nn.instance_norm(seq, momentum=n), SHARE),
    ("local_response_norm size", lambda n: nn.local_response_norm(seq, n), SIZE),
    ("local_response_norm alpha", lambda n: nn.local_response_norm(seq, 2, n), FINITE),
    ("local_response_norm beta", lambda n: nn.local_response_norm(seq, 2, beta=n), FINITE),
    ("local_response_norm k", lambda n: nn.local_response_norm(seq, 2, k=n), FINITE),
    ("normalize p", lambda n: nn.normalize(x, n), ORDER),
    ("normalize eps", lambda n: nn.normalize(x, eps=n), NOT_NEGATIVE),
    ("cosine_similarity eps", lambda n: nn.cosine_similarity(x, x, eps=n), NOT_NEGATIVE),
    ("pairwise_distance p", lambda n: nn.pairwise_distance(x, x, n), ORDER),
    ("pairwise_distance eps", lambda n: nn.pairwise_distance(x, x, eps=n), FINITE),
    ("gumbel_softmax tau", lambda n: nn.gumbel_softmax(x, n), LENGTH),
    ("rrelu lower", lambda n: nn.rrelu(x, n, 0.5), [0.6, NAN, -INF]),
    ("rrelu upper", lambda n: nn.rrelu(x, 0.1, n), [0.0, NAN, INF]),
    ("interpolate size", lambda n: nn.interpolate(image, n), SIZE),
    ("interpolate scale_factor", lambda n: nn.interpolate(image, scale_factor=n), LENGTH),
    ("affine_grid size", lambda n: nn.affine_grid(mo.ones((2, 2, 3)), (2, 1, n, 4)), [-1]),
    ("pixel_shuffle upscale_factor", lambda n: nn.pixel_shuffle(image, n), [0, -1, 3]),
    ("pixel_unshuffle downscale_factor", lambda n: nn.pixel_unshuffle(image, n), [0, -1, 3]),
    ("channel_shuffle groups", lambda n: nn.channel_shuffle(image, n), [0, -1, 3]),
    (
        "scaled_dot_product_attention dropout_p",
        lambda n: nn.scaled_dot_product_attention(query, query, query, None, n),
        SHARE,
    ),
    (
        "scaled_dot_product_attention scale",
        lambda n: nn.scaled_dot_product_attention(query, query, query, scale=n),
        FINITE,
    ),
    ("fold kernel_size", lambda n: nn.fold(mo.ones((1, 4, 6)), (3, 4), n), SIZE),
    ("unfold kernel_size", lambda n: nn.unfold(image, n), SIZE),
    ("unfold stride", lambda n: nn.unfold(image, 2, stride=n), SIZE),
    (
        "max_unpool1d kernel_size",
        lambda n: nn.max_unpool1d(seq, mo.zeros(seq.shape, "int64"), n),
        SIZE,
    ),
    (
        "fractional_max_pool2d output_ratio",
        lambda n: nn.fractional_max_pool2d(image, 2, output_ratio=n),
        [0.0, -0.5, 1.5, NAN],
    ),
    (
        "fractional_max_pool2d output_size",
        lambda n: nn.fractional_max_pool2d(image, 2, n),
        [0, -1, 9],
    ),
    ("fractional_max_pool2d kernel_size", lambda n: nn.fractional_max_pool2d(image, n, 3), SIZE),
    (
        "ctc_loss blank",
        lambda n: nn.ctc_loss(mo.zeros((5, 2, 3)), np.array([[1], [2]]), [5, 5], [1, 1], n),
        [-1, 3],
    ),
    # Losses.
    ("huber_loss delta", lambda n: nn.huber_loss(*pair, delta=n), POSITIVE),
    ("smooth_l1_loss beta", lambda n: nn.smooth_l1_loss(*pair, beta=n), NOT_NEGATIVE),
    (
        "cross_entropy_loss label_smoothing",
        lambda n: nn.cross_entropy_loss(x, whole[:3], label_smoothing=n),
        SHARE,
    ),
    (
        "gaussian_nll_loss eps",
        lambda n: nn.gaussian_nll_loss(*pair, mo.ones((3, 4)), eps=n),
        POSITIVE,
    ),
    (
        "poisson_nll_loss eps",
        lambda n: nn.poisson_nll_loss(*pair, log_input=False, eps=n),
        [-1.0, NAN],
    ),
    ("hinge_embedding_loss margin", lambda n: nn.hinge_embedding_loss(*pair, n), FINITE),
    ("margin_ranking_loss margin", lambda n: nn.margin_ranking_loss(*pair, pair[0], n), FINITE),
    ("cosine_embedding_loss margin", lambda n: nn.cosine_embedding_loss(*pair, signs, n), FINITE),
    ("triplet_margin_loss margin", lambda n: nn.triplet_margin_loss(*pair, pair[0], n), FINITE),
    ("triplet_margin_loss p", lambda n: nn.triplet_margin_loss(*pair, pair[0], p=n), ORDER),
    ("triplet_margin_loss eps", lambda n: nn.triplet_margin_loss(*pair, pair[0], eps=n), FINITE),
    ("multi_margin_loss p", lambda n: nn.multi_margin_loss(x, whole[:3], n), [0, 3, -1]),
    ("multi_margin_loss margin", lambda n: nn.multi_margin_loss(x, whole[:3], margin=n), FINITE),
    # First values.
    ("init.uniform low", lambda n: init.uniform((2, 3), n), [2.0, NAN, -INF]),
    ("init.normal std", lambda n: init.normal((2, 3), 0.0, n), [-1.0, NAN, INF]),
    ("init.xavier_uniform gain", lambda n: init.xavier_uniform((2, 3), n), NOT_NEGATIVE),
    ("init.xavier_normal gain", lambda n: init.xavier_normal((2, 3), n), NOT_NEGATIVE),
    ("init.kaiming_uniform gain", lambda n: init.kaiming_uniform((2, 3), n), NOT_NEGATIVE),
    ("init.kaiming_normal gain", lambda n: init.kaiming_normal((2, 3), n), NOT_NEGATIVE),
    ("init.trunc_normal std", lambda n: init.trunc_normal((2, 3), 0.0, n), LENGTH),
    ("init.trunc_normal mean", lambda n: init.trunc_normal((2, 3), n), FINITE),
    ("init.trunc_normal a", lambda n: init.trunc_normal((2, 3), a=n), [2.0, 3.0, NAN]),
    ("init.orthogonal gain", lambda n: init.orthogonal((2, 3), n), FINITE),
    ("init.sparse sparsity", lambda n: init.sparse((2, 3), n), SHARE),
    ("init.sparse std", lambda n: init.sparse((2, 3), 0.5, n), [-1.0, NAN, INF]),
    ("init.dirac groups", lambda n: init.dirac((4, 2, 3), n), [0, -1, 3]),
    ("init.calculate_gain param", lambda n: init.calculate_gain("leaky_relu", n), FINITE),
    ("init.constant shape", lambda n: init.constant((n, 2)), COUNT),
    ("layer_norm normalized_shape", lambda n: nn.layer_norm(x, n), [*COUNT, 3]),
    ("rms_norm normalized_shape", lambda n: nn.rms_norm(x, n), [*COUNT, 3]),
    ("avg_pool2d divisor_override", lambda n: nn.avg_pool2d(image, 2, divisor_override=n), [0]),
    ("avg_pool3d divisor_override", lambda n: nn.avg_pool3d(volume, 2, divisor_override=n), [0]),
    (
        "fractional_max_pool3d output_ratio",
        lambda n: nn.fractional_max_pool3d(volume, 2, output_ratio=n),
        [0.0, 1.5, NAN],
    ),
    (
        "triplet_margin_with_distance_loss margin",
        lambda n: nn.triplet_margin_with_distance_loss(*pair, pair[0], margin=n),
        FINITE,
    ),
    ("init.trunc_normal b", lambda n: init.trunc_normal((2, 3), b=n), [-2.0, NAN]),
    # Modules.
    ("RMSNorm normalized_shape", nn.RMSNorm, COUNT),
    ("GroupNorm num_channels", lambda n: nn.GroupNorm(2, n), [*COUNT, 3]),
    ("LocalResponseNorm alpha", lambda n: nn.LocalResponseNorm(2, n), FINITE),
    ("LocalResponseNorm beta", lambda n: nn.LocalResponseNorm(2, beta=n), FINITE),
    ("Hardtanh max_val", lambda n: nn.Hardtanh(-1.0, n), [-2.0, NAN]),
    ("UpsamplingNearest2d size", nn.UpsamplingNearest2d, SIZE),
    ("UpsamplingBilinear2d size", nn.UpsamplingBilinear2d, SIZE),
    (
        "UpsamplingBilinear2d scale_factor",
        lambda n: nn.UpsamplingBilinear2d(scale_factor=n),
        LENGTH,
    ),
    ("Bilinear in2_features", lambda n: nn.Bilinear(2, n, 2), COUNT),
    ("EmbeddingBag embedding_dim", lambda n: nn.EmbeddingBag(2, n), COUNT),
    ("MultiheadAttention vdim", lambda n: nn.MultiheadAttention(4, 1, vdim=n), COUNT),
    (
        "FractionalMaxPool3d output_ratio",
        lambda n: nn.FractionalMaxPool3d(2, output_ratio=n),
        [0.0, 1.5, NAN],
    ),
    (
        "AdaptiveLogSoftmaxWithLoss n_classes",
        lambda n: nn.AdaptiveLogSoftmaxWithLoss(4, n, [2]),
        [0, -1, 2],
    ),
    ("Dropout p", nn.Dropout, SHARE),
    ("Dropout1d p", nn.Dropout1d, SHARE),
    ("Dropout2d p", nn.Dropout2d, SHARE),
    ("Dropout3d p", nn.Dropout3d, SHARE),
    ("AlphaDropout p", nn.AlphaDropout, SHARE),
    ("FeatureAlphaDropout p", nn.FeatureAlphaDropout, SHARE),
    ("Linear in_features", lambda n: nn.Linear(n, 2), COUNT),
    ("Linear out_features", lambda n: nn.Linear(2, n), COUNT),
    ("Bilinear in1_features", lambda n: nn.Bilinear(n, 2, 2), COUNT),
    ("Bilinear out_features", lambda n: nn.Bilinear(2, 2, n), COUNT),
    ("Embedding num_embeddings", lambda n: nn.Embedding(n, 2), COUNT),
    ("Embedding embedding_dim", lambda n: nn.Embedding(2, n), COUNT),
    ("Embedding padding_idx", lambda n: nn.Embedding(3, 2, n), [3, -4]),
    ("Embedding max_norm", lambda n: nn.Embedding(3, 2, max_norm=n), NOT_NEGATIVE),
    ("Embedding norm_type", lambda n: nn.Embedding(3, 2, max_norm=1.0, norm_type=n), ORDER),
    ("EmbeddingBag num_embeddings", lambda n: nn.EmbeddingBag(n, 2), COUNT),
    ("EmbeddingBag padding_idx", lambda n: nn.EmbeddingBag(3, 2, padding_idx=n), [3, -4]),
    ("EmbeddingBag max_norm", lambda n: nn.EmbeddingBag(3, 2, max_norm=n), NOT_NEGATIVE),
    ("EmbeddingBag norm_type", lambda n: nn.EmbeddingBag(3, 2, max_norm=1.0, norm_type=n), ORDER),
    ("LayerNorm normalized_shape", nn.LayerNorm, COUNT),
    ("LayerNorm eps", lambda n: nn.LayerNorm(4, n), [-1.0, NAN, INF]),
    ("RMSNorm eps", lambda n: nn.RMSNorm(4, n), [-1.0, NAN, INF]),
    ("GroupNorm num_groups", lambda n: nn.GroupNorm(n, 4), [0, -1, 3]),
    ("GroupNorm eps", lambda n: nn.GroupNorm(2, 4, n), [-1.0, NAN, INF]),
    ("LocalResponseNorm size", nn.LocalResponseNorm, SIZE),
    ("LocalResponseNorm k", lambda n: nn.LocalResponseNorm(2, k=n), FINITE),
    ("CosineSimilarity eps", lambda n: nn.CosineSimilarity(1, n), NOT_NEGATIVE),
    ("PairwiseDistance p", nn.PairwiseDistance, ORDER),
    ("PairwiseDistance eps", lambda n: nn.PairwiseDistance(2, n), FINITE),
    ("PReLU num_parameters", nn.PReLU, COUNT),
    ("PReLU init", lambda n: nn.PReLU(1, n), FINITE),
    ("CELU alpha", nn.CELU, NOT_ZERO),
    ("ELU alpha", nn.ELU, FINITE),
    ("LeakyReLU slope", nn.LeakyReLU, FINITE),
    ("Hardshrink lambd", nn.Hardshrink, NOT_NEGATIVE),
    ("Softshrink lambd", nn.Softshrink, NOT_NEGATIVE),
    ("Softplus beta", nn.Softplus, NOT_ZERO),
    ("Softplus threshold", lambda n: nn.Softplus(1.0, n), NUMBER),
    ("Threshold threshold", lambda n: nn.Threshold(n, 0.0), NUMBER),
    ("Hardtanh min_val", lambda n: nn.Hardtanh(n, 1.0), [2.0, NAN]),
    ("RReLU lower", lambda n: nn.RReLU(n, 0.5), [0.6, NAN, -INF]),
    ("RReLU upper", lambda n: nn.RReLU(0.1, n), [0.0, NAN, INF]),
    ("PixelShuffle upscale_factor", nn.PixelShuffle, SIZE),
    ("PixelUnshuffle downscale_factor", nn.PixelUnshuffle, SIZE),
    ("ChannelShuffle groups", nn.ChannelShuffle, SIZE),
    ("Upsample size", nn.Upsample, SIZE),
    ("Upsample scale_factor", lambda n: nn.Upsample(scale_factor=n), LENGTH),
    ("UpsamplingNearest2d scale_factor", lambda n: nn.UpsamplingNearest2d(scale_factor=n), LENGTH),
    ("LPPool1d norm_type", lambda n: nn.LPPool1d(n, 2), LENGTH),
    ("LPPool2d norm_type", lambda n: nn.LPPool2d(n, 2), LENGTH),
    ("LPPool3d norm_type", lambda n: nn.LPPool3d(n, 2), LENGTH),
    ("MaxPool2d kernel_size", nn.MaxPool2d, SIZE),
    ("MaxPool2d stride", lambda n: nn.MaxPool2d(2, n), SIZE),
    ("MaxPool2d padding", lambda n: nn.MaxPool2d(2, 2, n), [-1, 2]),
    ("MaxPool2d dilation", lambda n: nn.MaxPool2d(2, dilation=n), SIZE),
    ("AvgPool2d kernel_size", nn.AvgPool2d, SIZE),
    ("AvgPool2d divisor_override", lambda n: nn.AvgPool2d(2, divisor_override=n), [0]),
    ("AvgPool3d divisor_override", lambda n: nn.AvgPool3d(2, divisor_override=n), [0]),
    ("MaxUnpool2d kernel_size", nn.MaxUnpool2d, SIZE),
    ("AdaptiveAvgPool2d output_size", nn.AdaptiveAvgPool2d, COUNT),
    ("AdaptiveMaxPool1d output_size", nn.AdaptiveMaxPool1d, COUNT),
    (
        "FractionalMaxPool2d output_ratio",
        lambda n: nn.FractionalMaxPool2d(2, output_ratio=n),
        [0.0, 1.5, NAN],
    ),
    ("Fold kernel_size", lambda n: nn.Fold((3, 4), n), SIZE),
    ("Unfold kernel_size", nn.Unfold, SIZE),
    ("ReflectionPad1d padding", lambda n: nn.ReflectionPad1d(n)(seq), [-9]),
    ("ConstantPad1d padding", lambda n: nn.ConstantPad1d(n, 0.0)(seq), [-5]),
    ("Unflatten unflattened_size", lambda n: nn.Unflatten(1, (n, 2))(seq), [-3, 3]),
    ("MultiheadAttention num_heads", lambda n: nn.MultiheadAttention(4, n), [0, -1, 3]),
    ("MultiheadAttention embed_dim", lambda n: nn.MultiheadAttention(n, 1), COUNT),
    ("MultiheadAttention dropout", lambda n: nn.MultiheadAttention(4, 1, n), SHARE),
    ("MultiheadAttention kdim", lambda n: nn.MultiheadAttention(4, 1, kdim=n), COUNT),
    ("LSTM proj_size", lambda n: nn.LSTM(2, 3, proj_size=n), [-1, 3, 4]),
    (
        "AdaptiveLogSoftmaxWithLoss cutoffs",
        lambda n: nn.AdaptiveLogSoftmaxWithLoss(4, 6, [n]),
        [0, -1, 6, 7],
    ),
    (
        "AdaptiveLogSoftmaxWithLoss div_value",
        lambda n: nn.AdaptiveLogSoftmaxWithLoss(4, 6, [2], n),
        LENGTH,
    ),
    (
        "AdaptiveLogSoftmaxWithLoss in_features",
        lambda n: nn.AdaptiveLogSoftmaxWithLoss(n, 6, [2]),
        COUNT,
    ),
    ("CTCLoss blank", nn.CTCLoss, [-1]),
    ("CrossEntropyLoss label_smoothing", lambda n: nn.CrossEntropyLoss(label_smoothing=n), SHARE),
    ("HuberLoss delta", lambda n: nn.HuberLoss(delta=n), POSITIVE),
    ("SmoothL1Loss beta", lambda n: nn.SmoothL1Loss(beta=n), NOT_NEGATIVE),
    ("GaussianNLLLoss eps", lambda n: nn.GaussianNLLLoss(eps=n), POSITIVE),
    ("PoissonNLLLoss eps", lambda n: nn.PoissonNLLLoss(eps=n), [-1.0, NAN]),
    ("HingeEmbeddingLoss margin", nn.HingeEmbeddingLoss, FINITE),
    ("MarginRankingLoss margin", nn.MarginRankingLoss, FINITE),
    ("CosineEmbeddingLoss margin", nn.CosineEmbeddingLoss, FINITE),
    ("TripletMarginLoss margin", nn.TripletMarginLoss, FINITE),
    ("TripletMarginLoss p", lambda n: nn.TripletMarginLoss(p=n), ORDER),
    ("TripletMarginLoss eps", lambda n: nn.TripletMarginLoss(eps=n), FINITE),
    (
        "TripletMarginWithDistanceLoss margin",
        lambda n: nn.TripletMarginWithDistanceLoss(margin=n),
        FINITE,
    ),
    ("MultiMarginLoss p", nn.MultiMarginLoss, [0, 3]),
    ("MultiMarginLoss margin", lambda n: nn.MultiMarginLoss(margin=n), FINITE),
    (
        "spectral_norm n_power_iterations",
        lambda n: nn.utils.spectral_norm(nn.Linear(2, 2), n_power_iterations=n),
        COUNT,
    ),
    ("spectral_norm eps", lambda n: nn.utils.spectral_norm(nn.Linear(2, 2), eps=n), NOT_NEGATIVE),
    ("weight_norm dim", lambda n: nn.utils.weight_norm(nn.Linear(2, 2), dim=n), [2, -3]),
]

for name in (
    "BatchNorm",
    "BatchNorm1d",
    "BatchNorm2d",
    "BatchNorm3d",
    "InstanceNorm1d",
    "InstanceNorm2d",
    "InstanceNorm3d",
):
    layer = getattr(nn, name)
    CALLS += [
        (f"{name} num_features", layer, COUNT),
        (f"{name} eps", lambda n, layer=layer: layer(4, n), EPS),
        (f"{name} momentum", lambda n, layer=layer: layer(4, momentum=n), SHARE),
    ]
for name in ("RNN", "LSTM", "GRU"):
    layer, cell = getattr(nn, name), getattr(nn, f"{name}Cell")
    CALLS += [
        (f"{name} input_size", lambda n, layer=layer: layer(n, 2), COUNT),
        (f"{name} hidden_size", lambda n, layer=layer: layer(2, n), COUNT),
        (f"{name} num_layers", lambda n, layer=layer: layer(2, 3, n), SIZE),
        (f"{name} dropout", lambda n, layer=layer: layer(2, 3, 2, dropout=n), SHARE),
        (f"{name}Cell input_size", lambda n, cell=cell: cell(n, 2), COUNT),
        (f"{name}Cell hidden_size", lambda n, cell=cell: cell(2, n), COUNT),
    ]
CALLS.append(("LSTM proj_size", lambda n: nn.LSTM(2, 3, proj_size=n), [-1, 3, 4]))
layers = {
    "TransformerEncoderLayer": nn.TransformerEncoderLayer,
    "TransformerDecoderLayer": nn.TransformerDecoderLayer,
    "Transformer": lambda d, h, f=4, p=0.1, **more: nn.Transformer(d, h, 1, 1, f, p, **more),
}
for name, layer in layers.items():
    CALLS += [
        (f"{name} d_model", lambda n, layer=layer: layer(n, 1), COUNT),
        (f"{name} nhead", lambda n, layer=layer: layer(4, n), [0, -1, 3]),
        (f"{name} dim_feedforward", lambda n, layer=layer: layer(4, 1, n), COUNT),
        (f"{name} dropout", lambda n, layer=layer: layer(4, 1, 4, n), SHARE),
        (f"{name} layer_norm_eps", lambda n, layer=layer: layer(4, 1, layer_norm_eps=n), EPS),
    ]
encoder, decoder = nn.TransformerEncoderLayer(4, 1, 4), nn.TransformerDecoderLayer(4, 1, 4)
CALLS += [
    ("Transformer num_encoder_layers", lambda n: nn.Transformer(4, 1, n, 1, 4), SIZE),
    ("Transformer num_decoder_layers", lambda n: nn.Transformer(4, 1, 1, n, 4), SIZE),
    ("TransformerEncoder num_layers", lambda n: nn.TransformerEncoder(encoder, n), SIZE),
    ("TransformerDecoder num_layers", lambda n: nn.TransformerDecoder(decoder, n), SIZE),
]
for rank in (1, 2, 3):
    for transposed in (False, True):
        f, images, kernel = conv(rank, transposed)
        for option, bad in (
            ("stride", SIZE),
            ("padding", [-1]),
            ("dilation", SIZE),
            ("groups", SIZE),
        ):
            CALLS.append(
                (
                    f"{f.__name__} {option}",
                    lambda n, f=f, images=images, kernel=kernel, option=option: f(
                        images, kernel, **{option: n}
                    ),
                    bad,
                )
            )
    for name in ("Conv", "ConvTranspose"):
        layer = getattr(nn, f"{name}{rank}d")
        CALLS += [
            (f"{name}{rank}d in_channels", lambda n, layer=layer: layer(n, 4, 3), COUNT),
            (f"{name}{rank}d out_channels", lambda n, layer=layer: layer(4, n, 3), COUNT),
            (f"{name}{rank}d kernel_size", lambda n, layer=layer: layer(4, 4, n), SIZE),
            (f"{name}{rank}d stride", lambda n, layer=layer: layer(4, 4, 3, stride=n), SIZE),
            (f"{name}{rank}d padding", lambda n, layer=layer: layer(4, 4, 3, padding=n), [-1]),
            (f"{name}{rank}d dilation", lambda n, layer=layer: layer(4, 4, 3, dilation=n), SIZE),
            (f"{name}{rank}d groups", lambda n, layer=layer: layer(4, 4, 3, groups=n), [0, -1, 3]),
        ]
    for name in ("max_pool", "avg_pool"):
        option_of = of_image(f"{name}{rank}d", kernel_size=2)
        for option, bad in (("kernel_size", [*SIZE, 20]), ("stride", SIZE), ("padding", [-1, 2])):
            CALLS.append((f"{name}{rank}d {option}", option_of(option), bad))
    option_of = of_image(f"lp_pool{rank}d", kernel_size=2, norm_type=2)
    CALLS += [
        (f"lp_pool{rank}d norm_type", option_of("norm_type"), LENGTH),
        (f"lp_pool{rank}d kernel_size", option_of("kernel_size"), SIZE),
    ]
    unpool, indices = getattr(nn, f"max_unpool{rank}d"), mo.zeros((1, *(2,) * rank), "int64")
    CALLS.append(
        (
            f"max_unpool{rank}d output_size",
            lambda n, f=unpool, i=indices: f(i.cast("float32"), i, 2, output_size=(n,) * i.ndim),
            [-1, 1, 99],
        )
    )
    for name in ("adaptive_avg_pool", "adaptive_max_pool"):
        CALLS.append(
            (f"{name}{rank}d output_size", of_image(f"{name}{rank}d")("output_size"), COUNT)
        )
