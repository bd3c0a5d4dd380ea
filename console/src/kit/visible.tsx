// Text of strangers with nothing hidden: characters that cannot be seen are named.
import { pieces } from "./ansi";

const NEWLINE = /\r?\n/;

export function Visible({ text }: { text: string }) {
  return (
    <>
      {text.split(NEWLINE).map((line, i) => (
        <>
          {i > 0 && "\n"}
          {pieces(line.replaceAll("\x1b", "\u241b").replaceAll("\r", "\u240d"), {}).map((p) =>
            p.hidden ? <span class="hidden-char">{p.text}</span> : p.text,
          )}
        </>
      ))}
    </>
  );
}
