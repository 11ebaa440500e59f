"""Building the shipped reference file from its sources; run only when a source changes."""
