"""From the words of a request to an intent. Pure."""
