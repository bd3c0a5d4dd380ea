// Lines that the page does not keep, a piece at a time, from the service.
import { useEffect, useRef, useState } from "preact/hooks";
import { call } from "../../kit/api";
import { Dialog } from "../../kit/dialog";
import { bytes } from "../../kit/format";
import { Lines, type Stream } from "../../kit/lines";
import { Output, type OutputHandle } from "../../kit/output";
import { Problem } from "../../kit/parts";

const PIECE = 256 << 10;

export function Older({ id, stream, close }: { id: string; stream: Stream; close: () => void }) {
  const [from, setFrom] = useState(0);
  const [all, setAll] = useState(0);
  const [lines, setLines] = useState(() => new Lines());
  const [error, setError] = useState<unknown>(null);
  const handle = useRef<OutputHandle>(null) as { current: OutputHandle | null };
  useEffect(() => {
    const stop = new AbortController();
    call("GET", `/v1/runs/${id}/${stream}`, { signal: stop.signal, range: `bytes=${from}-${from + PIECE - 1}` }).then(
      async (reply) => {
        setAll(Number(reply.headers.get("Content-Range")?.split("/")[1] ?? 0));
        const made = new Lines();
        made.append(stream, new TextDecoder().decode(await reply.arrayBuffer()), 0);
        setLines(made);
      },
      (e) => !stop.signal.aborted && setError(e),
    );
    return () => stop.abort();
  }, [from]);
  const move = (to: number) => setFrom(Math.max(0, Math.min(to, Math.floor(Math.max(0, all - 1) / PIECE) * PIECE)));
  return (
    <Dialog title={`${stream}: ${bytes(from)} to ${bytes(Math.min(all, from + PIECE))} of ${bytes(all)}`} close={close} wide>
      <div class="bar">
        <button class="button" disabled={from === 0} onClick={() => move(0)}>Beginning</button>
        <button class="button" disabled={from === 0} onClick={() => move(from - PIECE)}>Earlier</button>
        <button class="button" disabled={from + PIECE >= all} onClick={() => move(from + PIECE)}>Later</button>
        <label class="grow">
          <span class="sr-only">Position in the output</span>
          <input type="range" class="wide-range" min={0} max={Math.max(0, Math.ceil(all / PIECE) - 1)} value={from / PIECE}
            onChange={(e) => move(Number(e.currentTarget.value) * PIECE)} />
        </label>
      </div>
      {error != null && <Problem error={error} />}
      <div class="older-lines">
        <Output lines={lines} shown="all" handle={handle} label="Older lines" top />
      </div>
    </Dialog>
  );
}
