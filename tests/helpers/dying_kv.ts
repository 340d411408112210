import type { Kv } from "../../session/kv.ts";

/** The same database, but the process dies at the commit after the first `commits`. */
export function dyingKv(kv: Kv, commits: number): Kv {
  let left = commits;
  return {
    get: (key) => kv.get(key),
    list: (selector, options) => kv.list(selector, options),
    close: () => kv.close(),
    atomic() {
      const atomic = kv.atomic();
      const commit = atomic.commit.bind(atomic);
      atomic.commit = () => left-- > 0 ? commit() : Promise.reject(new Error("killed"));
      return atomic;
    },
  };
}
