"""A separate process that plays the outside world: an invented labour market behind the providers' own APIs."""
