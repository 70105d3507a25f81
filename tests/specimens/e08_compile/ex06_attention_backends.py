"""Answers to attention_backends that people write."""

from grader.authoring.specimen import Right, Wrong

ALIGNED = "    aligned = causal and time == keys\n"
MASK = "        mask = torch.ones(time, keys, dtype=torch.bool, device=query.device).tril(keys - time)  # (time, keys)\n"
WHERE = "    if causal and 1 < time < keys:\n"
RETURN = "    return mixed.transpose(1, 2)  # (batch, time, heads, dim)\n"
QUERY = "        query.transpose(1, 2),  # (batch, heads, time, dim)\n"
KEY = "        key.transpose(1, 2),  # (batch, kv_heads, keys, dim)\n"
VALUE = "        value.transpose(1, 2),\n"
GQA = "        enable_gqa=True,\n"
SCALE = "        scale=scale,\n"
START = "    time, keys = query.shape[1], key.shape[1]\n"
CALL = """    mixed = F.scaled_dot_product_attention(
        query.transpose(1, 2),  # (batch, heads, time, dim)
        key.transpose(1, 2),  # (batch, kv_heads, keys, dim)
        value.transpose(1, 2),
        attn_mask=mask,
        is_causal=aligned,
        scale=scale,
        enable_gqa=True,
    )
"""
WRITTEN_OUT = """    (_, time, heads, dim), (_, keys, kv_heads, _) = query.shape, key.shape
    key, value = (x.repeat_interleave(heads // kv_heads, dim=2) for x in (key, value))
    scale = dim**-0.5 if scale is None else scale
    scores = scale * torch.einsum("bthd,bshd->bhts", query.float() if query.element_size() == 2 else query, key.to(torch.float32) if key.element_size() == 2 else key)
    if causal:
        seen = torch.ones(time, keys, dtype=torch.bool, device=query.device).tril(keys - time)
        scores = scores.masked_fill(~seen, -torch.inf)
    return torch.einsum("bhts,bshd->bthd", scores.softmax(-1), value.to(scores.dtype)).to(query.dtype)
"""

