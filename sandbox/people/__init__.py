"""The people side of the sandbox: invented people behind a People Data Labs compatible API."""
