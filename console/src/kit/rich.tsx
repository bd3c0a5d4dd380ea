// Displays of a program. Images are <img>, which runs no script. HTML is shown in the frame, which has an origin
// of its own and makes no request, after a click.
import { useEffect, useRef, useState } from "preact/hooks";
import type { Display } from "./types";

const text = (v: unknown) => (Array.isArray(v) ? v.join("") : typeof v === "string" ? v : JSON.stringify(v, null, 2));

function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  const raw = atob(base64.replaceAll(/\s/g, ""));
  const out = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) out[i] = raw.charCodeAt(i);
  return out;
}

function Picture({ type, data }: { type: string; data: string }) {
  const [url, setUrl] = useState("");
  useEffect(() => {
    let made = "";
    try {
      made = URL.createObjectURL(new Blob([type === "image/svg+xml" ? data : bytesOf(data)], { type }));
    } catch {
      return; // not base64: there is nothing to show
    }
    setUrl(made);
    return () => URL.revokeObjectURL(made);
  }, [data]);
  return url ? <img class="picture" src={url} alt="Image that the program made" loading="lazy" /> : null;
}

function Frame({ html }: { html: string }) {
  const [open, setOpen] = useState(false);
  const frame = useRef<HTMLIFrameElement>(null);
  const fill = () => {
    const channel = new MessageChannel();
    channel.port1.onmessage = (e) => {
      if (typeof e.data === "number" && frame.current)
        frame.current.style.height = `${Math.min(600, Math.max(40, e.data))}px`;
    };
    frame.current!.contentWindow!.postMessage(html, "*", [channel.port2]);
  };
  if (!open)
    return (
      <div class="frame-ask">
        <p>The program wrote a page. It is shown without access to this console and without a network.</p>
        <button class="button" onClick={() => setOpen(true)}>
          Show the page
        </button>
      </div>
    );
  return (
    <iframe ref={frame} class="frame" title="Page of the program" src="/console/frame.html" sandbox="allow-scripts"
      referrerpolicy="no-referrer" onLoad={fill} />
  );
}

const IMAGES = ["image/png", "image/jpeg", "image/gif", "image/webp", "image/svg+xml"];

export function Rich({ display }: { display: Display }) {
  const { data } = display;
  const image = IMAGES.find((type) => data[type] !== undefined);
  if (image) return <Picture type={image} data={text(data[image])} />;
  if (data["text/html"] !== undefined) return <Frame html={text(data["text/html"])} />;
  const plain = data["text/plain"] ?? data["text/markdown"] ?? Object.values(data)[0];
  return (
    <>
      {plain !== undefined && <pre class="block" tabIndex={0}>{text(plain)}</pre>}
      {display.cut && <p class="muted">Further displays were left out here.</p>}
    </>
  );
}
