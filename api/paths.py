"""What the application serves: which methods a path takes, and which paths need no key."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from fastapi.routing import APIRoute
from starlette.routing import BaseRoute, Route

from api.operations.kernel import Operation


class KeyedRoute(Route):
    """A route without an operation of its own that needs a key all the same."""


class Paths:
    """The paths of one application, known once its routes are."""

    def __init__(self, operations: Mapping[str, Operation[Any, Any]]) -> None:
        self._operations = operations
        self._routes: list[Route] = []
        self._public: frozenset[str] = frozenset()
        self._public_patterns: tuple[re.Pattern[str], ...] = ()

    def learn(self, routes: Sequence[BaseRoute]) -> None:
        """Take in every route."""
        self._routes = [route for route in routes if isinstance(route, Route)]
        public = [route for route in self._routes if self._needs_no_key(route)]
        self._public = frozenset(route.path for route in public if not route.param_convertors)
        self._public_patterns = tuple(route.path_regex for route in public if route.param_convertors)

    def _needs_no_key(self, route: Route) -> bool:
        """Pages and documents have no operation; an operation without a scope is for everybody."""
        if not isinstance(route, APIRoute):
            return not isinstance(route, KeyedRoute)
        return self._operations[route.operation_id or ""].scope is None

    def is_public(self, path: str) -> bool:
        """Whether something at this path is served without a key."""
        return path in self._public or any(pattern.match(path) for pattern in self._public_patterns)

    def methods(self, path: str) -> tuple[str, ...]:
        """Every method of every route of this very path; without one, of every route that matches."""
        exact = [route for route in self._routes if route.path == path]  # `/people/search` names no profile
        matching = exact or [route for route in self._routes if route.path_regex.match(path)]
        found = {method for route in matching for method in route.methods or ()}
        if "GET" in found:
            found.add("HEAD")
        return tuple(sorted(found))
