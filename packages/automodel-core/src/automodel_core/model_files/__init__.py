"""Where a model is and what its files are called: what can be said without importing anything heavy."""
