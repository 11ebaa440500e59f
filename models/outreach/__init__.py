"""Outreach accounts, sequences, enrollments, actions and conversations."""
