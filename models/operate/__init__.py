"""What an operator sees and does: metrics, readiness, logs, traces, housekeeping."""
