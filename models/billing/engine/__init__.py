"""What billing decides under locks: payments, callbacks, refills, outreach plans."""
