// Runs that were started before: the history, and one run by its id.

import type { Approval, DebugReport, Event, HistoryFilter, OutputFile, Result, RunRequest, RunRow, RunState } from "./models.js";
import { cancelRun, RunStream, sendStdin, type EventStream } from "./streams.js";
import { part, pathOf, type Transport } from "./transport.js";
import type { CallOptions } from "./types.js";

/** One run, by its id. It goes on whether or not a client looks at it. */
export class Run {
  private readonly path: string;

  constructor(
    private readonly transport: Transport,
    readonly id: string,
    /** The approval that the run waits for, if a person has to decide. */
    readonly approval?: Approval,
  ) {
    this.path = `/v1/runs/${part(id)}`;
  }

  /** Its result if it is over, otherwise its state and its output so far. */
  state(): Promise<Result | RunState> {
    return this.transport.call("GET", this.path);
  }

  /** Its events from the first one, or after the one with this number. A lost connection is made again. */
  events({ after = 0, signal }: CallOptions & { after?: number } = {}): EventStream<Event> {
    return new RunStream(this.transport, {
      method: "GET", path: `${this.path}/events`, query: { after }, resume: (seq) => ({ after: seq }), signal,
    });
  }

  /** Waits for its end. */
  async result(options: CallOptions = {}): Promise<Result> {
    for await (const _ of this.events(options));
    return this.transport.call("GET", this.path, options);
  }

  /** Sends input to a run with stdin_open. `eof` closes its stdin. */
  write(data: string | Uint8Array = "", { eof = false } = {}): Promise<void> {
    return sendStdin(this.transport, this.id, data, eof);
  }

  /** Cancels it. False: it was over already. */
  cancel(): Promise<boolean> {
    return cancelRun(this.transport, this.id);
  }

  /** All bytes of stdout, also if a result has no room for all of them. */
  stdout(): Promise<Uint8Array> {
    return this.transport.bytes(`${this.path}/stdout`);
  }

  stderr(): Promise<Uint8Array> {
    return this.transport.bytes(`${this.path}/stderr`);
  }

  /** The outputs that the request named. */
  async files(): Promise<OutputFile[]> {
    return (await this.transport.call("GET", `${this.path}/files`)).files;
  }

  file(name: string): Promise<Uint8Array> {
    return this.transport.bytes(`${this.path}/files/${pathOf(name)}`);
  }

  /** The request, with its code: enough to run it again. */
  request(): Promise<RunRequest> {
    return this.transport.call("GET", `${this.path}/request`);
  }

  debugReport(): Promise<DebugReport> {
    return this.transport.call("GET", `${this.path}/debug-report`);
  }
}

/** The history: `jar.runs`. */
export class Runs {
  constructor(private readonly transport: Transport) {}

  /** A run by its id. Nothing is asked yet. */
  get(id: string): Run {
    return new Run(this.transport, id);
  }

  /** The runs of the history, the newest first; pages are fetched as they are needed. */
  async *list(filter: HistoryFilter = {}): AsyncGenerator<RunRow, void, void> {
    for (let cursor: string | undefined; ; ) {
      const page = await this.transport.call("GET", "/v1/runs", { query: { ...filter, cursor } });
      yield* page.runs as RunRow[];
      if (!page.next_cursor) return;
      cursor = page.next_cursor;
    }
  }
}
