"""Lists of the service: templates, approvals, rules, artifacts, keys."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, AsyncIterator, List, Literal, Optional

from .._fields import fields
from .._http import part
from ..models import Approval, Artifact, DetectedArtifact, Execution, Key, NewKey, Rule, Template
from .transport import Transport

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ..models import ApprovalFilter, DecisionOptions, ExecutionOptions, RuleOptions, TemplateOptions


class Templates:
    """States that runs and sessions begin in."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def create(self, name: str, setup: str, **options: "Unpack[TemplateOptions]") -> Template:
        """Runs the setup once, and keeps its state: `jar.run(code, template=name)` begins in it."""
        body = fields({"language": "python", **options}, name=name, setup=setup)
        return Template(await self._transport.call("POST", "/v1/templates", body, waits=1))

    async def list(self) -> List[Template]:
        return [Template(raw) for raw in (await self._transport.call("GET", "/v1/templates"))["templates"]]

    async def get(self, name: str) -> Template:
        return Template(await self._transport.call("GET", f"/v1/templates/{part(name)}"))

    async def delete(self, name: str) -> None:
        await self._transport.call("DELETE", f"/v1/templates/{part(name)}")


class Approvals:
    """Runs that wait for a person."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def list(self, **filter: "Unpack[ApprovalFilter]") -> AsyncIterator[Approval]:
        query = {**filter}
        while True:
            page = await self._transport.call("GET", "/v1/approvals", query=query)
            for raw in page["approvals"]:
                yield Approval(raw)
            if not page.get("next_cursor"):
                return
            query["cursor"] = page["next_cursor"]

    async def get(self, approval_id: str) -> Approval:
        return Approval(await self._transport.call("GET", f"/v1/approvals/{part(approval_id)}"))

    async def decide(self, approval_id: str, decision: Literal["approve", "edit", "reject"],
                     **options: "Unpack[DecisionOptions]") -> Approval:
        """Approves, edits or rejects a run. `remember` makes a rule of it."""
        body = fields({**options}, decision=decision)
        return Approval(await self._transport.call("POST", f"/v1/approvals/{part(approval_id)}", body))


class Rules:
    """Rules that allow or deny runs by their text."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def list(self) -> List[Rule]:
        return [Rule(raw) for raw in (await self._transport.call("GET", "/v1/rules"))["rules"]]

    async def add(self, action: Literal["allow", "deny"], **options: "Unpack[RuleOptions]") -> Rule:
        return Rule(await self._transport.call("POST", "/v1/rules", fields({**options}, action=action)))

    async def delete(self, rule_id: str) -> None:
        await self._transport.call("DELETE", f"/v1/rules/{part(rule_id)}")


class Artifacts:
    """Programs with versions."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def create(self, content: str, title: str, language: str,
                     conversation_id: Optional[str] = None) -> Artifact:
        body = fields({}, content=content, title=title, language=language, conversation_id=conversation_id)
        return Artifact(await self._transport.call("POST", "/api/artifacts/create", body))

    async def detect(self, content: str) -> List[DetectedArtifact]:
        """The code blocks of a Markdown text."""
        return [DetectedArtifact(raw)
                for raw in await self._transport.call("POST", "/api/artifacts/detect", {"content": content})]

    async def list(self, conversation_id: str) -> List[Artifact]:
        path = f"/api/artifacts/conversations/{part(conversation_id)}/artifacts"
        return [Artifact(raw) for raw in await self._transport.call("GET", path)]

    async def get(self, artifact_id: str) -> Artifact:
        return Artifact(await self._transport.call("GET", f"/api/artifacts/{part(artifact_id)}"))

    async def update(self, artifact_id: str, *, content: Optional[str] = None, title: Optional[str] = None) -> Artifact:
        """A new version. It is never sent twice: each one counts."""
        body = fields({}, content=content, title=title)
        answer = await self._transport.open("PUT", f"/api/artifacts/{part(artifact_id)}", body, repeats=False)
        return Artifact(await answer.json())

    async def fork(self, artifact_id: str) -> Artifact:
        return Artifact(await self._transport.call("POST", f"/api/artifacts/{part(artifact_id)}/fork"))

    async def versions(self, artifact_id: str) -> List[Artifact]:
        return [Artifact(raw)
                for raw in await self._transport.call("GET", f"/api/artifacts/{part(artifact_id)}/versions")]

    async def download(self, artifact_id: str) -> str:
        answer = await self._transport.open("GET", f"/api/artifacts/{part(artifact_id)}/download", accept="text/plain")
        return (await answer.read()).decode()

    async def execute(self, artifact_id: str, **options: "Unpack[ExecutionOptions]") -> Execution:
        path = f"/api/artifacts/{part(artifact_id)}/execute"
        return Execution(await self._transport.call("POST", path, fields({**options}), waits=1))

    async def delete(self, artifact_id: str) -> None:
        await self._transport.call("DELETE", f"/api/artifacts/{part(artifact_id)}")


class Keys:
    """API keys; for keys with the scope `admin`."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def list(self) -> List[Key]:
        return [Key(raw) for raw in (await self._transport.call("GET", "/v1/keys"))["keys"]]

    async def add(self, name: str, scopes: List[Any], *, max_runs: Optional[int] = None) -> NewKey:
        """A new key; its text is shown only here."""
        return NewKey(await self._transport.call("POST", "/v1/keys", fields({}, name=name, scopes=scopes,
                                                                            max_runs=max_runs)))

    async def remove(self, name: str) -> None:
        await self._transport.call("DELETE", f"/v1/keys/{part(name)}")
