"""Toolsets: which tools an MCP address serves (specification, "MCP surface")."""

from collections.abc import Sequence
from enum import StrEnum

from models.base.errors import InvalidRequest

PARAMETER = "toolsets"
ALL = "all"


class Toolset(StrEnum):
    """A group of tools."""

    SOURCING = "sourcing"
    OUTREACH = "outreach"
    ADVANCED = "advanced"


DEFAULT = frozenset({Toolset.SOURCING, Toolset.OUTREACH})


def wanted(query: Sequence[tuple[str, str]]) -> frozenset[Toolset]:
    """Return the toolsets that the address's query names; `sourcing,outreach` if it names none.

    Raises `InvalidRequest` for an unknown toolset and for any other parameter: a mistyped parameter must not pass for
    a missing one.
    """
    given = [value for name, value in query if name == PARAMETER]
    if len(given) != len(query):
        raise InvalidRequest("The MCP address takes `toolsets` alone.", field="query")
    if not given:
        return DEFAULT
    names = [name.strip() for value in given for name in value.split(",")]
    known = {*Toolset, ALL}
    if any(name not in known for name in names):
        raise InvalidRequest(
            "toolsets names a toolset that does not exist.",
            field=PARAMETER,
            fix=f"Known: {', '.join(Toolset)}, {ALL}.",
        )
    return frozenset(Toolset) if ALL in names else frozenset(map(Toolset, names))
