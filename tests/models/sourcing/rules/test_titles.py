"""Which titles are searched: all wordings in turn, none inside another, none excluded."""

from collections.abc import Collection, Sequence

from models.market.titles import TitleNarrowing
from models.sourcing.rules.ladder import choose_titles, contains_words


class Endless:
    """A hundred other wordings and fifty neighbours of every title."""

    def exact(self, title: str, *, countries: Collection[str] = ()) -> Sequence[str]:
        return [f"{title[0]}exact{number} wording" for number in range(100)]

    def nearby(self, title: str) -> Sequence[str]:
        return [f"{title[0]}near{number} title" for number in range(50)]

    def apart(self, title: str) -> Sequence[str]:
        return [f"{title[0]}apart{number} title" for number in range(50)]

    def narrowing(self, title: str) -> TitleNarrowing:
        return TitleNarrowing()


class Told:
    """Wordings and neighbours as told."""

    def __init__(self, exact: Sequence[str], nearby: Sequence[str], apart: Sequence[str] = ()) -> None:
        self._exact, self._nearby, self._apart = exact, nearby, apart

    def exact(self, title: str, *, countries: Collection[str] = ()) -> Sequence[str]:
        return self._exact

    def nearby(self, title: str) -> Sequence[str]:
        return self._nearby

    def apart(self, title: str) -> Sequence[str]:
        return self._apart

    def narrowing(self, title: str) -> TitleNarrowing:
        return TitleNarrowing()


def test_words_stand_together_in_order_on_word_boundaries() -> None:
    assert contains_words("Senior Data Engineer (Ghent)", "data engineer")
    assert contains_words("Front-End Developer", "end developer")
    assert not contains_words("Database Engineer", "data")
    assert not contains_words("Engineer, Data", "data engineer")
    assert contains_words("C++ Developer", "c++ developer")
    assert not contains_words("C# Developer", "c++ developer")


def test_every_wanted_title_gets_its_share_of_a_hundred() -> None:
    chosen = choose_titles(["a role", "b role"], ["x", "y"], Endless())
    assert len(chosen.exact) == 98
    assert chosen.exact[:4] == ("a role", "b role", "aexact0 wording", "bexact0 wording")
    assert len(chosen.nearby) == 24
    assert chosen.nearby[:2] == ("anear0 title", "bnear0 title")


def test_at_most_sixty_neighbours_are_searched() -> None:
    chosen = choose_titles([f"{letter} role" for letter in "abcdefgh"], [], Endless())
    assert len(chosen.nearby) == 60


def test_a_title_inside_another_covers_it() -> None:
    told = Told(["data engineer", "Lead Data Engineer"], ["Data Engineer Manager", "Analyst"])
    chosen = choose_titles(["Senior Data Engineer"], [], told)
    assert chosen.exact == ("data engineer",)
    assert chosen.nearby == ("Analyst",)


def test_titles_of_other_occupations_are_left_out_unless_they_are_searched_for() -> None:
    told = Told(["RN"], ["Midwife"], ["Nursery Nurse", "Nurse Manager"])
    assert choose_titles(["Nurse"], ["Dental Nurse"], told).left_out == (
        "Dental Nurse",
        "Nursery Nurse",
        "Nurse Manager",
    )
    assert choose_titles(["Nurse", "Night Nurse Manager"], [], Told([], [], ["Nurse Manager"])).left_out == ()


def test_exact_and_left_out_titles_fit_into_one_filter() -> None:
    chosen = choose_titles(["a role", "b role"], [], Endless())
    assert len(chosen.exact) + len(chosen.left_out) <= 100


def test_excluded_titles_are_not_searched_for() -> None:
    chosen = choose_titles(["Nurse"], ["head"], Told(["Head Nurse", "RN"], ["Head of Care", "Midwife"]))
    assert chosen.exact == ("Nurse", "RN")
    assert chosen.nearby == ("Midwife",)
    assert chosen.excluded == ("head",)


def test_a_title_without_a_letter_names_no_occupation() -> None:
    assert choose_titles(["***", "–"], [], Told([], ["Midwife"])).exact == ()
    assert choose_titles(["***"], [], Told([], ["Midwife"])).nearby == ()


def test_a_wanted_title_that_is_excluded_brings_no_other_wording() -> None:
    assert choose_titles(["Head Nurse"], ["head"], Told(["Matron"], ["Midwife"])).exact == ()
