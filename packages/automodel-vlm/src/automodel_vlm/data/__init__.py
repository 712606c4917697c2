"""Conversations and questions with images."""
