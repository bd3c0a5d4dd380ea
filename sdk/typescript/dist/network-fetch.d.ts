import type { Answer, Network, Request } from "./transport.js";
export declare class FetchNetwork implements Network {
    private readonly url;
    readonly name: string;
    constructor(url: string);
    send(request: Request): Promise<Answer>;
    close(): void;
}
