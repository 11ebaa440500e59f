"""Operations of outreach."""
