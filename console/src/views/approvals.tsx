// Runs that wait for a person.
import { useEffect, useState } from "preact/hooks";
import { ApiError, get } from "../kit/api";
import { ago, moment } from "../kit/format";
import { Chip, Empty, Loading, Problem, useLoad, useTick } from "../kit/parts";
import { pending, pendingError } from "../kit/pending";
import { go, route } from "../kit/router";
import { useStore } from "../kit/store";
import type { Approval } from "../kit/types";
import { ApprovalDialog, Countdown } from "./approvals/dialog";

const DECISIONS: Record<string, [string, "good" | "bad" | "warn" | "idle"]> = {
  approve: ["Approved", "good"],
  edit: ["Approved with changes", "good"],
  reject: ["Rejected", "bad"],
  expired: ["Expired", "idle"],
  pending: ["Waits", "warn"],
};

const title = (a: Approval) => (a.input?.code ?? "").split("\n").find((line) => line.trim() !== "") ?? a.tool ?? "a program";

function Card({ approval: a, now }: { approval: Approval; now: number }) {
  const risks = a.risks ?? [];
  return (
    <li class="card approval">
      <div class="approval-head">
        <b>{a.input?.language ?? a.tool}</b>
        <span class="muted">{a.thread_id ? `thread ${a.thread_id}` : "without a thread"}</span>
        <span class="muted" title={moment(a.created_at)}>{ago(a.created_at, now)}</span>
        <span class="grow" />
        <Countdown until={a.expires_at} />
      </div>
      <pre class="block one-line">{title(a)}</pre>
      <div class="approval-head">
        {risks.length === 0 ? (
          <span class="muted">No suspicious words were found.</span>
        ) : (
          [...new Set(risks.map((r) => r.kind))].map((kind) => (
            <Chip key={kind} tone="warn">
              {kind.replaceAll("_", " ")}
            </Chip>
          ))
        )}
        <span class="grow" />
        <a class="button primary" href={`#/approvals/${a.id}`}>
          Look and decide
        </a>
      </div>
    </li>
  );
}

function Decided({ turn }: { turn: string }) {
  const loaded = useLoad(`decided ${turn}`, (signal) =>
    get<{ approvals: Approval[] }>("/v1/approvals?limit=40", { signal }).then((l) => l.approvals.filter((a) => a.decision !== "pending")),
  );
  if (!loaded.value || loaded.value.length === 0) return null;
  return (
    <>
      <h2 class="section">Decided</h2>
      <div class="card scroll" tabIndex={0} role="region" aria-label="Decided requests">
        <table class="grid">
          <thead>
            <tr>
              <th scope="col">Decision</th>
              <th scope="col">Program</th>
              <th scope="col">By</th>
              <th scope="col">When</th>
              <th scope="col">Reason</th>
              <th scope="col">Run</th>
            </tr>
          </thead>
          <tbody>
            {loaded.value.map((a) => (
              <tr key={a.id}>
                <td>
                  <Chip tone={DECISIONS[a.decision]?.[1] ?? "idle"}>{DECISIONS[a.decision]?.[0] ?? a.decision}</Chip>
                </td>
                <td>
                  <code>{title(a)}</code>
                </td>
                <td>{a.decided_by ?? "–"}</td>
                <td title={moment(a.decided_at)}>{ago(a.decided_at)}</td>
                <td>{a.decided_reason ?? ""}</td>
                <td>{a.run_id ? <a href={`#/runs/${a.run_id}`}>open</a> : "–"}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}

export function ApprovalsView({ parts }: { parts: string[] }) {
  const waiting = useStore(pending);
  const error = useStore(pendingError);
  const now = useTick(1000);
  const [first, setFirst] = useState(true);
  useEffect(() => {
    const timer = setTimeout(() => setFirst(false), 1500);
    return () => clearTimeout(timer);
  }, []);
  const refused = error instanceof ApiError && error.status === 403;
  return (
    <>
      <div class="page-head">
        <h1>Approvals</h1>
        <span class="muted">Runs wait here until a person decides.</span>
      </div>
      {refused && <Problem error={new Error("This key may not see approvals: it needs the scope 'read', and 'approve' to decide.")} />}
      {waiting.length === 0 && first && error == null && parts[0] === undefined && <Loading what="the requests" />}
      {waiting.length === 0 && !first && !refused && (
        <Empty title="Nothing waits">
          <p>
            A run with <code>"permission_mode": "default"</code> waits here. To try it, open <a href="#/run">Run</a>, choose{" "}
            <i>Options</i>, <i>Ask for approval</i>, and press Run.
          </p>
        </Empty>
      )}
      <ul class="cards">
        {waiting.map((a) => (
          <Card key={a.id} approval={a} now={now} />
        ))}
      </ul>
      {!refused && <Decided turn={waiting.map((a) => a.id).join()} />}
      {parts[0] && <ApprovalDialog key={parts[0]} id={parts[0]} close={() => route.value[1] === parts[0] && go("approvals")} />}
    </>
  );
}
