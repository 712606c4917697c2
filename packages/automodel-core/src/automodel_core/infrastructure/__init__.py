"""The nine stages between a model's description and a model that trains."""
