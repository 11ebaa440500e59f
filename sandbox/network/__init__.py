"""The network side of the sandbox: connected accounts act upon the invented people, in Unipile v2 wire shapes."""
