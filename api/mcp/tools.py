"""All tools, in the order of the specification."""

from collections.abc import Mapping
from typing import Any

from api.billing import tools as billing_tools
from api.mcp.tool import Tool
from api.outreach import conversation_tools
from api.outreach import tools as outreach_tools
from api.people import tools as api_tools
from api.sourcing import advanced_tools, people_tools, search_tools

TOOLS: Mapping[str, Tool[Any]] = {
    tool.name: tool
    for tools in (
        search_tools,
        people_tools,
        api_tools,
        billing_tools,
        outreach_tools,
        conversation_tools,
        advanced_tools,
    )
    for tool in tools.TOOLS
}
"""Every tool by name."""
