"""Traces are off unless the standard variables ask for them, and tell facts alone."""

import pytest
from opentelemetry.trace import SpanKind
from structlog.contextvars import get_contextvars

from models.base.errors import NotFound
from models.operate import traces
from models.operate.traces import Fact
from tests.collector import Collector, collecting
from tests.models.base.frozen import frozen_server

ENDPOINT = "OTEL_EXPORTER_OTLP_ENDPOINT"
SOMEWHERE = "http://127.0.0.1:4318"


@pytest.mark.parametrize(
    ("environment", "wanted"),
    [
        ({}, False),
        ({ENDPOINT: ""}, False),
        ({ENDPOINT: SOMEWHERE}, True),
        ({"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": SOMEWHERE}, True),
        ({"OTEL_TRACES_EXPORTER": "otlp"}, True),
        ({"OTEL_TRACES_EXPORTER": "none", ENDPOINT: SOMEWHERE}, False),
        ({"OTEL_SDK_DISABLED": "true", ENDPOINT: SOMEWHERE}, False),
    ],
)
def test_the_standard_variables_say_whether_there_are_traces(environment: dict[str, str], *, wanted: bool) -> None:
    assert traces.asked_for(environment) is wanted


def test_an_exporter_that_is_not_here_is_refused() -> None:
    with pytest.raises(ValueError, match="OTEL_TRACES_EXPORTER"):
        traces.asked_for({"OTEL_TRACES_EXPORTER": "zipkin"})


async def test_without_them_nothing_is_recorded_and_nothing_handed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(ENDPOINT, raising=False)
    async with traces.sending("tests"):
        with traces.span("quiet", SpanKind.SERVER, {}, parent=traces.root()) as span:
            assert not span.is_recording()
            assert traces.carried() == {}
            assert "trace_id" not in get_contextvars()


async def recorded(monkeypatch: pytest.MonkeyPatch, **environment: str) -> Collector:
    """One span in which something goes wrong, in another one."""
    with collecting() as collector:
        monkeypatch.setenv(ENDPOINT, collector.url)
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        async with traces.sending("tests"):
            with traces.span("outer", SpanKind.SERVER, {Fact.STATUS: 200, Fact.WORKSPACE: None}) as outer:
                assert get_contextvars()["trace_id"] == f"{outer.get_span_context().trace_id:032x}"
                with pytest.raises(NotFound), traces.upstream("somebody", "reads"):
                    raise NotFound("ada@example.com is not here")
    return collector


async def test_an_error_is_reported_by_its_code_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    collector = await recorded(monkeypatch)
    (inner,), (outer,) = collector.named("somebody reads"), collector.named("outer")
    assert (inner.failed, inner.facts["error.type"]) == (True, "not_found")
    assert (outer.failed, outer.facts) == (False, {"http.response.status_code": 200})
    assert inner.parent_id == outer.span_id
    assert b"ada" not in b"".join(collector.raw)


@pytest.mark.timeout(30)
async def test_a_collector_that_hangs_blocks_no_request(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(traces, "FLUSH_SECONDS", 0.1)
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "3600")
    async with frozen_server() as port:
        monkeypatch.setenv(ENDPOINT, f"http://127.0.0.1:{port}")
        async with traces.sending("tests"):
            with traces.upstream("somebody", "reads"):
                pass


async def test_name_and_sampling_are_the_operators(monkeypatch: pytest.MonkeyPatch) -> None:
    named = await recorded(monkeypatch, OTEL_SERVICE_NAME="of the operator")
    assert {span.service for span in named.spans} == {"of the operator"}
    none = await recorded(monkeypatch, OTEL_TRACES_SAMPLER="always_off")
    assert none.spans == []
