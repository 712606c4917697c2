"""Small real models and data for quick starts, tests and benchmarks: named, pinned by hash, cached, converted once.

No package depends on an asset, and no run fetches one: ``automodel assets fetch NAME`` does, and a config says
``${asset:NAME}`` for the directory.
"""
