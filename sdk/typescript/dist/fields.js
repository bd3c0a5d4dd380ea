// Arguments of methods as fields of requests.
import { toBase64 } from "./explain.js";
/** The body of a request: bytes are sent as base64. */
export function fields(given) {
    const body = { ...given };
    if (body["stdin"] instanceof Uint8Array) {
        body["stdin"] = toBase64(body["stdin"]);
        body["stdin_encoding"] = "base64";
    }
    if (body["files"] && !Array.isArray(body["files"]))
        body["files"] = files(body["files"]);
    for (const key of ["runs", "inputs", "variants"])
        if (Array.isArray(body[key]))
            body[key] = body[key].map(fields);
    if (body["run"])
        body["run"] = fields(body["run"]);
    return body;
}
function files(given) {
    return Object.fromEntries(Object.entries(given).map(([name, value]) => [
        name,
        value instanceof Uint8Array ? { content: toBase64(value), encoding: "base64" } : value,
    ]));
}
/** `timeout` in seconds is a short form of limits.wall_ms. */
export function runFields(given) {
    const { timeout, ...rest } = given;
    const body = fields(rest);
    if (timeout !== undefined)
        body["limits"] = { ...body["limits"], wall_ms: Math.max(1, Math.round(timeout * 1000)) };
    return body;
}
/** Milliseconds that the program of a request may take, as far as the request says; at least 1. */
export function millisecondsOf(body) {
    if (typeof body["timeout"] === "number")
        return Math.max(1, body["timeout"] * 1000);
    const wall = body["limits"]?.wall_ms;
    return typeof wall === "number" ? Math.max(1, wall) : 1;
}
