"""A cached profile as shown (contract, section 5 "Profile")."""

from typing import Literal

from models.rules.people import Profile


class ProfileView(Profile):
    """A full profile as last fetched."""

    object: Literal["profile"] = "profile"
