// Runs that were started before: the history, and one run by its id.
import { cancelRun, RunStream, sendStdin } from "./streams.js";
import { part, pathOf } from "./transport.js";
/** One run, by its id. It goes on whether or not a client looks at it. */
export class Run {
    transport;
    id;
    approval;
    path;
    constructor(transport, id, 
    /** The approval that the run waits for, if a person has to decide. */
    approval) {
        this.transport = transport;
        this.id = id;
        this.approval = approval;
        this.path = `/v1/runs/${part(id)}`;
    }
    /** Its result if it is over, otherwise its state and its output so far. */
    state() {
        return this.transport.call("GET", this.path);
    }
    /** Its events from the first one, or after the one with this number. A lost connection is made again. */
    events({ after = 0, signal } = {}) {
        return new RunStream(this.transport, {
            method: "GET", path: `${this.path}/events`, query: { after }, resume: (seq) => ({ after: seq }), signal,
        });
    }
    /** Waits for its end. */
    async result(options = {}) {
        for await (const _ of this.events(options))
            ;
        return this.transport.call("GET", this.path, options);
    }
    /** Sends input to a run with stdin_open. `eof` closes its stdin. */
    write(data = "", { eof = false } = {}) {
        return sendStdin(this.transport, this.id, data, eof);
    }
    /** Cancels it. False: it was over already. */
    cancel() {
        return cancelRun(this.transport, this.id);
    }
    /** All bytes of stdout, also if a result has no room for all of them. */
    stdout() {
        return this.transport.bytes(`${this.path}/stdout`);
    }
    stderr() {
        return this.transport.bytes(`${this.path}/stderr`);
    }
    /** The outputs that the request named. */
    async files() {
        return (await this.transport.call("GET", `${this.path}/files`)).files;
    }
    file(name) {
        return this.transport.bytes(`${this.path}/files/${pathOf(name)}`);
    }
    /** The request, with its code: enough to run it again. */
    request() {
        return this.transport.call("GET", `${this.path}/request`);
    }
    debugReport() {
        return this.transport.call("GET", `${this.path}/debug-report`);
    }
}
/** The history: `jar.runs`. */
export class Runs {
    transport;
    constructor(transport) {
        this.transport = transport;
    }
    /** A run by its id. Nothing is asked yet. */
    get(id) {
        return new Run(this.transport, id);
    }
    /** The runs of the history, the newest first; pages are fetched as they are needed. */
    async *list(filter = {}) {
        for (let cursor;;) {
            const page = await this.transport.call("GET", "/v1/runs", { query: { ...filter, cursor } });
            yield* page.runs;
            if (!page.next_cursor)
                return;
            cursor = page.next_cursor;
        }
    }
}
