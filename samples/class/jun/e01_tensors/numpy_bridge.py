import numpy as np
import torch

def to_numpy(x):
    with torch.no_grad():
        if x.device.type != "cpu":
            x = x.to("cpu")
        return np.asarray((x.type(torch.float) if x.dtype == torch.bfloat16 else x).detach())

def from_numpy(array):
    array = np.require(array, requirements=["W"])
    if min(array.strides, default=0) < 0:
        array = np.array(array)
        array = np.ascontiguousarray(array).reshape(array.shape)
    return torch.from_numpy(array)
