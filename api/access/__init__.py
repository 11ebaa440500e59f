"""Workspaces, keys, customers and signing in, as callers meet them."""
