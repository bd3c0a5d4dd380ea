// The package for Node: connections that stay open, and unix sockets.

import { BelljarClient } from "./client.js";
import { NodeNetwork } from "./network-node.js";
import type { BelljarOptions } from "./types.js";

export * from "./exports.js";

/** A client of a Belljar service. */
export class Belljar extends BelljarClient {
  constructor(options: BelljarOptions = {}) {
    super(options, (url) => new NodeNetwork(url));
  }
}
