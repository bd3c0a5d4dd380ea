import type { CellEnd, CellEvent, Event, Result } from "./models.js";
import type { Session } from "./sessions.js";
import { type Call, type Transport } from "./transport.js";
export interface StreamRequest extends Call {
    method: string;
    path: string;
    /** The query that goes on after an event; a stream without it ends with its connection. */
    resume?: (seq: number) => object;
}
/** Events, each as soon as it happens. The request is sent when the first event is asked for. A loop that is left
 * early, and `close()`, close the connection: a run that the stream started is then cancelled. */
export declare class EventStream<E extends {
    event: string;
    seq?: number;
}> implements AsyncIterable<E> {
    protected readonly transport: Transport;
    private readonly request;
    /** The number of the last event. */
    seq: number;
    private answer?;
    private lines?;
    private readonly ahead;
    private over;
    constructor(transport: Transport, request: StreamRequest);
    [Symbol.asyncIterator](): AsyncGenerator<E, void, void>;
    /** The next event; undefined after the last one. Unlike a loop, it leaves the stream open. */
    next(): Promise<E | undefined>;
    /** Leaves the stream. */
    close(): void;
    protected open(): Promise<void>;
    private read;
    protected needsId(): boolean;
    protected isIncomplete(): boolean;
    protected take(_event: E): void;
}
/** The events of one run. `id` is known after the first event, `result` after the last one. */
export declare class RunStream extends EventStream<Event> {
    id?: string;
    result?: Result;
    protected needsId(): boolean;
    protected isIncomplete(): boolean;
    protected take(event: Event): void;
    /** Sends input to a run with stdin_open. `eof` closes its stdin. */
    write(data?: string | Uint8Array, { eof }?: {
        eof?: boolean | undefined;
    }): Promise<void>;
    /** Cancels the run; its events go on to the end. False: it was over already. */
    cancel(): Promise<boolean>;
}
/** The events of one cell. `result` is its end, without its outputs: `session.cell(result.cell)` has them. */
export declare class CellStream extends EventStream<CellEvent> {
    readonly session: Session;
    id?: string;
    result?: CellEnd;
    constructor(transport: Transport, session: Session, request: StreamRequest);
    protected isIncomplete(): boolean;
    protected take(event: CellEvent): void;
    /** Answers input(), after an event `input_request`. */
    reply(text: string): Promise<void>;
    /** Interrupts the cell; its events go on to the end. */
    interrupt(): Promise<void>;
}
export declare function cancelRun(transport: Transport, id: string): Promise<boolean>;
/** The service takes the next piece when the program has read the last one: 503 until then. */
export declare function sendStdin(transport: Transport, id: string, data: string | Uint8Array, eof: boolean): Promise<void>;
