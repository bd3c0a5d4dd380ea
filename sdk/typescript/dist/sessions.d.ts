import type { Branches, BranchEvent, BranchOptions, Cell, CellAccepted, CellOptions, Checkpoint, Completions, Inspection, Rollback, Session as SessionState, SessionChanges, SessionEvent, SessionFile, SessionFilter, Sleep, Tree, Variable, Wake } from "./models.js";
import { CellStream, EventStream } from "./streams.js";
import { type Transport } from "./transport.js";
import type { CallOptions, Json, Network } from "./types.js";
/** A live interpreter. `state` is the last answer of the service about it; `refresh` asks again. */
export declare class Session {
    private readonly transport;
    state: SessionState;
    readonly id: string;
    private readonly path;
    constructor(transport: Transport, state: SessionState);
    [Symbol.asyncDispose](): Promise<void>;
    private get;
    private post;
    /** Runs a cell and waits for its end. `check` throws ProgramFailed if it fails; an aborted signal interrupts it. */
    run(code: string, options?: CellOptions & CallOptions & {
        check?: boolean;
    }): Promise<Cell>;
    /** Runs a cell; its events are an async iterator. */
    stream(code: string, options?: CellOptions & CallOptions): CellStream;
    /** Puts a cell in line and does not wait: `events` and `cell` have the rest. */
    start(code: string, options?: CellOptions): Promise<CellAccepted>;
    /** A cell that is over, with its outputs. */
    cell(number: number): Promise<Cell>;
    /** The newest cells with code and outputs, or those after a number. */
    cells(query?: {
        limit?: number;
        after?: number;
    }): Promise<Cell[]>;
    /** The events of a cell from the first one, or after the one with this number. */
    events(cell: number, { after, signal }?: CallOptions & {
        after?: number;
    }): CellStream;
    /** Answers input() with a line; null: there is no more input. */
    reply(text: string | null): Promise<void>;
    /** Interrupts the cell that runs, or only the one with this number. The variables stay. */
    interrupt(cell?: number): Promise<void>;
    /** Starts the interpreter anew: without variables, with the files that the session began with. */
    restart(): Promise<void>;
    complete(code: string, cursor?: number): Promise<Completions>;
    inspect(code: string, cursor?: number, detail?: 0 | 1): Promise<Inspection>;
    variables(): Promise<Variable[]>;
    /** Its cells as a Jupyter notebook. */
    notebook(): Promise<Json>;
    /** The files in /sandbox, or in one directory of it. */
    files(path?: string): Promise<SessionFile[]>;
    read(path: string): Promise<Uint8Array>;
    /** Writes a file; its directories are made. */
    write(path: string, data: string | Uint8Array): Promise<void>;
    remove(path: string): Promise<void>;
    /** Copies with all variables and files, of the present state or `from` a checkpoint. */
    fork(count?: number, options?: {
        names?: string[];
        strict?: boolean;
        network?: Network;
        from?: string | number;
    }): Promise<Session[]>;
    /** Runs candidates side by side in copies, and goes on as the winner: `keep` is "first_ok", "best" with a `score`,
     * or "none". */
    branches(candidates: string[], options: BranchOptions & CallOptions): Promise<Branches>;
    streamBranches(candidates: string[], options: BranchOptions & CallOptions): EventStream<BranchEvent>;
    /** Keeps the present state. */
    checkpoint(name?: string, options?: {
        strict?: boolean;
    }): Promise<Checkpoint>;
    checkpoints(): Promise<Checkpoint[]>;
    deleteCheckpoint(name: string): Promise<void>;
    /** Goes back to a checkpoint, by its id or name, or to the state after a cell, by its number. */
    rollback(to: string | number): Promise<Rollback>;
    /** Goes back before the last cell, or the last `cells`. The session needs `undo: N`. */
    undo(cells?: number): Promise<Rollback>;
    /** The session, the sessions that it came from, their copies and checkpoints. */
    tree(): Promise<Tree>;
    /** Puts the session on the disk; the next cell wakes it. */
    sleep(options?: {
        strict?: boolean;
        compress?: boolean;
    }): Promise<Sleep>;
    wake(options?: {
        replay?: boolean;
    }): Promise<Wake>;
    /** The session as a file: `jar.sessions.load` makes a session of it. */
    image({ compress }?: {
        compress?: boolean;
    }): Promise<Uint8Array>;
    refresh(): Promise<SessionState>;
    /** Changes its name, limits of cells, idle time, undo, network list or metadata. */
    update(changes: SessionChanges): Promise<SessionState>;
    /** The states of the session as a stream, with a warning before its end. */
    life(options?: CallOptions): EventStream<SessionEvent>;
    /** Ends it. A session that is over already stays so. */
    end(): Promise<void>;
}
/** The sessions of the service: `jar.sessions`. */
export declare class Sessions {
    private readonly transport;
    constructor(transport: Transport);
    get(id: string): Promise<Session>;
    list(filter?: SessionFilter): Promise<Session[]>;
    /** A session from a file of `session.image()`. */
    load(image: Uint8Array): Promise<Session>;
}
