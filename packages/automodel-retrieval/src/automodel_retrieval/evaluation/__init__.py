"""How well documents are ranked."""
