"""What the tests call. Call your own code here, and write none."""

from pathlib import Path

from torch import Tensor


def run_linear(weight: Tensor, x: Tensor) -> Tensor:
    """`weight` (out, in) applied to `x` (..., in)."""
    raise NotImplementedError


def run_embedding(weight: Tensor, ids: Tensor) -> Tensor:
    """The rows of `weight` (words, dim) that `ids` (...) name."""
    raise NotImplementedError


def run_rmsnorm(weight: Tensor, eps: float, x: Tensor) -> Tensor:
    """RMSNorm of `x` (..., dim) over its last dimension."""
    raise NotImplementedError


def run_softmax(x: Tensor, dim: int) -> Tensor:
    """Softmax along `dim`."""
    raise NotImplementedError


def run_attention(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None) -> Tensor:
    """Attention of `q` (..., queries, dim) to `k`, `v` (..., keys, dim) where `mask` (..., queries, keys) is True."""
    raise NotImplementedError


def run_self_attention(heads: int, weights: dict[str, Tensor], x: Tensor) -> Tensor:
    """Causal self-attention of `x` (batch, time, dim); `weights` has "q", "k", "v" and "out", each (dim, dim)."""
    raise NotImplementedError


def run_train_bpe(file: Path, merges: int) -> list[tuple[bytes, bytes]]:
    """The first `merges` merges of a text file, in order."""
    raise NotImplementedError


def run_encode(text: str, merges: list[tuple[bytes, bytes]]) -> list[bytes]:
    """The pieces of `text`."""
    raise NotImplementedError
