"""The files that sentence-transformers reads beside the weights."""
