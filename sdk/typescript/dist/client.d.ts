import type { Batch, BatchEvent, BatchRequest, BatchRuns, CheckOptions, Comparison, ComparisonEvent, ComparisonRequest, Diagnosis, DiagnosisOptions, Health, Language, Result, RunOptions, SessionOptions, Stats, TestOptions } from "./models.js";
import { Approvals, Artifacts, Keys, Rules, Templates } from "./registers.js";
import { Run, Runs } from "./runs.js";
import { Session, Sessions } from "./sessions.js";
import { EventStream, RunStream } from "./streams.js";
import { type Network } from "./transport.js";
import type { BelljarOptions, CallOptions } from "./types.js";
/** Options of a program: the fields of `POST /v1/runs`, and `timeout`, the seconds that it gets. */
export type ProgramOptions = RunOptions & CallOptions & {
    timeout?: number;
};
/** A client of a Belljar service. */
export declare class BelljarClient {
    readonly runs: Runs;
    readonly sessions: Sessions;
    readonly templates: Templates;
    readonly approvals: Approvals;
    readonly rules: Rules;
    readonly artifacts: Artifacts;
    readonly keys: Keys;
    private readonly transport;
    constructor(options: BelljarOptions, connect: (url: string) => Network);
    /** Closes the connections that wait. */
    close(): void;
    /** Runs a program and waits for its result. A program that fails is a result, too; `check` throws ProgramFailed,
     * with the diagnosis, instead. An aborted `signal` cancels the run. */
    run(code: string | undefined, options?: ProgramOptions & {
        check?: boolean;
    }): Promise<Result>;
    /** Runs a program; its events are an async iterator. With `stdin_open` it can be written to meanwhile. */
    stream(code: string | undefined, options?: ProgramOptions): RunStream;
    /** Starts a program and does not wait for it. It goes on without this client. */
    start(code: string | undefined, options?: ProgramOptions): Promise<Run>;
    /** Many runs (`runs`), or one program on many inputs (`run`, `inputs`). */
    batch(request: BatchRequest, options?: CallOptions): Promise<Batch>;
    streamBatch(request: BatchRequest, options?: CallOptions): EventStream<BatchEvent>;
    /** The runs of a batch or a comparison. */
    batchRuns(id: string): Promise<BatchRuns>;
    /** Every variant on every input: outputs and costs side by side. */
    compare(request: ComparisonRequest, options?: CallOptions): Promise<Comparison>;
    streamComparison(request: ComparisonRequest, options?: CallOptions): EventStream<ComparisonEvent>;
    /** Runs the tests of a project (`files`), or `tests` beside `code`. The result has `outcome` and `tests`. */
    test(request: TestOptions, options?: CallOptions): Promise<Result>;
    /** Finds the mistakes in `code` or `files`, and runs no line of it. The result has `outcome` and `checks`. */
    check(request: CheckOptions, options?: CallOptions): Promise<Result>;
    /** Starts a session. `await using session = …` ends it with the block; otherwise `session.end()` does. */
    session(language?: string, options?: SessionOptions & CallOptions): Promise<Session>;
    /** Explains an error that a program printed elsewhere. null: no error was found. */
    diagnose(stderr: string, options?: DiagnosisOptions): Promise<Diagnosis | null>;
    languages(): Promise<Language[]>;
    health(): Promise<Health>;
    stats(since?: string): Promise<Stats>;
}
