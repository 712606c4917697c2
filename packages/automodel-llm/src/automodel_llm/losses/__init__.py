"""Losses over next tokens."""
