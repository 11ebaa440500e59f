"""Workspaces, customers, keys, scopes, sign-up and OAuth."""
