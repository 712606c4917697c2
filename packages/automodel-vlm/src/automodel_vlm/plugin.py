"""What the vlm domain declares. Declarations only: nothing heavy is imported here."""
