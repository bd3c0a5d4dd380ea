// A value that views can watch.
import { useEffect, useState } from "preact/hooks";

export class Store<T> {
  #value: T;
  #watchers = new Set<(value: T) => void>();

  constructor(value: T) {
    this.#value = value;
  }
  get value() {
    return this.#value;
  }
  set value(next: T) {
    if (Object.is(next, this.#value)) return;
    this.#value = next;
    for (const watch of [...this.#watchers]) watch(next);
  }
  watch(watch: (value: T) => void) {
    this.#watchers.add(watch);
    return () => void this.#watchers.delete(watch);
  }
}

export function useStore<T>(store: Store<T>): T {
  const [value, set] = useState(store.value);
  useEffect(() => {
    set(() => store.value);
    return store.watch((next) => set(() => next));
  }, [store]);
  return value;
}
