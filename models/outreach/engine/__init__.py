"""What outreach decides and does under locks: enroll, decide, claim, record, reply."""
