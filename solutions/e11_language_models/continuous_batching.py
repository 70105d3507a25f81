import math
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

import torch
from jaxtyping import Float, Int64
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence


@dataclass
class _Request:
    number: int
    ids: Int64[Tensor, "time"]
    start: int
    longest: int


class Engine:
    def __init__(
        self,
        model: Callable[[Int64[Tensor, "running time"]], Float[Tensor, "running time vocab"]],
        slots: int,
        end: int,
        budget: int | None = None,
    ) -> None:
        if slots < 1:
            raise ValueError(f"slots is {slots}: nothing would ever run")
        self._model, self._slots, self._end = model, slots, end
        self._budget = math.inf if budget is None else budget
        self._waiting: deque[_Request] = deque()
        self._running: list[_Request] = []
        self._count = 0

    def submit(self, prompt: Int64[Tensor, "prompt"], max_new_tokens: int) -> int:
        start = len(prompt)
        if not start or max_new_tokens < 1:
            raise ValueError(f"a prompt of {start} tokens, and {max_new_tokens} new ones: 1 at least of each")
        number, self._count = self._count, self._count + 1
        self._waiting.append(_Request(number, prompt.clone(), start, start + max_new_tokens))
        return number

    @torch.no_grad()
    def step(self) -> dict[int, Int64[Tensor, "new"]]:
        self._schedule()
        if not self._running:
            return {}
        ids = pad_sequence([r.ids for r in self._running], batch_first=True)  # (running, time)
        last = torch.tensor([len(r.ids) - 1 for r in self._running], device=ids.device)
        logits = self._model(ids)[torch.arange(len(last), device=ids.device), last]  # (running, vocab)
        tokens = logits.argmax(-1, keepdim=True)  # (running, 1)
        done, going = {}, []
        for request, token in zip(self._running, tokens, strict=True):
            request.ids = torch.cat([request.ids, token])
            if token == self._end or len(request.ids) == request.longest:
                done[request.number] = request.ids[request.start :]
            else:
                going.append(request)
        self._running = going
        return done

    def _schedule(self) -> None:
        running, waiting = self._running, self._waiting
        while len(running) > 1 and self._held() > self._budget:
            waiting.appendleft(running.pop())
        while waiting and len(running) < self._slots:
            if running and self._held() + len(waiting[0].ids) > self._budget:
                break
            running.append(waiting.popleft())

    def _held(self) -> int:
        return sum(len(request.ids) for request in self._running)
