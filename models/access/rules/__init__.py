"""Pure rules of access."""
