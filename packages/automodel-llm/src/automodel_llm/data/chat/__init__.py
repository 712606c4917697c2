"""Conversations as token ids: rendered by a chat template, supervised on what the assistant says and how it ends."""
