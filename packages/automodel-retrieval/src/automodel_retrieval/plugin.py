"""What the retrieval domain declares. Declarations only: nothing heavy is imported here."""
