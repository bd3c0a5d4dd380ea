// Requests and answers. The rules of retries are here, and only here.
import { apiError, ConnectionFailed, ConnectionLost, ProtocolError, TimedOut } from "./errors.js";
const JSON_TYPE = "application/json";
export const NDJSON = "application/x-ndjson";
export const BYTES = "application/octet-stream";
const PATIENCE = 60_000;
const LONG_PATIENCE = 900_000;
/** A request that may be sent again if its connection was lost: it has the same effect twice. */
const repeatable = new Set(["GET", "HEAD", "DELETE", "PUT"]);
export class Transport {
    network;
    rules;
    constructor(network, rules) {
        this.network = network;
        this.rules = rules;
    }
    get retries() {
        return this.rules.retries;
    }
    /** The JSON of an answer, or undefined if it has no body. */
    async call(method, path, call = {}) {
        const answer = await this.open(method, path, call);
        return answer.status === 204 ? ((await readAll(answer)), undefined) : readJson(answer);
    }
    async bytes(path, call = {}) {
        return readAll(await this.open("GET", path, { accept: BYTES, ...call }));
    }
    /** An answer that is a success, with its body unread. Every other answer is thrown as its error. */
    async open(method, path, call = {}) {
        const request = this.request(method, path, call);
        for (let attempt = 0;; attempt++) {
            call.signal?.throwIfAborted();
            const left = attempt < this.rules.retries;
            let delay = 100 * 2 ** attempt;
            try {
                const answer = await this.network.send(request);
                if (answer.status >= 200 && answer.status < 300)
                    return answer;
                const error = await errorOf(answer);
                // The attempt whose answer was lost had its effect.
                if (method === "DELETE" && attempt > 0 && (answer.status === 404 || answer.status === 410))
                    return nothing;
                const after = error.retryAfter ?? null;
                if (answer.status !== 503 || after === null || !left || call.waitsForRoom === false)
                    throw error;
                delay = after * 1000;
            }
            catch (error) {
                const again = error instanceof ConnectionFailed ||
                    (error instanceof ConnectionLost && !(error instanceof TimedOut) && repeatable.has(method) && call.repeats !== false);
                if (!again || !left)
                    throw error;
            }
            await pause(delay, call.signal);
        }
    }
    request(method, path, call) {
        const headers = { Accept: call.accept ?? JSON_TYPE };
        if (this.rules.key)
            headers["Authorization"] = `Bearer ${this.rules.key}`;
        const body = call.raw ?? (call.body === undefined ? undefined : JSON.stringify(call.body));
        if (body !== undefined)
            headers["Content-Type"] = call.raw ? BYTES : JSON_TYPE;
        const query = new URLSearchParams();
        for (const [name, value] of Object.entries(call.query ?? {}))
            if (value !== undefined)
                query.set(name, String(value));
        const long = call.waits ? Math.max(LONG_PATIENCE, call.waits + PATIENCE) : PATIENCE;
        return {
            method, headers, body, signal: call.signal,
            path: query.size ?? [...query].length ? `${path}?${query}` : path,
            timeout: this.rules.timeout ?? long,
        };
    }
}
const nothing = { status: 204, header: () => null, body: (async function* () { })(), close: () => { } };
async function errorOf(answer) {
    if (answer.header("content-type")?.startsWith(JSON_TYPE))
        return apiError(answer.status, answer.header("retry-after"), await readJson(answer));
    answer.close();
    return apiError(answer.status, answer.header("retry-after"), null);
}
export async function readAll(answer) {
    const pieces = [];
    let size = 0;
    for await (const piece of answer.body) {
        pieces.push(piece);
        size += piece.length;
    }
    if (pieces.length === 1)
        return pieces[0];
    const whole = new Uint8Array(size);
    let at = 0;
    for (const piece of pieces) {
        whole.set(piece, at);
        at += piece.length;
    }
    return whole;
}
async function readJson(answer) {
    const kind = answer.header("content-type");
    if (!kind?.startsWith(JSON_TYPE)) {
        answer.close();
        throw new ProtocolError(`the answer is '${kind}' and not JSON; is a belljar service there?`);
    }
    const text = new TextDecoder().decode(await readAll(answer));
    try {
        return JSON.parse(text);
    }
    catch (error) {
        throw new ProtocolError("the answer is not JSON", { cause: error });
    }
}
/** Waits, unless the signal is aborted first. */
export function pause(ms, signal) {
    return new Promise((resolve, reject) => {
        const stop = () => {
            clearTimeout(timer);
            reject(signal.reason);
        };
        const timer = setTimeout(() => {
            signal?.removeEventListener("abort", stop);
            resolve();
        }, ms);
        signal?.addEventListener("abort", stop, { once: true });
        if (signal?.aborted)
            stop();
    });
}
/** One part of a path: an id, a name. */
export const part = (value) => encodeURIComponent(value);
/** The path of a file, whose slashes stay. */
export const pathOf = (name) => name.replace(/^\/+/, "").split("/").map(encodeURIComponent).join("/");
