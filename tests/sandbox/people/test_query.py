import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sandbox.people.fields import FIELDS, Kind, index_of
from sandbox.people.population.build import Population, build_population
from sandbox.people.query import QueryRefused, compile_query, matching
from tests.sandbox.conftest import Object
from tests.sandbox.people.oracle import holds, values

SMALL = build_population(250, 7)
RECORDS = list(SMALL)
LISTED = [record for number, record in enumerate(RECORDS) if SMALL.listed[number]]


def expected(clause: Object) -> set[str]:
    return {record["id"] for record in LISTED if holds(record, clause)}


def known_values(field: str) -> list[object]:
    found = [value for record in RECORDS for value in values(record, field) if not isinstance(value, bool)]
    return sorted(set(found), key=str) or ["nothing"]


KNOWN = {name: known_values(name) for name, field in FIELDS.items() if field.kind not in (Kind.OBJECT, Kind.BOOLEAN)}
KEYWORDS = sorted(name for name, field in FIELDS.items() if field.kind is Kind.KEYWORD)
TEXTS = sorted(name for name, field in FIELDS.items() if field.kind is Kind.TEXT)
ORDERED = sorted(name for name, field in FIELDS.items() if field.kind in (Kind.INTEGER, Kind.DATE))


@st.composite
def leaves(draw: st.DrawFn) -> Object:
    kind = draw(st.sampled_from(["exists", "keyword", "text", "range"]))
    if kind == "exists":
        return {"exists": {"field": draw(st.sampled_from(sorted(FIELDS)))}}
    if kind == "keyword":
        field = draw(st.sampled_from(KEYWORDS))
        value = draw(st.sampled_from(KNOWN[field]))
        more = draw(st.lists(st.sampled_from(KNOWN[field]), max_size=4))
        return draw(
            st.sampled_from(
                [
                    {"term": {field: value}},
                    {"match": {field: value}},
                    {"terms": {field: more}},
                    {"prefix": {field: str(value)[:3]}},
                ]
            )
        )
    if kind == "text":
        field = draw(st.sampled_from(TEXTS))
        words = str(draw(st.sampled_from(KNOWN[field]))).lower().split()
        start = draw(st.integers(0, max(0, len(words) - 2)))
        name = draw(st.sampled_from(["match", "match_phrase", "term"]))
        return {name: {field: " ".join(words[start : start + (1 if name == "term" else 2)])}}
    field = draw(st.sampled_from(ORDERED))
    low, high = sorted((draw(st.sampled_from(KNOWN[field])), draw(st.sampled_from(KNOWN[field]))), key=str)
    bounds = {draw(st.sampled_from(["gt", "gte"])): low, draw(st.sampled_from(["lt", "lte"])): high}
    return {"range": {field: bounds}}


def combined(clauses: st.SearchStrategy[Object]) -> st.SearchStrategy[Object]:
    some = st.lists(clauses, max_size=3)
    parts = st.fixed_dictionaries({}, optional={"must": some, "must_not": some, "should": some})
    return parts.map(lambda body: {"bool": body})


CLAUSES = st.recursive(leaves(), combined, max_leaves=8)


@settings(max_examples=150, deadline=None)
@given(CLAUSES)
def test_the_index_finds_whom_the_records_say(clause: Object) -> None:
    assert matching(SMALL, {"query": clause}) == expected(clause)


@pytest.mark.parametrize("field", sorted(FIELDS))
def test_every_field_exists_where_the_record_has_it(field: str) -> None:
    assert matching(SMALL, {"exists": {"field": field}}) == expected({"exists": {"field": field}})


@pytest.mark.parametrize("field", KEYWORDS)
def test_every_keyword_is_found_by_each_of_its_values(field: str) -> None:
    for value in KNOWN[field][:40]:
        clause = {"term": {field: value}}
        assert matching(SMALL, clause) == expected(clause), value


ENGINEER = {"match_phrase": {"job_title.text": "data engineer"}}
BELGIUM = {"term": {"location_country": "belgium"}}


def found(population: Population, clause: Object) -> set[str]:
    return matching(population, {"query": clause})


def test_should_beside_must_does_not_filter(population: Population) -> None:
    both = {"bool": {"must": [BELGIUM], "should": [ENGINEER]}}
    assert found(population, both) == found(population, BELGIUM) != set()


def test_should_alone_needs_one_hit(population: Population) -> None:
    alone = {"bool": {"should": [ENGINEER, {"term": {"location_country": "nowhere"}}]}}
    assert found(population, alone) == found(population, ENGINEER) != set()


def test_should_beside_must_not_needs_one_hit(population: Population) -> None:
    beside = {"bool": {"should": [ENGINEER], "must_not": [BELGIUM]}}
    assert found(population, beside) == found(population, ENGINEER) - found(population, BELGIUM)


def test_a_part_may_be_one_clause_instead_of_a_list(population: Population) -> None:
    assert found(population, {"bool": {"must": BELGIUM}}) == found(population, BELGIUM)


def test_phrases_need_neighbours_in_order(population: Population) -> None:
    assert found(population, {"match_phrase": {"job_title.text": "engineer data"}}) == set()
    loose = found(population, {"match": {"job_title.text": "data engineer"}})
    assert loose > found(population, ENGINEER)


