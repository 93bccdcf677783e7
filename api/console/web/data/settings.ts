// What this browser remembers: look, clock, last workspace. No key and no secret.
import { useSyncExternalStore } from "react";

export interface Settings {
  theme: "system" | "light" | "dark";
  zone: "local" | "UTC";
  workspace: string;
  browser: string;
  shortcuts: boolean;
}
const name = "herald-console";
const watchers = new Set<() => void>();

function fresh(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(8)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
function read(): Settings {
  const plain: Settings = { theme: "system", zone: "local", workspace: "", browser: fresh(), shortcuts: true };
  try {
    const kept = JSON.parse(localStorage.getItem(name) ?? "{}") as Partial<Settings>;
    return {
      theme: kept.theme === "light" || kept.theme === "dark" ? kept.theme : "system",
      zone: kept.zone === "UTC" ? "UTC" : "local",
      workspace: typeof kept.workspace === "string" ? kept.workspace : "",
      browser: typeof kept.browser === "string" && /^[0-9a-f]{16}$/.test(kept.browser) ? kept.browser : plain.browser,
      shortcuts: kept.shortcuts !== false,
    };
  } catch {
    return plain;
  }
}
let now = read();

function show(): void {
  if (now.theme === "system") delete document.documentElement.dataset["theme"];
  else document.documentElement.dataset["theme"] = now.theme;
}
export function settings(): Settings {
  return now;
}
export function change(to: Partial<Settings>): void {
  now = { ...now, ...to };
  try {
    localStorage.setItem(name, JSON.stringify(now));
  } catch {
    // Only for this page then.
  }
  show();
  watchers.forEach((tell) => tell());
}
export function useSettings(): Settings {
  return useSyncExternalStore(
    (tell) => {
      watchers.add(tell);
      return () => void watchers.delete(tell);
    },
    () => now,
  );
}
change({});
