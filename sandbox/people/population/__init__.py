"""The invented people: `build_population` returns the same people for the same seed everywhere."""

from sandbox.people.population.build import Population, build_population

__all__ = ["Population", "build_population"]
