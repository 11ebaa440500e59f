"""The steps of enrollments on the real sandbox network, with one clock for both sides."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from activities.outreach.calls import NetworkChannel
from activities.outreach.sends import SendSteps
from activities.upstream.unipile.network import UnipileNetwork
from models.base.database import Database
from models.base.secrets import Vault
from models.base.steps import Call, Do, NextStep, Step
from models.outreach.engine.plan import OUTREACH_SEND
from tests.activities.upstream.unipile.conftest import Sandbox
from tests.models.outreach.sending_world import World

TURNS = 60


@dataclass
class Stage(World):
    """A world whose account is connected in the sandbox; its people are the sandbox's."""

    sandbox: Sandbox | None = None
    network: UnipileNetwork | None = None
    frozen: float = 0.0
    """Seconds for which the worker's machine is suspended between claim and call."""

    @property
    def steps(self) -> SendSteps:
        return self.worker()

    def worker(self, *, sleeps: float = 0.0) -> SendSteps:
        """Return the steps of a separate worker; its machine's clock jumps by `sleeps` after it is first read."""
        looks = iter([0.0])
        return SendSteps(
            self.database,
            self.vault,
            NetworkChannel(self.network or UnipileNetwork(base_url="https://unused.example", api_key=None)),
            public_url="https://svc.example",
            clock=lambda: next(looks, sleeps),
        )

    @property
    def far(self) -> Sandbox:
        assert self.sandbox is not None
        return self.sandbox

    async def at(self, moment: datetime) -> None:
        await super().at(moment)
        rows = await self.sql("select extract(epoch from shift)::float8 as shift from service_clock")
        answer = self.far.control.post("/_control/clock", json={"offset_seconds": rows[0].shift})
        answer.raise_for_status()

    async def later(self, **by: float) -> None:
        await self.at(await self.now() + timedelta(**by))

    async def connect(self, *steps: Any, **sequence: Any) -> None:
        """Open the world with the sandbox's account."""
        await self.open(*steps, **sequence)
        await self.sql("update outreach_accounts set provider_id = :id", id=self.far.account)

    async def stranger(self, nth: int = 0) -> tuple[str, str]:
        """Return a person without a relation to the account: the service's id and the network's id."""
        network_id = self.far.person(nth)
        return await self.person(self.slug_of(network_id)), network_id

    def slug_of(self, network_id: str) -> str:
        found: str = self.far.get(f"people/{network_id}", account_id=self.far.account)["public_identifier"]
        return found

    async def act(self, subject_id: str, call: Call, *, worker: SendSteps | None = None) -> NextStep:
        """Run the call that a step requested."""
        steps = worker or self.steps
        step = Step(id=subject_id, number=call.number)
        return await (steps.send(step) if call.step == OUTREACH_SEND else steps.reconcile(step))

    async def ask(self, subject_id: str) -> NextStep:
        return await self.steps.enrollment_next(Step(id=subject_id))

    async def until_call(self, subject_id: str) -> Call:
        """Advance time until a call is due, and return it."""
        for _ in range(TURNS):
            step = await self.ask(subject_id)
            if step.call is not None:
                return step.call
            assert step.do is Do.WAIT, step
            assert step.wait_seconds is not None, step
            await self.later(seconds=step.wait_seconds + 0.01)
        raise AssertionError("no call is ever due")

    async def drive(self, subject_id: str, *, until: timedelta = timedelta(days=60)) -> NextStep:
        """Act as the workflow until it is done, waits for a wake, or the time has passed."""
        end = await self.now() + until
        step = await self.ask(subject_id)
        for _ in range(TURNS):
            if step.call is not None:
                step = await self.act(subject_id, step.call)
            elif step.do is Do.WAIT and step.wait_seconds is not None:
                if await self.now() + timedelta(seconds=step.wait_seconds) > end:
                    return step
                await self.later(seconds=step.wait_seconds + 0.01)
                step = await self.ask(subject_id)
            else:
                return step
        raise AssertionError(f"never ends: {step}")

    def written(self) -> list[tuple[str, str, str | None]]:
        """Return what was executed on the network: kind, person and text."""
        return [(row["kind"], row["person_id"], row["text"]) for row in self.far.log()]


def stage(database: Database, vault: Vault, member: Any, sandbox: Sandbox, network: UnipileNetwork) -> Stage:
    """Return a stage without people."""
    return Stage(database, vault, member, sandbox=sandbox, network=network)
