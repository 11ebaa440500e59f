"""Rules of signing MCP clients in by OAuth 2.1: clients, redirect addresses, proofs, audiences, lives (section 8)."""
