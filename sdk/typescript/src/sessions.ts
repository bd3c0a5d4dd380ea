// Sessions: an interpreter in a jar that keeps its variables from cell to cell.

import { NotFound, ProgramFailed, SessionEnded } from "./errors.js";
import { fields, millisecondsOf } from "./fields.js";
import type {
  Branches, BranchEvent, BranchOptions, Cell, CellAccepted, CellOptions, Checkpoint, Completions, Fork, Inspection,
  Rollback, Session as SessionState, SessionChanges, SessionEvent, SessionFile, SessionFilter, Sleep, Tree, Variable, Wake,
} from "./models.js";
import { CellStream, EventStream } from "./streams.js";
import { part, pathOf, readAll, type Transport } from "./transport.js";
import type { CallOptions, Json, Network } from "./types.js";

/** A live interpreter. `state` is the last answer of the service about it; `refresh` asks again. */
export class Session {
  readonly id: string;
  private readonly path: string;

  constructor(private readonly transport: Transport, public state: SessionState) {
    this.id = state.id;
    this.path = `/v1/sessions/${part(this.id)}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.end();
  }

  private get<T>(path: string, query: object = {}): Promise<T> {
    return this.transport.call("GET", this.path + path, { query });
  }

  private post<T>(path: string, body: object = {}, waits = 0, signal?: AbortSignal): Promise<T> {
    return this.transport.call("POST", this.path + path, { body, waits, signal });
  }

  // ---- cells ----

  /** Runs a cell and waits for its end. `check` throws ProgramFailed if it fails; an aborted signal interrupts it. */
  async run(code: string, options: CellOptions & CallOptions & { check?: boolean } = {}): Promise<Cell> {
    const { check, signal, ...given } = options;
    const body = fields({ cancel_on_disconnect: true, ...given, code });
    const cell = await this.post<Cell>("/exec", body, millisecondsOf(body), signal);
    if (check && cell.verdict !== "ok") throw new ProgramFailed(cell);
    return cell;
  }

  /** Runs a cell; its events are an async iterator. */
  stream(code: string, options: CellOptions & CallOptions = {}): CellStream {
    const { signal, ...given } = options;
    const body = fields({ cancel_on_disconnect: true, ...given, code, stream: true });
    return new CellStream(this.transport, this, { method: "POST", path: `${this.path}/exec`, body, signal });
  }

  /** Puts a cell in line and does not wait: `events` and `cell` have the rest. */
  start(code: string, options: CellOptions = {}): Promise<CellAccepted> {
    return this.post("/exec", fields({ ...options, code, wait: false }));
  }

  /** A cell that is over, with its outputs. */
  cell(number: number): Promise<Cell> {
    return this.get(`/cells/${number}`);
  }

  /** The newest cells with code and outputs, or those after a number. */
  async cells(query: { limit?: number; after?: number } = {}): Promise<Cell[]> {
    return (await this.get<{ cells: Cell[] }>("/cells", query)).cells;
  }

  /** The events of a cell from the first one, or after the one with this number. */
  events(cell: number, { after = 0, signal }: CallOptions & { after?: number } = {}): CellStream {
    return new CellStream(this.transport, this, {
      method: "GET", path: `${this.path}/cells/${cell}/events`, query: { from: after }, signal,
      resume: (seq) => ({ from: seq }),
    });
  }

  /** Answers input() with a line; null: there is no more input. */
  async reply(text: string | null): Promise<void> {
    await this.post("/stdin", text === null ? { eof: true } : { text });
  }

  /** Interrupts the cell that runs, or only the one with this number. The variables stay. */
  async interrupt(cell?: number): Promise<void> {
    await this.post("/interrupt", { cell });
  }

  /** Starts the interpreter anew: without variables, with the files that the session began with. */
  async restart(): Promise<void> {
    this.state = await this.transport.call("POST", `${this.path}/restart`, { waits: 1 });
  }

  // ---- questions ----

  complete(code: string, cursor?: number): Promise<Completions> {
    return this.post("/complete", { code, cursor });
  }

  inspect(code: string, cursor?: number, detail?: 0 | 1): Promise<Inspection> {
    return this.post("/inspect", { code, cursor, detail });
  }

  async variables(): Promise<Variable[]> {
    return (await this.get<{ variables: Variable[] }>("/variables")).variables;
  }

  /** Its cells as a Jupyter notebook. */
  notebook(): Promise<Json> {
    return this.get("/notebook");
  }

  // ---- files ----

  /** The files in /sandbox, or in one directory of it. */
  async files(path?: string): Promise<SessionFile[]> {
    return (await this.get<{ files: SessionFile[] }>("/files", { path })).files;
  }

  read(path: string): Promise<Uint8Array> {
    return this.transport.bytes(`${this.path}/files/${pathOf(path)}`);
  }

  /** Writes a file; its directories are made. */
  async write(path: string, data: string | Uint8Array): Promise<void> {
    const raw = typeof data === "string" ? new TextEncoder().encode(data) : data;
    await this.transport.call("PUT", `${this.path}/files/${pathOf(path)}`, { raw });
  }

  async remove(path: string): Promise<void> {
    await this.transport.call("DELETE", `${this.path}/files/${pathOf(path)}`);
  }

  // ---- time travel ----

  /** Copies with all variables and files, of the present state or `from` a checkpoint. */
  async fork(
    count = 1,
    options: { names?: string[]; strict?: boolean; network?: Network; from?: string | number } = {},
  ): Promise<Session[]> {
    const fork = await this.post<Fork>("/fork", { count, ...options }, 1);
    return fork.sessions.map((copy) => new Session(this.transport, copy));
  }

  /** Runs candidates side by side in copies, and goes on as the winner: `keep` is "first_ok", "best" with a `score`,
   * or "none". */
  branches(candidates: string[], options: BranchOptions & CallOptions): Promise<Branches> {
    const { signal, ...given } = options;
    return this.post("/branches", { candidates, ...given }, 1, signal);
  }

  streamBranches(candidates: string[], options: BranchOptions & CallOptions): EventStream<BranchEvent> {
    const { signal, ...given } = options;
    const body = { candidates, ...given, stream: true };
    return new EventStream(this.transport, { method: "POST", path: `${this.path}/branches`, body, signal });
  }

  /** Keeps the present state. */
  checkpoint(name?: string, options: { strict?: boolean } = {}): Promise<Checkpoint> {
    return this.post("/checkpoints", { name, ...options }, 1);
  }

  async checkpoints(): Promise<Checkpoint[]> {
    return (await this.get<{ checkpoints: Checkpoint[] }>("/checkpoints")).checkpoints;
  }

  async deleteCheckpoint(name: string): Promise<void> {
    await this.transport.call("DELETE", `${this.path}/checkpoints/${part(name)}`);
  }

  /** Goes back to a checkpoint, by its id or name, or to the state after a cell, by its number. */
  rollback(to: string | number): Promise<Rollback> {
    return this.post("/rollback", { to }, 1);
  }

  /** Goes back before the last cell, or the last `cells`. The session needs `undo: N`. */
  undo(cells = 1): Promise<Rollback> {
    return this.post("/undo", { cells }, 1);
  }

  /** The session, the sessions that it came from, their copies and checkpoints. */
  tree(): Promise<Tree> {
    return this.get("/tree");
  }

  /** Puts the session on the disk; the next cell wakes it. */
  async sleep(options: { strict?: boolean; compress?: boolean } = {}): Promise<Sleep> {
    const sleep = await this.post<Sleep>("/sleep", options, 1);
    this.state = { ...this.state, state: "sleeping" };
    return sleep;
  }

  async wake(options: { replay?: boolean } = {}): Promise<Wake> {
    const wake = await this.post<Wake>("/wake", options, 1);
    this.state = { ...this.state, state: "idle" };
    return wake;
  }

  /** The session as a file: `jar.sessions.load` makes a session of it. */
  image({ compress }: { compress?: boolean } = {}): Promise<Uint8Array> {
    return this.transport.bytes(`${this.path}/image`, { query: { compress }, waits: 1 });
  }

  // ---- its life ----

  async refresh(): Promise<SessionState> {
    return (this.state = await this.get(""));
  }

  /** Changes its name, limits of cells, idle time, undo, network list or metadata. */
  async update(changes: SessionChanges): Promise<SessionState> {
    return (this.state = await this.transport.call("PATCH", this.path, { body: changes }));
  }

  /** The states of the session as a stream, with a warning before its end. */
  life(options: CallOptions = {}): EventStream<SessionEvent> {
    return new EventStream(this.transport, { method: "GET", path: `${this.path}/events`, ...options });
  }

  /** Ends it. A session that is over already stays so. */
  async end(): Promise<void> {
    try {
      await this.transport.call("DELETE", this.path);
    } catch (error) {
      if (!(error instanceof NotFound || error instanceof SessionEnded)) throw error;
    }
  }
}

/** The sessions of the service: `jar.sessions`. */
export class Sessions {
  constructor(private readonly transport: Transport) {}

  async get(id: string): Promise<Session> {
    return new Session(this.transport, await this.transport.call("GET", `/v1/sessions/${part(id)}`));
  }

  async list(filter: SessionFilter = {}): Promise<Session[]> {
    const { sessions } = await this.transport.call("GET", "/v1/sessions", { query: filter });
    return sessions.map((state: SessionState) => new Session(this.transport, state));
  }

  /** A session from a file of `session.image()`. */
  async load(image: Uint8Array): Promise<Session> {
    const answer = await this.transport.open("POST", "/v1/sessions", { raw: image, query: { from: "image" }, waits: 1 });
    return new Session(this.transport, JSON.parse(new TextDecoder().decode(await readAll(answer))));
  }
}
