"""Images and latents with labels or captions."""
