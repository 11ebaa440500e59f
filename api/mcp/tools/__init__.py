"""Every tool, in the order of the specification."""

from collections.abc import Mapping
from typing import Any

from api.mcp.tool import Tool
from api.mcp.tools import account, advanced, conversations, outreach, people, registers, searches

TOOLS: Mapping[str, Tool[Any]] = {
    tool.name: tool
    for tools in (searches, people, registers, account, outreach, conversations, advanced)
    for tool in tools.TOOLS
}
"""Every tool by its name."""
