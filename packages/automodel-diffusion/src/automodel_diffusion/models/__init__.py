"""Pipelines of diffusers: which component trains, how it is called, and where its files lie."""
