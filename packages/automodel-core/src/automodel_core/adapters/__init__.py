"""Layers over model libraries, named by domains in ``models()``; nothing else in the core imports them."""
