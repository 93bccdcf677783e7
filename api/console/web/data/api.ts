// Calls of the API, with the types of its OpenAPI document. A path's parameters are filled in here; everything
// goes to the node that the page came from.
import type { Calls } from "./calls";

export type Operation = keyof Calls;
export type Answer<K extends Operation> = Calls[K]["answer"];
type Given<K extends Operation, Member extends "path" | "query" | "body"> = Calls[K][Member] extends undefined
  ? { [M in Member]?: undefined }
  : { [M in Member]: Calls[K][Member] };
type Optional<K extends Operation> = Calls[K]["query"] extends undefined ? {} : { query?: Partial<Calls[K]["query"]> };
export type Parameters<K extends Operation> = Given<K, "path"> & Given<K, "body"> & Optional<K>;

/// What a call did not do, and why. Status 0: the node did not answer.
export class Refusal extends Error {
  constructor(
    readonly status: number,
    readonly code: number,
    message: string,
    readonly requestId: string,
    readonly retrySeconds = 0,
  ) {
    super(message);
  }
  get isAway(): boolean {
    return this.status === 0 || this.status === 503 || this.status === 502 || this.status === 504;
  }
  /// A write whose outcome nobody knows may have happened.
  get mayHaveHappened(): boolean {
    return this.status === 0 || (this.status === 500 && /outcome|unknown/i.test(this.message));
  }
}

/// 128 bits, for Idempotency-Keys: randomUUID does not exist on plain http.
export function freshKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

type Listener = (refusal: Refusal | null, answer: Response | null) => void;
const listeners = new Set<Listener>();
/// Hears of every answer, and of every call without one.
export function listen(heard: Listener): () => void {
  listeners.add(heard);
  return () => void listeners.delete(heard);
}

function targetOf(operation: string, parameters: { path?: object; query?: object }): [string, string] {
  const [method, pattern] = operation.split(" ") as [string, string];
  const path = parameters.path as Record<string, string | number> | undefined;
  const filled = pattern.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(path?.[name] ?? "")));
  const query = Object.entries((parameters.query ?? {}) as Record<string, unknown>)
    .filter(([, value]) => value !== undefined && value !== "")
    .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(String(value))}`);
  return [method, filled + (query.length ? "?" + query.join("&") : "")];
}

export interface Sending {
  signal?: AbortSignal;
  /// The same key for a repeat of the same write.
  key?: string;
  /// In place of the session, for what a session may not do.
  as?: { email: string; key: string };
}

const answerMsMax = 45_000;

async function answered(method: string, target: string, body: unknown, sending: Sending): Promise<Response> {
  const headers: Record<string, string> = { "herald-console": "1" };
  if (body !== undefined) headers["content-type"] = "application/json";
  if (sending.key) headers["idempotency-key"] = sending.key;
  if (sending.as) {
    headers["grpc-metadata-email"] = sending.as.email;
    headers["grpc-metadata-developer_key"] = sending.as.key;
  }
  const clock = new AbortController();
  const timer = setTimeout(() => clock.abort(), answerMsMax);
  const stop = () => clock.abort();
  sending.signal?.addEventListener("abort", stop);
  try {
    return await fetch(target, { method, headers, body: body === undefined ? undefined : JSON.stringify(body), signal: clock.signal, cache: "no-store" });
  } finally {
    clearTimeout(timer);
    sending.signal?.removeEventListener("abort", stop);
  }
}

async function refusalOf(answer: Response): Promise<Refusal> {
  const id = answer.headers.get("svc-request-id") ?? "";
  const wait = Number(answer.headers.get("retry-after") ?? "0") || 0;
  const text = await answer.text().catch(() => "");
  try {
    const said = JSON.parse(text) as { code?: number; message?: string };
    if (typeof said.message === "string") return new Refusal(answer.status, Number(said.code ?? 0), said.message, id, wait);
  } catch {
    // Not Herald's own words: something between here and Herald answered.
  }
  return new Refusal(answer.status, 0, `the answer was ${answer.status}, and not in Herald's form; a proxy may stand between`, id, wait);
}

/// Errors: Refusal.
export async function call<K extends Operation>(operation: K, parameters: Parameters<K>, sending: Sending = {}): Promise<Answer<K>> {
  const [method, target] = targetOf(operation, parameters as { path?: object; query?: object });
  let refusal: Refusal;
  let answer: Response | null = null;
  try {
    answer = await answered(method, target, (parameters as { body?: unknown }).body, sending);
    if (answer.ok) {
      const text = await answer.text();
      const said = (answer.headers.get("content-type") ?? "").startsWith("application/json") ? (JSON.parse(text) as Answer<K>) : (text as Answer<K>);
      listeners.forEach((heard) => heard(null, answer));
      return said;
    }
    refusal = await refusalOf(answer);
  } catch (why) {
    if (sending.signal?.aborted) throw why;
    refusal = answer
      ? new Refusal(0, 0, "the answer was cut off or is not JSON", answer.headers.get("svc-request-id") ?? "")
      : new Refusal(0, 0, "Herald does not answer", "");
  }
  listeners.forEach((heard) => heard(refusal, answer));
  throw refusal;
}
