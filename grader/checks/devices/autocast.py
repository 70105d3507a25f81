"""`torch.autocast("sim")`: which operations run in which precision, as on CUDA."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from grader.checks._compat import tree_leaves, tree_map_only
from grader.checks.devices._compat import without_autocast

_LOW = """
    addbmm addmm addmv addr baddbmm bmm chain_matmul conv1d conv2d conv3d conv_tbc conv_transpose1d
    conv_transpose2d.input conv_transpose3d.input convolution einsum linalg_multi_dot linalg_vecdot linear
    matmul mm mv prelu scaled_dot_product_attention
"""
_FLOAT32 = """
    acos asin binary_cross_entropy_with_logits cdist cosh cosine_embedding_loss cosine_similarity cumprod
    cumsum dist erfinv exp expm1 group_norm hinge_embedding_loss huber_loss kl_div l1_loss layer_norm
    linalg_vector_norm log log10 log1p log2 log_softmax.int logsumexp margin_ranking_loss mse_loss
    multi_margin_loss native_layer_norm nll_loss norm.Scalar norm.ScalarOpt_dim norm.ScalarOpt_dim_dtype
    pdist poisson_nll_loss pow.Tensor_Scalar pow.Tensor_Tensor pow.Scalar prod prod.dim_int reciprocal renorm
    rsqrt sinh smooth_l1_loss soft_margin_loss softmax.int softplus sum sum.dim_IntList tan
    triplet_margin_loss
"""
_WIDEST = "addcdiv addcmul atan2 bilinear cross dot grid_sampler index_put scatter_add tensordot vdot"


def register(library: Any, fallbacks: Any) -> None:
    """Teach autocast the operations of the three lists; all others keep their dtypes."""
    fallbacks.fallback(torch.library.fallthrough_kernel, "AutocastPrivateUse1")
    for names, choose in ((_LOW, _low), (_FLOAT32, _float32), (_WIDEST, _widest)):
        for name in names.split():
            library.impl(name, _casting(overload(name), choose), "AutocastPrivateUse1")


def overload(name: str) -> Any:
    """`torch.ops.aten.sum.dim_IntList` for ``"sum.dim_IntList"``."""
    packet, _, which = name.partition(".")
    return getattr(getattr(torch.ops.aten, packet), which or "default")


def _casting(op: Any, choose: Callable[[Any], torch.dtype]) -> Callable[..., Any]:
    def kernel(*args: Any, **kwargs: Any) -> Any:
        dtype = choose((args, kwargs))
        cast_args, cast_kwargs = tree_map_only(
            Tensor, lambda x: x.to(dtype) if _eligible(x) else x, (args, kwargs)
        )
        with without_autocast():
            return op(*cast_args, **cast_kwargs)

    return kernel


def _eligible(x: Tensor) -> bool:
    return x.is_floating_point() and x.dtype != torch.float64 and x.device.type == "sim"


def _low(_operands: Any) -> torch.dtype:
    return torch.get_autocast_dtype("sim")


def _float32(_operands: Any) -> torch.dtype:
    return torch.float32


def _widest(operands: Any) -> torch.dtype:
    dtypes = [x.dtype for x in tree_leaves(operands) if isinstance(x, Tensor) and _eligible(x)]
    return torch.float32 if torch.float32 in dtypes or not dtypes else _low(operands)
