"""The service as callers meet it: REST, MCP and pages over one set of operations."""
