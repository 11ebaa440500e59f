"""The operator's side: metrics, readiness, logs, traces, housekeeping."""
