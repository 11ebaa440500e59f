"""A separate process that simulates the outside world: an invented labour market behind the providers' own APIs."""
