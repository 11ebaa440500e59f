"""The steps of runs, jobs and calls to people sources."""
