from .model import LanguageModel


def train(text: str, seed: int, steps: int = 400) -> tuple[LanguageModel, str]:
    """A model that has learned to say the next character of the text, and the characters that its ids stand for."""
    raise NotImplementedError