def test_a_keyword_compares_the_whole_value_and_case(population: Population) -> None:
    exact = found(population, {"term": {"job_title": "data engineer"}})
    assert exact
    assert exact < found(population, ENGINEER)
    assert found(population, {"term": {"location_country": "Belgium"}}) == set()


def test_conditions_on_jobs_may_be_met_by_two_different_jobs(population: Population) -> None:
    for record in population:
        jobs = [job for job in record["experience"] if job["company"].get("id")]
        pairs = {(job["title"]["name"], job["company"]["id"]) for job in jobs}
        if len(jobs) > 1 and (jobs[0]["title"]["name"], jobs[1]["company"]["id"]) not in pairs:
            both = [
                {"term": {"experience.title.name": jobs[0]["title"]["name"]}},
                {"term": {"experience.company.id": jobs[1]["company"]["id"]}},
                {"term": {"id": record["id"]}},
            ]
            assert found(population, {"bool": {"must": both}}) == {record["id"]}
            return
    pytest.fail("nobody had two employers")


def test_withheld_contacts_exist_but_equal_nothing(population: Population) -> None:
    withheld = next(record for record in population if record["work_email"] is True)
    only = {"term": {"id": withheld["id"]}}
    assert found(population, {"bool": {"must": [only, {"exists": {"field": "work_email"}}]}}) == {withheld["id"]}
    guess = {"wildcard": {"work_email": "*"}}
    assert found(population, {"bool": {"must": [only, guess]}}) == set()


def test_wildcards_and_prefixes_see_values_of_keywords_and_tokens_of_text(population: Population) -> None:
    assert found(population, {"wildcard": {"job_title.text": "enginee?"}}) == found(
        population, {"term": {"job_title.text": "engineer"}}
    )
    assert found(population, {"prefix": {"location_locality": "ghen"}}) >= found(
        population, {"term": {"location_locality": "ghent"}}
    )
    assert found(population, {"wildcard": {"job_title": "[data]*"}}) == set()


def test_dates_are_padded_to_their_first_day(population: Population) -> None:
    year_only = next(r for r in population if len(r["job_start_date"] or "") == 4)
    year = year_only["job_start_date"]

    def having(bounds: Object) -> bool:
        return year_only["id"] in found(population, {"range": {"job_start_date": bounds}})

    assert having({"gte": year, "lte": f"{year}-01-01"})
    assert having({"lt": f"{year}-02"})
    assert not having({"gt": year})


def test_people_taken_off_by_opt_out_are_not_found(population: Population) -> None:
    all_people = found(population, {"match_all": {}})
    assert len(all_people) == int(population.listed.sum()) < len(population)


REFUSED = [
    ({"bool": {"filter": [BELGIUM]}}, "filter"),
    ({"bool": {"must": [BELGIUM], "minimum_should_match": 1}}, "minimum_should_match"),
    ({"bool": {"must": "x"}}, "must"),
    ({"bool": []}, "bool"),
    ({"nested": {"path": "experience", "query": BELGIUM}}, "nested"),
    ({"geo_distance": {"distance": "1km", "location_geo": "1,1"}}, "geo_distance"),
    ({"script": {"script": "1"}}, "script"),
    ({"term": {"job_titel": "x"}}, "job_titel"),
    ({"term": {"job_title": {"value": "x"}}}, "job_title"),
    ({"term": {"job_title": "x", "skills": "y"}}, "term"),
    ({"terms": {"job_title": "x"}}, "job_title"),
    ({"terms": {"job_title": ["x"] * 1001}}, "1000"),
    ({"terms": {"job_title": [["x"]]}}, "job_title"),
    ({"match": {"job_title.text": {"query": "x", "operator": "and"}}}, "job_title.text"),
    ({"match_phrase": {"job_title.text": ["x"]}}, "job_title.text"),
    ({"range": {"job_title": {"gte": "a"}}}, "job_title"),
    ({"range": {"inferred_years_experience": {"from": 1}}}, "from"),
    ({"range": {"inferred_years_experience": {"gte": "many"}}}, "inferred_years_experience"),
    ({"range": {"inferred_years_experience": {}}}, "inferred_years_experience"),
    ({"range": {"job_start_date": {"gte": "01/02/2020"}}}, "job_start_date"),
    ({"range": {"job_start_date": {"gte": "2020-13"}}}, "job_start_date"),
    ({"exists": {"field": "shoe_size"}}, "shoe_size"),
    ({"exists": {"fields": "skills"}}, "fields"),
    ({"exists": "skills"}, "exists"),
    ({"term": {"location_geo": "51.05,3.72"}}, "location_geo"),
    ({"prefix": {"inferred_years_experience": "1"}}, "inferred_years_experience"),
    ({"wildcard": {"job_title": 5}}, "job_title"),
    ({"match_all": {"boost": 2}}, "match_all"),
    ({}, "exactly one"),
    ([], "exactly one"),
    ("text", "exactly one"),
    ({"query": BELGIUM, "sort": ["id"]}, "sort"),
    ({"query": BELGIUM, "aggs": {}}, "aggs"),
]


@pytest.mark.parametrize(("query", "named"), REFUSED, ids=[json.dumps(query)[:60] for query, _ in REFUSED])
def test_everything_else_is_refused_by_name(query: object, named: str) -> None:
    with pytest.raises(QueryRefused, match=named.replace(".", r"\.")):
        compile_query(query)


def test_columns_are_made_once(population: Population) -> None:
    assert index_of(population).column("job_title") is index_of(population).column("job_title")
