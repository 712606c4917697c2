"""The model classes that configs may name."""
