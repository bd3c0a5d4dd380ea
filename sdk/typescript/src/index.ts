// The package for browsers, Deno and workers.

import { BelljarClient } from "./client.js";
import { FetchNetwork } from "./network-fetch.js";
import type { BelljarOptions } from "./types.js";

export * from "./exports.js";

/** A client of a Belljar service. */
export class Belljar extends BelljarClient {
  constructor(options: BelljarOptions = {}) {
    super(options, (url) => new FetchNetwork(url));
  }
}
