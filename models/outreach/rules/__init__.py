"""Pure rules of outreach: caps, hours, slots, sequences, texts, states."""
