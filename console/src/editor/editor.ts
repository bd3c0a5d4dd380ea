// CodeMirror in a shadow root: there it uses adopted style sheets, so the page needs no inline style and its
// policy stays strict.
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { bracketMatching, foldGutter, HighlightStyle, indentOnInput, syntaxHighlighting } from "@codemirror/language";
import { type Diagnostic, lintGutter, setDiagnostics } from "@codemirror/lint";
import { highlightSelectionMatches, searchKeymap } from "@codemirror/search";
import { Compartment, EditorState, type Extension } from "@codemirror/state";
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  highlightSpecialChars,
  keymap,
  lineNumbers,
} from "@codemirror/view";
import { tags as t } from "@lezer/highlight";
import { codePoint } from "../kit/ansi";
import { type Action, fixOf } from "./fix";
import { grammar } from "./languages";

const colours = HighlightStyle.define([
  { tag: [t.keyword, t.modifier, t.controlKeyword, t.operatorKeyword], color: "var(--syn-keyword)" },
  { tag: [t.string, t.special(t.string), t.regexp], color: "var(--syn-string)" },
  { tag: [t.number, t.bool, t.null, t.atom], color: "var(--syn-number)" },
  { tag: [t.comment, t.meta], color: "var(--syn-comment)", fontStyle: "italic" },
  { tag: [t.function(t.variableName), t.function(t.propertyName), t.definition(t.variableName)], color: "var(--syn-name)" },
  { tag: [t.typeName, t.className, t.namespace], color: "var(--syn-type)" },
  { tag: t.invalid, color: "var(--bad)" },
]);

const look = EditorView.theme({
  "&": { height: "100%", color: "var(--text)", backgroundColor: "var(--editor-back, var(--surface))", fontSize: "13px" },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "20px" },
  ".cm-content": { padding: "10px 0", caretColor: "var(--accent)" },
  ".cm-gutters": { backgroundColor: "var(--editor-back, var(--surface))", color: "var(--faint)", border: "none", paddingLeft: "4px" },
  ".cm-activeLine": { backgroundColor: "var(--line)" },
  ".cm-activeLineGutter": { backgroundColor: "var(--line)", color: "var(--text)" },
  "&.cm-focused .cm-selectionBackground, .cm-selectionBackground": { background: "var(--select) !important" },
  ".cm-cursor": { borderLeftColor: "var(--accent)", borderLeftWidth: "2px" },
  ".cm-specialChar": { color: "var(--bad)", border: "1px solid var(--bad)", borderRadius: "3px", padding: "0 2px", fontSize: "11px" },
  ".cm-tooltip": {
    backgroundColor: "var(--raised)", color: "var(--text)", border: "1px solid var(--border)", borderRadius: "6px",
    boxShadow: "var(--shadow)", overflow: "hidden",
  },
  ".cm-diagnostic": { fontFamily: "var(--sans)", padding: "8px 10px", borderLeft: "3px solid var(--bad)", maxWidth: "480px" },
  ".cm-diagnosticAction": {
    backgroundColor: "var(--accent)", color: "var(--on-accent)", borderRadius: "4px", padding: "2px 8px", cursor: "pointer",
  },
  // The marks of @codemirror/lint are images in its style sheet, which the policy of the page refuses.
  ".cm-lintRange": { backgroundImage: "none !important" },
  ".cm-lintRange-error": { textDecoration: "underline wavy var(--bad) 1px", textUnderlineOffset: "3px" },
  ".cm-lint-marker": { content: "normal !important", width: "8px", height: "8px", borderRadius: "50%", margin: "6px 3px 0" },
  ".cm-lint-marker-error": { backgroundColor: "var(--bad)" },
  ".cm-lintRange-warning": { textDecoration: "underline wavy var(--warn) 1px", textUnderlineOffset: "3px" },
  ".cm-lint-marker-warning": { backgroundColor: "var(--warn)" },
  ".cm-panels": { backgroundColor: "var(--raised)", color: "var(--text)", borderColor: "var(--border)" },
  ".cm-textfield": { backgroundColor: "var(--surface)", border: "1px solid var(--border)", color: "var(--text)" },
  ".cm-button": { backgroundImage: "none", backgroundColor: "var(--surface)", border: "1px solid var(--border)", color: "var(--text)" },
  ".cm-matchingBracket": { backgroundColor: "var(--select)", outline: "none" },
  ".cm-foldGutter .cm-gutterElement": { color: "var(--faint)" },
  ".cm-changedLine": { backgroundColor: "var(--good-soft) !important" },
  "&.cm-merge-a .cm-changedLine": { backgroundColor: "var(--bad-soft) !important" },
  "&.cm-merge-a .cm-changedText": { background: "var(--bad-strong) !important" },
  ".cm-deletedChunk": { backgroundColor: "var(--bad-soft) !important", padding: "0 6px" },
  ".cm-changedText": { background: "var(--good-strong) !important" },
  ".cm-deletedText": { background: "var(--bad-strong) !important" },
});

