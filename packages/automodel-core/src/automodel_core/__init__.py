"""The core of automodel: hooks, configuration, infrastructure pipeline, training loop and checkpoint format."""

__version__ = "0.1.0"
