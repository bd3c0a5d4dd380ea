// The package for Node: connections that stay open, and unix sockets.
import { BelljarClient } from "./client.js";
import { NodeNetwork } from "./network-node.js";
export * from "./exports.js";
/** A client of a Belljar service. */
export class Belljar extends BelljarClient {
    constructor(options = {}) {
        super(options, (url) => new NodeNetwork(url));
    }
}
