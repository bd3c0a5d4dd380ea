// Everything that the package offers, but for the class Belljar, which each platform makes.
export { BelljarClient } from "./client.js";
export * from "./errors.js";
export { bytesOf, explain, imagesOf, textOf } from "./explain.js";
export { Run } from "./runs.js";
export { Session } from "./sessions.js";
export { CellStream, EventStream, RunStream } from "./streams.js";
