from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml

from models.base.settings import Settings
from models.operate.traces import DISABLED, ENDPOINTS, EXPORTER
from stack.compose import COMPOSE_FILE, UnusableComposeFile, read_temporal
from stack.processes import NAMES

PLACES = ("--ip", "--port", "--ui-port", "--db-filename")


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    read: dict[str, Any] = yaml.safe_load(COMPOSE_FILE.read_text())
    return read


def written(folder: Path, command: list[str], **extra: object) -> Path:
    path = folder / "compose.yml"
    kept = {"retention_days": 3, "search_attributes": {"Colour": "Keyword"}} | extra
    path.write_text(yaml.safe_dump({"x-temporal": kept, "services": {"temporal": {"command": command}}}))
    return path


def test_the_shared_file_switches_fairness_on_with_one_partition() -> None:
    values = [flag.split("=", 1)[1] for flag in read_temporal().flags if flag.startswith("--dynamic-config-value")]
    assert "matching.enableFairness=true" in values
    assert "matching.numTaskqueueReadPartitions=1" in values
    assert "matching.numTaskqueueWritePartitions=1" in values


def test_the_shared_file_names_the_search_attributes_and_keeps_a_week() -> None:
    read = read_temporal()
    assert set(read.search_attributes) == {
        "WorkspaceId",
        "CustomerId",
        "RunStatus",
        "SequenceId",
        "OutreachAccountId",
    }
    assert set(read.search_attributes.values()) == {"Keyword"}
    assert read.retention == timedelta(days=7)


def test_where_a_server_listens_and_stores_is_left_to_each_installation(tmp_path: Path) -> None:
    command = ["server", "start-dev", *(f"{flag}=x" for flag in PLACES), "--log-level=error"]
    assert read_temporal(written(tmp_path, command)).flags == ("--log-level=error",)
    assert not [flag for flag in read_temporal().flags if flag.split("=")[0] in PLACES]


@pytest.mark.parametrize(
    "command", [["server", "start-dev", "--log-level", "error"], ["operator", "cluster", "health"], []]
)
def test_a_command_that_cannot_be_followed_faithfully_is_refused(tmp_path: Path, command: list[str]) -> None:
    with pytest.raises(UnusableComposeFile):
        read_temporal(written(tmp_path, command))


@pytest.mark.parametrize("extra", [{"retention_days": "soon"}, {"search_attributes": None}])
def test_unreadable_configuration_is_refused(tmp_path: Path, extra: dict[str, object]) -> None:
    with pytest.raises(UnusableComposeFile):
        read_temporal(written(tmp_path, ["server", "start-dev"], **extra))


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UnusableComposeFile):
        read_temporal(tmp_path / "none.yml")


def test_the_compose_file_runs_every_process_but_the_sandbox(document: dict[str, Any]) -> None:
    assert set(NAMES) - {"sandbox"} <= set(document["services"])


def repeated_keys(node: yaml.Node | None) -> list[str]:
    """Keys that a mapping below this node has twice; a loader would silently take the last."""
    found: list[str] = []
    if isinstance(node, yaml.MappingNode):
        names = [name.value for name, _ in node.value]
        found += [f"{name} (line {node.start_mark.line + 1})" for name in set(names) if names.count(name) > 1]
        found += [key for _, value in node.value for key in repeated_keys(value)]
    elif isinstance(node, yaml.SequenceNode):
        found += [key for value in node.value for key in repeated_keys(value)]
    return found


def test_the_compose_file_says_nothing_twice() -> None:
    assert repeated_keys(yaml.compose(COMPOSE_FILE.read_text(), yaml.SafeLoader)) == []


def test_what_a_service_waits_for_exists(document: dict[str, Any]) -> None:
    services = document["services"]
    waited_for = {name for service in services.values() for name in service.get("depends_on", {})}
    assert waited_for <= set(services)


def test_every_variable_of_the_compose_file_is_a_setting(document: dict[str, Any]) -> None:
    environment = document["x-service"]["environment"]
    own = {name.lower() for name in environment if not name.startswith("OTEL_")}
    assert own <= set(Settings.model_fields)


def test_the_compose_file_hands_on_what_turns_traces_on_and_off(document: dict[str, Any]) -> None:
    """The tracing library reads these itself, and treats an empty value differently from a missing one."""
    environment = document["x-service"]["environment"]
    assert {*ENDPOINTS, EXPORTER, DISABLED} <= set(environment)
    assert {environment[name] for name in environment if name.startswith("OTEL_")} == {None}


def test_the_compose_file_is_marked_production(document: dict[str, Any]) -> None:
    environment = document["x-service"]["environment"]
    assert environment["PRODUCTION"] == "true"
    assert environment["VIRTUAL_TIME"] == "false"
