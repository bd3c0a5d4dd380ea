// The client.

import { BelljarError, ProgramFailed } from "./errors.js";
import { fields, millisecondsOf, runFields } from "./fields.js";
import type {
  Batch, BatchEvent, BatchRequest, BatchRuns, CheckOptions, Comparison, ComparisonEvent, ComparisonRequest, Diagnosis,
  DiagnosisOptions, Health, Language, Result, RunOptions, SessionOptions, Stats, TestOptions,
} from "./models.js";
import { Approvals, Artifacts, Keys, Rules, Templates } from "./registers.js";
import { Run, Runs } from "./runs.js";
import { Session, Sessions } from "./sessions.js";
import { EventStream, RunStream } from "./streams.js";
import { part, Transport, type Network } from "./transport.js";
import type { BelljarOptions, CallOptions } from "./types.js";

const DEFAULT_URL = "http://127.0.0.1:6000";

/** Options of a program: the fields of `POST /v1/runs`, and `timeout`, the seconds that it gets. */
export type ProgramOptions = RunOptions & CallOptions & { timeout?: number };

/** A client of a Belljar service. */
export class BelljarClient {
  readonly runs: Runs;
  readonly sessions: Sessions;
  readonly templates: Templates;
  readonly approvals: Approvals;
  readonly rules: Rules;
  readonly artifacts: Artifacts;
  readonly keys: Keys;
  private readonly transport: Transport;

  constructor(options: BelljarOptions, connect: (url: string) => Network) {
    const environment: Record<string, string | undefined> = (globalThis as any).process?.env ?? {};
    const url = options.url || environment["BELLJAR_URL"] || DEFAULT_URL;
    if (!/^(unix:|https?:\/\/[^/?#]+)/.test(url))
      throw new BelljarError(`'${url}' is not the address of a service; write http://HOST:PORT or unix:/path/belljar.sock`);
    this.transport = new Transport(connect(url.replace(/\/+$/, "")), {
      key: options.key || environment["BELLJAR_API_KEY"] || undefined,
      timeout: options.timeout,
      retries: options.retries ?? 3,
    });
    this.runs = new Runs(this.transport);
    this.sessions = new Sessions(this.transport);
    this.templates = new Templates(this.transport);
    this.approvals = new Approvals(this.transport);
    this.rules = new Rules(this.transport);
    this.artifacts = new Artifacts(this.transport);
    this.keys = new Keys(this.transport);
  }

  /** Closes the connections that wait. */
  close(): void {
    this.transport.network.close();
  }

  // ---- runs ----

  /** Runs a program and waits for its result. A program that fails is a result, too; `check` throws ProgramFailed,
   * with the diagnosis, instead. An aborted `signal` cancels the run. */
  async run(code: string | undefined, options: ProgramOptions & { check?: boolean } = {}): Promise<Result> {
    const { check, signal, ...given } = options;
    const body = runFields({ cancel_on_disconnect: true, ...given, ...withCode(code) });
    const result = await this.transport.call<Result>("POST", "/v1/runs", { body, signal, waits: millisecondsOf(body) });
    if (check && result.verdict !== "ok") throw new ProgramFailed(result);
    return result;
  }

  /** Runs a program; its events are an async iterator. With `stdin_open` it can be written to meanwhile. */
  stream(code: string | undefined, options: ProgramOptions = {}): RunStream {
    const { signal, ...given } = options;
    const body = { ...runFields({ cancel_on_disconnect: true, ...given, ...withCode(code) }), stream: true };
    return new RunStream(this.transport, { method: "POST", path: "/v1/runs", body, signal });
  }

  /** Starts a program and does not wait for it. It goes on without this client. */
  async start(code: string | undefined, options: ProgramOptions = {}): Promise<Run> {
    const { signal, ...given } = options;
    const body = { ...runFields({ ...given, ...withCode(code) }), wait: false };
    const accepted = await this.transport.call("POST", "/v1/runs", { body, signal });
    return new Run(this.transport, accepted.id, accepted.approval);
  }

  // ---- many runs ----

  /** Many runs (`runs`), or one program on many inputs (`run`, `inputs`). */
  batch(request: BatchRequest, options: CallOptions = {}): Promise<Batch> {
    const body = fields({ cancel_on_disconnect: true, ...request });
    return this.transport.call("POST", "/v1/batches", { body, waits: 1, ...options });
  }

  streamBatch(request: BatchRequest, options: CallOptions = {}): EventStream<BatchEvent> {
    const body = fields({ cancel_on_disconnect: true, ...request, stream: true });
    return new EventStream(this.transport, { method: "POST", path: "/v1/batches", body, ...options });
  }

  /** The runs of a batch or a comparison. */
  batchRuns(id: string): Promise<BatchRuns> {
    return this.transport.call("GET", `/v1/batches/${part(id)}`);
  }

  /** Every variant on every input: outputs and costs side by side. */
  compare(request: ComparisonRequest, options: CallOptions = {}): Promise<Comparison> {
    const body = fields({ cancel_on_disconnect: true, ...request });
    return this.transport.call("POST", "/v1/comparisons", { body, waits: 1, ...options });
  }

  streamComparison(request: ComparisonRequest, options: CallOptions = {}): EventStream<ComparisonEvent> {
    const body = fields({ cancel_on_disconnect: true, ...request, stream: true });
    return new EventStream(this.transport, { method: "POST", path: "/v1/comparisons", body, ...options });
  }

  /** Runs the tests of a project (`files`), or `tests` beside `code`. The result has `outcome` and `tests`. */
  test(request: TestOptions, options: CallOptions = {}): Promise<Result> {
    const body = fields({ cancel_on_disconnect: true, ...request });
    return this.transport.call("POST", "/v1/tests", { body, waits: 1, ...options });
  }

  /** Finds the mistakes in `code` or `files`, and runs no line of it. The result has `outcome` and `checks`. */
  check(request: CheckOptions, options: CallOptions = {}): Promise<Result> {
    const body = fields({ cancel_on_disconnect: true, ...request });
    return this.transport.call("POST", "/v1/checks", { body, waits: 1, ...options });
  }

  // ---- sessions ----

  /** Starts a session. `await using session = …` ends it with the block; otherwise `session.end()` does. */
  async session(language = "python", options: SessionOptions & CallOptions = {}): Promise<Session> {
    const { signal, ...given } = options;
    const body = fields({ ...given, language });
    return new Session(this.transport, await this.transport.call("POST", "/v1/sessions", { body, signal, waits: 1 }));
  }

  // ---- questions ----

  /** Explains an error that a program printed elsewhere. null: no error was found. */
  async diagnose(stderr: string, options: DiagnosisOptions = {}): Promise<Diagnosis | null> {
    return (await this.transport.call("POST", "/v1/diagnoses", { body: fields({ ...options, stderr }) })).diagnosis;
  }

  languages(): Promise<Language[]> {
    return this.transport.call("GET", "/v1/languages");
  }

  health(): Promise<Health> {
    return this.transport.call("GET", "/v1/health");
  }

  stats(since?: string): Promise<Stats> {
    return this.transport.call("GET", "/v1/stats", { query: { since } });
  }
}

const withCode = (code: string | undefined) => (code === undefined ? {} : { code });
