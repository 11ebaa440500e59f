"""The dated versions of the API (specification, "Versioning")."""

CURRENT = "2026-11-01"
SUPPORTED = ("2026-11-01", "2026-10-13")
