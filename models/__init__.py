"""State and the rules about it: settings, clock, ids, errors, pure rules, tables, queries, reference data."""
