"""Pure rules of events and deliveries."""
