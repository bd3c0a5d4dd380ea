// Light, dark, or as the system has it.
import { Store } from "./store";

export type Theme = "system" | "light" | "dark";
const KEPT = "belljar.theme";
export const theme = new Store<Theme>((localStorage.getItem(KEPT) as Theme) || "system");
const system = matchMedia("(prefers-color-scheme: dark)");

function apply() {
  const dark = theme.value === "dark" || (theme.value === "system" && system.matches);
  document.documentElement.dataset.theme = dark ? "dark" : "light";
}
theme.watch((value) => {
  localStorage.setItem(KEPT, value);
  apply();
});
system.addEventListener("change", apply);
apply();

export const nextTheme = () => {
  const all: Theme[] = ["system", "light", "dark"];
  theme.value = all[(all.indexOf(theme.value) + 1) % all.length];
};
