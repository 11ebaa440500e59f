"""Signing MCP clients in by OAuth 2.1, as HTTP: metadata documents, registration, tokens, and the pages for people."""
