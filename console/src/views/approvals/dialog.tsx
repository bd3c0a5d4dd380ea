// The dialog before a run: everything that the program gets is on it, and a decision needs a deliberate click.
import { useEffect, useRef, useState } from "preact/hooks";
import { Editor } from "../../editor/editor";
import { ApiError, get, json, words } from "../../kit/api";
import { serverNow } from "../../kit/clock";
import { runAgain } from "../../kit/again";
import { Dialog } from "../../kit/dialog";
import { ago, bytes, duration } from "../../kit/format";
import { followFeed } from "../../kit/hub";
import { Chip, Ending, Loading, Problem, useLoad, useTick } from "../../kit/parts";
import { lookAgain } from "../../kit/pending";
import { announce, toast } from "../../kit/say";
import type { Approval, ApprovalInput, Risk, RunRow } from "../../kit/types";
import { Visible } from "../../kit/visible";

const INERT_MS = 400;

/** False for a moment after the dialog or the window came up: a click that was meant for something else does nothing. */
function useArmed(): boolean {
  const [armed, set] = useState(false);
  useEffect(() => {
    let timer = 0;
    const arm = () => {
      clearTimeout(timer);
      timer = setTimeout(() => set(true), INERT_MS) as unknown as number;
    };
    const disarm = () => (clearTimeout(timer), set(false));
    arm();
    addEventListener("focus", arm);
    addEventListener("blur", disarm);
    return () => {
      clearTimeout(timer);
      removeEventListener("focus", arm);
      removeEventListener("blur", disarm);
    };
  }, []);
  return armed;
}

export function Countdown({ until }: { until: string | null }) {
  useTick(500);
  if (!until) return null;
  const left = Math.max(0, Math.ceil((Date.parse(until) - serverNow()) / 1000));
  const text = left >= 60 ? `${Math.floor(left / 60)} min ${left % 60} s` : `${left} s`;
  return (
    <span class={`countdown ${left < 30 ? "soon" : ""}`} role="timer" aria-live="off">
      {left > 0 ? `${text} left` : "expired"}
    </span>
  );
}

function Risks({ risks, show }: { risks: Risk[]; show: (line: number) => void }) {
  if (risks.length === 0) return <p class="muted">No suspicious words were found. That proves nothing: read the program.</p>;
  return (
    <ul class="risks">
      {risks.map((r, i) => (
        <li key={i}>
          <Chip tone="warn">{r.kind.replaceAll("_", " ")}</Chip>{" "}
          {r.line > 0 && !r.file ? (
            <button class="link" onClick={() => show(r.line)}>
              line {r.line}
            </button>
          ) : (
            <span class="muted">{r.file ? <Visible text={`${r.file}${r.line ? `:${r.line}` : ""}`} /> : (r.where ?? "")}</span>
          )}{" "}
          {r.excerpt && (
            <code>
              <Visible text={r.excerpt} />
            </code>
          )}{" "}
          <span>{r.why}</span>
        </li>
      ))}
    </ul>
  );
}

const SEPARATE = new Set(["code", "language", "files", "limits", "digest", "entry"]);
const isNothing = (v: unknown) =>
  v === null || v === false || v === "" || v === undefined || (Array.isArray(v) && v.length === 0) ||
  (typeof v === "object" && v !== null && Object.keys(v).length === 0);

const NAMES: Record<string, string> = {
  args: "Arguments", env: "Variables", stdin: "Standard input", compiler_args: "Arguments of the compiler",
  allow_commands: "Commands that it may start", outputs: "Files that are fetched afterwards", network: "Network",
};
const nameOf = (key: string) => NAMES[key] ?? key.replaceAll("_", " ");
/** A word or a number, which needs no box of its own. */
const isShort = ([key, v]: [string, unknown]) => !(key in NAMES && key !== "network") && (typeof v !== "object" && String(v).length <= 40);

