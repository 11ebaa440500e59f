"""The outside world: ports, one adapter per provider, the address guard and the installation's call slots."""
