"""What the commands of the retrieval domain run."""