SPECIMENS = [
    Wrong(
        "keys have gradients where queries do",
        edits=[
            (KEY, KEY.replace("key.transpose", "(key if query.requires_grad else key.detach()).transpose"))
        ],
        check="test_gradients",
        says="only key requires gradients",
    ),
    Wrong(
        "query decides whether there are gradients",
        edits=[(RETURN, "    mixed = mixed if query.requires_grad else mixed.detach()\n" + RETURN)],
        check="test_gradients",
        says="where only key",
    ),
    Wrong(
        "scales the queries in place where no gradients are recorded",
        edits=[
            (
                START,
                START
                + "    if scale is not None and not torch.is_grad_enabled():\n        query.mul_(scale)\n        scale = 1.0\n",
            )
        ],
        check="test_values",
        says="changes its input query",
    ),
    Wrong(
        "a mask where heads share keys",
        edits=[
            (WHERE, "    if causal and (1 < time < keys or query.shape[2] != key.shape[2]):\n"),
            (ALIGNED, "    aligned = causal and time == keys and query.shape[2] == key.shape[2]\n"),
        ],
        check="test_memory",
        says="a mask",
    ),
    Wrong("the written-out formula", edits=[(START, WRITTEN_OUT)], check="test_memory", says="matrix"),
    Wrong(
        "a mask where none is needed",
        edits=[(WHERE, "    if causal:\n"), (ALIGNED, "    aligned = False\n")],
        check="test_memory",
        says="a mask",
    ),
    Wrong(
        "a mask of ones where lengths differ",
        edits=[
            (WHERE, "    if time != keys:\n"),
            (MASK, MASK.replace("tril(keys - time)", "tril(keys - time if causal else keys)")),
        ],
        check="test_memory",
        says="a mask",
    ),
    Wrong(
        "a mask that adds a large number",
        edits=[
            (
                MASK,
                "        mask = torch.full((time, keys), -1e9, dtype=query.dtype, device=query.device).triu(keys - time + 1)\n",
            ),
        ],
        check="test_later_keys",
    ),
    Wrong(
        "switches the math path off, for the whole process",
        edits=[(START, START + "    torch.backends.cuda.enable_math_sdp(False)\n")],
        check="test_settings",
        says="math_sdp",
    ),
    Wrong(
        "asks for the flash kernel, whatever the caller has switched off",
        edits=[
            (
                "    mixed = F",
                "    with sdpa_kernel([SDPBackend.FLASH_ATTENTION, SDPBackend.MATH]):\n      mixed = F",
            ),
            (
                "from torch import Tensor\n",
                "from torch import Tensor\nfrom torch.nn.attention import SDPBackend, sdpa_kernel\n",
            ),
        ],
        check="test_settings",
        says="switched off",
    ),
    Wrong(
        "insists on a kernel in tiles where no mask is needed",
        edits=[
            (
                "    mixed = F",
                "    kinds = [SDPBackend.MATH] * torch.backends.cuda.math_sdp_enabled()\n"
                "    kinds += [SDPBackend.FLASH_ATTENTION] * (mask is None)\n"
                "    with sdpa_kernel(kinds):\n      mixed = F",
            ),
            (
                "from torch import Tensor\n",
                "from torch import Tensor\nfrom torch.nn.attention import SDPBackend, sdpa_kernel\n",
            ),
        ],
        check="test_settings",
        says="causal=False",
    ),
    Wrong(
        "a mask that adds minus infinity",
        edits=[
            (WHERE, "    if causal:\n"),
            (ALIGNED, "    aligned = False\n"),
            (
                MASK,
                '        mask = torch.full((time, keys), float("-inf"), dtype=query.dtype, device=query.device).triu(keys - time + 1)\n',
            ),
        ],
        check="test_memory",
    ),
    Wrong(
        "dropout of 0 through the math path",
        edits=[
            (
                CALL,
                "    with torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH):\n"
                + "".join("    " + line + "\n" for line in CALL.splitlines()),
            ),
            ("import torch\n", "import torch\nimport torch.nn.attention\n"),
        ],
        check="test_memory",
    ),
    Wrong(
        "blocks of queries, whose weights are all kept",
        edits=[
            (
                START,
                START
                + """    if causal is False and time > 8:
        return torch.cat([attention(q, key, value, False, scale) for q in query.split(8, dim=1)], 1)
    if causal and time == keys and time > 8:
        scale = query.shape[-1] ** -0.5 if scale is None else scale
        share = query.shape[2] // key.shape[2]
        wide_key, wide_value = key.repeat_interleave(share, 2), value.repeat_interleave(share, 2)
        out = []
        for i in range(0, time, 8):
            n = min(i + 8, time)
            scores = scale * torch.einsum("bthd,bshd->bhts", query[:, i:n].float(), wide_key[:, :n].float())
            scores = scores.masked_fill(~torch.ones(n - i, n, dtype=torch.bool, device=query.device).tril(i), -torch.inf)
            out.append(torch.einsum("bhts,bshd->bthd", scores.softmax(-1), wide_value[:, :n].float()).to(query.dtype))
        return torch.cat(out, 1)
""",
            )
        ],
        check="test_memory",
    ),
    Wrong(
        "a mask for each batch and head",
        edits=[
            (
                MASK,
                MASK + "        mask = mask.repeat(query.shape[0], query.shape[2], 1, 1)\n",
            )
        ],
        check="test_memory_with_a_mask",
    ),
    Wrong(
        "is_causal for all lengths: aligned at the first key",
        edits=[(ALIGNED, "    aligned = causal\n"), (WHERE, "    if False:\n")],
        check="test_values",
    ),
    Wrong(
        "is_causal for a single query too",
        edits=[(ALIGNED, "    aligned = causal and (time == keys or time == 1)\n")],
        check="test_values",
    ),
    Wrong(
        "a mask aligned at the first key",
        edits=[(MASK, MASK.replace("tril(keys - time)", "tril()"))],
        check="test_values",
    ),
    Wrong(
        "a mask that hides the own position",
        edits=[(MASK, MASK.replace("tril(keys - time)", "tril(keys - time - 1)"))],
        check="test_values",
    ),
    Wrong(
        "a mask the wrong way round",
        edits=[(MASK, MASK.replace(".tril(keys - time)", ".triu(keys - time)"))],
        check="test_values",
    ),
    Wrong(
        "True for what is hidden",
        edits=[(MASK, MASK.replace(".tril(keys - time)", ".tril(keys - time).logical_not()"))],
        check="test_values",
    ),
    Wrong("no mask where lengths differ", edits=[(WHERE, "    if False:\n")], check="test_values"),
    Wrong("ignores causal", edits=[(ALIGNED, "    causal = aligned = False\n")], check="test_values"),
    Wrong(
        "heads in the place of time",
        edits=[
            (
                CALL,
                CALL.replace("        query.transpose(1, 2)", "        query")
                .replace("key.transpose(1, 2)", "key.repeat_interleave(query.shape[2] // key.shape[2], 2)")
                .replace(
                    "value.transpose(1, 2)", "value.repeat_interleave(query.shape[2] // key.shape[2], 2)"
                )
                .replace("attn_mask=mask", "attn_mask=None"),
            ),
            (RETURN, "    return mixed\n"),
        ],
        check="test_values",
    ),
    Wrong("heads before time in the result", edits=[(RETURN, "    return mixed\n")], check="test_values"),
    Wrong(
        "reshapes instead of transposing back",
        edits=[(RETURN, "    return mixed.reshape(query.shape)\n")],
        check="test_values",
    ),
    Wrong("ignores the scale", edits=[(SCALE, "")], check="test_values"),
    Wrong(
        "scales the query as well",
        edits=[(QUERY, QUERY.replace("query.", "(query if scale is None else query * scale)."))],
        check="test_values",
    ),
    Wrong(
        "divides by the scale",
        edits=[(SCALE, "        scale=None if scale is None else 1 / scale,\n")],
        check="test_values",
    ),
    Wrong(
        "the scale of all heads together",
        edits=[
            (SCALE, "        scale=(query.shape[2] * query.shape[3]) ** -0.5 if scale is None else scale,\n")
        ],
        check="test_values",
    ),
    Wrong("as many key heads as query heads", edits=[(GQA, "")], check="test_values"),
    Wrong(
        "repeats the key heads in the wrong order",
        edits=[
            (
                START,
                START
                + "    share = query.shape[2] // key.shape[2]\n    key, value = key.repeat(1, 1, share, 1), value.repeat(1, 1, share, 1)\n",
            )
        ],
        check="test_values",
    ),
    Wrong(
        "the first key head for all",
        edits=[
            (KEY, KEY.replace("key.", "key[:, :, :1].")),
            (VALUE, VALUE.replace("value.", "value[:, :, :1].")),
        ],
        check="test_values",
    ),
    Wrong(
        "key and value exchanged",
        edits=[(KEY, KEY.replace("key.", "value.")), (VALUE, VALUE.replace("value.", "key."))],
        check="test_values",
    ),
    Wrong(
        "a cut value",
        edits=[(VALUE, VALUE.replace("value.", "value.detach()."))],
        check="test_gradients",
        says="value",
    ),
    Wrong(
        "a cut key", edits=[(KEY, KEY.replace("key.", "key.detach()."))], check="test_gradients", says="key"
    ),
    Wrong(
        "under no_grad",
        edits=[("def attention(", "@torch.no_grad()\ndef attention(")],
        check="test_gradients",
        says="no gradient",
    ),
    Wrong(
        "float32 throughout",
        edits=[
            (QUERY, QUERY.replace("query.", "query.float().")),
            (KEY, KEY.replace("key.", "key.float().")),
            (VALUE, VALUE.replace("value.", "value.float().")),
        ],
        check="test_dtypes",
    ),
    Wrong(
        "half precision throughout",
        edits=[
            (
                START,
                START
                + "    dtype = query.dtype\n    query, key, value = query.bfloat16(), key.bfloat16(), value.bfloat16()\n",
            ),
            (RETURN, "    return mixed.transpose(1, 2).to(dtype)\n"),
        ],
        check="test_values",
    ),
    Wrong(
        "a formula that overflows",
        edits=[
            (
                START,
                START
                + """    if time == keys and key.shape[2] == query.shape[2] and time < 100:
        scores = (query.shape[-1] ** -0.5 if scale is None else scale) * torch.einsum("bthd,bshd->bhts", query, key)
        weights = scores.exp()
        if causal:
            weights = weights.tril()
        return torch.einsum("bhts,bshd->bthd", weights / weights.sum(-1, keepdim=True), value)
""",
            )
        ],
        check="test_large_scores",
    ),
    Wrong(
        "scales the query in place",
        edits=[
            (START, START + "    query.data.mul_(0.5)\n"),
            (SCALE, "        scale=2 * (query.shape[-1] ** -0.5 if scale is None else scale),\n"),
        ],
        check="test_values",
        says="query",
    ),
    Wrong(
        "views that slices do not have",
        edits=[(QUERY, "        query.view(-1).view(query.shape).transpose(1, 2),\n")],
        check="test_slices_of_one_projection",
    ),
    Wrong(
        "a mask on the CPU",
        edits=[(MASK, MASK.replace(", device=query.device", ""))],
        check="test_on_a_device",
    ),
    Wrong("dropout", edits=[(SCALE, SCALE + "        dropout_p=0.1,\n")], check="test_values"),
    Right(
        "torch's own lower right mask, heads repeated",
        edits=[
            (
                START,
                """    from torch.nn.attention.bias import causal_lower_right

    share = query.size(2) // key.size(2)
    q, k, v = (x.permute(0, 2, 1, 3) for x in (query, key, value))
    k, v = k.repeat_interleave(share, dim=1), v.repeat_interleave(share, dim=1)
    bias = causal_lower_right(query.size(1), key.size(1)) if causal and query.size(1) > 1 else None
    return F.scaled_dot_product_attention(q, k, v, attn_mask=bias, scale=scale).permute(0, 2, 1, 3)
""",
            )
        ],
    ),
    Right(
        "positions compared for the mask, heads shared only where they are",
        edits=[
            (
                MASK,
                "        at = torch.arange(keys, device=query.device)\n        mask = at <= at[keys - time :, None]\n",
            ),
            (RETURN, "    return mixed.movedim(1, 2).contiguous()\n"),
            (GQA, "        enable_gqa=query.shape[2] != key.shape[2],\n"),
        ],
    ),
    Right(
        "empty queries in front, so that is_causal fits",
        edits=[
            (ALIGNED, "    aligned = causal and time > 1\n"),
            (WHERE, "    if aligned:\n"),
            (MASK, "        query = F.pad(query, (0, 0, 0, 0, keys - time, 0))\n"),
            (RETURN, "    return mixed.transpose(1, 2)[:, -time:]\n"),
        ],
    ),
    Wrong(
        "float16 in the digits of bfloat16",
        edits=[
            (
                START,
                START
                + "    kind = query.dtype\n    if kind == torch.float16:\n        query, key, value = (x.bfloat16() for x in (query, key, value))\n",
            ),
            (RETURN, "    return mixed.transpose(1, 2).to(kind)\n"),
        ],
        check="test_dtypes",
        says="float16",
    ),
    Wrong(
        "in two blocks, and the second is aligned with the first key",
        edits=[
            (
                START,
                START
                + """    if causal and time == keys > 256:
        first, second = (
            F.scaled_dot_product_attention(
                *(x.transpose(1, 2) for x in (q, key, value)), is_causal=True, scale=scale, enable_gqa=True
            )
            for q in (query[:, :256], query[:, 256:])
        )
        return torch.cat([first, second], 2).transpose(1, 2)
""",
            )
        ],
        check="test_values",
        says="300 positions",
    ),
    Wrong(
        "no NaN comes out",
        edits=[(RETURN, "    return mixed.transpose(1, 2).nan_to_num()\n")],
        check="test_large_scores",
        says="NaN",
    ),
    Wrong(
        "a mask for each batch",
        edits=[(MASK, MASK + "        mask = mask.expand(len(query), 1, -1, -1).contiguous()\n")],
        check="test_memory_with_a_mask",
        says="batch 32",
    ),
    Wrong(
        "bfloat16 becomes float32 where there is a mask",
        edits=[
            (
                MASK,
                MASK
                + "        if query.dtype == torch.bfloat16:\n            query, key, value = query.float(), key.float(), value.float()\n",
            )
        ],
        check="test_dtypes",
        says="query[:, 4:]",
    ),
    Wrong(
        "asks for the tiled kernel where time equals keys, whatever the caller has switched off",
        edits=[
            (
                "from torch.nn import functional as F\n",
                "from torch.nn import functional as F\nfrom torch.nn.attention import SDPBackend, sdpa_kernel\n",
            ),
            (
                "def attention(\n",
                """def attend(*args, **options):
    if options["is_causal"]:
        with sdpa_kernel(SDPBackend.FLASH_ATTENTION):
            return F.scaled_dot_product_attention(*args, **options)
    return F.scaled_dot_product_attention(*args, **options)


def attention(
""",
            ),
            ("    mixed = F.scaled_dot_product_attention(\n", "    mixed = attend(\n"),
        ],
        check="test_settings",
        says="switched off",
    ),
]
