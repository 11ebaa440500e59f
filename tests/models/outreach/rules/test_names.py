"""First names and companies as people write them, and what one says to them."""

import unicodedata

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from models.outreach.rules.texts import greeting_name, recased, spoken_company, undecorated

FAMILY = "\U0001f469\U0001f3fd\u200d\U0001f4bb"  # one emoji of four signs


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("Anna", "Anna"),
        ("  Anna  ", "Anna"),
        ("Anna Maria", "Anna Maria"),
        ("José-María", "José-María"),
        # titles, post-nominals, pronouns, quotes, nicknames, emoji
        ("Dr. Anna", "Anna"),
        ("Prof. Dr. Anna", "Anna"),
        ("Ing. Jan", "Jan"),
        ("Sra. Lucía", "Lucía"),
        ("Anna, PhD", "Anna"),
        ("Anna PhD", "Anna"),
        ("Anna, MBA, PMP", "Anna"),
        ("Juan Jr.", "Juan"),
        ("Anna MA", "Anna"),
        ("Jack Ma", "Jack Ma"),
        ("Anna (She/Her)", "Anna"),
        ("Anna she/her", "Anna"),
        ("Els (zij/haar)", "Els"),
        ("Noa hen/hun", "Noa"),
        ("Anna/Annie", "Anna/Annie"),
        ('"Anna"', "Anna"),
        ("‘Anna’", "Anna"),
        ('Robert "Bob"', "Robert"),
        ("Robert „Bob“", "Robert"),
        ("Anna (Annie)", "Anna"),
        ("(Anna)", "Anna"),
        ("Anna 🚀", "Anna"),
        ("🚀 | Anna", "Anna"),
        (f"{FAMILY} Anna 🇧🇪 1️⃣", "Anna"),
        ("Anna ❤️", "Anna"),
        ("Anna | Recruiter", "Anna"),
        ("Anna - Recruiter", "Anna"),
        ("Anna\u200d", "Anna"),
        ("\u202eAnna", "Anna"),
        ("𝐀𝐧𝐧𝐚", "Anna"),
        ("Ａｎｎａ", "Anna"),
        # letters on their own
        ("Anna M.", "Anna"),
        ("J. Robert", "Robert"),
        ("JP", "JP"),
        ("BO", "Bo"),
        # capitals
        ("ANNA", "Anna"),
        ("anna", "Anna"),
        ("ANNA MARIA", "Anna Maria"),
        ("JOSÉ-MARÍA", "José-María"),
        ("MARIA DEL CARMEN", "Maria del Carmen"),
        ("ANNE-SOPHIE", "Anne-Sophie"),
        ("O'BRIEN", "O'Brien"),
        ("O´BRIEN", "O´Brien"),
        ("N’GOLO", "N’Golo"),
        ("MA'AYAN", "Ma'ayan"),
        ("IJSBRAND", "IJsbrand"),
        ("İBRAHİM", "İbrahim"),
        ("FİLİZ", "Filiz"),
        ("DeShawn", "DeShawn"),
        ("d'Artagnan", "d'Artagnan"),
        ("MARK O'NEILL MBA", "Mark O'Neill"),
        # other ways of writing names stay whole
        ("van der Berg", "van der Berg"),
        ("DE SMET Jan", "DE SMET Jan"),
        ("李 伟", "李 伟"),
        ("伟", "伟"),
        ("민준", "민준"),
        ("田中 太郎", "田中 太郎"),
        ("さくら", "さくら"),
        ("АННА", "АННА"),
        ("Ελένη", "Ελένη"),
        ("محمد علي", "محمد علي"),
        ("می\u200cنا", "می\u200cنا"),
        ("李伟 (Wei)", "李伟"),
        ("李伟 🚀", "李伟"),
        # combining marks
        ("Jose\u0301", "José"),
        ("Nguye\u0302\u0303n", "Nguyễn"),
        ("ZOE\u0308", "Zoë"),
        ("Þór", "Þór"),
    ],
)
def test_a_first_name_as_one_says_it(written: str, said: str) -> None:
    assert greeting_name(written, None) == said


@pytest.mark.parametrize("written", [None, "", " ", "J.", "J", "R S.", "J.P.", "Dr.", "123", "🚀", "—", "é", "ж", '""'])
def test_a_letter_or_nothing_is_a_missing_name(written: str | None) -> None:
    assert greeting_name(written, None) is None
    assert greeting_name(written, "J. Smith") is None


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("Anna de Vries", "Anna"),  # Dutch
        ("Jan-Willem van Dijk", "Jan-Willem"),
        ("Kim Peeters", "Kim"),
        ("Joris 'Jo' Peeters", "Joris"),
        ("Jan DE SMET", "Jan"),
        ("DE SMET Jan", "DE SMET Jan"),
        ("van der Berg Jan", "van der Berg Jan"),
        ("van der berg", "Van"),  # all small: nothing tells a family name from a first name
        ("De Smet, Jan", "De Smet, Jan"),
        ("DE SMET, JAN", "De Smet, Jan"),
        ("María del Carmen García López", "María"),  # Spanish
        ("João Pedro da Silva", "João"),  # Portuguese
        ("Nagy Anna", "Nagy Anna"),  # Hungarian
        ("NAGY Anna", "NAGY Anna"),
        ("Nguyễn Văn Anh", "Nguyễn Văn Anh"),  # Vietnamese
        ("Wang Wei", "Wang Wei"),  # Chinese
        ("李 伟", "李 伟"),
        ("Tanaka Taro", "Tanaka Taro"),  # Japanese
        ("田中 太郎", "田中 太郎"),
        ("محمد علي", "محمد علي"),  # Arabic
        ("Abdul Rahman Hassan", "Abdul Rahman"),
        ("Abd al-Rahman", "Abd al-Rahman"),
        ("El Mehdi Benali", "El Mehdi"),
        ("J. Robert Oppenheimer", "Robert"),
        ("Dr. Anna Smith MBA", "Anna"),
        ("DR ANNA SMITH", "Anna"),
        ("Anna Smith, PhD", "Anna"),
        ("Anna Smith, recruiter at Acme", "Anna"),
        (", Anna", "Anna"),
        ("jan peeters", "Jan"),
        ("Madonna", "Madonna"),
    ],
)
def test_a_first_name_out_of_a_full_name(written: str, said: str) -> None:
    assert greeting_name(None, written) == said
    assert greeting_name("J.", written) == said


