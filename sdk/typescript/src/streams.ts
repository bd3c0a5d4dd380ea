// Events of the service as async iterators.

import { Busy, Conflict, ConnectionLost, ProtocolError } from "./errors.js";
import { toBase64 } from "./explain.js";
import type { CellEnd, CellEvent, Event, Result } from "./models.js";
import type { Session } from "./sessions.js";
import { NDJSON, part, pause, type Answer, type Call, type Transport } from "./transport.js";

const LINE_MAX = 96 << 20; // a cell has up to 64 MiB of outputs

export interface StreamRequest extends Call {
  method: string;
  path: string;
  /** The query that goes on after an event; a stream without it ends with its connection. */
  resume?: (seq: number) => object;
}

/** Events, each as soon as it happens. The request is sent when the first event is asked for. A loop that is left
 * early, and `close()`, close the connection: a run that the stream started is then cancelled. */
export class EventStream<E extends { event: string; seq?: number }> implements AsyncIterable<E> {
  /** The number of the last event. */
  seq = 0;
  private answer?: Promise<Answer>;
  private lines?: AsyncGenerator<string>;
  private readonly ahead: E[] = [];
  private over = false;

  constructor(protected readonly transport: Transport, private readonly request: StreamRequest) {}

  async *[Symbol.asyncIterator](): AsyncGenerator<E, void, void> {
    try {
      for (;;) {
        const event = await this.next();
        if (!event) return;
        yield event;
      }
    } finally {
      this.close();
    }
  }

  /** The next event; undefined after the last one. Unlike a loop, it leaves the stream open. */
  async next(): Promise<E | undefined> {
    for (let resumes = 0; !this.over; ) {
      try {
        await this.open();
        if (this.ahead.length) return this.ahead.shift();
        return await this.read();
      } catch (error) {
        const again = error instanceof ConnectionLost && this.request.resume && resumes < this.transport.retries;
        if (!again || this.over) throw error;
        this.request.query = this.request.resume!(this.seq);
        this.answer = this.lines = undefined;
        await pause(100 * 2 ** resumes++, this.request.signal);
      }
    }
    return undefined;
  }

  /** Leaves the stream. */
  close(): void {
    this.over = true;
    this.answer?.then((answer) => answer.close(), () => {});
  }

  protected async open(): Promise<void> {
    const first = !this.answer;
    const { method, path, ...call } = this.request;
    this.answer ??= this.transport.open(method, path, { ...call, accept: NDJSON });
    const answer = await this.answer;
    this.lines ??= linesOf(answer);
    if (first && this.needsId()) {
      const event = await this.read();
      if (event) this.ahead.push(event);
    }
  }

  private async read(): Promise<E | undefined> {
    for (;;) {
      const { value: line, done } = await this.lines!.next();
      if (done) {
        if (this.isIncomplete()) throw new ConnectionLost("the service ended the stream before the event 'done'");
        this.over = true;
        return undefined;
      }
      const event = eventOf<E>(line);
      if (event.event === "keepalive") continue;
      this.seq = event.seq ?? this.seq;
      this.take(event);
      return event;
    }
  }

  protected needsId(): boolean {
    return false;
  }

  protected isIncomplete(): boolean {
    return false;
  }

  protected take(_event: E): void {}
}

function eventOf<E extends { event: string }>(line: string): E {
  let event: E | undefined;
  try {
    event = JSON.parse(line);
  } catch (error) {
    throw new ProtocolError(`the stream has a line '${line.slice(0, 40)}' that is not JSON`, { cause: error });
  }
  if (typeof event?.event !== "string") throw new ProtocolError(`the stream has a line '${line.slice(0, 40)}' that is no event`);
  return event;
}

async function* linesOf(answer: Answer): AsyncGenerator<string> {
  const kind = answer.header("content-type");
  if (!kind?.startsWith(NDJSON)) {
    answer.close();
    throw new ProtocolError(`the answer is '${kind}' and not a stream of events`);
  }
  const decoder = new TextDecoder();
  let held: string[] = []; // the parts of a line that is not whole yet
  let size = 0;
  for await (const piece of answer.body) {
    const [first, ...lines] = decoder.decode(piece, { stream: true }).split("\n");
    held.push(first!);
    size += first!.length;
    if (size > LINE_MAX) throw new ProtocolError(`the stream has an event of more than ${LINE_MAX} bytes`);
    for (const line of lines) {
      if (size) yield held.join("");
      held = [line];
      size = line.length;
    }
  }
}

/** The events of one run. `id` is known after the first event, `result` after the last one. */
export class RunStream extends EventStream<Event> {
  id?: string;
  result?: Result;

  protected override needsId(): boolean {
    return this.id === undefined;
  }

  protected override isIncomplete(): boolean {
    return this.result === undefined;
  }

  protected override take(event: Event): void {
    this.id ??= event.id;
    if (event.event === "done") this.result = event.result;
  }

  /** Sends input to a run with stdin_open. `eof` closes its stdin. */
  async write(data: string | Uint8Array = "", { eof = false } = {}): Promise<void> {
    await this.open();
    await sendStdin(this.transport, this.id!, data, eof);
  }

  /** Cancels the run; its events go on to the end. False: it was over already. */
  async cancel(): Promise<boolean> {
    await this.open();
    return cancelRun(this.transport, this.id!);
  }
}

/** The events of one cell. `result` is its end, without its outputs: `session.cell(result.cell)` has them. */
export class CellStream extends EventStream<CellEvent> {
  id?: string;
  result?: CellEnd;

  constructor(transport: Transport, readonly session: Session, request: StreamRequest) {
    super(transport, request);
  }

  protected override isIncomplete(): boolean {
    return this.result === undefined;
  }

  protected override take(event: CellEvent): void {
    this.id ??= event.id;
    if (event.event === "done") this.result = event.result;
  }

  /** Answers input(), after an event `input_request`. */
  reply(text: string): Promise<void> {
    return this.session.reply(text);
  }

  /** Interrupts the cell; its events go on to the end. */
  interrupt(): Promise<void> {
    return this.session.interrupt();
  }
}

export async function cancelRun(transport: Transport, id: string): Promise<boolean> {
  try {
    await transport.call("DELETE", `/v1/runs/${part(id)}`);
    return true;
  } catch (error) {
    if (error instanceof Conflict) return false;
    throw error;
  }
}

/** The service takes the next piece when the program has read the last one: 503 until then. */
export async function sendStdin(transport: Transport, id: string, data: string | Uint8Array, eof: boolean): Promise<void> {
  const piece = typeof data === "string" ? { data } : { data: toBase64(data), encoding: "base64" };
  for (;;) {
    try {
      await transport.call("POST", `/v1/runs/${part(id)}/stdin`, { body: eof ? { ...piece, eof } : piece, waitsForRoom: false });
      return;
    } catch (error) {
      if (!(error instanceof Busy)) throw error;
      await pause(50);
    }
  }
}