/** Every field of the input, also one that this page does not know. */
function Everything({ input }: { input: ApprovalInput }) {
  const files = (input.files ?? []).filter((f) => f.name !== input.entry || f.content !== undefined);
  const given = Object.entries(input).filter(([key, v]) => !SEPARATE.has(key) && !isNothing(v));
  const rest = given.filter((one) => !isShort(one));
  const words = given.filter(isShort);
  const shown = (v: unknown) => (typeof v === "string" ? v : Array.isArray(v) && v.every((x) => typeof x === "string") ? v.join("\n") : JSON.stringify(v, null, 1));
  return (
    <>
      {files.map((f, i) => (
        <details key={i} open={files.length <= 3}>
          <summary>
            File <code><Visible text={f.name ?? `and ${(f as any).not_shown} more, which are not shown`} /></code>{" "}
            <span class="muted">{bytes(f.size)}</span>
          </summary>
          {f.content !== undefined && (
            <pre class="block" tabIndex={0}>
              <Visible text={f.content} />
            </pre>
          )}
        </details>
      ))}
      {rest.map(([key, v]) => (
        <div key={key} class="given">
          <span class="muted">{nameOf(key)}</span>
          <pre class="block" tabIndex={0}>
            <Visible text={shown(v)} />
          </pre>
        </div>
      ))}
      <p class="given words">
        {words.map(([key, v]) => (
          <span key={key}>
            <span class="muted">{nameOf(key)}</span> <Visible text={shown(v)} />
          </span>
        ))}
      </p>
    </>
  );
}

/** The runs of the thread, newest first, or all that wait: the run of the request is among them. */
const ofThread = (a: Approval) =>
  a.thread_id ? `/v1/runs?limit=6&session=${encodeURIComponent(a.thread_id)}` : "/v1/runs?state=waiting&limit=100";

/** The asking key, and the last five runs of the thread. */
function Before({ approval: a }: { approval: Approval }) {
  const loaded = useLoad(a.id, (signal) =>
    get<{ runs: RunRow[] }>(ofThread(a), { signal }),
  );
  const rows = loaded.value?.runs ?? [];
  const own = rows.find((r) => r.id === a.run_id);
  const others = a.thread_id ? rows.filter((r) => r.id !== a.run_id).slice(0, 5) : [];
  return (
    <>
      <p>
        Asked by <b>{own ? (own.key ?? "a client without a key") : "…"}</b>
        {a.thread_id && <> in thread <b><Visible text={a.thread_id} /></b></>}, {ago(a.created_at)}.
        {a.reason && <> <span class="muted">{a.reason}</span></>}
      </p>
      {a.thread_id && (
        <p class="before">
          <span class="muted">Earlier in this thread:</span>{" "}
          {others.length === 0 ? "nothing" : others.map((r) => (
            <a key={r.id} href={`#/runs/${r.id}`}>
              {r.language} <Ending state={r.state} verdict={r.verdict} />
            </a>
          ))}
        </p>
      )}
    </>
  );
}

function Code(props: { approval: Approval; editing: boolean; text: { current: string }; editor: { current: Editor | null } }) {
  const host = useRef<HTMLDivElement>(null);
  const input = props.approval.input!;
  useEffect(() => {
    let here = true;
    const original = input.code ?? "";
    const begin = async () => {
      const extra = props.editing ? [(await import("../../editor/merge")).changes(original)] : [];
      if (!here) return;
      props.editor.current?.destroy();
      const editor = new Editor(host.current!, {
        text: props.text.current,
        label: props.editing ? "Program, which you edit" : "Program, to read",
        readOnly: !props.editing,
        tabLeaves: true, // Escape closes the dialog
        extra,
        onChange: (text) => (props.text.current = text),
      });
      void editor.language(input.language);
      editor.marks(
        (props.approval.risks ?? []).filter((r) => r.line > 0 && !r.file)
          .map((r) => ({ line: r.line, column: null, endColumn: null, message: `${r.kind}: ${r.why}`, fix: null })),
        "warning",
      );
      props.editor.current = editor;
      if (props.editing) editor.view.focus();
    };
    void begin();
    return () => void (here = false);
  }, [props.editing]);
  return <div class="editor approval-code" ref={host} />;
}

