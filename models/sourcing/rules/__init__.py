"""Pure rules of sourcing: filters, the planner, runs, raw calls."""
