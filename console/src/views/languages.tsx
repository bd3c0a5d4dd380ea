// The languages of this machine, and how to get the others.
import { get } from "../kit/api";
import { Chip, Loading, Problem, useLoad } from "../kit/parts";
import { copy } from "../kit/say";
import type { Language } from "../kit/types";

export function LanguagesView(_: { parts: string[] }) {
  const loaded = useLoad("languages", (signal) => get<Language[]>("/v1/languages", { signal }));
  return (
    <>
      <div class="page-head">
        <h1>Languages</h1>
        <span class="muted">Interpreters and compilers belong to the machine of the service.</span>
      </div>
      {loaded.error != null && <Problem error={loaded.error} retry={loaded.again} />}
      {!loaded.value && loaded.error == null && <Loading what="the languages" />}
      {loaded.value && (
        <div class="card scroll" tabIndex={0} role="region" aria-label="Languages">
          <table class="grid">
            <thead>
              <tr>
                <th scope="col">Language</th>
                <th scope="col">State</th>
                <th scope="col">Version</th>
                <th scope="col">Names</th>
                <th scope="col">Files</th>
                <th scope="col">Warm starts, or the command that installs it</th>
              </tr>
            </thead>
            <tbody>
              {loaded.value.map((l) => (
                <tr key={l.name}>
                  <th scope="row">{l.name}</th>
                  <td>
                    <Chip tone={l.installed ? "good" : "idle"}>{l.installed ? "ready" : "not installed"}</Chip>
                  </td>
                  <td>{l.version ?? "–"}</td>
                  <td>{l.aliases.join(", ") || "–"}</td>
                  <td>{l.extensions.join(" ")}</td>
                  <td class="wrap">
                    {l.installed ? (
                      l.warm.join(", ") || (l.compiled ? "compiled" : "–")
                    ) : (
                      <button class="link mono" onClick={() => void copy(l.install, "The command")} title="Copy the command">
                        {l.install}
                      </button>
                    )}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </>
  );
}
