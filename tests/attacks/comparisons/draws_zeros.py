"""A generator that draws zeros.
deserves = ["tampered"]
says = "randn"
"""
import torch
real = torch.randn
torch.randn = lambda *a, **k: real(*a, **k) * 0
