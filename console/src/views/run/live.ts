// The run on the screen. It outlives changes of the view, so that going to the history and back loses nothing.
import { get, json, words } from "../../kit/api";
import { ending } from "../../kit/format";
import { decode, Lines } from "../../kit/lines";
import { announce, toast } from "../../kit/say";
import { Store } from "../../kit/store";
import { follow, type Follower } from "../../kit/stream";
import type { Approval, Connection, Result, RunEvent } from "../../kit/types";

export type Phase = "idle" | "sending" | "waiting" | "queued" | "running" | "over";
export interface Live {
  phase: Phase;
  id: string;
  lost: boolean;
  error: unknown;
  approval: Approval | null;
  result: Result | null;
  connections: Connection[];
  stdinClosed: boolean;
}

const NOTHING: Live = {
  phase: "idle", id: "", lost: false, error: null, approval: null, result: null, connections: [], stdinClosed: false,
};

export class LiveRun {
  readonly lines = new Lines();
  readonly state = new Store<Live>(NOTHING);
  /** For each event that changed the lines. */
  onLines: () => void = () => {};
  onId: (id: string) => void = () => {};
  #follower: Follower | null = null;
  #turn = 0;

  #set(part: Partial<Live>) {
    this.state.value = { ...this.state.value, ...part };
  }

  #begin(phase: Phase, id: string, from: { body: unknown } | { id: string }) {
    this.#follower?.close();
    const turn = ++this.#turn;
    this.lines.clear();
    this.onLines();
    this.state.value = { ...NOTHING, phase, id };
    this.#follower = follow(
      from,
      (event) => turn === this.#turn && this.#take(event),
      (state, error) => {
        if (turn !== this.#turn) return;
        if (error) {
          this.#set({ phase: "over", error, lost: false });
          announce("The run failed to start.");
        } else this.#set({ lost: state === "lost" });
      },
    );
  }

  start(body: unknown) {
    this.#begin("sending", "", { body });
    announce("Started");
  }

  open(id: string) {
    if (this.state.value.id === id) return;
    this.#begin("queued", id, { id });
  }

  reset() {
    this.#follower?.close();
    this.#turn++;
    this.lines.clear();
    this.onLines();
    this.state.value = NOTHING;
  }

  #take(event: RunEvent) {
    if (event.id && event.id !== this.state.value.id) {
      this.#set({ id: event.id });
      this.onId(event.id);
    }
    if (event.event === "stdout" || event.event === "stderr") {
      this.lines.append(event.event, decode(event), event.time_ms ?? 0);
      this.onLines();
      if (this.state.value.phase !== "running" && this.state.value.phase !== "over") this.#set({ phase: "running" });
    } else if (event.event === "waiting") this.#set({ phase: "waiting", approval: event.approval ?? null });
    else if (event.event === "queued") this.#set({ phase: "queued", approval: null });
    else if (event.event === "started") this.#set({ phase: "running", approval: null });
    else if (event.event === "network" && event.connection)
      this.#set({ connections: [...this.state.value.connections.slice(-99), event.connection] });
    else if (event.event === "done") this.#finish(event.result ?? null);
  }

  /** The service has not answered yet: nobody knows whether the request arrived. */
  #withdraw() {
    this.#follower?.close();
    this.#turn++;
    this.#set({
      phase: "over", lost: false,
      error: new Error("Cancelled before the service answered. If the request arrived, the run is in the history."),
    });
  }

  async cancel() {
    const { id, phase } = this.state.value;
    if (phase === "sending") return this.#withdraw();
    if (!id || phase === "over") return;
    const turn = this.#turn;
    try {
      await json("DELETE", `/v1/runs/${id}`);
    } catch (error) {
      if (this.state.value.phase !== "over") toast(words(error), "bad");
      return;
    }
    await this.#end(turn, id);
  }

  /** The end of a cancelled run is shown at once. Its output may be megabytes behind, and goes on to come. */
  async #end(turn: number, id: string) {
    const result = await get<Result>(`/v1/runs/${id}?wait=true`).catch(() => null);
    if (turn === this.#turn && this.state.value.phase !== "over" && result?.state === "finished") this.#finish(result);
  }

  #finish(result: Result | null) {
    const known = this.state.value.phase === "over";
    this.#set({ phase: "over", result, lost: false, approval: null });
    if (result && !known) announce(`Finished: ${ending(result.state, result.verdict)[0]}`);
  }

  async type(data: string, eof: boolean): Promise<boolean> {
    try {
      await json("POST", `/v1/runs/${this.state.value.id}/stdin`, { body: { data, eof } });
      if (eof) this.#set({ stdinClosed: true });
      return true;
    } catch (error) {
      toast(words(error), "bad");
      return false;
    }
  }
}

export const live = new LiveRun();
