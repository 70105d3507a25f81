"""A tokenizer."""


def split(text):
    out, word = [], ""
    for char in text:
        if char == " ":
            if word:
                out.append(word)
            word = " "
        else:
            word += char
    return out + [word] if word else out


def merge(parts, a, b):
    i = 0
    while i < len(parts) - 1:
        if parts[i] == a and parts[i + 1] == b:
            parts[i : i + 2] = [a + b]
        i += 1
    return parts


class Tokenizer:
    def __init__(self, merges=()):
        self.merges = list(merges)

    def train(self, text, number):
        corpus = [[bytes([b]) for b in word.encode()] for word in split(text)]
        while len(self.merges) < number:
            counts = {}
            for parts in corpus:
                for pair in zip(parts[:-1], parts[1:]):
                    counts[pair] = counts.get(pair, 0) + 1
            if len(counts) == 0:
                return
            best = sorted(counts.items(), key=lambda item: (item[1], item[0]))[-1][0]
            self.merges.append(best)
            for parts in corpus:
                merge(parts, *best)

    def encode(self, text):
        out = []
        for word in split(text):
            parts = [bytes([b]) for b in word.encode()]
            for a, b in self.merges:
                merge(parts, a, b)
            out += parts
        return out
