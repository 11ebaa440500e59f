"""Every query: functions that take the session first; stores never commit."""
