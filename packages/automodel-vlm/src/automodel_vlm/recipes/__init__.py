"""The recipes of the vlm domain."""
