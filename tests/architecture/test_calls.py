"""Following calls, on products made up for it: what is followed, what is not, and that a flow can fail."""

from pathlib import Path

import pytest

from tests.architecture.calls import Calls
from tests.architecture.flows import Flow, named, walk
from tests.architecture.source import Product

Files = dict[str, str]


def product(root: Path, files: Files) -> Calls:
    write(root, files)
    return Calls(Product(root))


def write(root: Path, files: Files) -> None:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)


def walked(root: Path, files: Files, begins: str = "start", *through: str) -> set[str]:
    """The functions walked through after the first."""
    found = walk(product(root, files), Flow("made up", begins, through))
    return {f"{one.module.name}:{one.name}" for one in found.functions} - {f"api.routes:{begins}"}


def test_a_call_through_an_alias_and_a_re_export(tmp_path: Path) -> None:
    files = {
        "api/routes.py": "from models import store as kept\ndef start(): kept.save()\n",
        "models/store/__init__.py": "from models.store.rows import write as save\n",
        "models/store/rows.py": "def write(): ...\ndef other(): ...\n",
    }
    assert walked(tmp_path, files) == {"models.store.rows:write"}


def test_a_function_that_is_handed_on_or_kept_in_a_registry(tmp_path: Path) -> None:
    files = {
        "api/routes.py": "from models.kinds import OF\nfrom models.run import run\ndef start(): run(OF['one'])\n",
        "models/kinds.py": "from models import one, two\nOF = {'one': one.first, 'two': two.second}\n",
        "models/one.py": "def first(): ...\n",
        "models/two.py": "def second(): ...\n",
        "models/run.py": "def run(work): work()\n",
    }
    assert walked(tmp_path, files) == {"models.one:first", "models.two:second", "models.run:run"}


def test_a_method_by_the_annotation_of_its_object(tmp_path: Path) -> None:
    files = {
        "api/routes.py": "from models.a import A\ndef start(rows: 'list[A]'):\n    for row in rows: row.save()\n",
        "models/a.py": (
            "class A:\n    part: 'Part'\n    def save(self): self.part.save()\nclass Part:\n    def save(self): ...\n"
        ),
        "models/b.py": "class B:\n    def save(self): ...\n",
    }
    assert walked(tmp_path, files) == {"models.a:A.save", "models.a:Part.save"}


def test_a_method_of_an_unknown_object_by_its_name_when_one_class_alone_has_it(tmp_path: Path) -> None:
    files = {
        "api/routes.py": "def start(thing):\n    thing.rare()\n    thing.common()\n",
        "models/a.py": "class A:\n    def rare(self): ...\n    def common(self): ...\n",
        "models/b.py": "class B:\n    def common(self): ...\n",
    }
    assert walked(tmp_path, files) == {"models.a:A.rare"}


def test_a_method_of_a_library_is_none_of_the_products(tmp_path: Path) -> None:
    files = {
        "api/routes.py": "from sqlalchemy import Session\ndef start(session: Session): session.rare()\n",
        "models/a.py": "class A:\n    def rare(self): ...\n",
    }
    assert not walked(tmp_path, files)


def test_an_object_that_is_made_and_a_property_that_is_read(tmp_path: Path) -> None:
    files = {
        "api/routes.py": "from models.a import A\ndef start(): return A().total\n",
        "models/a.py": (
            "class A:\n    def __init__(self): ...\n    @property\n    def total(self): ...\n    def other(self): ...\n"
        ),
    }
    assert walked(tmp_path, files) == {"models.a:A.__init__", "models.a:A.total"}


def test_a_protocol_ends_the_walk_and_an_empty_method_leads_to_those_of_subclasses(tmp_path: Path) -> None:
    files = {
        "api/routes.py": (
            "from models.a import Base, Port\ndef start(port: Port, base: Base):\n    port.send()\n    base.do()\n"
        ),
        "models/a.py": (
            "from typing import Protocol\nclass Port(Protocol):\n    def send(self): ...\n"
            "class Adapter(Port):\n    def send(self): print(1)\n"
            "class Base:\n    def do(self): raise NotImplementedError\n"
            "class One(Base):\n    def do(self): print(1)\n"
        ),
    }
    assert walked(tmp_path, files) == {"models.a:One.do"}


STEPS = {
    "api/routes.py": "from workflows import names\ndef start(): return {'step': names.SEND}\n",
    "workflows/names.py": "SEND = 'a.send'\nREAD = 'a.read'\n",
    "activities/a.py": (
        "from temporalio import activity\nfrom workflows import names\nclass Steps:\n"
        "    @activity.defn(name=names.SEND)\n    def send(self): ...\n"
        "    @activity.defn(name='a.read')\n    def read(self): ...\n"
    ),
}


def test_the_name_of_a_step_leads_to_it_in_a_flow_that_goes_through_it(tmp_path: Path) -> None:
    assert walked(tmp_path, STEPS, "start", "a.send") == {"activities.a:Steps.send"}
    assert not walked(tmp_path, STEPS, "start")


def test_a_name_that_nothing_leads_to_is_missed(tmp_path: Path) -> None:
    found = walk(product(tmp_path, STEPS), Flow("made up", "start", ("a.read",)))
    assert found.missed == {"a.read"}


def test_a_route_by_its_path(tmp_path: Path) -> None:
    files = {
        "api/routes.py": (
            "from starlette.routing import Route\nHERE = '/here'\n"
            "def receive(): ...\nROUTES = [Route(f'{HERE}/it', receive)]\n"
        )
    }
    assert [one.name for one in named(product(tmp_path, files), "/here/it")] == ["receive"]


def test_a_flow_that_begins_nowhere_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(LookupError, match="nowhere"):
        walk(product(tmp_path, STEPS), Flow("made up", "nowhere"))


def test_files_are_counted_once_and_files_without_a_walked_function_not_at_all(tmp_path: Path) -> None:
    files = {
        "api/routes.py": "from models.a import SIZE, one\ndef start():\n    one(SIZE)\n    again()\ndef again(): ...\n",
        "models/a.py": "from models.b import SIZE\ndef one(size): ...\n",
        "models/b.py": "SIZE = 3\ndef unused(): ...\n",
    }
    found = walk(product(tmp_path, files), Flow("made up", "start"))
    assert {path.as_posix(): len(each) for path, each in found.files.items()} == {"api/routes.py": 2, "models/a.py": 1}
