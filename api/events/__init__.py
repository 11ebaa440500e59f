"""Events and webhook endpoints, as callers meet them."""
