// Jupyter notebooks: the service writes them, the page reads the code of their cells.
import { blobUrl, json, save } from "../../kit/api";
import { LANGUAGES, path, type Session } from "./api";

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

export async function exportNotebook(id: string, name: string) {
  const url = await blobUrl(path(id, "/notebook"), "application/x-ipynb+json");
  save(url, `${name}.ipynb`);
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}
