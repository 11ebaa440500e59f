"""The classes of steps that a worker serves. Each registers itself, so that `worker.py` lists no step."""

import importlib
import inspect
import pkgutil
from collections.abc import Callable
from typing import Any, TypeVar

from temporalio import activity

import activities
from models.base.steps import SERVED_STEPS, Queue

StepsClass = TypeVar("StepsClass", bound=type[Any])

STEP_CLASSES: list[type[Any]] = []
"""Every class of steps. The parameters of its constructor are parts of the worker, by their names."""


def steps(made: StepsClass) -> StepsClass:
    """Register a class, and define those of its methods that are steps (`served_step`) as activities."""
    for method in step_methods(made).values():
        activity.defn(name=SERVED_STEPS[method].name)(method)
    STEP_CLASSES.append(made)
    return made


def import_steps() -> None:
    """Import every module of this layer but the adapters, so that each class of steps is registered."""
    for module in pkgutil.walk_packages(activities.__path__, "activities."):
        if not module.name.startswith("activities.upstream"):
            importlib.import_module(module.name)


def step_methods(made: type[Any]) -> dict[str, Callable[..., Any]]:
    """Return the methods of a class that are steps, by the methods' names."""
    return {name: member for name, member in inspect.getmembers(made, inspect.isfunction) if member in SERVED_STEPS}


def activities_of(queue: Queue, parts: object) -> list[Callable[..., Any]]:
    """Return the activities of one queue, each class made of those of `parts` that its constructor names."""
    found: list[Callable[..., Any]] = []
    for kind in STEP_CLASSES:
        here = [name for name, method in step_methods(kind).items() if queue in SERVED_STEPS[method].queues]
        if here:
            named = [name for name in inspect.signature(kind).parameters if hasattr(parts, name)]
            made = kind(**{name: getattr(parts, name) for name in named})
            found += [getattr(made, name) for name in here]
    return found
