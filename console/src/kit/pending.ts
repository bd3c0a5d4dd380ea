// The requests for approval that wait, for the badge and the inbox. The service says when they change; then one
// request fetches them.
import { ApiError, get } from "./api";
import { followFeed } from "./hub";
import { Store } from "./store";
import type { Approval } from "./types";

export const pending = new Store<Approval[]>([]);
export const pendingError = new Store<unknown>(null);

/** Looks at once. */
export async function lookAgain() {
  try {
    const list = await get<{ approvals: Approval[] }>("/v1/approvals?decision=pending&limit=100", { quiet: true });
    pending.value = list.approvals;
    pendingError.value = null;
  } catch (error) {
    pendingError.value = error;
  }
}

// After the first paint: nobody waits for it.
setTimeout(
  () =>
    followFeed("approvals", (event) => {
      if (event.event === "denied") pendingError.value = new ApiError(403, "denied", event.message ?? "");
      else void lookAgain();
    }),
  300,
);
