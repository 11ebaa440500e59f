"""People: identities, profiles, the seen register, lists, suppressions, erasures."""
