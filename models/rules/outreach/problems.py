"""Problems: what is wrong with a value somebody sent, before an operation turns it into `invalid_request`."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Problem:
    """`field` is the dotted path (`steps.2.note`), `message` reads behind it: "has at most 300 characters"."""

    field: str
    message: str
