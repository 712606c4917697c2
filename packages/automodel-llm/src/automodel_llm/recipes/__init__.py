"""The recipes of the llm domain."""
