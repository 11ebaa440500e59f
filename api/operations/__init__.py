"""What the service can do, each thing once: an operation is called by its REST route and its MCP tool alike."""
