// Answers in other forms: the diagnosis as text, output as bytes.
/** Why a program failed, in a few lines: for people, and for models. Empty if it ended well. */
export function explain(outcome) {
    const { verdict, diagnosis: found } = outcome;
    if (verdict === "ok")
        return "";
    if (!found) {
        const error = outcome.error;
        const reason = error && typeof error === "object" ? `${error.name}: ${error.message}` : error;
        const word = verdict ?? outcome.state; // a run that died with the service has no verdict
        return reason ? `${word}: ${reason}` : `${word}`;
    }
    const kind = found.type && found.type !== verdict ? `${found.type}: ` : "";
    const place = found.location?.line ? ` (${found.location.file}, line ${found.location.line})` : "";
    const lines = [`${verdict}: ${kind}${found.message}${place}`];
    for (const row of found.excerpt) {
        lines.push(`${String(row.line).padStart(6)} | ${row.text}`);
        if (row.caret) {
            const [start, end] = row.caret;
            lines.push(`${" ".repeat(6)} | ${" ".repeat(start - 1)}${"^".repeat(Math.max(1, end - start))}`);
        }
    }
    for (const suggestion of found.suggestions) {
        lines.push(`  - ${suggestion.text}`);
        if (suggestion.replacement)
            lines.push(`      ${suggestion.replacement}`);
    }
    return lines.join("\n");
}
/** The exact bytes of an event `stdout` or `stderr`; none for other events. */
export function bytesOf(event) {
    if (event.event !== "stdout" && event.event !== "stderr")
        return new Uint8Array();
    return event.data_base64 !== undefined ? fromBase64(event.data_base64) : new TextEncoder().encode(event.data ?? "");
}
/** The text of an event `stdout` or `stderr`; empty for other events. */
export function textOf(event) {
    if (event.event !== "stdout" && event.event !== "stderr")
        return "";
    return event.data ?? new TextDecoder().decode(bytesOf(event));
}
/** The PNG images among the displays of a run or a cell. */
export function imagesOf(outcome) {
    const bundles = [...(outcome.displays ?? []).map((display) => display.data), outcome.result];
    return bundles.filter((data) => data?.["image/png"]).map((data) => fromBase64(data["image/png"]));
}
export function toBase64(bytes) {
    let text = "";
    for (let at = 0; at < bytes.length; at += 0x8000)
        text += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
    return btoa(text);
}
export function fromBase64(text) {
    return Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
}
