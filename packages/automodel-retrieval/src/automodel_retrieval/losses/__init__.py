"""Losses of rankings, as sums over queries or pairs."""
