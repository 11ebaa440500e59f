"""Events, webhook endpoints and deliveries."""
