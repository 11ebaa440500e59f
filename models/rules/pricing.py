"""The price list (specification, "Credits"): what each thing costs, in credits."""

LEAD = 1
"""A person returned, once per workspace."""
LIVE_PROFILE = 2
"""A full profile fetched now; a cached one is free."""
LIVE_COMPANY = 1
CONTACT = 25
"""A found e-mail address or telephone number; a miss is free."""
MOST_PER_PERSON = LEAD + LIVE_PROFILE