type Remember = "once" | "exact" | "session" | "prefix";

interface DecideProps {
  approval: Approval;
  close: () => void;
  again: () => void;
  /** A decision of this person is on its way. */
  sent: { current: boolean };
}

function Decide({ approval: a, close, again, sent }: DecideProps) {
  const armed = useArmed();
  const [editing, setEditing] = useState(false);
  const [rejecting, setRejecting] = useState(false);
  const [reason, setReason] = useState("");
  const [remember, setRemember] = useState<Remember>("once");
  const [prefix, setPrefix] = useState("");
  const [sending, setSending] = useState(false);
  const [problem, setProblem] = useState<unknown>(null);
  const input = a.input!;
  const text = useRef(input.code ?? "");
  const editor = useRef<Editor | null>(null) as { current: Editor | null };

  const send = async (decision: "approve" | "edit" | "reject") => {
    setSending((sent.current = true));
    setProblem(null);
    const body: Record<string, unknown> = { decision };
    if (decision === "edit") body.edited_input = text.current;
    if (decision === "reject" && reason.trim()) body.reason = reason.trim();
    if (decision !== "reject" && remember !== "once") body.remember = remember;
    if (remember === "prefix" && prefix.trim()) body.prefix = prefix.trim();
    try {
      await json("POST", `/v1/approvals/${a.id}`, { body, quick: true });
      announce(decision === "reject" ? "Rejected" : "Approved");
      toast(decision === "reject" ? "Rejected. The requester gets the reason." : "Approved. The program starts.");
      lookAgain();
      close();
    } catch (error) {
      setSending((sent.current = false));
      setProblem(error);
      if (error instanceof ApiError && error.status === 409) {
        lookAgain();
        again();
      }
    }
  };

  const limits = input.limits ?? {};
  const network = input.network;
  const open = !isNothing(network) && network !== "none";
  return (
    <>
      <div class="approval-head">
        <b>{input.language}</b>
        <span>timeout <b>{duration(limits.wall_ms)}</b></span>
        <span>memory <b>{bytes(limits.memory)}</b></span>
        <span>network <b>{open ? "a list of hosts, below" : "none"}</b></span>
        <span class="grow" />
        <Countdown until={a.expires_at} />
      </div>
      <p class="warning">
        This is code that you did not write. It runs in a sealed jar with the limits above. Execute it only if you know
        its purpose.
      </p>
      <Before approval={a} />
      <h3>Risks</h3>
      <Risks risks={a.risks ?? []} show={(line) => editor.current?.show(line)} />
      <h3>Program {input.entry && <code class="muted">{input.entry}</code>}</h3>
      <Code approval={a} editing={editing} text={text} editor={editor} />
      <Everything input={input} />
      {problem != null && <Problem error={problem} />}
      <div class="actions">
        <label>
          <span class="muted">Remember </span>
          <select class="field" value={remember} onChange={(e) => setRemember(e.currentTarget.value as Remember)}>
            <option value="once">only this run</option>
            <option value="exact">runs with the same input</option>
            {a.thread_id && <option value="session">all runs of this thread</option>}
            {input.language === "bash" && <option value="prefix">commands that begin with…</option>}
          </select>
        </label>
        {remember === "prefix" && (
          <input class="field mono" aria-label="First words of the command" placeholder="git status" value={prefix}
            onInput={(e) => setPrefix(e.currentTarget.value)} />
        )}
        <span class="grow" />
        {rejecting ? (
          <>
            <input class="field" aria-label="Reason of the rejection" placeholder="Reason, for the requester" autoFocus value={reason}
              onInput={(e) => setReason(e.currentTarget.value)} onKeyDown={(e) => e.key === "Enter" && void send("reject")} />
            <button class="button danger" disabled={sending} onClick={() => void send("reject")}>
              Reject the run
            </button>
          </>
        ) : (
          <button class="button danger" onClick={() => setRejecting(true)}>
            Reject…
          </button>
        )}
        <button class="button" aria-pressed={editing} onClick={() => {
          if (editing) text.current = input.code ?? "";
          setEditing(!editing);
        }}>
          {editing ? "Undo the changes" : "Edit"}
        </button>
        <button class="button" onClick={close}>
          Cancel
        </button>
        <button class="button primary" id="execute" disabled={!armed || sending}
          onClick={() => void send(editing && text.current !== (input.code ?? "") ? "edit" : "approve")}>
          {sending ? <span class="spinner" aria-hidden="true" /> : "▶"} Execute
        </button>
      </div>
    </>
  );
}

