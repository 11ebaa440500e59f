"""How the shipped reference file is built from its sources (run only when a source changes)."""
