"""How many people live in a set of places: the ground of a rough estimate before a source has counted."""

from collections.abc import Iterable

import numpy as np

from models.rules.places.gazetteer import LEVELS, Gazetteer, Level


class Residents:
    """Counts people of places. A place inside another listed one adds nothing.

    GeoNames counts districts of a city beside the city, so the cities of a country can sum up to more than its people:
    everything below a country is scaled to the country's total. Good to about a factor of two for single cities.
    """

    def __init__(self, table: Gazetteer) -> None:
        cities = slice(0, table.cities)
        totals = np.bincount(
            table.country[cities], weights=table.population[cities].astype(float), minlength=len(table.countries)
        )
        whole = np.array([float(table.population[country.row]) for country in table.countries])
        self._scale = np.minimum(1.0, whole / np.maximum(totals, 1.0))
        self._table = table

    def count(self, rows: Iterable[int]) -> int:
        """People in the union of the places of these rows."""
        wanted = frozenset(rows)
        return round(sum(self._people(row) for row in wanted if wanted.isdisjoint(self._around(row))))

    def _people(self, row: int) -> float:
        people = float(self._table.population[row])
        if LEVELS[self._table.level[row]] is Level.COUNTRY:
            return people
        return people * float(self._scale[self._table.country[row]])

    def _around(self, row: int) -> list[int]:
        table = self._table
        areas = (table.countries[table.country[row]].row, int(table.region[row]), int(table.district[row]))
        return [area for area in areas if area not in (row, -1)]
