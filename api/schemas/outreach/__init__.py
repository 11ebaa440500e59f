"""Bodies and answers of outreach."""
