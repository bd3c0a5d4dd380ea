// Short messages: a live region for assistive technology, and toasts for everybody.
import { Store, useStore } from "./store";

const spoken = new Store("");
const toasts = new Store<{ id: number; text: string; tone: "info" | "bad" }[]>([]);
let last = 0;

/** Only for assistive technology: "started", "finished". */
export const announce = (text: string) => (spoken.value = text);

export function toast(text: string, tone: "info" | "bad" = "info") {
  const id = ++last;
  toasts.value = [...toasts.value.slice(-3), { id, text, tone }];
  setTimeout(() => (toasts.value = toasts.value.filter((t) => t.id !== id)), tone === "bad" ? 8000 : 3500);
}

export async function copy(text: string, what: string) {
  try {
    await navigator.clipboard.writeText(text);
    toast(`${what} copied.`);
  } catch {
    toast("The browser does not let this page copy: it allows that on localhost and with HTTPS only.", "bad");
  }
}

export function Says() {
  return (
    <>
      <div class="sr-only" role="status" aria-live="polite">
        {useStore(spoken)}
      </div>
      <div class="toasts" role="log" aria-live="polite" aria-label="Messages">
        {useStore(toasts).map((t) => (
          <div key={t.id} class={`toast ${t.tone}`}>
            {t.text}
          </div>
        ))}
      </div>
    </>
  );
}
