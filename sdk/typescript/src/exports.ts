// Everything that the package offers, but for the class Belljar, which each platform makes.

export { BelljarClient, type ProgramOptions } from "./client.js";
export * from "./errors.js";
export { bytesOf, explain, imagesOf, textOf } from "./explain.js";
export { Run } from "./runs.js";
export { Session } from "./sessions.js";
export { CellStream, EventStream, RunStream } from "./streams.js";
export type { BelljarOptions, CallOptions, FileContent, Files, Json, Network } from "./types.js";
export type {
  Approval, Artifact, Batch, BatchEvent, BatchRequest, BatchResult, Branches, BranchEvent, BranchOptions, Cell, CellEnd,
  CellEvent, CellOptions, Checkpoint, Comparison, ComparisonEvent, ComparisonRequest, Completions, Diagnosis, Event,
  Execution, Health, HistoryFilter, Inspection, Isolation, Key, Language, Limits, NetworkList, NewKey, OutputFile,
  Result, Rollback, Rule, RunOptions, RunRow, RunState, SessionChanges, SessionEvent, SessionFile, SessionOptions,
  Session as SessionState, Sleep, Stats, Template, TemplateOptions, Tree, Usage, Variable, Verdict, Wake,
} from "./models.js";
