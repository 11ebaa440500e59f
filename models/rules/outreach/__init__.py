"""Rules of outreach: pure, the time is an argument."""
