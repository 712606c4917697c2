"""Text data for causal language models."""
