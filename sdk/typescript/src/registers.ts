// Lists of the service: templates, approvals, rules, artifacts, keys.

import { fields } from "./fields.js";
import type {
  Approval, ApprovalFilter, Artifact, DecisionOptions, DetectedArtifact, Execution, ExecutionOptions, Key, NewKey, Rule,
  RuleOptions, Template, TemplateOptions,
} from "./models.js";
import { part, readAll, type Transport } from "./transport.js";

/** States that runs and sessions begin in. */
export class Templates {
  constructor(private readonly transport: Transport) {}

  /** Runs the setup once, and keeps its state: `jar.run(code, { template: name })` begins in it. */
  create(name: string, setup: string, options: Partial<TemplateOptions> = {}): Promise<Template> {
    return this.transport.call("POST", "/v1/templates", { body: fields({ language: "python", ...options, name, setup }), waits: 1 });
  }

  async list(): Promise<Template[]> {
    return (await this.transport.call("GET", "/v1/templates")).templates;
  }

  get(name: string): Promise<Template> {
    return this.transport.call("GET", `/v1/templates/${part(name)}`);
  }

  async delete(name: string): Promise<void> {
    await this.transport.call("DELETE", `/v1/templates/${part(name)}`);
  }
}

/** Runs that wait for a person. */
export class Approvals {
  constructor(private readonly transport: Transport) {}

  async *list(filter: ApprovalFilter = {}): AsyncGenerator<Approval, void, void> {
    for (let cursor: string | undefined; ; ) {
      const page = await this.transport.call("GET", "/v1/approvals", { query: { ...filter, cursor } });
      yield* page.approvals as Approval[];
      if (!page.next_cursor) return;
      cursor = page.next_cursor;
    }
  }

  get(id: string): Promise<Approval> {
    return this.transport.call("GET", `/v1/approvals/${part(id)}`);
  }

  /** Approves, edits or rejects a run. `remember` makes a rule of it. */
  decide(id: string, decision: "approve" | "edit" | "reject", options: DecisionOptions = {}): Promise<Approval> {
    return this.transport.call("POST", `/v1/approvals/${part(id)}`, { body: { ...options, decision } });
  }
}

/** Rules that allow or deny runs by their text. */
export class Rules {
  constructor(private readonly transport: Transport) {}

  async list(): Promise<Rule[]> {
    return (await this.transport.call("GET", "/v1/rules")).rules;
  }

  add(action: "allow" | "deny", options: RuleOptions = {}): Promise<Rule> {
    return this.transport.call("POST", "/v1/rules", { body: { ...options, action } });
  }

  async delete(id: string): Promise<void> {
    await this.transport.call("DELETE", `/v1/rules/${part(id)}`);
  }
}

/** Programs with versions. */
export class Artifacts {
  constructor(private readonly transport: Transport) {}

  create(artifact: { content: string; title: string; language: string; conversation_id?: string }): Promise<Artifact> {
    return this.transport.call("POST", "/api/artifacts/create", { body: artifact });
  }

  /** The code blocks of a Markdown text. */
  detect(content: string): Promise<DetectedArtifact[]> {
    return this.transport.call("POST", "/api/artifacts/detect", { body: { content } });
  }

  list(conversation: string): Promise<Artifact[]> {
    return this.transport.call("GET", `/api/artifacts/conversations/${part(conversation)}/artifacts`);
  }

  get(id: string): Promise<Artifact> {
    return this.transport.call("GET", `/api/artifacts/${part(id)}`);
  }

  /** A new version. It is never sent twice: each one counts. */
  update(id: string, changes: { content?: string; title?: string }): Promise<Artifact> {
    return this.transport.call("PUT", `/api/artifacts/${part(id)}`, { body: changes, repeats: false });
  }

  fork(id: string): Promise<Artifact> {
    return this.transport.call("POST", `/api/artifacts/${part(id)}/fork`);
  }

  versions(id: string): Promise<Artifact[]> {
    return this.transport.call("GET", `/api/artifacts/${part(id)}/versions`);
  }

  async download(id: string): Promise<string> {
    const answer = await this.transport.open("GET", `/api/artifacts/${part(id)}/download`, { accept: "text/plain" });
    return new TextDecoder().decode(await readAll(answer));
  }

  execute(id: string, options: ExecutionOptions = {}): Promise<Execution> {
    return this.transport.call("POST", `/api/artifacts/${part(id)}/execute`, { body: fields(options), waits: 1 });
  }

  async delete(id: string): Promise<void> {
    await this.transport.call("DELETE", `/api/artifacts/${part(id)}`);
  }
}

/** API keys; for keys with the scope `admin`. */
export class Keys {
  constructor(private readonly transport: Transport) {}

  async list(): Promise<Key[]> {
    return (await this.transport.call("GET", "/v1/keys")).keys;
  }

  /** A new key; its text is shown only here. */
  add(name: string, scopes: ("run" | "read" | "approve" | "admin")[], options: { max_runs?: number } = {}): Promise<NewKey> {
    return this.transport.call("POST", "/v1/keys", { body: { name, scopes, ...options } });
  }

  async remove(name: string): Promise<void> {
    await this.transport.call("DELETE", `/v1/keys/${part(name)}`);
  }
}
