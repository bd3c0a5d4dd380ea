import type { Answer, Network, Request } from "./transport.js";
export declare class NodeNetwork implements Network {
    readonly name: string;
    private readonly secure;
    private readonly place;
    private readonly host;
    private readonly prefix;
    private idle;
    private closed;
    constructor(url: string);
    send(request: Request): Promise<Answer>;
    private exchange;
    private connect;
    private take;
    private keep;
    close(): void;
}
