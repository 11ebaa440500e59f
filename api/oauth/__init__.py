"""OAuth 2.1 sign-in of MCP clients over HTTP: metadata documents, registration, tokens, and pages for people."""
