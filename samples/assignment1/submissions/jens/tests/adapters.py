from tinylm import attention, layers, text


def run_linear(weight, x):
    return layers.linear(x, weight)


def run_embedding(weight, ids):
    return layers.embedding(ids, weight)


def run_rmsnorm(weight, eps, x):
    return layers.rmsnorm(x, weight, eps)


def run_softmax(x, dim):
    return layers.softmax(x, dim)


def run_attention(q, k, v, mask=None):
    return attention.attention(q, k, v, mask)


def run_self_attention(heads, weights, x):
    return attention.self_attention(x, weights, heads)


def run_train_bpe(file, merges):
    return text.train(file, merges)


def run_encode(text_, merges):
    return text.encode(text_, merges)
