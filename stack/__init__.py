"""The whole installation on one machine: embedded PostgreSQL and Temporal, the sandbox, the api and the workers."""
