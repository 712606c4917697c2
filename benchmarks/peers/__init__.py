"""The pieces of ``benchmarks/peers.py``: workloads, data, timing, environments and one module per peer."""
