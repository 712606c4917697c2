"""Flow matching: noise levels, the straight path between data and noise, and the loss along it."""
