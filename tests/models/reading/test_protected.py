"""Protected characteristics are recognised in four languages, and words of work that hold such a word stay."""

import pytest

from models.reading.protected import protected_kind

PROTECTED = {
    "gender": "woman|Female engineer|male|women only|Frau|weiblich|Männer|femme|ingénieure (femme)|vrouw"
    "|mannelijke kandidaten",
    "age": "young|under 35|over 50 years old|aged 30|digital natives|25-35 years old|jung|unter 35|unter 40 Jahre alt"
    "|jeune diplômé|moins de 30 ans|jong|jonger dan 30|onder de 35|Young sales manager",
    "ethnicity": "white|black people|Asian|people of colour|mit Migrationshintergrund|noire"
    "|migratieachtergrond|Caucasian",
    "origin": "Dutch nationals|German citizens only|of Turkish origin|no foreigners|keine Ausländer"
    "|candidats d'origine turque"
    "|geen buitenlanders|native born",
    "religion": "christian|Muslim|Catholic people|jüdisch|musulmane|christelijk|katholisch|atheist",
    "health": "disabled|not pregnant|able-bodied|schwanger|sans handicap|zwanger|with a disability",
    "family": "married|no children|ohne Kinder|sans enfants|kinderloos|single|geschieden",
    "orientation": "gay|lesbian candidates|schwul|homosexuel|LGBT",
}
OF_WORK = (
    "midwife|imam|women's wear buyer|Women’s health physiotherapist|menswear designer|rabbi|Catholic school teacher"
    "|gender studies lecturer|black belt|white box testing|Disability nurse|youth worker|young people's counsellor"
    "|German|Dutch|French teacher|Jewish studies lecturer|single page applications|mental health nurse|family lawyer"
    "|immigration lawyer|Head of People|age care assistant|old buildings surveyor|Senior Manager"
    "|Hebamme|Kauffrau|Kaufmann/-frau|Fachfrau|Frauenarzt|Damenschneider|Jugendarbeiter|Altenpfleger|Religionslehrer"
    "|sage-femme|femme de chambre|homme d'entretien|éducateur de jeunes enfants|vendeuse mode femme|diplômé|marin"
    "|vroedvrouw|poetsvrouw|timmerman|jongerenwerker|ouderenzorg|verpleegkundige|kinderopvang"
    "|over 200 beds|under 16 bit"
)


@pytest.mark.parametrize(
    ("kind", "value"), [(kind, value) for kind, all_ in PROTECTED.items() for value in all_.split("|")]
)
def test_a_protected_characteristic_is_recognised(kind: str, value: str) -> None:
    assert protected_kind(value) == kind


@pytest.mark.parametrize("value", OF_WORK.split("|"))
def test_a_word_of_work_stays(value: str) -> None:
    assert protected_kind(value) is None
