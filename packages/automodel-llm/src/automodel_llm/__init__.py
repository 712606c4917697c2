"""The llm domain of automodel."""

__version__ = "0.1.0"
