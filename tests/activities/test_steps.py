"""The registry of steps: the worker makes each class of its own parts, and serves each step on its queues."""

import inspect
import typing
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

import worker
from activities.steps import STEP_CLASSES, activities_of, step_methods
from models.base.steps import SERVED_STEPS, NextStep, Queue, ServedStep, Step


@pytest.mark.parametrize("steps", STEP_CLASSES)
def test_a_class_of_steps_is_made_of_parts_of_the_worker(steps: type[Any]) -> None:
    parts = typing.get_type_hints(worker.Parts)
    wanted = typing.get_type_hints(steps.__init__)
    for name, parameter in inspect.signature(steps).parameters.items():
        assert name in parts or parameter.default is not parameter.empty, f"the worker has no part {name!r}"
        assert name not in parts or wanted[name] == parts[name]


def test_every_step_is_a_method_of_a_registered_class_and_has_a_name_of_its_own() -> None:
    assert SERVED_STEPS.keys() == {method for steps in STEP_CLASSES for method in step_methods(steps).values()}
    names = [step.name for step in SERVED_STEPS.values()]
    assert len(names) == len(set(names))


@pytest.mark.parametrize("queue", Queue)
def test_every_queue_has_steps(queue: Queue) -> None:
    assert any(queue in step.queues for step in SERVED_STEPS.values())


def test_what_is_due_is_asked_on_the_service_queue() -> None:
    assert {step.queues for step in SERVED_STEPS.values() if step.name.endswith(".next")} == {(Queue.SERVICE,)}


@dataclass
class SomeParts:
    greeting: str
    unused: int = 0


class Greeting:
    def __init__(self, greeting: str, *, patience: float = 1.5) -> None:
        self.said, self.patience = greeting, patience

    async def next(self, step: Step) -> NextStep:
        raise NotImplementedError

    async def send(self, step: Step) -> NextStep:
        raise NotImplementedError


def test_a_class_gets_the_parts_it_names_and_is_served_on_the_queues_of_its_steps(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("activities.steps.STEP_CLASSES", [Greeting])
    monkeypatch.setitem(SERVED_STEPS, Greeting.next, ServedStep("greeting.next", (Queue.SERVICE,)))
    monkeypatch.setitem(SERVED_STEPS, Greeting.send, ServedStep("greeting.send", (Queue.MAIL, Queue.SERVICE)))
    parts = SomeParts("hello")

    def served(queue: Queue) -> list[Callable[..., Any]]:
        return activities_of(queue, parts)

    assert [one.__name__ for one in served(Queue.SERVICE)] == ["next", "send"]
    (sending,) = served(Queue.MAIL)
    assert served(Queue.NETWORK) == []
    made = sending.__self__  # type: ignore[attr-defined] # a bound method
    assert (made.said, made.patience) == ("hello", 1.5)
