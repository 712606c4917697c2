"""Experiment trackers: observers that pass a run's metrics on. Each imports its library when a run starts."""
