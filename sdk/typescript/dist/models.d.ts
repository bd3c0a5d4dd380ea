import type { Files, Network as NetworkOption, Json } from "./types.js";
export type Verdict = "ok" | "runtime_error" | "compile_error" | "timeout" | "cpu_timeout" | "memory_limit" | "output_limit" | "process_limit" | "disk_limit" | "cancelled" | "rejected" | "internal_error";
export type OutcomeWord = "cures" | "moves" | "no_change" | "limit" | "unsteady" | "not_tried";
export type Runner = "pytest" | "unittest" | "node" | "go" | "minitest" | "ctest" | "rspec" | "cargo" | "jest" | "vitest";
export type State = "waiting" | "queued" | "running" | "finished" | "interrupted";
export type OutcomeWordWord = "passed" | "failed" | "no_tests" | "stopped" | "unknown";
export type ErrorType = "unknown" | "timeout" | "execution_failure" | "python_exception" | "sandbox_error";
export type StateWord = "starting" | "idle" | "busy" | "sleeping" | "ended";
export type Status = "ok" | "error" | "interrupted" | "timeout" | "lost";
export type Format = "table" | "csv" | "markdown" | "json" | "html";
export type TestRunner = "none" | "pytest" | "unittest" | "node" | "go" | "minitest" | "ctest" | "rspec" | "cargo" | "jest" | "vitest";
export type PermissionMode = "default" | "manual" | "acceptEdits" | "plan" | "bypassPermissions" | "auto";
export interface Isolation {
    /** isolation level of the jar */
    level: "process" | "rootless" | "jar";
    /** its layers of defence */
    layers: ("user_ns" | "pid_ns" | "mount_ns" | "net_ns" | "ipc_ns" | "uts_ns" | "cgroup_ns" | "root" | "own_uid" | "no_caps" | "no_new_privs" | "seccomp" | "landlock" | "rlimits" | "cgroup_memory" | "cgroup_pids" | "cgroup_cpu" | "environment" | "closed_fds" | "own_session")[];
    /** keys of limits that this machine cannot enforce for all processes together */
    unenforced: string[];
}
export interface Health {
    /** ok or degraded */
    status: string;
    /** version of the service */
    version: string;
    /** isolation of runs */
    isolation: Isolation | null;
    /** seconds since the start of the service */
    uptime_s: number;
    /** the reason for degraded */
    why?: string;
}
export interface Language {
    /** value for `language` */
    name: string;
    /** other accepted names */
    aliases: string[];
    /** file extensions that imply the language */
    extensions: string[];
    /** null if it is not installed, or has not answered yet */
    version: string | null;
    /** true if it can be run here */
    installed: boolean;
    /** the command that installs it */
    install: string;
    /** the name of `code` in /sandbox; for Java the name of its public class, if it has one */
    main_file: string;
    /** true if a compiler runs first */
    compiled: boolean;
    /** kinds of booted interpreters that wait for a job */
    warm: string[];
}
/** Interpreters of one kind that wait for a job. */
export interface Pool {
    /** state of the interpreter that is forked */
    zygote: "off" | "booting" | "up" | "failed";
    /** the reason for failed */
    why: string | null;
    /** embryos that wait for a job */
    ready: number;
    /** embryos that are not ready yet */
    building: number;
    /** the wanted number of waiting embryos */
    target: number;
    /** starts of this kind */
    starts: PoolStart;
    /** forks of all zygotes of this kind */
    forks: number;
    /** zygotes that were booted */
    zygotes: number;
    /** zygotes that ended by themselves */
    deaths: number;
    /** embryos that were never used */
    discarded: number;
}
/** starts of this kind. */
export interface PoolStart {
    /** starts in a jar that waited */
    warm: number;
    /** starts by a fork into a new jar */
    hatched: number;
    /** starts of a new interpreter */
    cold: number;
}
export interface Stats {
    /** null: the whole history */
    since: string | null;
    /** number of runs */
    runs: number;
    /** number of runs by verdict */
    verdicts: Json;
    /** number of runs by language */
    languages: Json;
    /** by language and verdict */
    rows: StatsRow[];
    /** runs at this moment */
    now: StatsNow;
    /** counts since the start of the service */
    since_start: StatsSinceStart;
    /** counts of the HTTP server */
    http: StatsHttp;
    /** seconds since the start of the service */
    uptime_s: number;
    /** starts of all kinds */
    starts: PoolStart;
    /** a Pool for each kind, by name */
    pools: Json;
    /** true if memory is short, so that no embryo is kept */
    memory_pressure: boolean;
}
export interface StatsRow {
    /** language of these runs */
    language: string;
    /** verdict of these runs */
    verdict: string;
    /** number of runs */
    runs: number;
    /** mean time from start to end */
    wall_ms_mean: number;
    /** longest time from start to end */
    wall_ms_max: number;
    /** mean CPU time */
    cpu_ms_mean: number;
    /** the largest memory use of a run */
    memory_peak_max_bytes: number;
}
/** runs at this moment. */
export interface StatsNow {
    /** current runs */
    running: number;
    /** runs in the queue */
    queued: number;
    /** runs that wait for an approval */
    waiting: number;
}
/** counts since the start of the service. */
export interface StatsSinceStart {
    /** accepted runs */
    accepted: number;
    /** runs that were refused because the queue was full */
    refused: number;
}
/** counts of the HTTP server. */
export interface StatsHttp {
    /** open connections */
    connections: number;
    /** requests since the start */
    requests: number;
    /** connections that were refused since the start */
    refused: number;
}
export interface Usage {
    /** time from the start of the program to its end */
    wall_ms: number;
    /** CPU time of all processes */
    cpu_ms: number;
    /** the largest memory use */
    memory_peak_bytes: number;
    /** the largest number of processes and threads */
    pids_peak?: number;
}
export interface OutputFile {
    /** path below /sandbox, or an absolute one below /tmp */
    name: string;
    /** ok, or the reason why the file was not fetched */
    status: "ok" | "missing" | "not_a_file" | "too_large" | "refused";
    /** in bytes; null if the file was not fetched */
    size: number | null;
}
/** The cause of a failure, its place, and suggestions. */
export interface Diagnosis {
    /** the language of the error message */
    language: string | null;
    /** the kind of failure */
    category: "runtime" | "syntax" | "name" | "import" | "type" | "value" | "index" | "io" | "permission" | "network" | "resource" | "assertion" | "compile" | "sandbox";
    /** the name of the error in its language: NameError, E0382, TS2322, SIGSEGV; for a limit the verdict */
    type: string | null;
    /** the message of the error */
    message: string;
    /** place in the files of the request */
    location: DiagnosisLocation | null;
    /** that line and the lines before it */
    excerpt: DiagnosisExcerpt[];
    /** the calls that led to the error, the innermost first */
    frames: DiagnosisFrame[];
    /** the errors that caused it, the nearest first */
    causes: DiagnosisCause[];
    /** the other errors in the same output; some follow from the first */
    further_errors?: DiagnosisFurtherError;
    /** possible corrections, the best first */
    suggestions: DiagnosisSuggestion[];
    /** the variables of the failed line at the error; null if they are not known */
    values: DiagnosisValue | null;
    /** address of a page about the error */
    docs: string | null;
    /** true if a rule of the sandbox caused it */
    sandbox: boolean;
    /** verdict of the run */
    verdict: Verdict;
}
export interface DiagnosisLocation {
    /** name as in the request */
    file: string | null;
    /** from 1 */
    line: number | null;
    /** from 1, in characters */
    column: number | null;
    /** the column after the last character */
    end_column: number | null;
}
export interface DiagnosisExcerpt {
    /** number of the line */
    line: number;
    /** the line in printable form: tabs as spaces, long lines cut */
    text: string;
    /** [from, end]: the columns of the text to point at */
    caret?: Json;
}
export interface DiagnosisFrame {
    /** file of the call */
    file: string | null;
    /** from 1 */
    line: number | null;
    /** from 1 */
    column: number | null;
    /** the function that made the call */
    function: string | null;
    /** true for a file of the request; these come first */
    user: boolean;
}
export interface DiagnosisCause {
    /** as in the diagnosis */
    type: string | null;
    /** the message of the error */
    message: string;
    /** place of the error */
    location: DiagnosisLocation | null;
}
/** the other errors in the same output; some follow from the first. */
export interface DiagnosisFurtherError {
    /** up to 20, in the order of the output, each once */
    errors: DiagnosisCause[];
    /** number of errors beyond those */
    left_out: number;
}
export interface DiagnosisSuggestion {
    /** a sentence */
    text: string;
    /** a corrected line, or the text to write */
    replacement?: string;
    /** of replacement: replace the line of location by it, or insert it */
    action?: "replace" | "insert";
    /** of replacement: the outcome of its try; present if `fixes` was set */
    outcome?: OutcomeWord;
    /** 0 to 1 */
    confidence: number;
}
export interface DiagnosisValue {
    /** always false: the program told the values, and may have invented them */
    trusted: boolean;
    /** the line that failed, then the line that called its function */
    frames: DiagnosisValueFrame[];
}
export interface DiagnosisValueFrame {
    /** name as in the request */
    file: string | null;
    /** from 1 */
    line: number | null;
    /** the function of the line */
    function: string | null;
    /** the variables that the line names; those of the failed expression first */
    variables: DiagnosisValueFrameVariable[];
}
export interface DiagnosisValueFrameVariable {
    /** a variable, or an attribute of it: self.total */
    name: string;
    /** the name of its type in its language; unbound: it has no value yet */
    type: string | null;
    /** number of its elements, characters or bytes */
    size: number | null;
    /** of an array or a table: a list of numbers */
    shape: Json;
    /** of an array: the type of its elements */
    dtype: string | null;
    /** the value, or the beginning of it */
    preview: string | null;
    /** true: by its name it is a secret */
    masked: boolean;
    /** true: preview shows a part of the value */
    cut: boolean;
}
export interface FixError {
    /** as in a diagnosis */
    type: string | null;
    /** the message of the error */
    message: string | null;
    /** name as in the request */
    file: string | null;
    /** line in the changed file, from 1 */
    line: number | null;
}
export interface Fix {
    /** its index in diagnosis.suggestions */
    suggestion: number;
    /** cures: the changed program ends well; moves: it fails elsewhere, or otherwise; no_change: the same error; limit: it reaches a limit; unsteady: it ends well, and so does the program without the change; not_tried: see reason */
    outcome: OutcomeWord;
    /** why it was not tried */
    reason: string | null;
    /** the file that is changed */
    file: string | null;
    /** the first line of the change */
    line: number | null;
    /** the line is replaced, or lines are inserted before it */
    action: "replace" | "insert";
    /** the line as the suggestion has it */
    replacement: string;
    /** the change in the unified format */
    diff: string | null;
    /** the run of the changed program */
    run_id: string | null;
    /** how it ended */
    verdict: Verdict | null;
    /** the time that it took */
    wall_ms: number | null;
    /** the error of the changed program */
    error: FixError | null;
}
/** The suggestions, tried. */
export interface Fixes {
    /** index of the first candidate that cures the error */
    best: number | null;
    /** why nothing was tried */
    reason: string | null;
    /** time for all tries */
    wall_ms: number;
    /** for each suggestion with a replacement: one, or one for each place that it may belong to */
    candidates: Fix[];
}
export interface Connection {
    /** the name; null if the program used an address */
    host: string | null;
    /** null if only the name was asked for */
    port: number | null;
    /** tcp or udp */
    protocol: "tcp" | "udp";
    /** address of the host; null if it was not reached */
    address: string | null;
    /** how it ended */
    outcome: "open" | "closed" | "reset" | "refused" | "timeout" | "unreachable" | "no_name" | "idle" | "busy" | "bad_certificate" | "tls_failed" | "bad_request" | "denied_name" | "denied_port" | "blocked_address" | "sni_mismatch" | "limit";
    /** the name in the beginning of TLS */
    sni: string | null;
    /** time of its start */
    started_at: string | null;
    /** time from its start to its end */
    duration_ms: number;
    /** bytes that the program got */
    bytes_in: number;
    /** bytes that the program sent */
    bytes_out: number;
}
export interface Network {
    /** list or full */
    mode: string;
    /** number of connections, also of open ones */
    connections: number;
    /** names and connections that were not allowed */
    denied: number;
    /** of all connections */
    bytes_in: number;
    /** of all connections */
    bytes_out: number;
    /** each connection, and each name that was not allowed; up to 1,000 */
    log: Connection[];
    /** attempts to reach an address that the list does not have */
    unrouted: number;
    /** attempts to reach a port that the list does not have, or where no server of the program listens */
    refused: number;
    /** entries that the log does not have */
    omitted: number;
    /** settings network.KEY that were reached */
    limits_hit: string[];
    /** false if the process that keeps the log died meanwhile */
    complete: boolean;
}
export interface Test {
    /** its name, as the runner prints it */
    name: string;
    /** error: the test did not get to its end */
    outcome: "passed" | "failed" | "error" | "skipped";
    /** null if the runner does not print it */
    duration_ms: number | null;
    /** one line: the failure, or the reason of a skip */
    message: string | null;
    /** path below /sandbox where it failed */
    file: string | null;
    /** line in this file, from 1 */
    line: number | null;
    /** the text of the failure, up to 8 KiB */
    details: string | null;
    /** the cause of a failure and suggestions, for the first 100 failures */
    diagnosis: Diagnosis | null;
}
export interface Tests {
    /** the test runner */
    runner: Runner;
    /** of the tests */
    language: string;
    /** guest: code under test can change this report; the verdict is from outside */
    source: string;
    /** number of cases */
    total: number;
    /** number of cases that passed */
    passed: number;
    /** number of cases that failed */
    failed: number;
    /** number of cases that did not get to their end */
    error: number;
    /** number of cases that were skipped */
    skipped: number;
    /** true if there are more: up to 5,000 cases in 1 MiB of output are read */
    cut: boolean;
    /** in the order of the output */
    cases: Test[];
}
export interface Problem {
    /** path below /sandbox */
    file: string | null;
    /** line in this file, from 1 */
    line: number | null;
    /** character in this line, from 1 */
    column: number | null;
    /** such as SyntaxError, TS2322 or mypy arg-type */
    type: string | null;
    /** the words of the tool */
    message: string;
    /** of a missing import: the module or package */
    name: string | null;
    /** the lines and suggestions; null if another problem of the same output has them */
    diagnosis: Diagnosis | null;
}
export interface CheckAnswer {
    /** none: no tool is known; skipped: other errors come first; unknown: the tool did not get to its end */
    state: "none" | "ok" | "skipped" | "not_installed" | "unknown" | "failed";
    /** the program that was asked */
    tool: string | null;
    /** of not_installed: the command that installs it */
    install: string | null;
    /** in its order */
    problems: Problem[];
}
export interface CheckedLanguage {
    /** its name in GET /v1/languages */
    language: string;
    /** whether the files parse */
    syntax: CheckAnswer;
    /** whether their types hold */
    types: CheckAnswer;
    /** the imports that are missing here */
    imports: CheckAnswer;
}
export interface CheckedRisk {
    /** network, file_deletion, process, dynamic_code, hidden_character or not_looked_at */
    kind: string;
    /** line in this file, from 1; 0: the file as a whole */
    line: number;
    /** byte in this line, from 1 */
    column: number;
    /** the line, cut */
    excerpt: string;
    /** its effect */
    why: string;
    /** path below /sandbox */
    file: string | null;
}
export interface Check {
    /** guest: parsers that read hostile code made this; the verdict is from outside */
    source: string;
    /** false: the report of the tools lacks its end */
    complete: boolean;
    /** true if there are more problems than 200 */
    cut: boolean;
    /** one for each language of the files */
    languages: CheckedLanguage[];
    /** lines to look at; they change no outcome */
    risks: CheckedRisk[];
}
/** A run that is over. */
export interface Result {
    /** id of the run */
    id: string;
    /** finished */
    state?: State;
    /** its name in GET /v1/languages */
    language: string;
    /** version of the interpreter or compiler */
    version: string | null;
    /** how the run ended */
    verdict: Verdict;
    /** true if the verdict is ok */
    success: boolean;
    /** of the program, 128 + signal, 124 or 137 */
    exit_code: number;
    /** the signal that ended it, such as SIGSEGV */
    signal: string | null;
    /** the output of the program, up to 1 MiB; not in events */
    stdout?: string;
    /** like stdout, for stderr */
    stderr?: string;
    /** the exact bytes, if they are not UTF-8 */
    stdout_base64?: string;
    /** the exact bytes, if they are not UTF-8 */
    stderr_base64?: string;
    /** true if stdout is only the beginning: GET /v1/runs/{id}/stdout returns all */
    stdout_cut?: boolean;
    /** like stdout_cut, for stderr */
    stderr_cut?: boolean;
    /** true if limits.output cut it */
    stdout_truncated: boolean;
    /** true if limits.output cut it */
    stderr_truncated: boolean;
    /** number of bytes that are kept */
    stdout_bytes?: number;
    /** number of bytes that are kept */
    stderr_bytes?: number;
    /** resources that the run used */
    usage: Usage;
    /** the limits of the run */
    limits: LimitValues;
    /** keys of limits that were reached; network_limit: network.limits_hit has the keys */
    limits_hit: string[];
    /** the isolation of the jar */
    isolation: Isolation;
    /** the requested outputs */
    files: OutputFile[];
    /** how the program started: warm (in a jar that waited), hatched (forked into a new jar) or cold (a new interpreter) */
    start: "cold" | "hatched" | "warm" | null;
    /** null if the program never started */
    started_at: string | null;
    /** the times of the run */
    timings?: ResultTiming;
    /** with stages: the result of each, in their order */
    stages?: ResultStage[];
    /** the result of the compiler; null if the language has none */
    compile: ResultCompile | null;
    /** the cause of a failure and suggestions; null if the run ended well */
    diagnosis: Diagnosis | null;
    /** the suggestions, tried; present if `fixes` was set */
    fixes?: Fixes;
    /** the results of SQL queries; null for other languages */
    tables: ResultTable[] | null;
    /** where time and memory went; null unless `profile` was set */
    profile: ResultProfile | null;
    /** figures, tables and other displays, in order; null unless `display` was set */
    displays: ResultDisplay[] | null;
    /** the connections of the program; null if it had no network */
    network: Network | null;
    /** of tests: passed, failed, no_tests, stopped (by a limit) or unknown; the same words, without no_tests, of a check; present if `test_runner` or `checks` was set */
    outcome?: OutcomeWordWord;
    /** the report of the tests; null if it could not be read; present if `test_runner` was set */
    tests?: Tests | null;
    /** the answer of a check; null if it could not be read; present if `checks` was set */
    checks?: Check | null;
    /** as in the request */
    thread_id?: string | null;
    /** the artifact that was run */
    artifact_id?: string | null;
    /** the batch that the run belongs to */
    batch_id?: string | null;
    /** as in the request */
    metadata?: Json;
    /** how the program was found in `code`; present if it is a part of `code`, or if the language was inferred */
    taken?: ResultTaken;
    /** the reason, for internal_error and rejected */
    error?: string;
    /** the error code, for internal_error */
    error_code?: string;
}
/** the times of the run. */
export interface ResultTiming {
    /** time at which the run was accepted */
    queued_at: string | null;
    /** time at which the program started */
    started_at: string | null;
    /** time at which the program ended */
    finished_at: string | null;
    /** time in the queue; the time before an approval and in the compiler does not count */
    queued_ms?: number;
}
export interface ResultStage {
    /** of the request */
    name: string;
    /** bash for a command */
    language: string;
    /** of this stage, from outside the jar; null: it did not begin */
    verdict: Verdict | null;
    /** it ended by itself with expect_exit */
    passed: boolean;
    /** of the request */
    expect_exit: number;
    /** that held for it, by key */
    limits: LimitValues;
    /** of its program, 128 + signal, 124 or 137 */
    exit_code?: number;
    /** that ended its program */
    signal: string | null;
    /** of this stage; memory_peak_bytes and pids_peak since the first one, where the kernel cannot count anew */
    usage?: Usage;
    /** keys of the limits that were reached */
    limits_hit?: string[];
    /** its output, up to 64 KiB */
    stdout?: string;
    /** like stdout, for stderr */
    stderr?: string;
    /** the exact bytes, if they are not UTF-8 */
    stdout_base64?: string;
    /** the exact bytes, if they are not UTF-8 */
    stderr_base64?: string;
    /** true if stdout is only the beginning */
    stdout_cut?: boolean;
    /** like stdout_cut, for stderr */
    stderr_cut?: boolean;
}
export interface ResultCompile {
    /** ok, compile_error, or the limit that the compiler reached */
    verdict: Verdict;
    /** of the compiler, 128 + signal, 124 or 137 */
    exit_code: number;
    /** the output of the compiler, up to 64 KiB */
    stdout: string;
    /** like stdout, for stderr: warnings and errors */
    stderr: string;
    /** the exact bytes, if they are not UTF-8 */
    stdout_base64?: string;
    /** the exact bytes, if they are not UTF-8 */
    stderr_base64?: string;
    /** true if stdout is only the beginning */
    stdout_cut: boolean;
    /** like stdout_cut, for stderr */
    stderr_cut: boolean;
    /** resources that the compiler used when it ran */
    usage: Usage;
    /** keys of compile_limits that were reached */
    limits_hit: string[];
    /** true if another run compiled the same program, earlier or at the same time */
    cached: boolean;
    /** the key of the compiled program in the cache */
    key: string | null;
}
export interface ResultTable {
    /** from left to right */
    columns: ResultTableColumn[];
    /** lists of values: null, true or false, numbers up to 2^53, otherwise text; bytes are {"base64": text} */
    rows: Json;
    /** number of rows of the whole result */
    row_count: number;
    /** true if `rows` is only the beginning: up to 1,000 rows of a result and 1 MiB of a run are kept */
    truncated: boolean;
    /** line of the file where the statement begins */
    line?: number;
}
export interface ResultTableColumn {
    /** name in the query; cut at 200 bytes */
    name: string;
    /** name of the type in the database */
    type: string;
}
export interface ResultProfile {
    /** time during which samples were taken inside the program; 0 if the language has no profiler */
    sampled_ms: number;
    /** number of samples */
    samples: number;
    /** up to 50: functions of the program first, then by self_ms */
    functions: ResultProfileFunction[];
    /** up to 50, by self_ms */
    lines: ResultProfileLine[];
    /** up to 200, by ms */
    stacks: ResultProfileStack[];
    /** up to 240 moments, measured outside the program, for every language */
    timeline: ResultProfileTimeline[];
    /** a measurement that was not possible */
    note: string | null;
}
export interface ResultProfileFunction {
    /** its name */
    function: string;
    /** path below /sandbox for files of the program, absolute for others */
    file: string;
    /** line where the function begins */
    line: number;
    /** time in the function itself */
    self_ms: number;
    /** time in the function and in its callees */
    total_ms: number;
    /** self_ms as a share of sampled_ms */
    percent: number;
}
export interface ResultProfileLine {
    /** file of the program */
    file: string;
    /** number of the line, from 1 */
    line: number;
    /** the line */
    text: string;
    /** time in the line, and in libraries that it called */
    self_ms: number;
    /** self_ms as a share of sampled_ms */
    percent: number;
}
export interface ResultProfileStack {
    /** "function file:line" from the outermost on, with ; between */
    stack: string;
    /** time in this stack */
    ms: number;
}
export interface ResultProfileTimeline {
    /** time since the start */
    ms: number;
    /** since the previous moment; 100 is one CPU */
    cpu_percent: number;
    /** memory of all processes */
    memory_bytes: number;
    /** number of processes and threads */
    pids: number;
}
export interface ResultDisplay {
    /** representations by MIME type: text is a string, JSON types are JSON, other bytes are base64 */
    data: Json;
    /** its id, if it could be updated */
    display_id?: string;
    /** by MIME type */
    metadata?: Json;
    /** true: displays or representations were left out here */
    cut?: boolean;
}
/** how the program was found in `code`; present if it is a part of `code`, or if the language was inferred. */
export interface ResultTaken {
    /** the source from which the language is known */
    language_from: "not" | "given" | "fence" | "shebang" | "file_name" | "content";
    /** true if the program is only a part of `code` */
    unwrapped: boolean;
    /** number of fenced blocks in `code` */
    blocks: number;
    /** number of blocks that make up the program */
    blocks_taken: number;
}
/** An event of a run. */
export interface Event {
    /** kind of the event */
    event: "waiting" | "queued" | "started" | "stdout" | "stderr" | "network" | "done" | "keepalive";
    /** grows, not always by one; keepalive has none */
    seq?: number;
    /** of waiting, queued, started: id of the run */
    id?: string;
    /** of waiting: the approval that the run waits for */
    approval?: Json;
    /** of started: time at which the program started */
    started_at?: string;
    /** of stdout, stderr: a piece of the output */
    data?: string;
    /** in place of data, if the bytes are not UTF-8 */
    data_base64?: string;
    /** of stdout, stderr, network: time since the start */
    time_ms?: number;
    /** of network: a connection that began or ended, or was refused */
    connection?: Connection;
    /** of done: the result without the streams */
    result?: Result;
}
export interface RunAccepted {
    /** id for GET /v1/runs/{id} */
    id: string;
    /** the current state */
    state: State;
    /** the approval that the run waits for, if any */
    approval?: Json;
}
/** A run as lists show it. */
export interface RunRow {
    /** id of the run */
    id: string;
    /** the current state */
    state: State;
    /** its name in GET /v1/languages */
    language: string;
    /** null until the run is over */
    verdict: Verdict | null;
    /** as in the request */
    thread_id: string | null;
    /** the artifact that was run */
    artifact_id: string | null;
    /** the batch that the run belongs to */
    batch_id: string | null;
    /** the part of the API that the request went to: v1, nemo, artifacts, or checker */
    surface: string | null;
    /** name of the API key */
    key: string | null;
    /** time at which the run was accepted */
    created_at: string | null;
    /** time at which the program started */
    started_at: string | null;
    /** time at which the program ended */
    finished_at: string | null;
    /** null until the run is over */
    usage: Usage | null;
    /** of an interrupted run: the reason why there is no result */
    error?: string;
}
export interface RunList {
    /** newest first */
    runs: RunRow[];
    /** for the next page; null at the end */
    next_cursor: string | null;
}
export interface UsageNow {
    /** since the start of the program */
    wall_ms: number;
    /** CPU time of all processes so far */
    cpu_ms: number;
    /** the largest memory use so far */
    memory_peak_bytes: number;
    /** the largest number of processes so far */
    pids_peak: number;
    /** memory now; 0 if it is not known */
    memory_bytes: number;
    /** processes and threads now; 0 if it is not known */
    pids: number;
}
/** A run that is not over. */
export interface RunState {
    /** id of the run */
    id: string;
    /** any but finished */
    state: State;
    /** its name in GET /v1/languages */
    language: string | null;
    /** null */
    verdict: Verdict | null;
    /** the times of the run */
    timings?: ResultTiming;
    /** number of bytes so far */
    stdout_bytes?: number;
    /** number of bytes so far */
    stderr_bytes?: number;
    /** of a program that runs, measured for this answer; null for others and for cells */
    usage: UsageNow | null;
    /** the output of the program, up to 1 MiB; not in events */
    stdout?: string;
    /** like stdout, for stderr */
    stderr?: string;
    /** the exact bytes, if they are not UTF-8 */
    stdout_base64?: string;
    /** the exact bytes, if they are not UTF-8 */
    stderr_base64?: string;
    /** true if stdout is only the beginning: GET /v1/runs/{id}/stdout returns all */
    stdout_cut?: boolean;
    /** like stdout_cut, for stderr */
    stderr_cut?: boolean;
}
export interface RunsCancelled {
    /** the number of runs that were asked to end */
    cancelled: number;
}
export interface StdinAccepted {
    /** id of the run */
    id: string;
    /** number of bytes */
    accepted: number;
}
export interface RunRequest {
    /** id of the run */
    id: string;
    /** its name in GET /v1/languages */
    language: string | null;
    /** the main file, as it was run */
    code: string | null;
    /** the body of the request, enough to run it again */
    request: Json;
}
export interface RunFiles {
    /** id of the run */
    id: string;
    /** the requested outputs */
    files: OutputFile[];
}
/** A program that judges outputs. */
export interface Checker {
    /** id of an artifact that is the checker; in place of language and code */
    artifact?: string;
    /** as in POST /v1/runs */
    language?: string;
    /** the checker: it reads the files input, expected and got, and prints pass or fail and the reason */
    code?: string;
    /** files beside the checker */
    files?: Files;
    /** the name of the file that is the checker */
    entry?: string;
    /** arguments of the checker */
    args?: string[];
    /** environment of the checker */
    env?: Record<string, string>;
    /** limits of each run of the checker */
    limits?: Limits;
    /** as in POST /v1/runs */
    compiler_args?: string[];
    /** as in POST /v1/runs */
    compile_limits?: Limits;
}
export interface CheckerResult {
    /** error: the checker failed, which says nothing about the program */
    outcome: "pass" | "fail" | "error";
    /** the reason, in the words of the checker, or of its failure */
    message: string;
    /** the run of the checker; null if it did not start */
    run_id: string | null;
}
/** With all fields of a result, if the program ran. */
export interface BatchResult {
    /** position in the request */
    index: number;
    /** name of the input */
    name?: string;
    /** finished; failed and skipped have no verdict */
    state?: string;
    /** null if the input has no `expected` and there is no checker, if the checker failed, or if another failure ended it */
    passed?: boolean | null;
    /** the difference from the expected output */
    difference?: BatchResultDifference;
    /** the word of the checker; absent if it was not asked */
    checker?: CheckerResult;
    /** the reason why the run did not start */
    error?: string;
    /** id of the run */
    id?: string;
    /** its name in GET /v1/languages */
    language?: string;
    /** version of the interpreter or compiler */
    version?: string | null;
    /** how the run ended */
    verdict?: Verdict;
    /** true if the verdict is ok */
    success?: boolean;
    /** of the program, 128 + signal, 124 or 137 */
    exit_code?: number;
    /** the signal that ended it, such as SIGSEGV */
    signal?: string | null;
    /** the output of the program, up to 1 MiB; not in events */
    stdout?: string;
    /** like stdout, for stderr */
    stderr?: string;
    /** the exact bytes, if they are not UTF-8 */
    stdout_base64?: string;
    /** the exact bytes, if they are not UTF-8 */
    stderr_base64?: string;
    /** true if stdout is only the beginning: GET /v1/runs/{id}/stdout returns all */
    stdout_cut?: boolean;
    /** like stdout_cut, for stderr */
    stderr_cut?: boolean;
    /** true if limits.output cut it */
    stdout_truncated?: boolean;
    /** true if limits.output cut it */
    stderr_truncated?: boolean;
    /** number of bytes that are kept */
    stdout_bytes?: number;
    /** number of bytes that are kept */
    stderr_bytes?: number;
    /** resources that the run used */
    usage?: Usage;
    /** the limits of the run */
    limits?: LimitValues;
    /** keys of limits that were reached; network_limit: network.limits_hit has the keys */
    limits_hit?: string[];
    /** the isolation of the jar */
    isolation?: Isolation;
    /** the requested outputs */
    files?: OutputFile[];
    /** how the program started: warm (in a jar that waited), hatched (forked into a new jar) or cold (a new interpreter) */
    start?: "cold" | "hatched" | "warm" | null;
    /** null if the program never started */
    started_at?: string | null;
    /** the times of the run */
    timings?: ResultTiming;
    /** with stages: the result of each, in their order */
    stages?: ResultStage[];
    /** the result of the compiler; null if the language has none */
    compile?: ResultCompile | null;
    /** the cause of a failure and suggestions; null if the run ended well */
    diagnosis?: Diagnosis | null;
    /** the suggestions, tried; present if `fixes` was set */
    fixes?: Fixes;
    /** the results of SQL queries; null for other languages */
    tables?: ResultTable[] | null;
    /** where time and memory went; null unless `profile` was set */
    profile?: ResultProfile | null;
    /** figures, tables and other displays, in order; null unless `display` was set */
    displays?: ResultDisplay[] | null;
    /** the connections of the program; null if it had no network */
    network?: Network | null;
    /** of tests: passed, failed, no_tests, stopped (by a limit) or unknown; the same words, without no_tests, of a check; present if `test_runner` or `checks` was set */
    outcome?: OutcomeWordWord;
    /** the report of the tests; null if it could not be read; present if `test_runner` was set */
    tests?: Tests | null;
    /** the answer of a check; null if it could not be read; present if `checks` was set */
    checks?: Check | null;
    /** as in the request */
    thread_id?: string | null;
    /** the artifact that was run */
    artifact_id?: string | null;
    /** the batch that the run belongs to */
    batch_id?: string | null;
    /** as in the request */
    metadata?: Json;
    /** how the program was found in `code`; present if it is a part of `code`, or if the language was inferred */
    taken?: ResultTaken;
    /** the error code, for internal_error */
    error_code?: string;
}
/** the difference from the expected output. */
export interface BatchResultDifference {
    /** the first line that differs */
    line: number;
    /** null if the expected output ends there */
    expected: string | null;
    /** null if the output of the program ends there */
    got: string | null;
}
export interface Batch {
    /** id for GET /v1/batches/{id} */
    id: string;
    /** in the order of the request */
    results: BatchResult[];
    /** counts */
    summary: BatchSummary;
}
/** counts. */
export interface BatchSummary {
    /** number of runs */
    total: number;
    /** runs that ended well, with the expected output */
    ok: number;
    /** runs that failed */
    failed: number;
    /** runs that printed the expected output */
    passed: number;
    /** runs whose checker failed */
    unchecked: number;
    /** runs that stop_on_failure cancelled */
    cancelled: number;
    /** runs that did not start because of a failure */
    skipped: number;
    /** time for all of them */
    wall_ms: number;
}
export interface BatchEvent {
    /** kind of the event */
    event: "result" | "done";
    /** 1, 2, … */
    seq: number;
    /** of result: position in the request */
    index?: number;
    /** of result */
    result?: BatchResult;
    /** of done: id of the batch */
    id?: string;
    /** of done */
    summary?: BatchSummary;
}
export interface BatchRuns {
    /** id of the batch or comparison */
    id: string;
    /** true if all runs are over */
    finished: boolean;
    /** number of runs, until all are over */
    total: number | null;
    /** its runs so far */
    results: RunRow[];
}
export interface ComparedRun {
    /** name of the input */
    input: string;
    /** id for GET /v1/runs/{id} */
    run_id?: string;
    /** how the run ended */
    verdict?: Verdict;
    /** as in a result */
    exit_code?: number;
    /** as in a result */
    signal?: string | null;
    /** the output of the program, up to 1 MiB; not in events */
    stdout?: string;
    /** like stdout, for stderr */
    stderr?: string;
    /** the exact bytes, if they are not UTF-8 */
    stdout_base64?: string;
    /** the exact bytes, if they are not UTF-8 */
    stderr_base64?: string;
    /** true if stdout is only the beginning: GET /v1/runs/{id}/stdout returns all */
    stdout_cut?: boolean;
    /** like stdout_cut, for stderr */
    stderr_cut?: boolean;
    /** true if limits.output cut it */
    stdout_truncated?: boolean;
    /** true if limits.output cut it */
    stderr_truncated?: boolean;
    /** resources that the run used */
    usage?: Usage;
    /** keys of limits that were reached */
    limits_hit?: string[];
    /** the reason why the run did not start */
    error?: string;
    /** skipped, if the run never started */
    state?: string;
}
export interface Comparison {
    /** id for GET /v1/batches/{id} */
    id: string;
    /** names of the inputs */
    inputs: string[];
    /** side by side */
    variants: ComparisonVariant[];
    /** by input */
    agreement: ComparisonAgreement[];
    /** by input */
    fastest: ComparisonFastest[];
    /** time for all of them */
    wall_ms: number;
}
export interface ComparisonVariant {
    /** as in the request, or variant-N */
    name: string;
    /** its name in GET /v1/languages */
    language: string | null;
    /** version of the interpreter or compiler */
    version: string | null;
    /** one for each input */
    runs: ComparedRun[];
    /** of all runs of the variant */
    total: Usage;
}
export interface ComparisonAgreement {
    /** name of the input */
    input: string;
    /** true if all variants ended well, with the same output */
    same_output: boolean;
    /** lists of names of variants with the same output */
    groups: Json;
}
export interface ComparisonFastest {
    /** name of the input */
    input: string;
    /** null if no variant ended well */
    variant: string | null;
    /** the time of that variant */
    wall_ms: number | null;
}
/** The last event, done, has all fields of a comparison. */
export interface ComparisonEvent {
    /** kind of the event */
    event: "result" | "done";
    /** 1, 2, … */
    seq: number;
    /** of result: number of the run */
    index?: number;
    /** of result: name of the variant */
    variant?: string;
    /** of result */
    result?: ComparedRun;
    /** id for GET /v1/batches/{id} */
    id?: string;
    /** names of the inputs */
    inputs?: string[];
    /** side by side */
    variants?: ComparisonVariant[];
    /** by input */
    agreement?: ComparisonAgreement[];
    /** by input */
    fastest?: ComparisonFastest[];
    /** time for all of them */
    wall_ms?: number;
}
export interface Artifact {
    /** id of the artifact */
    id: string;
    /** the conversation of the artifact */
    conversation_id: string | null;
    /** the title */
    title: string;
    /** the text */
    content: string;
    /** as in the request */
    language: string;
    /** such as code or html */
    artifact_type: string;
    /** 1, 2, … */
    version: number;
    /** the artifact that it is a copy of */
    parent_artifact_id: string | null;
    /** time of the first version */
    created_at: string | null;
    /** time of this version */
    updated_at: string | null;
}
export interface DetectedArtifact {
    /** the text */
    content: string;
    /** the language of the fence, or a guess */
    language: string;
    /** the first function or class, the line before the block, or generated */
    title: string;
    /** such as code or html */
    artifact_type: string;
}
/** If the header Accept names application/json. */
export interface ArtifactFile {
    /** from the title and the language */
    filename: string;
    /** the text */
    content: string;
    /** such as text/x-python */
    content_type: string;
}
/** With all fields of a result, if the artifact was run. */
export interface ArtifactRun {
    /** true if the run ended well */
    success: boolean;
    /** stdout of the program */
    output: string;
    /** stderr of the program and the reason of its end; null if there is neither */
    error: string | null;
    /** in seconds */
    execution_time: number;
    /** exit code; -1: the timeout was reached; -2: the language cannot be run */
    return_code: number;
    /** the approval of the run, if it needed one */
    approval?: Json;
    /** id of the run */
    id?: string;
    /** finished */
    state?: State;
    /** its name in GET /v1/languages */
    language?: string;
    /** version of the interpreter or compiler */
    version?: string | null;
    /** how the run ended */
    verdict?: Verdict;
    /** of the program, 128 + signal, 124 or 137 */
    exit_code?: number;
    /** the signal that ended it, such as SIGSEGV */
    signal?: string | null;
    /** the output of the program, up to 1 MiB; not in events */
    stdout?: string;
    /** like stdout, for stderr */
    stderr?: string;
    /** the exact bytes, if they are not UTF-8 */
    stdout_base64?: string;
    /** the exact bytes, if they are not UTF-8 */
    stderr_base64?: string;
    /** true if stdout is only the beginning: GET /v1/runs/{id}/stdout returns all */
    stdout_cut?: boolean;
    /** like stdout_cut, for stderr */
    stderr_cut?: boolean;
    /** true if limits.output cut it */
    stdout_truncated?: boolean;
    /** true if limits.output cut it */
    stderr_truncated?: boolean;
    /** number of bytes that are kept */
    stdout_bytes?: number;
    /** number of bytes that are kept */
    stderr_bytes?: number;
    /** resources that the run used */
    usage?: Usage;
    /** the limits of the run */
    limits?: LimitValues;
    /** keys of limits that were reached; network_limit: network.limits_hit has the keys */
    limits_hit?: string[];
    /** the isolation of the jar */
    isolation?: Isolation;
    /** the requested outputs */
    files?: OutputFile[];
    /** how the program started: warm (in a jar that waited), hatched (forked into a new jar) or cold (a new interpreter) */
    start?: "cold" | "hatched" | "warm" | null;
    /** null if the program never started */
    started_at?: string | null;
    /** the times of the run */
    timings?: ResultTiming;
    /** with stages: the result of each, in their order */
    stages?: ResultStage[];
    /** the result of the compiler; null if the language has none */
    compile?: ResultCompile | null;
    /** the cause of a failure and suggestions; null if the run ended well */
    diagnosis?: Diagnosis | null;
    /** the suggestions, tried; present if `fixes` was set */
    fixes?: Fixes;
    /** the results of SQL queries; null for other languages */
    tables?: ResultTable[] | null;
    /** where time and memory went; null unless `profile` was set */
    profile?: ResultProfile | null;
    /** figures, tables and other displays, in order; null unless `display` was set */
    displays?: ResultDisplay[] | null;
    /** the connections of the program; null if it had no network */
    network?: Network | null;
    /** of tests: passed, failed, no_tests, stopped (by a limit) or unknown; the same words, without no_tests, of a check; present if `test_runner` or `checks` was set */
    outcome?: OutcomeWordWord;
    /** the report of the tests; null if it could not be read; present if `test_runner` was set */
    tests?: Tests | null;
    /** the answer of a check; null if it could not be read; present if `checks` was set */
    checks?: Check | null;
    /** as in the request */
    thread_id?: string | null;
    /** the artifact that was run */
    artifact_id?: string | null;
    /** the batch that the run belongs to */
    batch_id?: string | null;
    /** as in the request */
    metadata?: Json;
    /** how the program was found in `code`; present if it is a part of `code`, or if the language was inferred */
    taken?: ResultTaken;
    /** the error code, for internal_error */
    error_code?: string;
}
export interface Execution {
    /** id of the artifact */
    artifact_id: string;
    /** the title */
    title: string;
    /** as in the artifact */
    language: string;
    /** the run */
    execution: ArtifactRun;
}
/** An artifact without its text. */
export interface ArtifactRow {
    /** id of the artifact */
    id: string;
    /** the conversation of the artifact */
    conversation_id: string | null;
    /** the title */
    title: string;
    /** as in the request */
    language: string;
    /** such as code or html */
    artifact_type: string;
    /** the newest one */
    version: number;
    /** the artifact that it is a copy of */
    parent_artifact_id: string | null;
    /** time of the first version */
    created_at: string | null;
    /** time of the newest version */
    updated_at: string | null;
}
export interface ArtifactList {
    /** newest first, up to 100 */
    artifacts: ArtifactRow[];
    /** for the next page; null at the end */
    next_cursor: string | null;
}
export interface Risk {
    /** kind of the risk, such as network */
    kind: string;
    /** line of the code */
    line: number;
    /** column of the line */
    column: number;
    /** the line, or part of it */
    excerpt: string;
    /** a possible effect */
    why: string;
    /** name of the file, if it is not the main one */
    file?: string;
    /** of hidden_character: the input, if it is no file */
    where?: string;
    /** of not_looked_at: number of files that were not scanned */
    files?: number;
}
export interface Approval {
    /** id of the request */
    id: string;
    /** the thread of the run */
    thread_id: string | null;
    /** the run that waits */
    run_id: string | null;
    /** the tool to approve: execute */
    tool: string | null;
    /** the code, its language and the rest of its input */
    input: Json;
    /** the reason why a person has to decide */
    reason: string | null;
    /** places to look at */
    risks: Risk[] | null;
    /** pending, or decided */
    state: "pending" | "decided";
    /** pending until it is made */
    decision: "pending" | "approve" | "edit" | "reject" | "expired";
    /** time of the request */
    created_at: string | null;
    /** time at which the run is rejected */
    expires_at: string | null;
    /** time of the decision */
    decided_at: string | null;
    /** the identity that decided */
    decided_by: string | null;
    /** the reason of the decision */
    decided_reason: string | null;
    /** the code that runs in place of input */
    edited_input: Json;
    /** as in the decision */
    remember: string | null;
    /** the changes of an edit, line by line */
    diff?: Json;
}
export interface ApprovalList {
    /** newest first */
    approvals: Approval[];
    /** for the next page; null at the end */
    next_cursor: string | null;
}
export interface Rule {
    /** id of the rule */
    id: string;
    /** allow or deny */
    action: string;
    /** null: every thread */
    thread_id: string | null;
    /** the tool of the rule */
    tool: string;
    /** null: every language */
    language: string | null;
    /** any, exact, prefix or contains */
    match: string;
    /** the text for prefix and contains; of exact the digest of the input */
    text: string | null;
    /** null: runs of every requester */
    requester: string | null;
    /** the identity that made the rule */
    made_by: string | null;
    /** time at which the rule was made */
    created_at: string | null;
    /** why the rule allows nothing; null: it is in force */
    void: string | null;
}
export interface RuleList {
    /** every rule */
    rules: Rule[];
}
export interface Key {
    /** name of the key */
    name: string;
    /** the rights of the key */
    scopes: string[];
    /** number of runs at a time; 0 is the setting runs.max_per_key */
    max_runs: number;
    /** time at which the key was created */
    created_at: string | null;
}
export interface KeyList {
    /** every key */
    keys: Key[];
}
export interface NewKey {
    /** name of the key */
    name: string;
    /** the rights of the key */
    scopes: string[];
    /** number of runs at a time; 0 is the setting runs.max_per_key */
    max_runs: number;
    /** time at which the key was created */
    created_at: string | null;
    /** the text of the key, shown only here */
    key: string;
}
export interface KeyRemoved {
    /** name of the key */
    name: string;
    /** true */
    removed: boolean;
}
export interface Diagnosed {
    /** null: no error was found */
    diagnosis: Diagnosis | null;
    /** the reason for null */
    reason: string | null;
}
export interface DebugReport {
    /** the failure */
    analysis: DebugReportAnalysi;
    /** the run */
    report: DebugReportReport;
}
/** the failure. */
export interface DebugReportAnalysi {
    /** false if the run ended well */
    is_error: boolean;
    /** unknown if the run ended well */
    error_type: ErrorType;
    /** the best suggestion */
    suggestion?: string;
    /** of python_exception: the type of the exception */
    exception?: string;
    /** the message of the error */
    error?: string;
}
/** the run. */
export interface DebugReportReport {
    /** how the run ended */
    status: "success" | "failure";
    /** as in the result */
    exit_code?: number | null;
    /** in seconds */
    execution_time: number;
    /** time at which the program started */
    timestamp: string | null;
    /** language of the run */
    language: string;
    /** id of the run */
    container_id: string;
    /** the output of the program */
    output: DebugReportReportOutput;
    /** resources that the run used */
    resource_usage: Usage | null;
    /** as in the analysis */
    error_type?: ErrorType;
    /** the message of the error */
    error_message?: string;
    /** names of the outputs that were fetched */
    output_files?: string[];
}
/** the output of the program. */
export interface DebugReportReportOutput {
    /** up to 1 MiB */
    stdout: string | null;
    /** up to 1 MiB */
    stderr: string | null;
}
export interface Session {
    /** id of the session */
    id: string;
    /** as in the request */
    name: string | null;
    /** its name in GET /v1/languages */
    language: string;
    /** starting, idle, busy (a cell runs), sleeping (it has no jar) or ended */
    state: StateWord;
    /** name of the API key */
    key: string | null;
    /** time of its creation */
    created_at: string | null;
    /** time at which a cell last began or ended */
    used_at: string | null;
    /** time of its end if it is not used again */
    expires_at: string | null;
    /** null while it lives */
    ended_at: string | null;
    /** why it ended; null while it lives */
    reason: string | null;
    /** it ends or sleeps after so many seconds without a cell */
    idle_s?: number;
    /** end or sleep, after idle_s */
    idle?: "end" | "sleep";
    /** it ends so many seconds after its creation; the time of its sleep does not count */
    ttl_s?: number;
    /** null while it is awake */
    asleep_since?: string | null;
    /** why it could not sleep or wake the last time; null if it could */
    sleep_error?: string | null;
    /** of a session that could not wake, so that its cells ran again: the last replay */
    replayed?: SessionReplayed | null;
    /** number of cells so far */
    cells: number;
    /** the last cell whose effects its state has: after a rollback an earlier one; 0: none */
    at_cell?: number;
    /** the states before so many of its last cells are kept */
    undo?: number;
    /** none, or the hosts that it may reach */
    network?: Json;
    /** directories of the machine, in /mnt */
    mounts?: SessionMount[];
    /** id of the session that it is a copy of */
    parent?: string | null;
    /** number of the cell that runs */
    cell?: number | null;
    /** true if that cell waits for POST stdin */
    awaits_input?: boolean;
    /** number of cells in line, with the one that runs */
    waiting?: number;
    /** number of restarts */
    restarts?: number;
    /** memory of its jar: now in GET /v1/sessions/{id}, elsewhere when it was last measured, as after each cell; null if it never was */
    memory_bytes?: number | null;
    /** the limits of its life */
    limits?: LimitValues;
    /** wall_ms, cpu_ms and output of a cell */
    cell_limits?: Json;
    /** as in the request */
    metadata?: Json;
}
export interface SessionReplayed {
    /** time */
    at: string;
    /** why its image could not be woken */
    reason: string;
    /** number of cells that ran again */
    cells: number;
    /** numbers of new cells with other outputs than before, up to 100 */
    differs: Json;
    /** numbers of new cells with another status than before, up to 100 */
    failed: Json;
    /** numbers of cells that were interrupted then and did not run again, up to 100 */
    skipped: Json;
    /** a sentence about the limits of a replay */
    note: string;
}
export interface SessionMount {
    /** a directory of the machine, beneath a root of the setting mounts.roots */
    from: string;
    /** its name in /mnt; the last part of from, if absent */
    to?: string;
    /** show files that look like secrets, too; needs the setting mounts.secrets */
    secrets?: boolean;
}
export interface SessionList {
    /** the newest first */
    sessions: Session[];
}
/** A cell that is over. */
export interface Cell {
    /** id of its run */
    id: string;
    /** id of the session */
    session: string;
    /** in a list: id of the branch that ran it, whose state the session goes on with */
    adopted_from?: string;
    /** number of the cell in its session, from 1 */
    cell: number | null;
    /** finished, unless in a list */
    state?: State;
    /** in a list: the code of the cell */
    code?: string | null;
    /** ok; error (of the code); interrupted; timeout (interrupted by a limit); lost (the jar ended, and the variables with it) */
    status: Status | null;
    /** as for a run */
    verdict: Verdict | null;
    /** the output of the program, up to 1 MiB; not in events */
    stdout?: string;
    /** like stdout, for stderr */
    stderr?: string;
    /** the exact bytes, if they are not UTF-8 */
    stdout_base64?: string;
    /** the exact bytes, if they are not UTF-8 */
    stderr_base64?: string;
    /** true if stdout is only the beginning: GET /v1/runs/{id}/stdout returns all */
    stdout_cut?: boolean;
    /** like stdout_cut, for stderr */
    stderr_cut?: boolean;
    /** true if cell_limits.output cut it */
    stdout_truncated?: boolean;
    /** true if cell_limits.output cut it */
    stderr_truncated?: boolean;
    /** the value of the last expression by MIME type; null if there is none */
    result: Json;
    /** the number in In[] and Out[] */
    execution_count: number | null;
    /** in order */
    displays: CellDisplay[];
    /** the error of the code */
    error: CellError | null;
    /** as for a run: cause and suggestions */
    diagnosis?: Diagnosis | null;
    /** resources that the cell used */
    usage?: Usage;
    /** keys of limits that were reached */
    limits_hit?: string[];
    /** the connections of the cell; null if the session has no network */
    network?: Network | null;
    /** the times of the cell */
    timings?: ResultTiming;
    /** sentences about the end of the cell */
    notes: string[];
    /** in GET cells: true if the state of the session lacks its effects */
    rolled_back?: boolean;
    /** of a cell that was rolled back: the reason */
    rolled_back_by?: CellRolledBackBy;
    /** as in the request */
    metadata?: Json;
}
export interface CellDisplay {
    /** by MIME type: text, JSON for application/json, base64 for other bytes */
    data: Json;
    /** its id, if it can be updated */
    display_id?: string;
    /** of the program */
    metadata?: Json;
    /** true: displays, or parts of this one, were dropped here */
    cut?: boolean;
    /** the parts that were dropped */
    left_out?: string;
}
export interface CellError {
    /** its type, such as ValueError */
    name: string;
    /** its message */
    message: string;
    /** as text without colours */
    traceback: string;
}
/** of a cell that was rolled back: the reason. */
export interface CellRolledBackBy {
    /** rollback; undo; jar_ended: the session went on with a checkpoint; restart; replay: its cells ran again, under other numbers */
    kind: "rollback" | "undo" | "jar_ended" | "restart" | "replay";
    /** time */
    at: string | null;
    /** the last cell whose effects the session had then; null: it began anew */
    to: number | null;
}
/** A cell without its outputs. */
export interface CellEnd {
    /** id of the session */
    session: string;
    /** number of the cell */
    cell: number;
    /** as in the cell */
    status: Status;
    /** sentences about the end of the cell */
    notes: string[];
    /** id of the run */
    id?: string;
    /** finished */
    state?: State;
    /** its name in GET /v1/languages */
    language?: string;
    /** version of the interpreter or compiler */
    version?: string | null;
    /** how the run ended */
    verdict?: Verdict;
    /** true if the verdict is ok */
    success?: boolean;
    /** of the program, 128 + signal, 124 or 137 */
    exit_code?: number;
    /** the signal that ended it, such as SIGSEGV */
    signal?: string | null;
    /** the output of the program, up to 1 MiB; not in events */
    stdout?: string;
    /** like stdout, for stderr */
    stderr?: string;
    /** the exact bytes, if they are not UTF-8 */
    stdout_base64?: string;
    /** the exact bytes, if they are not UTF-8 */
    stderr_base64?: string;
    /** true if stdout is only the beginning: GET /v1/runs/{id}/stdout returns all */
    stdout_cut?: boolean;
    /** like stdout_cut, for stderr */
    stderr_cut?: boolean;
    /** true if limits.output cut it */
    stdout_truncated?: boolean;
    /** true if limits.output cut it */
    stderr_truncated?: boolean;
    /** number of bytes that are kept */
    stdout_bytes?: number;
    /** number of bytes that are kept */
    stderr_bytes?: number;
    /** resources that the run used */
    usage?: Usage;
    /** the limits of the run */
    limits?: LimitValues;
    /** keys of limits that were reached; network_limit: network.limits_hit has the keys */
    limits_hit?: string[];
    /** the isolation of the jar */
    isolation?: Isolation;
    /** the requested outputs */
    files?: OutputFile[];
    /** how the program started: warm (in a jar that waited), hatched (forked into a new jar) or cold (a new interpreter) */
    start?: "cold" | "hatched" | "warm" | null;
    /** null if the program never started */
    started_at?: string | null;
    /** the times of the run */
    timings?: ResultTiming;
    /** with stages: the result of each, in their order */
    stages?: ResultStage[];
    /** the result of the compiler; null if the language has none */
    compile?: ResultCompile | null;
    /** the cause of a failure and suggestions; null if the run ended well */
    diagnosis?: Diagnosis | null;
    /** the suggestions, tried; present if `fixes` was set */
    fixes?: Fixes;
    /** the results of SQL queries; null for other languages */
    tables?: ResultTable[] | null;
    /** where time and memory went; null unless `profile` was set */
    profile?: ResultProfile | null;
    /** figures, tables and other displays, in order; null unless `display` was set */
    displays?: ResultDisplay[] | null;
    /** the connections of the program; null if it had no network */
    network?: Network | null;
    /** of tests: passed, failed, no_tests, stopped (by a limit) or unknown; the same words, without no_tests, of a check; present if `test_runner` or `checks` was set */
    outcome?: OutcomeWordWord;
    /** the report of the tests; null if it could not be read; present if `test_runner` was set */
    tests?: Tests | null;
    /** the answer of a check; null if it could not be read; present if `checks` was set */
    checks?: Check | null;
    /** as in the request */
    thread_id?: string | null;
    /** the artifact that was run */
    artifact_id?: string | null;
    /** the batch that the run belongs to */
    batch_id?: string | null;
    /** as in the request */
    metadata?: Json;
    /** how the program was found in `code`; present if it is a part of `code`, or if the language was inferred */
    taken?: ResultTaken;
    /** the reason, for internal_error and rejected */
    error?: string;
    /** the error code, for internal_error */
    error_code?: string;
}
/** An event of a cell. */
export interface CellEvent {
    /** kind of the event */
    event: "waiting" | "queued" | "started" | "stdout" | "stderr" | "network" | "display" | "update_display" | "clear" | "result" | "error" | "input_request" | "note" | "done" | "keepalive";
    /** grows, not always by one; keepalive has none */
    seq?: number;
    /** of waiting, queued, started: id of the run */
    id?: string;
    /** of waiting: the approval that the cell waits for */
    approval?: Json;
    /** of started: time at which the cell started */
    started_at?: string;
    /** time since the start */
    time_ms?: number;
    /** of stdout, stderr: a piece of the output; of display, update_display, result: representations by MIME type */
    data?: Json;
    /** in place of data, if the output is not UTF-8 */
    data_base64?: string;
    /** of display, update_display: its id */
    display_id?: string;
    /** of display, update_display, result: of the program */
    metadata?: Json;
    /** true: displays, or parts of this one, were dropped here */
    cut?: boolean;
    /** the MIME types that were dropped */
    left_out?: string;
    /** of result: the number in In[] and Out[] */
    execution_count?: number;
    /** of clear: true: when the next display comes */
    wait?: boolean;
    /** of error: its type, such as ValueError */
    name?: string;
    /** of error: its message */
    message?: string;
    /** of error: as text without colours */
    traceback?: string;
    /** of input_request: the question */
    prompt?: string;
    /** of input_request: true: the answer is not shown */
    password?: boolean;
    /** of note: a sentence */
    text?: string;
    /** of network: a connection that began or ended, or was refused */
    connection?: Connection;
    /** of done: the end of the cell, without its outputs */
    result?: CellEnd;
}
export interface CellAccepted {
    /** id of the run */
    id: string;
    /** the current state */
    state: string;
    /** id of the session */
    session: string;
    /** number of the cell */
    cell: number;
}
export interface CellList {
    /** the oldest first */
    cells: Cell[];
    /** true if cells are missing because the answer has 64 MiB: the last ones with 'after', otherwise the first ones */
    cut: boolean;
}
/** A Jupyter notebook. */
export interface Notebook {
    /** 4 */
    nbformat: number;
    /** 5 */
    nbformat_minor: number;
    /** the language, and belljar.missing_cells if the first cells are missing */
    metadata: Json;
    /** the cells and their outputs */
    cells: Json;
}
/** An event in the life of a session. */
export interface SessionEvent {
    /** kind of the event */
    event: "state" | "expiring" | "replayed" | "ended" | "keepalive";
    /** number of the event in this stream; keepalive has none */
    seq?: number;
    /** of state: the new state */
    state?: StateWord;
    /** of state, expiring: time of its end if it is not used again */
    expires_at?: string;
    /** of expiring: idle_s or ttl_s; a cell puts off idle_s */
    limit?: string;
    /** of replayed: it could not wake, and its cells ran again */
    replayed?: SessionReplayed;
    /** of ended: time of its end */
    ended_at?: string;
    /** of ended: why it ended */
    reason?: string;
}
export interface SessionFiles {
    /** by name */
    files: SessionFile[];
    /** true: there are more than 10,000, or a name is too long */
    cut: boolean;
}
export interface SessionFile {
    /** its name inside /sandbox */
    path: string;
    /** the exact bytes of the name, if they are not UTF-8 */
    path_base64?: string;
    /** only a file can be read */
    type: "file" | "directory" | "symlink" | "other";
    /** bytes of a file */
    size: number;
    /** permissions, as 0644 */
    mode: string;
    /** time of its last change, if it is plausible */
    modified_at: string | null;
}
export interface SessionFileWritten {
    /** its name inside /sandbox */
    path: string;
    /** the exact bytes of the name, if they are not UTF-8 */
    path_base64?: string;
    /** bytes that were written */
    size: number;
}
export interface Fork {
    /** the copies, idle */
    sessions: Session[];
    /** threads, children, pipes and sockets that the copies do not have; words of the session's program */
    not_carried: string[];
    /** the original could run no cell for this time; measured by its program */
    pause_ms: number;
    /** time to write the image, while the original goes on; measured by its program; 0 with 'from' */
    write_ms: number;
    /** size of the image that the copies share */
    image_bytes: number;
}
/** The words of the session's program. */
export interface Completions {
    /** possible completions */
    matches: CompletionsMatch[];
    /** first character that is replaced */
    from?: number;
    /** character after the last one that is replaced */
    to?: number;
}
export interface CompletionsMatch {
    /** replaces the characters from `from` to `to` */
    text: string;
    /** function, module, keyword and the like */
    type?: string;
}
/** The words of the session's program. */
export interface Inspection {
    /** false: nothing is known about the name */
    found: boolean;
    /** everything that is known */
    text?: string;
    /** how it is called */
    signature?: string;
    /** its documentation */
    doc?: string;
    /** the format of `doc` */
    mime?: string;
}
/** The words of the session's program. */
export interface Variables {
    /** by name */
    variables: Variable[];
    /** true: there are more */
    cut?: boolean;
}
export interface Variable {
    /** its name */
    name: string;
    /** its type */
    type?: string;
    /** bytes or elements */
    size?: Json;
    /** of an array or a table */
    shape?: Json;
    /** the beginning of its value */
    preview?: string;
}
export interface BranchResult {
    /** position in candidates */
    index: number;
    /** ok; failed; stopped, because another candidate won or the request ended */
    outcome: "ok" | "failed" | "stopped";
    /** id of the copy that it ran in */
    session: string;
    /** the reason why the candidate did not run, or failed though its cell was ok */
    error: string | null;
    /** as the answer of POST exec: result, outputs, usage, diagnosis */
    cell: Cell | null;
    /** with fixes_of: the change of the cell */
    diff: string | null;
    /** with best, if the candidate was ok */
    score: BranchResultScore | null;
}
export interface BranchResultScore {
    /** the number; null if there is none */
    value: number | null;
    /** why there is none */
    error: string | null;
    /** the cell of the score */
    cell: Cell | null;
}
export interface Branches {
    /** id of the session, which stays the same */
    session: string;
    /** position of the winner in candidates */
    winner: number | null;
    /** true: the session goes on as the winner */
    adopted: boolean;
    /** why the winner was not adopted */
    error: string | null;
    /** ids of the copies that stay as sessions */
    left: string[];
    /** from the request until the last copy was ready */
    fork_ms: number;
    /** from the request to the answer */
    wall_ms: number;
    /** in the order of the request */
    results: BranchResult[];
    /** as in the answer of POST fork */
    not_carried: string[];
    /** as in the answer of POST fork */
    pause_ms: number;
    /** as in the answer of POST fork */
    image_bytes: number;
}
/** The event done has the fields of the answer but results. */
export interface BranchEvent {
    /** kind of the event */
    event: "forked" | "candidate" | "result" | "score" | "choose" | "done" | "keepalive";
    /** 1, 2, …; keepalive has none */
    seq?: number;
    /** of forked: ids of the copies */
    sessions?: string[];
    /** of candidate, result and score: position in candidates */
    index?: number;
    /** of candidate: id of its run */
    run?: string;
    /** of candidate: candidate or score */
    part?: string;
    /** of candidate: waiting, if a person is asked first */
    state?: State;
    /** of result */
    result?: BranchResult;
    /** of score */
    score?: BranchResultScore;
    /** of candidate: id of its copy; of done: id of the session */
    session?: string;
    /** position of the winner in candidates */
    winner?: number | null;
    /** true: the session goes on as the winner */
    adopted?: boolean;
    /** why the winner was not adopted */
    error?: string | null;
    /** ids of the copies that stay as sessions */
    left?: string[];
    /** from the request until the last copy was ready */
    fork_ms?: number;
    /** from the request to the answer */
    wall_ms?: number;
    /** in the order of the request */
    results?: BranchResult[];
    /** as in the answer of POST fork */
    not_carried?: string[];
    /** as in the answer of POST fork */
    pause_ms?: number;
    /** as in the answer of POST fork */
    image_bytes?: number;
}
export interface BranchChoice {
    /** id of the session */
    session: string;
    /** as in the request; the event done has the outcome */
    winner: number | null;
}
export interface Template {
    /** of the template */
    name: string;
    /** of its setup, and of programs that begin in it */
    language: string;
    /** the key that made it, or null */
    key?: string;
    /** every key may use it */
    shared: boolean;
    /** size of its image on the disk */
    bytes: number;
    /** time */
    created_at: string;
    /** time at which it was made anew, because the interpreter or a library had changed */
    rebuilt_at: string | null;
}
export interface TemplateList {
    /** the oldest first */
    templates: Template[];
}
export interface Checkpoint {
    /** id of the checkpoint */
    id: string;
    /** as in the request */
    name: string | null;
    /** checkpoint: a client asked for it; undo: it was taken before a cell */
    kind: "checkpoint" | "undo";
    /** the last cell whose effects it has; 0: none */
    cell: number;
    /** of undo: the cell that it was taken before */
    before_cell: number | null;
    /** size of its image */
    bytes: number;
    /** time at which it was taken */
    created_at: string | null;
    /** threads, children, pipes and sockets that it does not have, up to 20; words of the session's program */
    not_carried: string[];
    /** the session could run no cell for this time; measured by its program */
    pause_ms: number | null;
}
export interface CheckpointList {
    /** the oldest first */
    checkpoints: Checkpoint[];
}
export interface Rollback {
    /** idle */
    session: Session;
    /** the state that it has now */
    to: Checkpoint;
}
export interface TreeNode {
    /** id of the session */
    id: string;
    /** its name */
    name: string | null;
    /** its language */
    language: string;
    /** its state */
    state: StateWord;
    /** id of the session that it is a copy of */
    parent: string | null;
    /** the last cell of the parent whose effects it has; 0: none */
    parent_cell: number;
    /** id of the checkpoint that it began from; null: the state of that time */
    parent_checkpoint: string | null;
    /** number of its cells */
    cells: number;
    /** the last of its cells whose effects it has; null: it ended */
    at_cell: number | null;
    /** time of its creation */
    created_at: string | null;
    /** null while it lives */
    ended_at: string | null;
    /** why it ended */
    reason: string | null;
    /** its own */
    checkpoints: Checkpoint[];
}
export interface Tree {
    /** id of the oldest session of the tree */
    root: string;
    /** the oldest first */
    sessions: TreeNode[];
}
/** A session that sleeps. */
export interface Sleep {
    /** id of the session */
    id: string;
    /** sleeping */
    state: string;
    /** threads, children, pipes and sockets that are not there when it wakes; words of the session's program */
    not_carried: string[];
    /** as in the request */
    name?: string | null;
    /** its name in GET /v1/languages */
    language?: string;
    /** name of the API key */
    key?: string | null;
    /** time of its creation */
    created_at?: string | null;
    /** time at which a cell last began or ended */
    used_at?: string | null;
    /** time of its end if it is not used again */
    expires_at?: string | null;
    /** null while it lives */
    ended_at?: string | null;
    /** why it ended; null while it lives */
    reason?: string | null;
    /** it ends or sleeps after so many seconds without a cell */
    idle_s?: number;
    /** end or sleep, after idle_s */
    idle?: "end" | "sleep";
    /** it ends so many seconds after its creation; the time of its sleep does not count */
    ttl_s?: number;
    /** null while it is awake */
    asleep_since?: string | null;
    /** why it could not sleep or wake the last time; null if it could */
    sleep_error?: string | null;
    /** of a session that could not wake, so that its cells ran again: the last replay */
    replayed?: SessionReplayed | null;
    /** number of cells so far */
    cells?: number;
    /** the last cell whose effects its state has: after a rollback an earlier one; 0: none */
    at_cell?: number;
    /** the states before so many of its last cells are kept */
    undo?: number;
    /** none, or the hosts that it may reach */
    network?: Json;
    /** directories of the machine, in /mnt */
    mounts?: SessionMount[];
    /** id of the session that it is a copy of */
    parent?: string | null;
    /** number of the cell that runs */
    cell?: number | null;
    /** true if that cell waits for POST stdin */
    awaits_input?: boolean;
    /** number of cells in line, with the one that runs */
    waiting?: number;
    /** number of restarts */
    restarts?: number;
    /** memory of its jar: now in GET /v1/sessions/{id}, elsewhere when it was last measured, as after each cell; null if it never was */
    memory_bytes?: number | null;
    /** the limits of its life */
    limits?: LimitValues;
    /** wall_ms, cpu_ms and output of a cell */
    cell_limits?: Json;
    /** as in the request */
    metadata?: Json;
}
/** A session that is awake. */
export interface Wake {
    /** id of the session */
    id: string;
    /** idle */
    state: string;
    /** the cells that ran again, in order; null: its image was woken, or it was awake */
    replay: WakeReplay[] | null;
    /** as in the request */
    name?: string | null;
    /** its name in GET /v1/languages */
    language?: string;
    /** name of the API key */
    key?: string | null;
    /** time of its creation */
    created_at?: string | null;
    /** time at which a cell last began or ended */
    used_at?: string | null;
    /** time of its end if it is not used again */
    expires_at?: string | null;
    /** null while it lives */
    ended_at?: string | null;
    /** why it ended; null while it lives */
    reason?: string | null;
    /** it ends or sleeps after so many seconds without a cell */
    idle_s?: number;
    /** end or sleep, after idle_s */
    idle?: "end" | "sleep";
    /** it ends so many seconds after its creation; the time of its sleep does not count */
    ttl_s?: number;
    /** null while it is awake */
    asleep_since?: string | null;
    /** why it could not sleep or wake the last time; null if it could */
    sleep_error?: string | null;
    /** of a session that could not wake, so that its cells ran again: the last replay */
    replayed?: SessionReplayed | null;
    /** number of cells so far */
    cells?: number;
    /** the last cell whose effects its state has: after a rollback an earlier one; 0: none */
    at_cell?: number;
    /** the states before so many of its last cells are kept */
    undo?: number;
    /** none, or the hosts that it may reach */
    network?: Json;
    /** directories of the machine, in /mnt */
    mounts?: SessionMount[];
    /** id of the session that it is a copy of */
    parent?: string | null;
    /** number of the cell that runs */
    cell?: number | null;
    /** true if that cell waits for POST stdin */
    awaits_input?: boolean;
    /** number of cells in line, with the one that runs */
    waiting?: number;
    /** number of restarts */
    restarts?: number;
    /** memory of its jar: now in GET /v1/sessions/{id}, elsewhere when it was last measured, as after each cell; null if it never was */
    memory_bytes?: number | null;
    /** the limits of its life */
    limits?: LimitValues;
    /** wall_ms, cpu_ms and output of a cell */
    cell_limits?: Json;
    /** as in the request */
    metadata?: Json;
}
export interface WakeReplay {
    /** number of the cell that was replayed */
    cell: number | null;
    /** id of the session that ran it then */
    session: string;
    /** same; differs: other outputs; failed: another status; skipped: it was interrupted then, and did not run again */
    outcome: "same" | "differs" | "failed" | "skipped";
    /** fields of the cell that are not as before */
    differs: string[];
    /** number of the new cell */
    as: number | null;
}
/** An event of one of many streams. */
export interface StreamEvent {
    /** an event of a run; missing, approvals, sessions, stats, denied or keepalive */
    event: string;
    /** of events of a run, and of missing: its id */
    run?: string;
    /** of missing, denied: the reason */
    message?: string;
    /** of denied: the feed */
    feed?: "approvals" | "sessions" | "stats";
    /** of stats: runs and sessions at this moment */
    now?: Json;
    /** of stats: counts since the start; start_ms is the sum of the times from acceptance to start */
    since_start?: Json;
    /** of stats: memory of runs and sessions */
    memory_bytes?: number;
    /** of stats: a Pool for each kind */
    pools?: Json;
    /** of stats: true if memory is short */
    memory_pressure?: boolean;
    /** grows, not always by one; keepalive has none */
    seq?: number;
    /** of waiting, queued, started: id of the run */
    id?: string;
    /** of waiting: the approval that the run waits for */
    approval?: Json;
    /** of started: time at which the program started */
    started_at?: string;
    /** of stdout, stderr: a piece of the output */
    data?: string;
    /** in place of data, if the bytes are not UTF-8 */
    data_base64?: string;
    /** of stdout, stderr, network: time since the start */
    time_ms?: number;
    /** of network: a connection that began or ended, or was refused */
    connection?: Connection;
    /** of done: the result without the streams */
    result?: Result;
}
export interface AuditRecord {
    /** 1, 2, … */
    seq: number;
    /** time of the event */
    time: string | null;
    /** such as run.finished or approval.decided */
    kind: string;
    /** id of the run or approval, or name of the key */
    subject: string;
    /** the key, the user or the service */
    actor: string;
    /** facts, with the digest of the row */
    detail: Json;
    /** of this record and all records before it */
    hash: string;
}
export interface AuditList {
    /** newest first */
    records: AuditRecord[];
    /** number of the newest record */
    head: number;
    /** for the next page; null at the end */
    next_cursor: string | null;
}
export interface AuditCheck {
    /** true if chain and rows are intact */
    holds: boolean;
    /** number of intact records */
    records: number;
    /** number of rows that are as their newest record says */
    rows: number;
    /** records 1 to this one were removed, which is on record */
    removed: number;
    /** hash of the last intact record, to be noted elsewhere */
    head: string;
    /** the first record that is missing or changed */
    broken_seq: number | null;
    /** a sentence about it */
    problem: string | null;
    /** the command that checks the seals */
    seals: string;
}
export interface LimitValues {
    /** real time that the program may take */
    wall_ms: number;
    /** CPU time of all its processes together */
    cpu_ms: number;
    /** memory of all its processes and files */
    memory: number;
    /** processes and threads at one time */
    pids: number;
    /** share of the CPUs; 100 is one whole CPU */
    cpu_percent: number;
    /** bytes of stdout, and as many of stderr */
    output: number;
    /** bytes in /sandbox, /tmp and /dev/shm together */
    disk: number;
    /** files and directories there */
    files: number;
    /** files that a process may hold open */
    open_files: number;
    /** swap space that it may use beyond its memory; 0: none */
    memory_swap: number;
    /** its weight against other programs while all CPUs are busy */
    cpu_shares: number;
}
export interface Limits {
    /** real time that the program may take; milliseconds, or text such as "2s" */
    wall_ms?: number | string;
    /** CPU time of all its processes together; milliseconds, or text such as "2s" */
    cpu_ms?: number | string;
    /** memory of all its processes and files; bytes, or text such as "64m" */
    memory?: number | string;
    /** processes and threads at one time */
    pids?: number | string;
    /** share of the CPUs; 100 is one whole CPU */
    cpu_percent?: number | string;
    /** bytes of stdout, and as many of stderr; bytes, or text such as "64m" */
    output?: number | string;
    /** bytes in /sandbox, /tmp and /dev/shm together; bytes, or text such as "64m" */
    disk?: number | string;
    /** files and directories there */
    files?: Files;
    /** files that a process may hold open */
    open_files?: number | string;
    /** swap space that it may use beyond its memory; 0: none; bytes, or text such as "64m" */
    memory_swap?: number | string;
    /** its weight against other programs while all CPUs are busy */
    cpu_shares?: number | string;
}
/** a header that is added outside the jar. */
export interface NetworkSecret {
    /** a name of the list, at port 443 or another: "api.example.org" */
    host: string;
    /** the header, such as Authorization */
    header: string;
    /** name of a secret that the operator granted to this host */
    secret: string;
    /** text before the secret, such as "Bearer " */
    prefix?: string;
}
/** the hosts that a run may reach; an empty list means no network. */
export interface NetworkList {
    /** hosts: "pypi.org" (ports 443 and 80), "db.example.org:5432", "db.example.org:*" (every port), "*.example.org:443", "203.0.113.7:8080", or a preset such as "@pypi" */
    allow?: string[];
    /** hosts and ports for UDP, such as "ntp.example.org:123"; none by default */
    udp?: string[];
    /** headers with secrets that are added outside the jar, so that the program never has them */
    inject?: NetworkSecret[];
}
export interface RunOptions {
    /** name or alias (GET /v1/languages); inferred from file names and code if absent */
    language?: string;
    /** files beside the program in /sandbox, by name */
    files?: Files;
    /** the name of the file that is the program */
    entry?: string;
    /** the input of the program */
    stdin?: string | Uint8Array;
    /** encoding of stdin; utf-8 by default */
    stdin_encoding?: "utf-8" | "base64";
    /** more stdin follows by POST /v1/runs/{id}/stdin */
    stdin_open?: boolean;
    /** arguments of the program */
    args?: string[];
    /** environment beyond the built-in one */
    env?: Record<string, string>;
    /** limits of the run */
    limits?: Limits;
    /** the hosts that it may reach: none (the default), full, or a list */
    network?: NetworkOption;
    /** directories of the machine that the program reads in /mnt */
    mounts?: RunOptionsMount[];
    /** programs that run one after the other in one jar, in place of code */
    stages?: RunOptionsStage[];
    /** the program begins in this template (POST /v1/templates) */
    template?: string;
    /** refuse the run if this machine cannot enforce a limit that the request names */
    strict_limits?: boolean;
    /** false gives a writable root that is thrown away; true by default */
    read_only?: boolean;
    /** arguments for the compiler */
    compiler_args?: string[];
    /** limits of the compiler */
    compile_limits?: Limits;
    /** compile again even if the program is cached, and store nothing in the cache */
    no_cache?: boolean;
    /** TypeScript: type errors are compile errors */
    check_types?: boolean;
    /** bash and zsh: the only commands that the program may execute */
    allow_commands?: string[];
    /** SQL: the format of printed tables */
    format?: Format;
    /** report where time and memory go */
    profile?: boolean;
    /** Python: run as a cell of a session, and keep its displays: figures, tables, HTML */
    display?: boolean;
    /** read the output as the report of this test runner; the result has `tests` */
    test_runner?: TestRunner;
    /** read the output as the report of POST /v1/checks; the result has `checks` */
    checks?: boolean;
    /** values of variables at a failure: auto, where that costs nothing; none; or all, also in JavaScript, TypeScript, Ruby and a cold Python, which are slower then */
    values?: "auto" | "none" | "all";
    /** try: if the program fails, run it with each suggested line; the result has `fixes`. try_with_network: also if it has a network */
    fixes?: "none" | "try" | "try_with_network";
    /** names of files to fetch from /sandbox, or absolute names below /tmp; "." is every file in /sandbox */
    outputs?: string[];
    /** cancel the run if the client goes away */
    cancel_on_disconnect?: boolean;
    /** the session of the run */
    thread_id?: string;
    /** default, manual and acceptEdits ask a person first */
    permission_mode?: PermissionMode;
    /** any JSON; the result returns it */
    metadata?: Json;
}
export interface RunOptionsMount {
    /** a directory of the machine, beneath a root of the setting mounts.roots */
    from: string;
    /** its name in /mnt; the last part of from, if absent */
    to?: string;
    /** show files that look like secrets, too; needs the setting mounts.secrets */
    secrets?: boolean;
}
export interface RunOptionsStage {
    /** letters, digits, - and _; its file is NAME.sh, NAME.py, … */
    name: string;
    /** commands of bash */
    command?: string;
    /** of `code`; one without a compiler (GET /v1/languages) */
    language?: string;
    /** a program, in place of `command` */
    code?: string;
    /** limits of this stage; the others are those of the run. disk and files hold for all stages together */
    limits?: Limits;
    /** the exit status with which the next stage begins; 0 by default */
    expect_exit?: number;
}
export interface BatchRequest {
    /** the runs, each with the fields of POST /v1/runs */
    runs?: BatchRequestRun[];
    /** one run that is repeated for each of inputs; in place of runs */
    run?: BatchRequestRun;
    /** the inputs for run */
    inputs?: BatchRequestInput[];
    /** how stdout is compared with expected: trim (white space at the ends of lines and blank lines at the end do not count; the default), exact, tokens */
    compare?: "trim" | "exact" | "tokens";
    /** a program that says whether an output is right; in place of compare */
    checker?: Checker;
    /** number of runs at a time; half of the capacity of the service if absent */
    parallel?: number;
    /** after the first failure, start no more runs and cancel the others */
    stop_on_failure?: boolean;
    /** stop if the client goes away; otherwise the batch goes on */
    cancel_on_disconnect?: boolean;
}
export interface BatchRequestRun {
    /** name or alias (GET /v1/languages); inferred from file names and code if absent */
    language?: string;
    /** the program; alternatively give files and entry */
    code?: string;
    /** files beside the program in /sandbox, by name */
    files?: Files;
    /** the name of the file that is the program */
    entry?: string;
    /** the input of the program */
    stdin?: string | Uint8Array;
    /** encoding of stdin; utf-8 by default */
    stdin_encoding?: "utf-8" | "base64";
    /** arguments of the program */
    args?: string[];
    /** environment beyond the built-in one */
    env?: Record<string, string>;
    /** limits of the run */
    limits?: Limits;
    /** the hosts that it may reach: none (the default), full, or a list */
    network?: NetworkOption;
    /** directories of the machine that the program reads in /mnt */
    mounts?: RunOptionsMount[];
    /** programs that run one after the other in one jar, in place of code */
    stages?: RunOptionsStage[];
    /** the program begins in this template (POST /v1/templates) */
    template?: string;
    /** refuse the run if this machine cannot enforce a limit that the request names */
    strict_limits?: boolean;
    /** false gives a writable root that is thrown away; true by default */
    read_only?: boolean;
    /** arguments for the compiler */
    compiler_args?: string[];
    /** limits of the compiler */
    compile_limits?: Limits;
    /** compile again even if the program is cached, and store nothing in the cache */
    no_cache?: boolean;
    /** TypeScript: type errors are compile errors */
    check_types?: boolean;
    /** bash and zsh: the only commands that the program may execute */
    allow_commands?: string[];
    /** SQL: the format of printed tables */
    format?: Format;
    /** report where time and memory go */
    profile?: boolean;
    /** Python: run as a cell of a session, and keep its displays: figures, tables, HTML */
    display?: boolean;
    /** read the output as the report of this test runner; the result has `tests` */
    test_runner?: TestRunner;
    /** read the output as the report of POST /v1/checks; the result has `checks` */
    checks?: boolean;
    /** values of variables at a failure: auto, where that costs nothing; none; or all, also in JavaScript, TypeScript, Ruby and a cold Python, which are slower then */
    values?: "auto" | "none" | "all";
    /** try: if the program fails, run it with each suggested line; the result has `fixes`. try_with_network: also if it has a network */
    fixes?: "none" | "try" | "try_with_network";
    /** names of files to fetch from /sandbox, or absolute names below /tmp; "." is every file in /sandbox */
    outputs?: string[];
    /** default, manual and acceptEdits ask a person first */
    permission_mode?: PermissionMode;
    /** any JSON; the result returns it */
    metadata?: Json;
}
export interface BatchRequestInput {
    /** name of the input */
    name?: string;
    /** stdin of the program */
    stdin?: string | Uint8Array;
    /** encoding of stdin; as in run, or utf-8, if absent */
    stdin_encoding?: "utf-8" | "base64";
    /** arguments of the program */
    args?: string[];
    /** the expected stdout; the result then has `passed` */
    expected?: string;
}
export interface ComparisonRequest {
    /** the programs to compare */
    variants: ComparisonRequestVariant[];
    /** the inputs of each variant; one empty input if absent */
    inputs?: ComparisonRequestInput[];
    /** how outputs are compared: trim (the default), exact, tokens */
    compare?: "trim" | "exact" | "tokens";
    /** number of runs at a time; 1 gives the steadiest times */
    parallel?: number;
    /** stop if the client goes away; otherwise the comparison goes on */
    cancel_on_disconnect?: boolean;
}
export interface ComparisonRequestVariant {
    /** name of the variant */
    name?: string;
    /** name or alias; inferred if absent */
    language?: string;
    /** the program; alternatively give files and entry */
    code?: string;
    /** files beside the program in /sandbox, by name */
    files?: Files;
    /** the name of the file that is the program */
    entry?: string;
    /** arguments of the program, unless the input has some */
    args?: string[];
    /** environment beyond the built-in one */
    env?: Record<string, string>;
    /** limits of the run */
    limits?: Limits;
    /** false gives a writable root that is thrown away; true by default */
    read_only?: boolean;
    /** default, manual and acceptEdits ask a person first */
    permission_mode?: PermissionMode;
}
export interface ComparisonRequestInput {
    /** name of the input */
    name?: string;
    /** stdin of the programs */
    stdin?: string | Uint8Array;
    /** encoding of stdin; utf-8 if absent */
    stdin_encoding?: "utf-8" | "base64";
    /** arguments of the programs */
    args?: string[];
}
export interface SessionOptions {
    /** a name for people */
    name?: string;
    /** limits of its life: memory, pids, disk, files and others */
    limits?: Limits;
    /** limits of each cell: wall_ms, cpu_ms and output */
    cell_limits?: Limits;
    /** seconds from its start to its end; 3600 by default */
    ttl_s?: number;
    /** it ends or sleeps after so many seconds without a cell; 1800 by default */
    idle_s?: number;
    /** after idle_s it ends, or sleeps until it is used again; 'end' by default */
    idle?: "end" | "sleep";
    /** it begins in this template (POST /v1/templates) */
    template?: string;
    /** files in /sandbox, by name */
    files?: Files;
    /** environment beyond the built-in one */
    env?: Record<string, string>;
    /** keep the states before so many of its last cells; 0 by default */
    undo?: number;
    /** directories of the machine that the program reads in /mnt */
    mounts?: RunOptionsMount[];
    /** the hosts that it may reach: none (the default), full, or a list */
    network?: NetworkOption;
    /** any JSON; the session returns it */
    metadata?: Json;
}
export interface SessionChanges {
    /** a new name */
    name?: string;
    /** it ends or sleeps after so many seconds without a cell */
    idle_s?: number;
    /** after idle_s it ends, or sleeps until it is used again */
    idle?: "end" | "sleep";
    /** limits of the cells from now on */
    cell_limits?: Limits;
    /** keep the states before so many of its last cells */
    undo?: number;
    /** the hosts that it may reach: none (the default), full, or a list */
    network?: NetworkOption;
    /** any JSON; the session returns it */
    metadata?: Json;
}
export interface CellOptions {
    /** no result, no entry in the history of the language */
    silent?: boolean;
    /** seconds until the cell is interrupted; cell_limits.wall_ms by default */
    timeout?: number;
    /** interrupt the cell if the client goes away */
    cancel_on_disconnect?: boolean;
    /** default, manual and acceptEdits ask a person first */
    permission_mode?: PermissionMode;
    /** any JSON; the answer returns it */
    metadata?: Json;
}
export interface BranchOptions {
    /** in place of candidates: the id of a failed cell; each candidate is its code with a line that its diagnosis suggests */
    fixes_of?: string;
    /** the winner: first_ok: the first candidate that ends with status ok, and the others are stopped; best: the one with the highest score; none; ask: the one that POST branches/choose names after all results, with stream */
    keep: "first_ok" | "best" | "none" | "ask";
    /** with best: a cell that runs in the copy of each candidate that was ok; its result is a number */
    score?: string;
    /** true: the session goes on as the winner; the default for first_ok and best. false: the winner stays as a session of its own */
    adopt?: boolean;
    /** true: the other copies stay as sessions, too */
    leave?: boolean;
    /** seconds until a candidate or a score is interrupted; cell_limits.wall_ms by default */
    timeout?: number;
    /** true: refuse if a thread, a child, a pipe or a socket would be lost */
    strict?: boolean;
    /** default, manual and acceptEdits ask a person about each candidate and each score */
    permission_mode?: PermissionMode;
}
export interface TemplateOptions {
    /** a language whose sessions can be forked */
    language: string;
    /** files in /sandbox, by name */
    files?: Files;
    /** environment beyond the built-in one */
    env?: Record<string, string>;
    /** limits of the setup: memory, pids, disk and others */
    limits?: Limits;
    /** limits of the setup: wall_ms, cpu_ms and output */
    cell_limits?: Limits;
    /** the hosts that it may reach: none (the default), full, or a list */
    network?: NetworkOption;
    /** true: every key may use it; only its owner changes it */
    shared?: boolean;
    /** as for a cell */
    permission_mode?: string;
}
export interface DecisionOptions {
    /** for edit: the code, {"code": ...} or {"command": ...} */
    edited_input?: Json;
    /** a reason that the caller is shown */
    reason?: string;
    /** once (the default); session: no more requests of this thread; exact: none for the same input; prefix: none for one shell command that starts with the same words; always for the same requester */
    remember?: "once" | "session" | "exact" | "prefix";
    /** for remember=prefix: the first words of the command; exact if absent */
    prefix?: string;
}
export interface RuleOptions {
    /** any code; deny: code with this prefix, or any input that contains the text (the default); allow: one command of bash that starts with the words of this prefix */
    match?: "any" | "prefix" | "contains";
    /** the text for prefix and contains */
    text?: string;
    /** only code in this language */
    language?: string;
    /** only runs of this thread */
    thread_id?: string;
    /** only this tool; execute by default */
    tool?: "execute" | "write_file" | "edit_file";
}
export interface DiagnosisOptions {
    /** the language of the program; inferred from the error message if absent */
    language?: string;
    /** stdout: some languages report errors there */
    stdout?: string;
    /** exit code; 128 + signal */
    exit_code?: number;
    /** the program, for excerpts */
    code?: string;
    /** the files of the program, in place of code or beside it */
    files?: Files;
}
export interface TestOptions {
    /** of `code` and `tests`; name or alias (GET /v1/languages) */
    language?: string;
    /** the code under test; its file is main.py, main.js, …, by its language */
    code?: string;
    /** the tests, in a file beside it; they import the code */
    tests?: string;
    /** the files of a project, by name; or files beside `code` */
    files?: Files;
    /** the test runner; found by the files or the language if absent */
    test_runner?: Runner;
    /** arguments of the test runner */
    args?: string[];
    /** environment beyond the built-in one */
    env?: Record<string, string>;
    /** limits of the run; those of a compiler if absent */
    limits?: Limits;
    /** the hosts that it may reach: none (the default), full, or a list */
    network?: NetworkOption;
    /** cancel the run if the client goes away */
    cancel_on_disconnect?: boolean;
    /** the session of the run */
    thread_id?: string;
    /** default, manual and acceptEdits ask a person first */
    permission_mode?: PermissionMode;
    /** any JSON; the result returns it */
    metadata?: Json;
}
export interface CheckOptions {
    /** of `code`; name or alias (GET /v1/languages); inferred if absent */
    language?: string;
    /** the code; its file is main.py, main.js, …, by its language */
    code?: string;
    /** the files of a project, by name; or files beside `code`. Up to 500 with code */
    files?: Files;
    /** limits of the run; those of a compiler if absent */
    limits?: Limits;
    /** cancel the run if the client goes away */
    cancel_on_disconnect?: boolean;
    /** the session of the run */
    thread_id?: string;
    /** default, manual and acceptEdits ask a person first */
    permission_mode?: PermissionMode;
    /** any JSON; the result returns it */
    metadata?: Json;
}
export interface ExecutionOptions {
    /** time limit in seconds; 10 by default */
    timeout?: number;
    /** limits of the run; not wall_ms beside timeout */
    limits?: Limits;
    /** the input of the program */
    stdin?: string | Uint8Array;
    /** the hosts that it may reach: none (the default), full, or a list */
    network?: NetworkOption;
    /** the thread whose approvals and rules hold */
    thread_id?: string;
    /** default, manual and acceptEdits ask a person first */
    permission_mode?: PermissionMode;
}
export interface HistoryFilter {
    /** only this language */
    language?: string;
    /** only this verdict */
    verdict?: string;
    /** waiting, queued, running, finished or interrupted */
    state?: string;
    /** accepted at or after a time, or a span before now (2h) */
    since?: string;
    /** accepted before a time, or a span before now */
    until?: string;
    /** only this thread_id */
    session?: string;
    /** only runs of this artifact */
    artifact?: string;
    /** only runs of this batch */
    batch?: string;
    /** only runs of this API key */
    key?: string;
    /** text in the code of the main file, case-sensitive */
    q?: string;
    /** size of a page; 50 by default */
    limit?: number;
}
export interface SessionFilter {
    /** only this language */
    language?: string;
    /** only this name */
    name?: string;
    /** only this state; 'ended' lists sessions that are over, which are absent otherwise */
    state?: StateWord;
}
export interface ApprovalFilter {
    /** only this decision: pending, approve, edit, reject or expired */
    decision?: string;
    /** only requests of this thread */
    thread_id?: string;
    /** size of a page; 100 by default */
    limit?: number;
}
