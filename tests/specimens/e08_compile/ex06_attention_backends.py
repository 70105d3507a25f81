"""Answers to attention_backends that people write."""

from grader.authoring.specimen import Right, Works, Wrong

START = "    time, keys = query.shape[1], key.shape[1]\n"
WHERE = "    if causal and 1 < time < keys:  # a single query, the last one, sees all keys\n"
ALIGNED = "        is_causal=causal and time == keys,  # puts the first query at the first key\n"
TRIL = ".tril(keys - time)  # (time, keys)\n"
KEY = "        key.transpose(1, 2),  # (batch, kv_heads, keys, dim)\n"
VALUE = "        value.transpose(1, 2),\n"
GQA = "        enable_gqa=True,\n"
SCALE = "        scale=scale,\n"
RETURN = "    return mixed.transpose(1, 2)  # (batch, time, heads, dim)\n"
CALL = "    mixed = F.scaled_dot_product_attention(\n"
IMPORT = "from torch.nn import functional as F\n"

SPECIMENS = [
    Wrong(
        "the formula as it stands",
        code="""
import torch

def attention(query, key, value, causal=False, scale=None):
    (_, time, heads, dim), (_, keys, kv_heads, _) = query.shape, key.shape
    key, value = (x.repeat_interleave(heads // kv_heads, dim=2) for x in (key, value))
    scale = dim**-0.5 if scale is None else scale
    scores = scale * torch.einsum("bthd,bshd->bhts", query, key)
    if causal:
        seen = torch.ones(time, keys, dtype=torch.bool, device=query.device).tril(keys - time)
        scores = scores.masked_fill(~seen, -torch.inf)
    return torch.einsum("bhts,bshd->bthd", scores.softmax(-1), value)
""",
        rung="job",
        check="test_memory",
        says="as much memory as the matrix",
    ),
    Wrong(
        "a mask for every causal call",
        edits=[(WHERE, "    if causal:\n"), (ALIGNED, "")],
        rung="job",
        check="test_memory",
        says="a mask of its size",
    ),
    Wrong(
        "no transpose: heads in the place of time",
        code="""
from torch.nn import functional as F

def attention(query, key, value, causal=False, scale=None):
    share = query.shape[2] // key.shape[2]
    key, value = key.repeat_interleave(share, 2), value.repeat_interleave(share, 2)
    return F.scaled_dot_product_attention(query, key, value, is_causal=causal, scale=scale)
""",
        rung="job",
        check="test_worked_example",
        says="heads stand where time does",
    ),
    Wrong(
        "heads before time in the result",
        edits=[(RETURN, "    return mixed\n")],
        rung="job",
        check="test_values",
        says="transpose",
    ),
    Wrong(
        "reshapes instead of transposing back",
        edits=[(RETURN, "    return mixed.reshape(query.shape)\n")],
        rung="job",
        check="test_values",
        says="reshape does not bring",
    ),
    Wrong(
        "causal for everybody, as in a language model",
        edits=[(ALIGNED, "        is_causal=time == keys,\n")],
        rung="job",
        check="test_values",
        says="every call is causal",
    ),
    Wrong(
        "ignores the scale",
        edits=[(SCALE, "")],
        rung="job",
        check="test_values",
        says="scale is left out",
    ),
    Wrong(
        "as many key heads as query heads",
        edits=[(GQA, "")],
        rung="job",
        check="test_values",
    ),
    Wrong(
        "repeats the key heads in the wrong order",
        edits=[
            (KEY, KEY.replace("key.", "key.repeat(1, 1, query.shape[2] // key.shape[2], 1).")),
            (VALUE, VALUE.replace("value.", "value.repeat(1, 1, query.shape[2] // value.shape[2], 1).")),
        ],
        rung="job",
        check="test_values",
        says="repeat_interleave, not repeat",
    ),
    Wrong(
        "a cut value",
        edits=[(VALUE, VALUE.replace("value.", "value.detach()."))],
        rung="job",
        check="test_gradients",
    ),
    Wrong(
        "a mask aligned at the first key",
        edits=[(TRIL, TRIL.replace("keys - time", ""))],
        rung="fine",
        check="test_a_cache",
        says="the queries are the last positions",
    ),
    Wrong(
        "a mask for each batch and head",
        edits=[(TRIL, TRIL + "        mask = mask.repeat(query.shape[0], query.shape[2], 1, 1)\n")],
        rung="fine",
        check="test_memory_with_a_mask",
        says="for each batch or head",
    ),
    Wrong(
        "bfloat16 throughout, since flash attention wants 16 bits",
        edits=[
            (
                START,
                START
                + "    dtype, (query, key, value) = query.dtype, (x.bfloat16() if x.dtype == torch.float16 else x for x in (query, key, value))\n",
            ),
            (RETURN, "    return mixed.transpose(1, 2).to(dtype)\n"),
        ],
        rung="fine",
        check="test_half_precision",
        says="float16",
    ),
    Wrong(
        "asks for the flash kernel, whatever the caller has switched off",
        edits=[
            (IMPORT, IMPORT + "from torch.nn.attention import SDPBackend, sdpa_kernel\n"),
            (
                CALL,
                "    with sdpa_kernel([SDPBackend.FLASH_ATTENTION, SDPBackend.MATH]):\n      mixed = F.scaled_dot_product_attention(\n",
            ),
        ],
        rung="fine",
        check="test_settings",
        says="switched off",
    ),
    Wrong(
        "switches the math path off, for the whole process",
        edits=[(START, START + "    torch.backends.cuda.enable_math_sdp(False)\n")],
        rung="fine",
        check="test_settings",
        says="math_sdp",
    ),
    Wrong(
        "scales the caller's query",
        edits=[
            (
                START,
                START + "    if scale is not None:\n        query.data.mul_(scale)\n        scale = 1.0\n",
            )
        ],
        rung="fine",
        check="test_arguments_are_left_alone",
    ),
    Wrong(
        "a mask on the CPU",
        edits=[("dtype=torch.bool, device=query.device", "dtype=torch.bool")],
        rung="fine",
        check="test_mask_on_the_device",
    ),
    Works(
        "one call, as in nanoGPT",
        code="""
from torch.nn import functional as F

def attention(query, key, value, causal=False, scale=None):
    q, k, v = query.transpose(1, 2), key.transpose(1, 2), value.transpose(1, 2)
    y = F.scaled_dot_product_attention(q, k, v, attn_mask=None, dropout_p=0.0, is_causal=causal, scale=scale, enable_gqa=True)
    return y.transpose(1, 2).contiguous()
""",
    ),
    Works(
        "heads repeated, as in Hugging Face's models; causal unless there is one query",
        code="""
import torch

def repeat_kv(x, n):
    batch, heads, length, dim = x.shape
    return x[:, :, None].expand(batch, heads, n, length, dim).reshape(batch, heads * n, length, dim)

def attention(query, key, value, causal=False, scale=None):
    query, key, value = (x.transpose(1, 2) for x in (query, key, value))
    key, value = (repeat_kv(x, query.shape[1] // x.shape[1]) for x in (key, value))
    out = torch.nn.functional.scaled_dot_product_attention(
        query.contiguous(), key.contiguous(), value.contiguous(), scale=scale, is_causal=causal and query.shape[2] > 1
    )
    return out.transpose(1, 2).contiguous()
""",
    ),
    Right(
        "torch's own lower right mask, heads repeated",
        code="""
import torch.nn.functional as F
from torch.nn.attention.bias import causal_lower_right

def attention(query, key, value, causal=False, scale=None):
    share = query.size(2) // key.size(2)
    q, k, v = (x.permute(0, 2, 1, 3) for x in (query, key, value))
    k, v = k.repeat_interleave(share, dim=1), v.repeat_interleave(share, dim=1)
    bias = causal_lower_right(query.size(1), key.size(1)) if causal and query.size(1) > 1 else None
    return F.scaled_dot_product_attention(q, k, v, attn_mask=bias, scale=scale).permute(0, 2, 1, 3)
""",
    ),
    Right(
        "empty queries in front, so that is_causal fits",
        edits=[
            (WHERE, "    if causal:\n"),
            (
                "        mask = torch.ones(time, keys, dtype=torch.bool, device=query.device)" + TRIL,
                "        query = F.pad(query, (0, 0, 0, 0, keys - time, 0))\n",
            ),
            (ALIGNED, "        is_causal=causal,\n"),
            (RETURN, "    return mixed.transpose(1, 2)[:, -time:]\n"),
        ],
    ),
]