@pytest.mark.parametrize("written", ["J. Smith", "R. S. Patel", "J. van der Berg", "Dr", "", None])
def test_an_initial_and_a_family_name_are_no_first_name(written: str | None) -> None:
    assert greeting_name(None, written) is None


@pytest.mark.timeout(60)  # time that grows faster than the text would take hours
@pytest.mark.parametrize("part", ["a", "a/", "(", '"', "A.", " - ", "a,", "'", "a\u200d", "a, ", "a & co "])
def test_the_longest_name_is_looked_through_at_once(part: str) -> None:
    text = part * (20_000 // len(part))
    greeting_name(text, text)
    spoken_company(text)


@given(st.text(max_size=40))
@settings(deadline=None)
def test_any_text_gives_a_composed_name_with_letters_or_none(text: str) -> None:
    name = greeting_name(text, text)
    if name is not None:
        assert any(map(str.isalpha, name))
        assert name == unicodedata.normalize("NFC", name.strip())
        assert "  " not in name
        assert "\n" not in name


@given(st.text(alphabet=st.characters(codec="utf-8", categories=["L", "M", "S", "Z", "C"]), max_size=30))
@example("\uff04")
@settings(deadline=None)
def test_taking_decoration_off_twice_takes_nothing_more(text: str) -> None:
    once = undecorated(text)
    assert undecorated(once) == once


@given(st.from_regex(r"[A-Z][a-z]{2,8}( [A-Z][a-z]{2,8})?", fullmatch=True))
@settings(deadline=None)
def test_mixed_case_is_kept(name: str) -> None:
    assert recased(name) == name
    assert recased("") == ""


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("Acme", "Acme"),
        ("Acme N.V.", "Acme"),
        ("Acme B. V.", "Acme"),
        ("acme bv", "acme"),
        ("ACME GmbH & Co. KG", "ACME"),
        ("Müller GmbH und Co KG", "Müller"),
        ("Acme, Inc.", "Acme"),
        ("Acme Pty Ltd", "Acme"),
        ("Acme Sdn. Bhd.", "Acme"),
        ("Acme S.A. de C.V.", "Acme"),
        ("Firma Sp. z o.o.", "Firma"),
        ("Škoda a.s.", "Škoda"),
        ("Novo Nordisk A/S", "Novo Nordisk"),
        ("Acme UG (haftungsbeschränkt)", "Acme"),
        ("Huawei Technologies Co., Ltd.", "Huawei Technologies"),
        ("Foo & Bar AG", "Foo & Bar"),
        ("Foo & AG", "Foo"),
        ("GmbH & Co. KG", "GmbH & Co."),
        ("Acme Ltda", "Acme"),
        ("Acme Oy", "Acme"),
        ("Acme OÜ", "Acme"),
        ("Acme ehf.", "Acme"),
        ("Acme, UAB", "Acme"),
        ("Acme SIA", "Acme"),
        ("Acme Systems Private Limited", "Acme Systems"),
        ("Acme 🚀 bv", "Acme"),
        # what people say stays
        ("Inc. Magazine", "Inc. Magazine"),
        ("Smith & Co. Ltd", "Smith & Co."),
        ("Smith & Co", "Smith & Co"),
        ("Bain & Company, Inc.", "Bain & Company"),
        ("3M Company", "3M Company"),
        ("Marks & Spencer plc", "Marks & Spencer"),
        ("Acme Group Holding BV", "Acme Group Holding"),
        ("Do As", "Do As"),
        ("Acme Private", "Acme Private"),
        ("AG", "AG"),
        ("Disney+", "Disney+"),
        ("株式会社トヨタ", "株式会社トヨタ"),
        ("1&1", "1&1"),
    ],
)
def test_a_company_is_said_without_its_legal_form(written: str, said: str) -> None:
    assert spoken_company(written) == said


@pytest.mark.parametrize("written", [None, "", "  ", "---", "🚀"])
def test_a_company_without_a_letter_or_digit_is_missing(written: str | None) -> None:
    assert spoken_company(written) is None


@given(st.text(max_size=40))
@settings(deadline=None)
def test_any_company_is_said_in_its_own_words(text: str) -> None:
    said = spoken_company(text)
    assert said is None or (said.strip() == said and any(map(str.isalnum, said)))
