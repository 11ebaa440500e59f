"""SQLModel rows without behaviour."""
