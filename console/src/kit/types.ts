// The parts of the API that the console reads. /openapi.json has all of it.
import type { Action } from "../editor/fix";

export interface Usage {
  wall_ms: number;
  cpu_ms: number;
  memory_peak_bytes: number;
  pids_peak?: number;
}
export interface Place {
  file: string | null;
  line: number | null;
  column: number | null;
  end_column: number | null;
}
export interface Suggestion {
  text: string;
  replacement?: string;
  action?: Action;
  confidence: number;
}
export interface Variable {
  name: string;
  type: string | null;
  size: number | null;
  shape: number[] | null;
  dtype: string | null;
  preview: string | null;
  masked: boolean;
}
export interface Diagnosis {
  category: string;
  type: string | null;
  message: string;
  location: Place | null;
  excerpt: { line: number; text: string; caret?: [number, number] }[];
  suggestions: Suggestion[];
  causes: { type: string | null; message: string }[];
  further_errors?: { errors: { type: string | null; message: string; location: Place | null }[] };
  values?: { frames: { file: string | null; line: number | null; function: string | null; variables: Variable[] }[] } | null;
  docs: string | null;
  sandbox: boolean;
}
export interface Profile {
  sampled_ms: number;
  functions: { function: string; file: string; line: number; self_ms: number; percent: number }[];
  lines: { file: string; line: number; text: string; self_ms: number; percent: number }[];
  timeline: { ms: number; cpu_percent: number; memory_bytes: number; pids: number }[];
  note: string | null;
}
export interface Table {
  columns: { name: string; type: string }[];
  rows: unknown[][];
  row_count: number;
  truncated: boolean;
}
export interface Connection {
  host: string | null;
  port: number | null;
  address: string | null;
  outcome: string;
  bytes_in: number;
  bytes_out: number;
}
export interface Display {
  data: Record<string, unknown>;
  cut?: boolean;
}
export interface OutputFile {
  name: string;
  status: string;
  size: number | null;
}
export interface Result {
  id: string;
  state: string;
  language: string;
  version: string | null;
  verdict: string;
  exit_code: number;
  signal: string | null;
  stdout_bytes?: number;
  stderr_bytes?: number;
  stdout_truncated: boolean;
  stderr_truncated: boolean;
  usage: Usage;
  limits: Record<string, number>;
  limits_hit: string[];
  isolation: { level: string; layers: string[]; unenforced: string[] };
  files: OutputFile[];
  start: string | null;
  timings?: { queued_ms?: number; queued_at: string | null; finished_at: string | null };
  compile: { verdict: string; stderr: string; stdout: string; cached: boolean } | null;
  diagnosis: Diagnosis | null;
  tables: Table[] | null;
  profile: Profile | null;
  displays: Display[] | null;
  network: { connections: number; denied: number; log: Connection[] } | null;
  taken?: { language_from: string; unwrapped: boolean };
  error?: string;
}
export interface RunRow {
  id: string;
  state: string;
  language: string;
  verdict: string | null;
  thread_id: string | null;
  artifact_id: string | null;
  key: string | null;
  surface: string | null;
  created_at: string | null;
  finished_at: string | null;
  usage: Usage | null;
}
export interface RunRequest {
  id: string;
  language: string | null;
  code: string | null;
  request: Record<string, unknown> | null;
}
export interface RunEvent {
  event: "waiting" | "queued" | "started" | "stdout" | "stderr" | "network" | "done" | "keepalive";
  seq?: number;
  id?: string;
  data?: string;
  data_base64?: string;
  time_ms?: number;
  connection?: Connection;
  approval?: Approval;
  result?: Result;
}
export interface Language {
  name: string;
  aliases: string[];
  extensions: string[];
  version: string | null;
  installed: boolean;
  install: string;
  main_file: string;
  compiled: boolean;
  warm: string[];
}
export interface Risk {
  kind: string;
  line: number;
  column: number;
  excerpt: string;
  why: string;
  file?: string;
  where?: string;
}
export interface ApprovalInput {
  language: string;
  code: string | null;
  args?: string[];
  env?: string[];
  stdin?: string;
  stdin_open?: boolean;
  files?: { name: string; size?: number; content?: string }[];
  entry?: string;
  network?: unknown;
  outputs?: string[];
  limits?: Record<string, number>;
  compiler_args?: string[];
  allow_commands?: string[];
  digest?: string;
}
export interface Approval {
  id: string;
  thread_id: string | null;
  run_id: string | null;
  tool: string | null;
  input: ApprovalInput | null;
  reason: string | null;
  risks: Risk[] | null;
  state: string;
  decision: string;
  created_at: string | null;
  expires_at: string | null;
  decided_at: string | null;
  decided_by: string | null;
  decided_reason: string | null;
}
