"""Outreach, as callers meet it: accounts, sequences, enrollments, actions, conversations."""
