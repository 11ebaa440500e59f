"""How long what signing in hands out works, and how much of it there may be."""

from datetime import timedelta

SIGN_IN_LIFE = timedelta(minutes=15)
"""From asking for the mailed link to the decision on the consent page."""
CODE_LIFE = timedelta(seconds=60)
ACCESS_LIFE = timedelta(hours=1)
GRANT_LIFE = timedelta(days=30)
"""Without being refreshed; each refresh begins it anew."""
MAILS_AN_HOUR = 5
"""Sign-in mails to one address."""
REGISTRATIONS_A_DAY = 100
"""Clients that one network may register in 24 hours."""
UNUSED_REGISTRATIONS = 20_000
"""Clients of the installation that nobody has signed in with yet; each is forgotten after seven days."""
DOCUMENT_LIFE = timedelta(hours=1)
"""How long a client metadata document is believed without being read again."""
DOCUMENT_RETRY = timedelta(seconds=30)
"""How long the failure to read one is."""
