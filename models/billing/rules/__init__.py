"""Pure rules of billing."""
