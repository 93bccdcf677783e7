// People by name. Their ids are asked for together.
import { useSyncExternalStore } from "react";
import { call } from "../data/api";
import type { User } from "../data/calls";
import { Text } from "./basics";

const known = new Map<string, User | null>();
const watchers = new Set<() => void>();
let wanted = new Set<string>();
let version = 0;

async function fetchWanted(): Promise<void> {
  const ids = [...wanted];
  wanted = new Set();
  for (const id of ids) known.set(id, null);
  try {
    const found = await call("POST /api/v1/uac-proxy/uac/getUsers", { body: { user_ids: ids, pagination: { page_number: 1, page_limit: Math.min(ids.length, 1000) } } });
    for (const user of found.user_infos) known.set(String(user.verta_info.user_id), user);
  } catch {
    for (const id of ids) known.delete(id);
    return;
  }
  ++version;
  watchers.forEach((tell) => tell());
}
function want(id: string): void {
  if (known.has(id) || wanted.has(id)) return;
  if (!wanted.size) setTimeout(() => void fetchWanted(), 5);
  wanted.add(id);
}

export const nameOf = (user: User): string => user.full_name || user.verta_info.username || user.email;

export function useUser(id: string | undefined): User | null | undefined {
  useSyncExternalStore(
    (tell) => {
      watchers.add(tell);
      return () => void watchers.delete(tell);
    },
    () => version,
  );
  if (id && id !== "0") want(id);
  return id ? known.get(id) : undefined;
}
export function Person({ id }: { id: string | undefined }) {
  const user = useUser(id);
  if (!id || id === "0") return <span>Herald</span>;
  return <span title={user?.email}>{user ? <Text of={nameOf(user)} most={60} /> : `user ${id}`}</span>;
}
export function initials(user: User): string {
  const words = nameOf(user).replace(/@.*/, "").split(/[\s._-]+/).filter(Boolean);
  return ((words[0]?.[0] ?? "?") + (words.length > 1 ? words[words.length - 1]![0] : "")).toUpperCase();
}
