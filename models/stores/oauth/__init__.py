"""Queries about signing MCP clients in by OAuth."""
