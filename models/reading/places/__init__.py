"""The places that a text names, and which of them is the place of work."""
