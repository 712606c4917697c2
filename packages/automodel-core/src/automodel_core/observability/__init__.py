"""What a run says of itself: samples, JSON lines, the console."""
