"""Pure rules about people."""
