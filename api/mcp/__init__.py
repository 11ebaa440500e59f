"""The MCP server: every tool is a row over operations, served beside REST by the same kernel."""
