"""Registers of people, as callers meet them: lists, the seen register, suppressions, erasures."""
