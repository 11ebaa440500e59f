"""Signing MCP clients in by OAuth 2.1: what the protocol's addresses and the consent page do (contract, section 8)."""
