// Differences of texts. Loaded when it is first needed.
import { MergeView, unifiedMergeView } from "@codemirror/merge";
import { EditorState, type Extension } from "@codemirror/state";
import { EditorView } from "@codemirror/view";
import { base } from "./editor";
import { grammar } from "./languages";

/** Returns the function that removes it. */
export function sideBySide(host: HTMLElement, a: string, b: string, language: string): () => void {
  const root = host.shadowRoot ?? host.attachShadow({ mode: "open" });
  let view: MergeView | null = null;
  let gone = false;
  void grammar(language).then((colours) => {
    if (gone) return;
    const side = (doc: string, label: string) => ({
      doc,
      extensions: [...base(label), colours, EditorState.readOnly.of(true), EditorView.lineWrapping],
    });
    view = new MergeView({ a: side(a, "Left text"), b: side(b, "Right text"), parent: root, root, gutter: true,
      collapseUnchanged: { margin: 3, minSize: 8 } });
  });
  return () => {
    gone = true;
    view?.destroy();
  };
}

/** The changes against the first text, in the editor itself. */
export const changes = (original: string): Extension => unifiedMergeView({ original, mergeControls: false });
