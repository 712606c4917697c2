"""Reading records, putting them in a global order, and loading them in batches."""
