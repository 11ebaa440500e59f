"""A cached profile as shown (contract, section 5 "Profile")."""

from typing import Literal

from models.people.rules.profiles import Profile


class ProfileView(Profile):
    """A full profile as last fetched."""

    object: Literal["profile"] = "profile"
