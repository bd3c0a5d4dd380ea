import { BelljarClient } from "./client.js";
import type { BelljarOptions } from "./types.js";
export * from "./exports.js";
/** A client of a Belljar service. */
export declare class Belljar extends BelljarClient {
    constructor(options?: BelljarOptions);
}
