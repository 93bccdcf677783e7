// Texts for people, of numbers, times and texts that came from elsewhere.
import { settings } from "./settings";

// Control characters, and those that are not seen but change what is.
const hidden = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e007f}]/gu;

/// The text with what is not seen made visible.
export function visible(text: string): string {
  return text.replace(hidden, (each) => `\\u{${each.codePointAt(0)!.toString(16)}}`);
}
/// On one line, and not endless.
export function oneLine(text: string, most = 200): string {
  const line = visible(text.replace(/\s+/g, " "));
  return line.length > most ? line.slice(0, most - 1) + "…" : line;
}

const units = new Intl.NumberFormat(undefined);
export const count = (value: number | string): string => units.format(Number(value));
export const plural = (value: number | string, one: string, many = one + "s"): string => `${count(value)} ${Number(value) === 1 ? one : many}`;

export function size(bytes: number): string {
  const names = ["B", "kB", "MB", "GB", "TB"];
  let value = bytes;
  let at = 0;
  for (; value >= 1000 && at < names.length - 1; ++at) value /= 1000;
  return `${value >= 100 || at === 0 ? Math.round(value) : value.toFixed(1)} ${names[at]}`;
}

export function duration(ms: number): string {
  if (ms < 0) return "0 s";
  if (ms < 1) return `${ms.toFixed(2)} ms`;
  if (ms < 1000) return `${Math.round(ms)} ms`;
  const seconds = Math.floor(ms / 1000);
  if (seconds < 10) return `${(ms / 1000).toFixed(1)} s`;
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return seconds % 60 && minutes < 10 ? `${minutes} min ${seconds % 60} s` : `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return minutes % 60 && hours < 10 ? `${hours} h ${minutes % 60} min` : `${hours} h`;
  return `${Math.floor(hours / 24)} days`;
}

/// Milliseconds since the epoch, of either dialect; 0: none.
export function timeOf(value: string | number | undefined | null): number {
  if (value === undefined || value === null || value === "") return 0;
  const number = Number(value);
  if (!Number.isNaN(number)) return number;
  const parsed = Date.parse(String(value));
  return Number.isNaN(parsed) ? 0 : parsed;
}

const zone = (): Intl.DateTimeFormatOptions => (settings().zone === "UTC" ? { timeZone: "UTC" } : {});

export function clockTime(ms: number): string {
  return new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23", ...zone() }).format(ms);
}
export function dayAndTime(ms: number): string {
  const year = new Date(ms).getFullYear() === new Date().getFullYear() ? {} : ({ year: "numeric" } as const);
  return new Intl.DateTimeFormat(undefined, { ...year, month: "short", day: "numeric", hour: "2-digit", minute: "2-digit", hourCycle: "h23", ...zone() }).format(ms);
}
export function wholeTime(ms: number): string {
  if (settings().zone === "UTC") return new Date(ms).toISOString();
  return new Intl.DateTimeFormat(undefined, { dateStyle: "full", timeStyle: "long" }).format(ms);
}
/// Up to a day as a distance, then as a date.
export function ago(ms: number, now: number): string {
  const past = now - ms;
  if (past < 0) return past > -86_400_000 ? `in ${duration(-past)}` : dayAndTime(ms);
  if (past < 5000) return "just now";
  return past < 86_400_000 ? `${duration(past).replace(/ \d+ (s|min)$/, "").replace(/\.\d/, "")} ago` : dayAndTime(ms);
}

const stageNames: Record<string, string> = { UNASSIGNED: "Unassigned", DEVELOPMENT: "Development", STAGING: "Staging", PRODUCTION: "Production", ARCHIVED: "Archived", UNKNOWN: "Unknown" };
export const stageName = (stage: string): string => stageNames[stage] ?? stage;
export const stages = ["DEVELOPMENT", "STAGING", "PRODUCTION", "ARCHIVED"] as const;
