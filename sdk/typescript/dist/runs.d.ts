import type { Approval, DebugReport, Event, HistoryFilter, OutputFile, Result, RunRequest, RunRow, RunState } from "./models.js";
import { type EventStream } from "./streams.js";
import { type Transport } from "./transport.js";
import type { CallOptions } from "./types.js";
/** One run, by its id. It goes on whether or not a client looks at it. */
export declare class Run {
    private readonly transport;
    readonly id: string;
    /** The approval that the run waits for, if a person has to decide. */
    readonly approval?: Approval | undefined;
    private readonly path;
    constructor(transport: Transport, id: string, 
    /** The approval that the run waits for, if a person has to decide. */
    approval?: Approval | undefined);
    /** Its result if it is over, otherwise its state and its output so far. */
    state(): Promise<Result | RunState>;
    /** Its events from the first one, or after the one with this number. A lost connection is made again. */
    events({ after, signal }?: CallOptions & {
        after?: number;
    }): EventStream<Event>;
    /** Waits for its end. */
    result(options?: CallOptions): Promise<Result>;
    /** Sends input to a run with stdin_open. `eof` closes its stdin. */
    write(data?: string | Uint8Array, { eof }?: {
        eof?: boolean | undefined;
    }): Promise<void>;
    /** Cancels it. False: it was over already. */
    cancel(): Promise<boolean>;
    /** All bytes of stdout, also if a result has no room for all of them. */
    stdout(): Promise<Uint8Array>;
    stderr(): Promise<Uint8Array>;
    /** The outputs that the request named. */
    files(): Promise<OutputFile[]>;
    file(name: string): Promise<Uint8Array>;
    /** The request, with its code: enough to run it again. */
    request(): Promise<RunRequest>;
    debugReport(): Promise<DebugReport>;
}
/** The history: `jar.runs`. */
export declare class Runs {
    private readonly transport;
    constructor(transport: Transport);
    /** A run by its id. Nothing is asked yet. */
    get(id: string): Run;
    /** The runs of the history, the newest first; pages are fetched as they are needed. */
    list(filter?: HistoryFilter): AsyncGenerator<RunRow, void, void>;
}
