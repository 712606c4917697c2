"""Bi-encoders and cross-encoders as models that configs name."""
