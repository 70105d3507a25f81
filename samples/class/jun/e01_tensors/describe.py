from collections import OrderedDict

def describe(x):
    record = OrderedDict()
    record["shape"] = x.size()
    record["rank"] = x.dim()
    record["elements"] = x.nelement()
    for name in ("dtype", "device", "requires_grad"):
        record[name] = getattr(x, name)
    expected, dense = 1, True
    for size, stride in zip(reversed(x.shape), reversed(x.stride())):
        dense = dense and (size == 1 or stride == expected)
        expected *= size
    record["contiguous"] = dense or x.numel() == 0
    record["bytes"] = x.nbytes
    record["storage_bytes"] = len(x.untyped_storage())
    return record
