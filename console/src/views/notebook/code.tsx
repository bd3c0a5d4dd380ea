// The code of a cell: coloured text, and an editor only while a person is in it.
import { autocompletion, closeCompletion, type CompletionContext, type CompletionResult } from "@codemirror/autocomplete";
import type { Language } from "@codemirror/language";
import { classHighlighter, highlightCode } from "@lezer/highlight";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { Editor } from "../../editor/editor";
import { grammar } from "../../editor/languages";
import { json } from "../../kit/api";
import { element, pieces } from "../../kit/ansi";
import { path } from "./api";
import type { Book, Slot } from "./book";

const MOST_COLOURED = 20000;

/** Spans of text. Characters that are not seen are named, as in the output. */
async function colour(code: string, language: string): Promise<Node[]> {
  const made: Node[] = [];
  const plain = (text: string) => pieces(text, {}).map((p) => element({ ...p, look: p.hidden ? p.look : {} }));
  const extension = (await grammar(language)) as unknown as { language?: Language; parser?: Language["parser"] };
  const parser = extension.language?.parser ?? extension.parser;
  if (!parser || code.length > MOST_COLOURED) return [document.createTextNode(code)];
  highlightCode(code, parser.parse(code), classHighlighter, (text, classes) => {
    const span = document.createElement("span");
    if (classes) span.className = classes;
    span.append(...plain(text));
    made.push(span);
  }, () => made.push(document.createTextNode("\n")));
  return made;
}

/** The position in the text that a click means. */
function offsetAt(host: HTMLElement, e: MouseEvent): number {
  const range = document.caretRangeFromPoint?.(e.clientX, e.clientY);
  if (!range || !host.contains(range.startContainer)) return -1;
  const before = document.createRange();
  before.setStart(host, 0);
  before.setEnd(range.startContainer, range.startOffset);
  return before.toString().length;
}

export function StaticCode(props: { slot: Slot; language: string; label: string; near: boolean; focus: boolean;
  edit: (at: number) => void; keys: (e: KeyboardEvent) => void; enter: () => void }) {
  const box = useRef<HTMLPreElement>(null);
  const { code } = props.slot;
  useLayoutEffect(() => {
    box.current!.textContent = code || " ";
    if (!props.near || props.slot.text || !code) return;
    let here = true;
    void colour(code, props.language).then((nodes) => here && box.current?.replaceChildren(...nodes));
    return () => void (here = false);
  }, [code, props.near, props.language]);
  useEffect(() => {
    if (props.focus) box.current!.focus();
  }, [props.focus]);
  return (
    <pre ref={box} class={`cell-code ${props.slot.text ? "prose" : ""}`} tabIndex={0} role="textbox" aria-multiline="true" aria-readonly="true"
      aria-label={`${props.label}. Enter edits it.`} onKeyDown={props.keys} onFocus={props.enter}
      onClick={(e) => getSelection()?.isCollapsed !== false && props.edit(offsetAt(e.currentTarget, e))} />
  );
}

const characters = (text: string) => [...text].length;
const units = (text: string, n: number) => [...text].slice(0, n).join("").length;

/** Completions come from the program of the session, while it is ready. */
function completer(book: Book) {
  return async (context: CompletionContext): Promise<CompletionResult | null> => {
    if (book.session.value?.state !== "idle") return null;
    const code = context.state.doc.toString();
    const before = code.slice(0, context.pos);
    if (!context.explicit && !/[\w.]$/.test(before)) return null;
    try {
      const found = await json<{ matches: { text: string; type?: string }[]; from: number; to: number }>(
        "POST", path(book.id, "/complete"), { body: { code, cursor: characters(before) }, quiet: true },
      );
      if (context.aborted || !found.matches.length) return null;
      return {
        from: units(code, found.from),
        options: found.matches.slice(0, 200).map((m) => ({ label: m.text })),
        validFor: /^[\w.]*$/,
      };
    } catch {
      return null;
    }
  };
}

export interface CodeActions {
  run: (next: boolean) => void;
  leave: () => void;
  step: (by: 1 | -1) => void;
  inspect: (code: string, cursor: number) => void;
}

export function LiveCode(props: { book: Book; slot: Slot; language: string; label: string; at: number; act: CodeActions;
  handle: { current: Editor | null } }) {
  const host = useRef<HTMLDivElement>(null);
  const act = useRef(props.act);
  act.current = props.act;
  const { book, slot } = props;
  useEffect(() => {
    const edge = (by: 1 | -1) => (view: Editor["view"]) => {
      const { main } = view.state.selection;
      const line = view.state.doc.lineAt(main.head).number;
      if (!main.empty || line !== (by === 1 ? view.state.doc.lines : 1)) return false;
      const slots = book.slots.value;
      if (!slots[slots.findIndex((s) => s.key === slot.key) + by]) return false;
      act.current.step(by);
      return true;
    };
    const editor = new Editor(host.current!, {
      text: slot.code,
      label: `${props.label}. Escape leaves the editor.`,
      onChange: (code) => book.edit(slot.key, code),
      keys: [
        { key: "Ctrl-Enter", mac: "Cmd-Enter", run: (view) => (closeCompletion(view), act.current.run(false), true) },
        { key: "Shift-Enter", run: (view) => (closeCompletion(view), act.current.run(true), true) },
        { key: "Ctrl-.", mac: "Cmd-.", run: () => (void book.interrupt(), true) },
        {
          key: "Ctrl-i", mac: "Cmd-i", preventDefault: true,
          run: (view) => {
            const code = view.state.doc.toString();
            act.current.inspect(code, characters(code.slice(0, view.state.selection.main.head)));
            return true;
          },
        },
        { key: "Escape", run: () => (act.current.leave(), true) },
        { key: "ArrowUp", run: edge(-1) },
        { key: "ArrowDown", run: edge(1) },
      ],
      extra: slot.text ? [] : [autocompletion({ override: [completer(book)], icons: false, activateOnTypingDelay: 150 })],
    });
    props.handle.current = editor;
    if (!slot.text) void editor.language(props.language);
    if (props.at >= 0) editor.view.dispatch({ selection: { anchor: Math.min(props.at, slot.code.length) } });
    editor.view.focus();
    return () => {
      props.handle.current = null;
      editor.destroy();
    };
  }, []);
  return <div class="cell-editor" ref={host} />;
}
