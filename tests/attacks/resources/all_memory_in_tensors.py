"""All memory in tensors.
deserves = ["failed", "memory", "crashed", "timeout"]
"""
import torch
held = []
def merge_heads(x):
    while True: held.append(torch.ones(1 << 26))
