// Lists of the service: templates, approvals, rules, artifacts, keys.
import { fields } from "./fields.js";
import { part, readAll } from "./transport.js";
/** States that runs and sessions begin in. */
export class Templates {
    transport;
    constructor(transport) {
        this.transport = transport;
    }
    /** Runs the setup once, and keeps its state: `jar.run(code, { template: name })` begins in it. */
    create(name, setup, options = {}) {
        return this.transport.call("POST", "/v1/templates", { body: fields({ language: "python", ...options, name, setup }), waits: 1 });
    }
    async list() {
        return (await this.transport.call("GET", "/v1/templates")).templates;
    }
    get(name) {
        return this.transport.call("GET", `/v1/templates/${part(name)}`);
    }
    async delete(name) {
        await this.transport.call("DELETE", `/v1/templates/${part(name)}`);
    }
}
/** Runs that wait for a person. */
export class Approvals {
    transport;
    constructor(transport) {
        this.transport = transport;
    }
    async *list(filter = {}) {
        for (let cursor;;) {
            const page = await this.transport.call("GET", "/v1/approvals", { query: { ...filter, cursor } });
            yield* page.approvals;
            if (!page.next_cursor)
                return;
            cursor = page.next_cursor;
        }
    }
    get(id) {
        return this.transport.call("GET", `/v1/approvals/${part(id)}`);
    }
    /** Approves, edits or rejects a run. `remember` makes a rule of it. */
    decide(id, decision, options = {}) {
        return this.transport.call("POST", `/v1/approvals/${part(id)}`, { body: { ...options, decision } });
    }
}
/** Rules that allow or deny runs by their text. */
export class Rules {
    transport;
    constructor(transport) {
        this.transport = transport;
    }
    async list() {
        return (await this.transport.call("GET", "/v1/rules")).rules;
    }
    add(action, options = {}) {
        return this.transport.call("POST", "/v1/rules", { body: { ...options, action } });
    }
    async delete(id) {
        await this.transport.call("DELETE", `/v1/rules/${part(id)}`);
    }
}
/** Programs with versions. */
export class Artifacts {
    transport;
    constructor(transport) {
        this.transport = transport;
    }
    create(artifact) {
        return this.transport.call("POST", "/api/artifacts/create", { body: artifact });
    }
    /** The code blocks of a Markdown text. */
    detect(content) {
        return this.transport.call("POST", "/api/artifacts/detect", { body: { content } });
    }
    list(conversation) {
        return this.transport.call("GET", `/api/artifacts/conversations/${part(conversation)}/artifacts`);
    }
    get(id) {
        return this.transport.call("GET", `/api/artifacts/${part(id)}`);
    }
    /** A new version. It is never sent twice: each one counts. */
    update(id, changes) {
        return this.transport.call("PUT", `/api/artifacts/${part(id)}`, { body: changes, repeats: false });
    }
    fork(id) {
        return this.transport.call("POST", `/api/artifacts/${part(id)}/fork`);
    }
    versions(id) {
        return this.transport.call("GET", `/api/artifacts/${part(id)}/versions`);
    }
    async download(id) {
        const answer = await this.transport.open("GET", `/api/artifacts/${part(id)}/download`, { accept: "text/plain" });
        return new TextDecoder().decode(await readAll(answer));
    }
    execute(id, options = {}) {
        return this.transport.call("POST", `/api/artifacts/${part(id)}/execute`, { body: fields(options), waits: 1 });
    }
    async delete(id) {
        await this.transport.call("DELETE", `/api/artifacts/${part(id)}`);
    }
}
/** API keys; for keys with the scope `admin`. */
export class Keys {
    transport;
    constructor(transport) {
        this.transport = transport;
    }
    async list() {
        return (await this.transport.call("GET", "/v1/keys")).keys;
    }
    /** A new key; its text is shown only here. */
    add(name, scopes, options = {}) {
        return this.transport.call("POST", "/v1/keys", { body: { name, scopes, ...options } });
    }
    async remove(name) {
        await this.transport.call("DELETE", `/v1/keys/${part(name)}`);
    }
}
