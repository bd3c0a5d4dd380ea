// The requests for approval that wait, for the badge and the inbox. One small question a second while the page is
// visible; a key without the right to see them is asked once.
import { ApiError, get, pause } from "./api";
import { Store } from "./store";
import type { Approval } from "./types";

export const pending = new Store<Approval[]>([]);
export const pendingError = new Store<unknown>(null);
let refresh: () => void = () => {};

/** Looks at once. */
export const lookAgain = () => refresh();

async function watch() {
  for (let last = ""; ; ) {
    if (document.visibilityState === "visible") {
      try {
        const list = await get<{ approvals: Approval[] }>("/v1/approvals?decision=pending&limit=100", { quiet: true });
        const text = JSON.stringify(list.approvals.map((a) => a.id));
        if (text !== last) pending.value = list.approvals;
        last = text;
        pendingError.value = null;
      } catch (error) {
        pendingError.value = error;
        if (error instanceof ApiError && error.status === 403) await pause(30000);
      }
    }
    await Promise.race([pause(1000), new Promise<void>((r) => (refresh = r))]);
  }
}
// After the first paint: nobody waits for it.
setTimeout(() => void watch(), 300);
