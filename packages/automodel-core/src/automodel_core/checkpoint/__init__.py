"""The checkpoint format: a Hugging Face directory with the run's state beside it and a manifest written last."""
