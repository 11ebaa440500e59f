"""The steps of outreach, implemented."""
