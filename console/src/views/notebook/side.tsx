// Beside the cells: the variables of the session, and the help for a name.
import { useEffect, useState } from "preact/hooks";
import { ApiError, get, json, pause, words } from "../../kit/api";
import { bytes } from "../../kit/format";
import { useStore } from "../../kit/store";
import { path, type Variable } from "./api";
import type { Book } from "./book";

export function Variables({ book }: { book: Book }) {
  const session = useStore(book.session);
  const turn = useStore(book.turn);
  const [list, set] = useState<Variable[] | null>(null);
  const [problem, setProblem] = useState("");
  const ready = session?.state === "idle"; // a question would wake a session that sleeps
  useEffect(() => {
    if (!ready) return;
    const stop = new AbortController();
    const { signal } = stop;
    const load = async () => {
      for (let tries = 5; !signal.aborted; tries--) {
        try {
          set((await get<{ variables: Variable[] }>(path(book.id, "/variables"), { signal, quiet: true })).variables);
          return setProblem("");
        } catch (error) {
          // The program answers one question at a time, and this one may meet a completion.
          if (tries === 0 || !(error instanceof ApiError)) return signal.aborted ? undefined : setProblem(words(error));
          await pause(400);
        }
      }
    };
    void load();
    return () => stop.abort();
  }, [ready, turn]);
  return (
    <section class="panel side-part" aria-label="Variables">
      <h2>Variables</h2>
      {problem && <p class="muted">{problem}</p>}
      {session?.state === "sleeping" && <p class="muted">They are on the disk. Wake the session to see them.</p>}
      {list?.length === 0 && <p class="muted">A cell that gives a name a value makes one.</p>}
      {list && list.length > 0 && (
        <div class="scroll" tabIndex={0} role="region" aria-label="List of variables">
          <dl class="variables">
            {list.slice(0, 500).map((v) => (
              <div key={v.name}>
                <dt>
                  <code>{v.name}</code>
                </dt>
                <dd>
                  <span class="muted">
                    {v.type}
                    {v.shape ? ` ${v.shape.join("×")}` : ""}
                    {v.size !== undefined && v.size > 1024 ? ` · ${bytes(v.size)}` : ""}
                  </span>
                  {v.preview && <code class="preview">{v.preview}</code>}
                </dd>
              </div>
            ))}
          </dl>
        </div>
      )}
    </section>
  );
}

export interface Question {
  code: string;
  cursor: number;
}

/** Signature and documentation of the name at the cursor (Ctrl+I). */
export function Help({ book, question }: { book: Book; question: Question | null }) {
  const [text, set] = useState("");
  useEffect(() => {
    if (!question) return;
    json<{ found: boolean; name?: string; text?: string }>("POST", path(book.id, "/inspect"), { body: question }).then(
      (r) => set(r.found ? (r.text ?? "") : "The session knows nothing about the name at the cursor."),
      (e) => set(words(e)),
    );
  }, [question]);
  return (
    <section class="panel side-part" aria-label="Help">
      <h2>Help</h2>
      <div role="status">
        {text ? (
          <pre class="block help" tabIndex={0} role="region" aria-label="Documentation">
            {text}
          </pre>
        ) : (
          <p class="muted">
            <kbd>Ctrl</kbd>+<kbd>I</kbd> explains the name at the cursor.
          </p>
        )}
      </div>
    </section>
  );
}
