"""Plans, runs, raw calls and jobs."""
