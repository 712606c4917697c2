"""What the llm domain declares. Declarations only: nothing heavy is imported here."""
