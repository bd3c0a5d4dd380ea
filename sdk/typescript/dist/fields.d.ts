/** The body of a request: bytes are sent as base64. */
export declare function fields(given: object): Record<string, any>;
/** `timeout` in seconds is a short form of limits.wall_ms. */
export declare function runFields(given: {
    timeout?: number;
    limits?: object;
}): Record<string, any>;
/** Milliseconds that the program of a request may take, as far as the request says; at least 1. */
export declare function millisecondsOf(body: Record<string, any>): number;
