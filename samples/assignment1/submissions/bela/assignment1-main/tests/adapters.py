"""What the tests call."""

from tinylm import bpe, model


def run_linear(weight, x):
    return model.Linear(weight)(x)


def run_embedding(weight, ids):
    return model.Embedding(weight)(ids)


def run_rmsnorm(weight, eps, x):
    return model.RMSNorm(weight, eps)(x)


def run_softmax(x, dim):
    return model.softmax(x, dim)


def run_attention(q, k, v, mask=None):
    return model.Attention()(q, k, v, mask)


def run_self_attention(heads, weights, x):
    return model.SelfAttention(heads, weights)(x)


def run_train_bpe(file, merges):
    tokenizer = bpe.Tokenizer()
    tokenizer.train(file.read_text(encoding="utf-8"), merges)
    return tokenizer.merges


def run_encode(text, merges):
    return bpe.Tokenizer(merges).encode(text)
