// The same request once more.
import { get, json } from "./api";
import { go } from "./router";
import type { RunRequest } from "./types";

export async function runAgain(id: string) {
  const { request, code, language } = await get<RunRequest>(`/v1/runs/${id}/request`);
  const body = request ?? { code, language };
  const made = await json<{ id: string }>("POST", "/v1/runs", { body: { ...body, wait: false, stream: false } });
  go("runs", made.id);
}
