"""The recipe, the one loop, and the arithmetic that drives it."""
