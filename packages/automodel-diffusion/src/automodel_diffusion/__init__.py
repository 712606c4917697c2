"""The diffusion domain of automodel."""

__version__ = "0.1.0"
