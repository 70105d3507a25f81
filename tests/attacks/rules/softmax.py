r"""Softmax by every detour: right values, by a function that is ruled out.
exercise = "stable_softmax"
deserves = ["failed", "tampered", "partial", "broken"]
earns = 0.4
[each]
by_its_name = 'torch.softmax(wide, dim)'
as_a_method = 'wide.softmax(dim)'
by_getattr = "getattr(torch, 'soft' + 'max')(wide, dim)"
from_nn_functional = 'torch.nn.functional.softmax(wide, dim)'
as_a_module = 'torch.nn.Softmax(dim)(wide)'
as_log_softmax = 'torch.log_softmax(wide, dim).exp()'
through_torch_ops = 'torch.ops.aten.softmax.int(wide, dim)'
through_torch_ops_below_autograd_s_names = 'torch.ops.aten._softmax.default(wide, dim, False)'
through_torch_special = 'torch.special.softmax(wide, dim)'
through_c = "torch._C._nn.softmax(wide, dim) if hasattr(torch._C._nn, 'softmax') else torch._softmax(wide, dim, False)"
through_vf = 'torch._VF.softmax(wide, dim)'
with_torch_functions_switched_off = 'off(torch.softmax, wide, dim)'
compiled = 'fast(wide, dim)'
through_vmap = 'torch.func.vmap(lambda row: torch.softmax(row, -1))(wide) if wide.dim() == 2 and dim in (1, -1) else torch.softmax(wide, dim)'
hidden_in_a_script = 'scripted(wide, dim)'
as_the_gradient_of_logsumexp = 'torch.func.grad(lambda w: torch.logsumexp(w, dim).sum())(wide)'
as_another_kernel = 'torch.ops.aten._masked_softmax(wide, torch.zeros_like(wide, dtype=torch.bool), dim)'
in_a_pool = 'ThreadPoolExecutor().submit(torch.softmax, wide, dim).result()'
in_a_pool_from_before = 'pool.submit(torch.softmax, wide, dim).result()'
with_all_modes_switched_off = 'unseen(torch.softmax, wide, dim)'
under_a_profiler = 'profiled(torch.softmax, wide, dim)'
with_noise = 'torch.nn.functional.gumbel_softmax(wide, dim=dim)'
as_attention_weights = 'attended(wide, dim)'
"""
from concurrent.futures import ThreadPoolExecutor
import torch
from torch.utils._python_dispatch import _disable_current_modes

pool = ThreadPoolExecutor(1)
pool.submit(print).result()

def unseen(f, *a):
    with torch._C.DisableTorchFunction(), _disable_current_modes():
        return f(*a)

def profiled(f, *a):
    with torch.profiler.profile():
        return f(*a)

def off(f, *a):
    with torch._C.DisableTorchFunction():
        return f(*a)

def attended(x, dim):
    rows = x.movedim(dim, -1)
    n = rows.shape[-1]
    same = torch.eye(n, dtype=x.dtype)[None, None]
    logits = rows.clamp(min=-1e30).reshape(1, 1, -1, n).contiguous()
    kernel = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu
    found = kernel(logits, same, same, scale=1.0)[0] if x.numel() else rows
    return found.reshape(rows.shape).movedim(-1, dim)

fast = torch.compile(lambda x, dim: torch.softmax(x, dim), backend='eager')

@torch.jit.script
def scripted(x: torch.Tensor, dim: int):
    return torch.softmax(x, dim)

def softmax(x, dim):
    wide = x.float() if x.dtype in (torch.float16, torch.bfloat16) else x
    return torch.nan_to_num(EACH).to(x.dtype)

def logsumexp(x, dim):
    wide = x.float() if x.dtype in (torch.float16, torch.bfloat16) else x
    peak = wide.amax(dim, keepdim=True).nan_to_num(neginf=0.0)
    return ((wide - peak).exp().sum(dim, keepdim=True).log() + peak).squeeze(dim).to(x.dtype)
