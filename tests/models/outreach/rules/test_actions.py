"""What is said of the types of action holds everywhere: in the channel's adapter, the API, the sandbox."""

from typing import get_args

from activities.outreach.calls import NetworkChannel
from activities.upstream.unipile.network import UnipileNetwork
from api.outreach.actions_schemas import SendAsk
from api.outreach.conversations_schemas import ActivityCounts
from api.outreach.sequences_schemas import StepAsk, StepView
from models.outreach.rules.actions import (
    ACTION_SPECS,
    MAX_NOTE_UNITS,
    TEXT_OWNERS,
    ActionType,
    ChannelCall,
    ChannelName,
)
from sandbox.network import ledger, users


def test_every_type_is_described() -> None:
    assert ACTION_SPECS.keys() == set(ActionType)
    assert {spec.call for spec in ACTION_SPECS.values()} == set(ChannelCall)


def test_the_network_makes_every_call_and_reads_back_what_can_be() -> None:
    channel = NetworkChannel(UnipileNetwork(base_url="https://unused.example", api_key=None))
    assert channel.sends == {spec.call for spec in ACTION_SPECS.values() if spec.channel is ChannelName.NETWORK}
    assert channel.reads == {spec.call for spec in ACTION_SPECS.values() if spec.is_read_back}


def test_schemas_have_the_fields_of_texts_and_counts() -> None:
    for schema in (SendAsk, StepAsk, StepView):
        assert TEXT_OWNERS.keys() <= schema.model_fields.keys()
    assert {spec.reported_as for spec in ACTION_SPECS.values()} < ActivityCounts.model_fields.keys()
    assert get_args(StepView.model_fields["channel"].annotation) == tuple(ChannelName)


def test_the_sandbox_logs_the_calls_and_limits_notes_alike() -> None:
    assert set(get_args(ledger.Kind)) == set(ChannelCall)
    assert users.NOTE_UNITS == MAX_NOTE_UNITS
