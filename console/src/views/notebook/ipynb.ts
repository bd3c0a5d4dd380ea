// Jupyter notebooks: the service writes them, the page reads the code of their cells.
import { get, json, save } from "../../kit/api";
import { LANGUAGES, path, type Session } from "./api";
import type { Book } from "./book";

export interface Imported {
  language: string;
  name: string;
  cells: { code: string; text: boolean }[];
}

const MOST_BYTES = 32 << 20;
const MOST_CELLS = 5000;

const source = (v: unknown) => (Array.isArray(v) ? v.filter((s) => typeof s === "string").join("") : typeof v === "string" ? v : "");

/** The cells of a notebook file. Throws a sentence for the person. */
export async function readNotebook(file: File): Promise<Imported> {
  if (file.size > MOST_BYTES) throw new Error(`${file.name} is larger than 32 MiB.`);
  let book: { cells?: unknown; metadata?: { kernelspec?: { language?: string; name?: string }; language_info?: { name?: string } } };
  try {
    book = JSON.parse(await file.text());
  } catch {
    throw new Error(`${file.name} is not a notebook: it is not JSON.`);
  }
  if (!Array.isArray(book?.cells)) throw new Error(`${file.name} is not a notebook of format 4: it has no list of cells.`);
  const told = book.metadata?.language_info?.name ?? book.metadata?.kernelspec?.language ?? "python";
  const language = LANGUAGES.find((l) => told.toLowerCase().startsWith(l)) ?? "";
  if (!language) throw new Error(`${file.name} is in ${told}. Sessions are in ${LANGUAGES.join(", ")}.`);
  const cells = (book.cells as { cell_type?: string; source?: unknown }[]).slice(0, MOST_CELLS)
    .map((c) => ({ code: source(c?.source), text: c?.cell_type !== "code" }));
  return { language, name: file.name.replace(/\.ipynb$/, "").replaceAll(/[^\w.-]+/g, "-").slice(0, 60), cells };
}

/** A new session with the cells of a file as drafts. */
export async function importNotebook(file: File): Promise<Session> {
  const book = await readNotebook(file);
  const session = await json<Session>("POST", "/v1/sessions", {
    body: { language: book.language, undo: 5, idle: "sleep", ...(book.name && { name: book.name }) },
  });
  localStorage.setItem(`belljar.book.${session.id}`,
    JSON.stringify(book.cells.map((c) => ({ c: c.code, ...(c.text && { t: 1 }) }))));
  return session;
}

interface NotebookCell {
  id: string;
  cell_type: string;
  source: string;
  metadata: object;
  [more: string]: unknown;
}

/** The cells in the order of the page, with its texts and drafts. The service knows only cells that ran. */
function arrange(book: Book, made: NotebookCell[]): NotebookCell[] {
  const slots = book.slots.value;
  const byId = new Map(made.map((c) => [c.id, c]));
  const onPage = new Set(slots.flatMap((s) => [s.run?.id ?? "", ...s.earlier]).map((run) => `cell-${book.numberOf(run)}`));
  const cells = made.filter((c) => !onPage.has(c.id)); // older than the cells that the page has
  slots.forEach((s, i) => {
    const ran = s.run && byId.get(`cell-${s.run.number}`);
    if (ran) cells.push({ ...ran, source: s.code });
    else if (!s.run && s.code.trim())
      cells.push({
        id: `draft-${i + 1}`, cell_type: s.text ? "markdown" : "code", source: s.code, metadata: {},
        ...(!s.text && { execution_count: null, outputs: [] }),
      });
  });
  return cells;
}

export async function exportNotebook(book: Book, name: string) {
  const file = await get<{ cells: NotebookCell[] }>(path(book.id, "/notebook"));
  const text = JSON.stringify({ ...file, cells: arrange(book, file.cells) }, null, 1);
  const url = URL.createObjectURL(new Blob([text], { type: "application/x-ipynb+json" }));
  save(url, `${name}.ipynb`);
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}