/** Bidirectional and zero-width characters are shown by their number (Trojan Source). */
const visibleChars = highlightSpecialChars({
  addSpecialChars: /[\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufff9-\ufffb]/g,
  render: (code, description, placeholder) => {
    const span = document.createElement("span");
    span.className = "cm-specialChar";
    span.textContent = code < 32 ? placeholder ?? "?" : codePoint(String.fromCodePoint(code));
    span.title = description ?? "a character that is not seen";
    span.setAttribute("aria-label", span.title);
    return span;
  },
});

/** A browser that types over a selection gives the new text the style of the old, as an attribute that the policy of
 * the page refuses. So the text is put in here. */
const typeOver = EditorView.domEventHandlers({
  beforeinput(event, view) {
    if (event.inputType !== "insertText" || !event.data || event.isComposing || view.state.selection.main.empty) return false;
    if (view.state.readOnly) return false;
    event.preventDefault();
    view.dispatch(view.state.replaceSelection(event.data), { userEvent: "input.type", scrollIntoView: true });
    return true;
  },
});

export const base = (label: string): Extension[] => [
  lineNumbers(),
  visibleChars,
  typeOver,
  drawSelection(),
  bracketMatching(),
  syntaxHighlighting(colours),
  look,
  EditorView.contentAttributes.of({ "aria-label": label, tabindex: "0" }),
  // The shadow root decides the order of reading; each line keeps its own direction.
  EditorView.perLineTextDirection.of(true),
];

export interface Mark {
  line: number;
  column: number | null;
  endColumn: number | null;
  message: string;
  /** A corrected line, or one to insert. */
  fix: string | null;
  action?: Action;
}

export class Editor {
  readonly view: EditorView;
  #language = new Compartment();
  #wanted = "";

  constructor(
    host: HTMLElement,
    readonly options: { text: string; label: string; onChange?: (text: string) => void; readOnly?: boolean; tabLeaves?: boolean; extra?: Extension[]; keys?: Parameters<typeof keymap.of>[0] },
  ) {
    const root = host.shadowRoot ?? host.attachShadow({ mode: "open" });
    this.view = new EditorView({
      parent: root,
      root,
      state: EditorState.create({
        doc: options.text,
        extensions: [
          keymap.of(options.keys ?? []),
          ...base(options.label),
          foldGutter(),
          lintGutter(),
          history(),
          indentOnInput(),
          highlightActiveLine(),
          highlightActiveLineGutter(),
          highlightSelectionMatches(),
          EditorState.readOnly.of(options.readOnly ?? false),
          EditorState.tabSize.of(4),
          this.#language.of([]),
          ...(options.extra ?? []),
          // Escape, then Tab, leaves the editor: no trap for the keyboard.
          keymap.of([...defaultKeymap, ...historyKeymap, ...searchKeymap, ...(options.tabLeaves ? [] : [indentWithTab])]),
          EditorView.updateListener.of((u) => u.docChanged && options.onChange?.(u.state.doc.toString())),
        ],
      }),
    });
  }

  get text() {
    return this.view.state.doc.toString();
  }
  set text(text: string) {
    if (text !== this.text)
      this.view.dispatch({ changes: { from: 0, to: this.view.state.doc.length, insert: text } });
  }

  async language(name: string) {
    this.#wanted = name;
    const extension = await grammar(name);
    if (this.#wanted === name) this.view.dispatch({ effects: this.#language.reconfigure(extension) });
  }

  /** Shows messages at their lines. A fix replaces the text of the line and keeps its indentation. */
  marks(marks: Mark[], severity: "error" | "warning" = "error") {
    const { doc } = this.view.state;
    const list: Diagnostic[] = marks
      .filter((m) => m.line >= 1 && m.line <= doc.lines)
      .map((m) => {
        const line = doc.line(m.line);
        const from = Math.min(line.from + Math.max(0, (m.column ?? 1) - 1), line.to);
        const to = m.endColumn ? Math.min(line.from + m.endColumn - 1, line.to) : line.to;
        return {
          from,
          to: Math.max(to, from),
          severity,
          message: m.message,
          actions: m.fix === null ? [] : [{ name: "Apply fix", apply: (view, at) => void this.fix(view.state.doc.lineAt(at).number, m.fix!, m.action) }],
        };
      });
    this.view.dispatch(setDiagnostics(this.view.state, list));
  }

  /** False: the text is not the one with the fault any more. */
  fix(number: number, text: string, action: Action = "replace", expected = ""): boolean {
    const change = fixOf(this.text, number, text, action, expected);
    if (!change) return false;
    this.view.dispatch({ changes: change, selection: { anchor: change.from + change.insert.trimEnd().length } });
    this.view.dispatch(setDiagnostics(this.view.state, []));
    this.view.focus();
    return true;
  }

  show(number: number) {
    const { doc } = this.view.state;
    if (number < 1 || number > doc.lines) return;
    const { from } = doc.line(number);
    this.view.dispatch({ selection: { anchor: from }, effects: EditorView.scrollIntoView(from, { y: "center" }) });
    this.view.focus();
  }

  destroy() {
    this.view.destroy();
  }
}
