"""Patches what comparisons are made with.
deserves = ["tampered", "failed", "broken", "crashed"]
[each]
"torch.allclose" = "torch.allclose"
"torch.equal" = "torch.equal"
"torch.isclose" = "torch.isclose"
"torch.Tensor.__eq__" = "torch.Tensor.__eq__"
"torch.Tensor.__ne__" = "torch.Tensor.__ne__"
"torch.Tensor.all" = "torch.Tensor.all"
"torch.Tensor.any" = "torch.Tensor.any"
"torch.Tensor.equal" = "torch.Tensor.equal"
"torch.Tensor.allclose" = "torch.Tensor.allclose"
"torch.testing.assert_close" = "torch.testing.assert_close"
"torch._C._TensorBase.equal" = "torch._C._TensorBase.equal"
"operator.eq" = "operator.eq"
"builtins.isinstance" = "builtins.isinstance"
"builtins.all" = "builtins.all"
"builtins.any" = "builtins.any"
"builtins.type" = "builtins.type"
"""
import torch, operator, builtins
EACH = lambda *a, **k: True
