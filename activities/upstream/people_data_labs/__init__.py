"""The adapter to People Data Labs (API v5); the vendor's base URL and a key are all it needs."""

from activities.upstream.people_data_labs.source import PeopleDataLabs

__all__ = ["PeopleDataLabs"]
