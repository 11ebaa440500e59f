"""Answers that a worker's step gives: asked for in one transaction, waited for outside of any, given in another."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from api.operations.kernel.context import Context
from models.database import Database


@dataclass(frozen=True, slots=True)
class Deferred:
    """What a handler answers after it has written and rung a row that a worker has to do something about.

    `wait` returns when the row says so, or raises a documented error; `answer` makes the operation's answer in the
    transaction that completes the record of the Idempotency-Key. An equal request finds the row by `ctx.use`.
    """

    wait: Callable[[Database], Awaitable[None]]
    answer: Callable[[Context], Awaitable[Any]]
