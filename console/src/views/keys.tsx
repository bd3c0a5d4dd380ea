// API keys: made once, shown once.
import { useState } from "preact/hooks";
import { get, json, words } from "../kit/api";
import { Dialog } from "../kit/dialog";
import { ago, moment } from "../kit/format";
import { Empty, Loading, Problem, useLoad } from "../kit/parts";
import { copy, toast } from "../kit/say";

interface Key {
  name: string;
  scopes: string[];
  max_runs: number;
  created_at: string | null;
}
const SCOPES: [string, string][] = [
  ["run", "Run programs, and see the own runs"],
  ["read", "See every run, approvals and statistics"],
  ["approve", "Decide on approvals and rules"],
  ["admin", "Everything, and keys"],
];

function NewKey({ close, made }: { close: () => void; made: (text: string) => void }) {
  const [name, setName] = useState("");
  const [scopes, setScopes] = useState<string[]>(["run"]);
  const [error, setError] = useState<unknown>(null);
  const send = async (e: Event) => {
    e.preventDefault();
    try {
      made((await json<{ key: string }>("POST", "/v1/keys", { body: { name: name.trim(), scopes } })).key);
    } catch (problem) {
      setError(problem);
    }
  };
  return (
    <Dialog title="New key" close={close}>
      <form class="stack" onSubmit={send}>
        <p class="muted">With the first key, every client over TCP needs one from then on, this console too.</p>
        <label class="stack">
          <span>Name</span>
          <input class="field" required value={name} autoFocus onInput={(e) => setName(e.currentTarget.value)} />
        </label>
        <fieldset>
          <legend>Rights</legend>
          {SCOPES.map(([scope, help]) => (
            <label key={scope} class="check">
              <input type="checkbox" checked={scopes.includes(scope)}
                onChange={(e) => setScopes(e.currentTarget.checked ? [...scopes, scope] : scopes.filter((s) => s !== scope))} />
              <span>
                <b>{scope}</b> <span class="muted">{help}</span>
              </span>
            </label>
          ))}
        </fieldset>
        {error != null && <Problem error={error} />}
        <button class="button primary" type="submit" disabled={!name.trim() || scopes.length === 0}>
          Make the key
        </button>
      </form>
    </Dialog>
  );
}

export function KeysView(_: { parts: string[] }) {
  const loaded = useLoad("keys", (signal) => get<{ keys: Key[] }>("/v1/keys", { signal }).then((l) => l.keys));
  const [making, setMaking] = useState(false);
  const [shown, setShown] = useState("");
  const [removing, setRemoving] = useState<Key | null>(null);
  const remove = async (key: Key) => {
    setRemoving(null);
    try {
      await json("DELETE", `/v1/keys/${encodeURIComponent(key.name)}`);
      toast(`The key ${key.name} is removed.`);
    } catch (error) {
      toast(words(error), "bad");
    }
    loaded.again();
  };
  return (
    <>
      <div class="page-head">
        <h1>Keys</h1>
        <span class="grow" />
        <button class="button primary" onClick={() => setMaking(true)}>
          New key
        </button>
      </div>
      {loaded.error != null && <Problem error={loaded.error} retry={loaded.again} />}
      {!loaded.value && loaded.error == null && <Loading what="the keys" />}
      {loaded.value?.length === 0 && (
        <Empty title="There is no key">
          <p>Every client on this machine may use the service until the first key is made. A key has a name and rights.</p>
        </Empty>
      )}
      {loaded.value && loaded.value.length > 0 && (
        <div class="card scroll" tabIndex={0} role="region" aria-label="Keys">
          <table class="grid">
            <thead>
              <tr>
                <th scope="col">Name</th>
                <th scope="col">Rights</th>
                <th scope="col">Runs at a time</th>
                <th scope="col">Made</th>
                <th scope="col"><span class="sr-only">Remove</span></th>
              </tr>
            </thead>
            <tbody>
              {loaded.value.map((k) => (
                <tr key={k.name}>
                  <th scope="row">{k.name}</th>
                  <td>{k.scopes.join(", ")}</td>
                  <td>{k.max_runs || "as the setting"}</td>
                  <td title={moment(k.created_at)}>{ago(k.created_at)}</td>
                  <td>
                    <button class="button small danger" aria-label={`Remove ${k.name}`} onClick={() => setRemoving(k)}>
                      Remove
                    </button>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {making && <NewKey close={() => setMaking(false)} made={(text) => (setMaking(false), setShown(text), loaded.again())} />}
      {shown && (
        <Dialog title="The key is shown once" close={() => setShown("")}>
          <p>Copy it now. The service keeps only a hash of it.</p>
          <pre class="block" tabIndex={0} id="new-key">{shown}</pre>
          <button class="button primary" onClick={() => void copy(shown, "The key")}>
            Copy
          </button>
        </Dialog>
      )}
      {removing && (
        <Dialog title={`Remove the key ${removing.name}?`} close={() => setRemoving(null)}>
          <p>Its clients are refused from then on. A key that is made later under this name inherits nothing.</p>
          <div class="actions">
            <button class="button" onClick={() => setRemoving(null)}>
              Keep it
            </button>
            <button class="button danger" onClick={() => void remove(removing)}>
              Remove it
            </button>
          </div>
        </Dialog>
      )}
    </>
  );
}
