"""Hard negatives, from an embedded corpus."""
