import type { Approval, ApprovalFilter, Artifact, DecisionOptions, DetectedArtifact, Execution, ExecutionOptions, Key, NewKey, Rule, RuleOptions, Template, TemplateOptions } from "./models.js";
import { type Transport } from "./transport.js";
/** States that runs and sessions begin in. */
export declare class Templates {
    private readonly transport;
    constructor(transport: Transport);
    /** Runs the setup once, and keeps its state: `jar.run(code, { template: name })` begins in it. */
    create(name: string, setup: string, options?: Partial<TemplateOptions>): Promise<Template>;
    list(): Promise<Template[]>;
    get(name: string): Promise<Template>;
    delete(name: string): Promise<void>;
}
/** Runs that wait for a person. */
export declare class Approvals {
    private readonly transport;
    constructor(transport: Transport);
    list(filter?: ApprovalFilter): AsyncGenerator<Approval, void, void>;
    get(id: string): Promise<Approval>;
    /** Approves, edits or rejects a run. `remember` makes a rule of it. */
    decide(id: string, decision: "approve" | "edit" | "reject", options?: DecisionOptions): Promise<Approval>;
}
/** Rules that allow or deny runs by their text. */
export declare class Rules {
    private readonly transport;
    constructor(transport: Transport);
    list(): Promise<Rule[]>;
    add(action: "allow" | "deny", options?: RuleOptions): Promise<Rule>;
    delete(id: string): Promise<void>;
}
/** Programs with versions. */
export declare class Artifacts {
    private readonly transport;
    constructor(transport: Transport);
    create(artifact: {
        content: string;
        title: string;
        language: string;
        conversation_id?: string;
    }): Promise<Artifact>;
    /** The code blocks of a Markdown text. */
    detect(content: string): Promise<DetectedArtifact[]>;
    list(conversation: string): Promise<Artifact[]>;
    get(id: string): Promise<Artifact>;
    /** A new version. It is never sent twice: each one counts. */
    update(id: string, changes: {
        content?: string;
        title?: string;
    }): Promise<Artifact>;
    fork(id: string): Promise<Artifact>;
    versions(id: string): Promise<Artifact[]>;
    download(id: string): Promise<string>;
    execute(id: string, options?: ExecutionOptions): Promise<Execution>;
    delete(id: string): Promise<void>;
}
/** API keys; for keys with the scope `admin`. */
export declare class Keys {
    private readonly transport;
    constructor(transport: Transport);
    list(): Promise<Key[]>;
    /** A new key; its text is shown only here. */
    add(name: string, scopes: ("run" | "read" | "approve" | "admin")[], options?: {
        max_runs?: number;
    }): Promise<NewKey>;
    remove(name: string): Promise<void>;
}
