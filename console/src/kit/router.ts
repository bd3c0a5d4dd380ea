// The address after '#': "#/runs/run_1" is ["runs", "run_1"].
import { Store } from "./store";

const read = () => location.hash.replace(/^#\/?/, "").split("/").map(decodeURIComponent);
export const route = new Store<string[]>(read());
addEventListener("hashchange", () => (route.value = read()));

export const go = (...parts: string[]) => (location.hash = "#/" + parts.map(encodeURIComponent).join("/"));

/** Changes the address and not the view: the run that just began is the one on the screen. */
export function rename(...parts: string[]) {
  history.replaceState(null, "", "#/" + parts.map(encodeURIComponent).join("/"));
}