/** A request that needs no decision any more. `seen`: it still waited when this dialog came up. */
function Over({ approval: a, seen }: { approval: Approval; seen: boolean }) {
  const expired = a.decision === "expired" || a.decision === "pending";
  const by = a.decided_by ?? "another person";
  return (
    <>
      <p role="status">
        {expired
          ? "The time is over, and the run was rejected. Nobody decided."
          : seen
            ? `Somebody was faster: ${by} decided '${a.decision}' ${ago(a.decided_at)}. Nothing is left to decide.`
            : `This request was decided: '${a.decision}' by ${by}, ${ago(a.decided_at)}.`}
        {!expired && a.decided_reason && <> Reason: <Visible text={a.decided_reason} />.</>}
      </p>
      <p class="nb-actions start">
        {a.run_id && <a class="button" href={`#/runs/${a.run_id}`}>Open the run</a>}
        {expired && a.run_id && (
          <button class="button primary" onClick={() => void runAgain(a.run_id!).catch((e) => toast(words(e), "bad"))}>
            Ask again
          </button>
        )}
      </p>
    </>
  );
}

/** The title of the artifact that the request executes; "": it executes none, or this key may not see it. */
async function titleOf(a: Approval, signal: AbortSignal): Promise<string> {
  if (!a.run_id) return "";
  try {
    const { runs } = await get<{ runs: RunRow[] }>(ofThread(a), { signal, quiet: true });
    const artifact = runs.find((r) => r.id === a.run_id)?.artifact_id;
    return artifact ? (await get<{ title: string }>(`/api/artifacts/${artifact}`, { signal, quiet: true })).title : "";
  } catch {
    return "";
  }
}

export function ApprovalDialog({ id, close }: { id: string; close: () => void }) {
  const loaded = useLoad(id, async (signal) => {
    const a = await get<Approval>(`/v1/approvals/${id}`, { signal });
    return { a, title: await titleOf(a, signal) };
  });
  const sent = useRef(false);
  const seen = useRef(false);
  useEffect(() => followFeed("approvals", () => !sent.current && loaded.again()), []);
  useTick(500);
  const a = loaded.value?.a;
  const name = loaded.value?.title;
  const expired = a?.expires_at != null && Date.parse(a.expires_at) <= serverNow();
  const waits = a?.decision === "pending" && !expired && a.input;
  if (waits) seen.current = true;
  const title = !a?.input ? "Request for approval" : name ? `Execute “${name}” (${a.input.language})?` : `Execute this ${a.input.language} program?`;
  return (
    <Dialog title={title} close={close} wide={!!waits}>
      {loaded.error != null && <Problem error={loaded.error} retry={loaded.again} />}
      {!a && loaded.error == null && <Loading what="the request" />}
      {a && !waits && <Over approval={a} seen={seen.current} />}
      {a && waits && <Decide approval={a} close={close} again={loaded.again} sent={sent} />}
    </Dialog>
  );
}
