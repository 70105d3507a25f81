"""Conversations with a decoder: what a user has said and heard is read once."""

from collections.abc import Sequence

from torch import nn

from .cache import Cache
from .generate import generate


class Server:
    """Each user has a cache of their own."""

    def __init__(self, model: nn.Module) -> None:
        """No conversations yet."""
        self.model = model
        self.caches: dict[str, Cache] = {}
        self.unread: dict[str, list[int]] = {}  # the last token of a reply is not in the cache

    def ask(self, user: str, tokens: Sequence[int], count: int) -> list[int]:
        """Reply `count` tokens to what this user says, behind all that was said before."""
        cache = self.caches.setdefault(user, Cache(1))
        reply = self._reply(user, tokens, count, cache)
        self.unread[user] = reply[-1:]
        return reply

    def suggest(self, user: str, tokens: Sequence[int], count: int) -> list[int]:
        """What `ask` would reply; the conversation stays as it is."""
        return self._reply(user, tokens, count, self.caches.get(user, Cache(1)).clone())

    def _reply(self, user: str, tokens: Sequence[int], count: int, cache: Cache) -> list[int]:
        return generate(self.model, [[*self.unread.get(user, []), *tokens]], count, cache=cache)[0]
