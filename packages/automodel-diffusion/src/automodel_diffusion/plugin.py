"""What the diffusion domain declares. Declarations only: nothing heavy is imported here."""
