// Where the browser is: real paths, with names in them; filters and tabs in the query.
import { useSyncExternalStore } from "react";

const watchers = new Set<() => void>();
let here = location.pathname + location.search;

function moved(): void {
  here = location.pathname + location.search;
  watchers.forEach((tell) => tell());
}
addEventListener("popstate", moved);

export function useHere(): URL {
  const now = useSyncExternalStore(
    (tell) => {
      watchers.add(tell);
      return () => void watchers.delete(tell);
    },
    () => here,
  );
  return new URL(now, location.origin);
}

export function go(to: string, how: "push" | "replace" = "push"): void {
  if (to === here) return;
  history[how === "push" ? "pushState" : "replaceState"](null, "", to);
  const was = new URL(here, location.origin).pathname;
  moved();
  if (location.pathname !== was) {
    scrollTo(0, 0);
    document.getElementById("content")?.focus({ preventScroll: true });
  }
}

/// Links are links: only plain clicks on those of this page's own address stay in it.
addEventListener("click", (event) => {
  if (event.defaultPrevented || event.button || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  const link = (event.target as Element).closest?.("a");
  if (!link || link.target || link.origin !== location.origin || link.hasAttribute("download") || link.getAttribute("href")?.startsWith("#")) return;
  event.preventDefault();
  go(link.pathname + link.search);
});

/// The values of the pattern's parameters, or null. "/w/{ws}/models/{model}"; "{rest...}" takes slashes.
export function match(pattern: string, path: string): Record<string, string> | null {
  const wanted = pattern.split("/");
  const given = path.split("/");
  const found: Record<string, string> = {};
  for (let i = 0; i < wanted.length; ++i) {
    const name = /^\{(\w+)(\.\.\.)?\}$/.exec(wanted[i]!);
    if (name?.[2]) {
      found[name[1]!] = decoded(given.slice(i).join("/"));
      return given.length > i && given[i] !== "" ? found : null;
    }
    if (given[i] === undefined) return null;
    if (!name) {
      if (wanted[i] !== given[i]) return null;
    } else if (given[i] === "") return null;
    else found[name[1]!] = decoded(given[i]!);
  }
  return wanted.length === given.length ? found : null;
}
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/// A path of segments, each as it is.
export const pathOf = (...segments: (string | number)[]): string => "/" + segments.map((each) => encodeURIComponent(String(each))).join("/");

/// The address with these members of the query changed; "" removes one.
export function withQuery(url: URL, changes: Record<string, string>): string {
  const query = new URLSearchParams(url.search);
  for (const [name, value] of Object.entries(changes)) value ? query.set(name, value) : query.delete(name);
  const text = query.toString();
  return url.pathname + (text ? "?" + text : "");
}

/// Where `next` leads if that is in this console, else the start. Nothing else of an address that somebody
/// sent counts.
export function ownTarget(next: string | null): string {
  if (!next || /[\u0000-\u0020\\]/.test(next)) return "/";
  try {
    const url = new URL(next, location.origin);
    return url.origin === location.origin && next.startsWith("/") ? url.pathname + url.search : "/";
  } catch {
    return "/";
  }
}
