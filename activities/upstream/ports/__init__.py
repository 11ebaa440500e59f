"""The ports: what the service asks of providers, in our own terms. `people` for sources, `network` for outreach."""
