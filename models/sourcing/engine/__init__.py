"""The steps of runs and raw calls, decided under locks."""
