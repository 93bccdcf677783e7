// What was read, by call and parameters. A page that comes back shows what was known, and reads again.
import { useEffect, useSyncExternalStore } from "react";
import { Refusal, call, listen, type Answer, type Operation, type Parameters } from "./api";

export interface Read<T> {
  data?: T;
  /// Of the newest try; the data of an earlier one stays.
  error?: Refusal;
  /// Whether the first answer is still to come.
  isLoading: boolean;
}

interface Entry {
  now: Read<unknown>;
  read: () => Promise<unknown>;
  users: Set<() => void>;
  running?: Promise<void>;
  again?: ReturnType<typeof setTimeout>;
  failures: number;
  /// Of what was asked for while an earlier read ran.
  isOld: boolean;
}

const entries = new Map<string, Entry>();
const entriesMax = 300;
const nothing: Read<never> = { isLoading: false };

function change(entry: Entry, now: Read<unknown>): void {
  entry.now = now;
  entry.users.forEach((tell) => tell());
}

function same(left: unknown, right: unknown): boolean {
  return JSON.stringify(left) === JSON.stringify(right);
}

async function run(entry: Entry): Promise<void> {
  clearTimeout(entry.again);
  entry.isOld = false;
  try {
    const data = await entry.read();
    entry.failures = 0;
    if (entry.now.error || entry.now.isLoading || !same(entry.now.data, data)) change(entry, { data, isLoading: false });
  } catch (why) {
    const error = why instanceof Refusal ? why : new Refusal(0, 0, String(why), "");
    ++entry.failures;
    change(entry, { data: entry.now.data, error, isLoading: false });
    // By itself only where a later try may be answered otherwise.
    const seconds = error.status === 429 ? Math.max(error.retrySeconds, 1) : error.isAway ? Math.min(2 ** (entry.failures - 1), 10) : 0;
    if (seconds && entry.users.size) entry.again = setTimeout(() => start(entry), seconds * 1000 * (0.8 + Math.random() * 0.4));
  }
}

function start(entry: Entry): void {
  if (entry.running) {
    entry.isOld = true;
    return;
  }
  entry.running = run(entry).finally(() => {
    entry.running = undefined;
    if (entry.isOld) start(entry);
  });
}

function entryOf(key: string, read: () => Promise<unknown>): Entry {
  let entry = entries.get(key);
  if (!entry) {
    if (entries.size >= entriesMax) for (const [name, each] of entries) if (!each.users.size) entries.delete(name);
    entry = { now: { isLoading: true }, read, users: new Set(), failures: 0, isOld: false };
    entries.set(key, entry);
  }
  entry.read = read;
  return entry;
}

/// Reads again whatever is on the screen; after a write.
export function readAgain(): void {
  for (const [key, entry] of entries)
    if (entry.users.size) start(entry);
    else entries.delete(key);
}
/// After a sign-in or sign-out.
export function forgetAll(): void {
  for (const [key, entry] of entries) if (!entry.users.size) entries.delete(key);
  readAgain();
}

function useEntry(key: string | null, read: () => Promise<unknown>, everyMs: number): Read<unknown> {
  const entry = key === null ? null : entryOf(key, read);
  const now = useSyncExternalStore(
    (tell) => {
      entry?.users.add(tell);
      return () => void entry?.users.delete(tell);
    },
    () => (entry ? entry.now : nothing),
  );
  useEffect(() => {
    if (!entry) return;
    start(entry);
    if (!everyMs) return;
    const timer = setInterval(() => document.visibilityState === "visible" && start(entry), everyMs * (0.9 + Math.random() * 0.2));
    return () => clearInterval(timer);
  }, [entry, everyMs]);
  return now;
}

/// The answer of a call that only reads; null reads nothing. It is asked again every so often, as long as the page is seen.
export function useRead<K extends Operation>(operation: K | null, parameters: Parameters<K>, everyMs = 5000): Read<Answer<K>> {
  const key = operation === null ? null : operation + " " + JSON.stringify(parameters);
  return useEntry(key, () => call(operation as K, parameters), everyMs) as Read<Answer<K>>;
}

/// What is made of several calls.
export function useMade<T>(key: string | null, make: () => Promise<T>, everyMs = 5000): Read<T> {
  return useEntry(key, make, everyMs) as Read<T>;
}

// ---- the node that answers

export interface Node {
  state: "ok" | "away" | "stale" | "unknown";
  since: number;
  offset: string;
  /// The server's clock less the browser's.
  skewMs: number;
}
let node: Node = { state: "unknown", since: Date.now(), offset: "", skewMs: 0 };
const watchers = new Set<() => void>();

listen((refusal, answer) => {
  const is = (state: Node["state"]) => (node.state === state ? node.since : Date.now());
  let next = node;
  if (refusal?.isAway) next = { ...node, state: "away", since: is("away") };
  else if (answer) {
    const state = answer.headers.get("svc-registry-stale") ? "stale" : "ok";
    const date = Date.parse(answer.headers.get("date") ?? "");
    const skewMs = Number.isNaN(date) ? node.skewMs : Math.abs(date - Date.now() - node.skewMs) > 2000 ? date - Date.now() : node.skewMs;
    next = { state, since: is(state), offset: answer.headers.get("svc-registry-offset") ?? node.offset, skewMs };
  }
  if (same(next, node)) return;
  node = next;
  watchers.forEach((tell) => tell());
});
export function useNode(): Node {
  return useSyncExternalStore(
    (tell) => {
      watchers.add(tell);
      return () => void watchers.delete(tell);
    },
    () => node,
  );
}
export const serverNow = (): number => Date.now() + node.skewMs;
