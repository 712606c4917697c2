"""What is known of a run before it starts: the files that its config names, and the sections that it reads."""
