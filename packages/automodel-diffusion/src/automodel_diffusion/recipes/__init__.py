"""The recipes of the diffusion domain."""
