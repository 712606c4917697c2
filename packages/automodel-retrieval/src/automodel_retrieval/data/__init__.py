"""Queries with their documents, from files to batches."""
