from dataclasses import dataclass


@dataclass(frozen=True)
class Decoder:
    """The sizes of a decoder-only transformer. Leave this class as it is."""

    layers: int
    width: int
    heads: int
    kv_heads: int
    head_dim: int
    hidden: int
    vocabulary: int


def count_flops(decoder: Decoder, batch: int, time: int, past: int = 0) -> dict[str, int]:
    if decoder.heads % decoder.kv_heads:
        raise ValueError(f"{decoder.heads} heads are no multiple of {decoder.kv_heads} kv_heads")
    rows, inner = batch * time, decoder.heads * decoder.head_dim
    columns = 2 * inner + 2 * decoder.kv_heads * decoder.head_dim  # of q, k, v, and of the output
    table = {
        "projections": decoder.layers * 2 * rows * decoder.width * columns,
        "attention": decoder.layers * 2 * 2 * rows * (past + time) * inner,  # scores, and the weighted sum
        "mlp": decoder.layers * 3 * 2 * rows * decoder.width * decoder.hidden,
        "head": 2 * rows * decoder.width * decoder.vocabulary,
    }
    return {**table, "total": sum(table.values())}


def training_flops(decoder: Decoder, batch: int, time: int) -> int:
    return 3 * count_flops(decoder, batch, time)["total"]  # once forwards, twice backwards


def utilisation(
    decoder: Decoder, tokens_per_second: float, time: int, peak: float, devices: int = 1
) -> float:
    per_token = training_flops(decoder, 1, time) / time
    return per_token * tokens_per_second / (peak * devices)
