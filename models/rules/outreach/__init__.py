"""The pure rules of outreach: caps, hours, spacing, slots, steps, texts, states (specification, "Outreach caps")."""
