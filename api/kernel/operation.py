"""Operations: a name, a scope, an effect and a handler."""

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Generic, TypeVar

from api.kernel.context import Context
from models.access.rules.keys import Scope
from models.base.settings import Settings

A = TypeVar("A")
B = TypeVar("B")

Handler = Callable[[Context, A], Awaitable[B]]
Beforehand = Callable[[Settings, A], Awaitable[None]]


class Effect(StrEnum):
    """What executing does. SPEND and SEND can be previewed and need an Idempotency-Key."""

    READ = "read"
    WRITE = "write"
    SPEND = "spend"
    SEND = "send"


@dataclass(frozen=True, slots=True)
class Operation(Generic[A, B]):
    """One thing that the service does, whoever asks.

    `scope` null: no key is needed. `for_customers`: a customer-bound key may call it; false makes it an account route.
    `beforehand` looks at what is asked before the transaction begins: the place for what takes long.
    `fails` are statuses of errors that it answers beyond those of every operation of its scope and effect.
    """

    name: str
    scope: Scope | None
    effect: Effect
    handler: Handler[A, B]
    for_customers: bool
    beforehand: Beforehand[A] | None = None
    fails: frozenset[int] = frozenset()

    @property
    def executes(self) -> bool:
        """Whether it spends or sends: it has a dry run, and executing it needs an Idempotency-Key."""
        return self.effect in (Effect.SPEND, Effect.SEND)


OPERATIONS: dict[str, Operation[Any, Any]] = {}
"""Every operation by its name, which is also the operation id of its REST route."""


def operation(
    name: str,
    *,
    scope: Scope | None,
    effect: Effect,
    for_customers: bool | None = None,
    beforehand: Beforehand[Any] | None = None,
    fails: Iterable[int] = (),
) -> Callable[[Handler[A, B]], Operation[A, B]]:
    """Make a handler an operation. Operations of the account family are account routes unless `for_customers`."""
    account = scope is not None and scope.family == "account"

    def register(handler: Handler[A, B]) -> Operation[A, B]:
        if name in OPERATIONS:
            raise ValueError(f"two operations are called {name}")
        made = Operation(
            name=name,
            scope=scope,
            effect=effect,
            handler=handler,
            for_customers=not account if for_customers is None else for_customers,
            beforehand=beforehand,
            fails=frozenset(fails),
        )
        OPERATIONS[name] = made
        return made

    return register
