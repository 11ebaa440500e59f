"""Routes of outreach."""
