"""Files of reference data, and how they are built from their sources."""
