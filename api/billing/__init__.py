"""Credits and purchases, as callers meet them."""
