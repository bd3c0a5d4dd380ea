// Bundles the console:   node build.mjs [OUT]
// OUT (dist) gets index.html, frame.html and a/NAME-HASH.{js,css}. The bytes depend on the sources and
// on the versions in package-lock.json alone, so scripts/check can compare them with dist.
import { build } from "esbuild";
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const out = process.argv[2] ?? join(here, "dist");
rmSync(out, { recursive: true, force: true });
mkdirSync(join(out, "a"), { recursive: true });

const common = {
  absWorkingDir: here,
  outdir: join(out, "a"),
  bundle: true,
  format: "esm",
  target: "es2022",
  minify: true,
  legalComments: "none",
  jsx: "automatic",
  jsxImportSource: "preact",
  entryNames: "[name]-[hash]",
  chunkNames: "[name]-[hash]",
  metafile: true,
  logLevel: "warning",
};
// The worker first: the page names its address.
const hub = await build({ ...common, entryPoints: { hub: "src/hub.ts" } });
const result = await build({
  ...common,
  entryPoints: { main: "src/main.tsx", style: "src/style.css" },
  splitting: true,
  define: { HUB: JSON.stringify(`/console/a/${basename(Object.keys(hub.metafile.outputs)[0])}`) },
});

const made = Object.entries(result.metafile.outputs);
const named = (source) => basename(made.find(([, o]) => o.entryPoint === source)[0]);
// The entry imports its chunks; a hint for each lets the browser ask for all of them at once.
const entry = made.find(([, o]) => o.entryPoint === "src/main.tsx")[1];
const hints = entry.imports
  .filter((i) => i.kind === "import-statement")
  .map((i) => `<link rel="modulepreload" href="/console/a/${basename(i.path)}">`)
  .sort();
writeFileSync(
  join(out, "index.html"),
  readFileSync(join(here, "src/index.html"), "utf8")
    .replace("{{style}}", `/console/a/${named("src/style.css")}`)
    .replace("{{main}}", `/console/a/${named("src/main.tsx")}`)
    .replace("{{hints}}", hints.join("\n")),
);
for (const name of ["frame.html", "icon.svg"]) cpSync(join(here, "src", name), join(out, name));
