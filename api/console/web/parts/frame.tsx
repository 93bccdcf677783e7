// What is around every page: the pages' list, the way back, who is signed in, and how the node is.
import { useEffect, useState, type ReactNode } from "react";
import { match, pathOf, useHere } from "../data/route";
import { signOut, useSession, workspaceName } from "../data/session";
import { change, settings, useSettings } from "../data/settings";
import { clockTime, duration } from "../data/format";
import { useNode, useRead } from "../data/store";
import { Text, useNow } from "./basics";
import { Menu, Toasts } from "./dialog";
import { Icon, Mark, type IconName } from "./icons";
import { Palette } from "./palette";
import { initials, nameOf } from "./people";

interface Entry {
  name: string;
  icon: IconName;
  to: string;
  under: string[];
  count?: number;
}

/// What waits for the caller, wherever they are.
export function useWaiting(): number {
  const read = useRead("POST /api/v1/registry/stage/findTransitions", { body: { waiting_for_me: true, pagination: { page_number: 1, page_limit: 50 } } }, 10_000);
  return Number(read.data?.total_records ?? 0);
}

function entriesOf(ws: string, waiting: number): Entry[] {
  const at = (...rest: string[]) => pathOf("w", ws, ...rest);
  return [
    { name: "Overview", icon: "home", to: at(), under: ["/w/{ws}"] },
    { name: "Inbox", icon: "inbox", to: "/inbox", under: ["/inbox"], count: waiting },
    { name: "Models", icon: "model", to: at("models"), under: ["/w/{ws}/models", "/w/{ws}/models/{rest...}"] },
    { name: "Builds and scans", icon: "shield", to: at("builds"), under: ["/w/{ws}/builds", "/w/{ws}/builds/{build}"] },
    { name: "Endpoints", icon: "plug", to: at("endpoints"), under: ["/w/{ws}/endpoints", "/w/{ws}/endpoints/{rest...}"] },
    { name: "Webhooks", icon: "hook", to: at("webhooks"), under: ["/w/{ws}/webhooks", "/w/{ws}/webhooks/{name}", "/w/{ws}/webhooks-new"] },
  ];
}
const inDock = new Set(["Overview", "Inbox", "Models", "Endpoints"]);
const installation: Entry[] = [
  { name: "Audit", icon: "log", to: "/audit", under: ["/audit"] },
  { name: "People", icon: "people", to: "/people/users", under: ["/people/{part}", "/people/{part}/{id}"] },
  { name: "System", icon: "gauge", to: "/system/nodes", under: ["/system/{part}"] },
  { name: "API reference", icon: "book", to: "/reference", under: ["/reference", "/reference/{operation}"] },
];

function NavLink({ of, path }: { of: Entry; path: string }) {
  const here = of.under.some((pattern) => match(pattern, path));
  return (
    <a href={of.to} aria-current={here ? "page" : undefined}>
      <Icon name={of.icon} />
      {of.name}
      {!!of.count && (
        <b className="hot">
          {of.count}
          <span className="sr"> waiting for you</span>
        </b>
      )}
    </a>
  );
}

function WorkspaceSwitch({ ws }: { ws: string }) {
  const { workspaces } = useSession();
  return (
    <div className="ws-switch">
      <label className="sr" htmlFor="ws">
        Workspace
      </label>
      <i aria-hidden="true">{(ws[0] ?? "?").toUpperCase()}</i>
      <select id="ws" value={ws} onChange={(event) => location.assign(pathOf("w", event.target.value))}>
        {workspaces.map((each) => (
          <option key={each.id} value={workspaceName(each)}>
            {workspaceName(each)}
          </option>
        ))}
      </select>
      <Icon name="down" />
    </div>
  );
}

function Foot() {
  const node = useNode();
  const now = useNow();
  const names = { ok: "Up to date", away: "No answer", stale: "Stale", unknown: "Connecting" };
  return (
    <div className="foot">
      <div className={`live ${node.state}`}>{names[node.state]}</div>
      <div className="num">
        {node.offset ? `offset ${node.offset.replace(/^\d+-/, "")}` : "…"}
        {node.state === "away" && `, for ${duration(now - node.since)}`}
      </div>
    </div>
  );
}

function Strips() {
  const node = useNode();
  const now = useNow();
  if (node.state === "away" && now - node.since > 1500)
    return (
      <div className="strip bad" role="status">
        <Icon name="warn" />
        Herald does not answer since {clockTime(node.since)}. Shown is what was known then; trying again by itself.
      </div>
    );
  if (node.state === "stale")
    return (
      <div className="strip" role="status">
        <Icon name="clock" />
        The log does not answer this node: newer changes may be missing here.
      </div>
    );
  return null;
}

const themes = { system: "light", light: "dark", dark: "system" } as const;
function ThemeButton() {
  const { theme } = useSettings();
  return (
    <button className="icon" type="button" aria-label={`Look: ${theme}. Change it`} title={`Look: ${theme}`} onClick={() => change({ theme: themes[theme] })}>
      <Icon name="sun" />
    </button>
  );
}

const goTo: Record<string, string> = { o: "", m: "models", b: "builds", e: "endpoints", w: "webhooks" };
function useShortcuts(ws: string, openPalette: () => void): void {
  useEffect(() => {
    let second = 0;
    const press = (event: KeyboardEvent) => {
      if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") {
        event.preventDefault();
        openPalette();
        return;
      }
      const into = event.target as HTMLElement;
      if (!settings().shortcuts || event.ctrlKey || event.metaKey || event.altKey || into.closest("input, textarea, select, dialog")) return;
      if (event.key === "/") {
        event.preventDefault();
        openPalette();
      } else if (event.key === "g") second = Date.now();
      else if (Date.now() - second < 1500) {
        second = 0;
        if (event.key === "i") document.querySelector<HTMLAnchorElement>('.side a[href="/inbox"]')?.click();
        else if (event.key in goTo) document.querySelector<HTMLAnchorElement>(`.side a[href="${CSS.escape(pathOf("w", ws, goTo[event.key]!).replace(/\/$/, "")).replace(/\\/g, "")}"]`)?.click();
      } else if (event.key === "c") {
        const field = document.getElementById("comment");
        if (field) {
          event.preventDefault();
          field.focus();
        }
      }
    };
    document.addEventListener("keydown", press);
    return () => document.removeEventListener("keydown", press);
  }, [ws, openPalette]);
}

export function Frame({ ws, crumbs, children }: { ws: string; crumbs: [string, string][]; children: ReactNode }) {
  const path = useHere().pathname;
  const { user } = useSession();
  const waiting = useWaiting();
  const [palette, setPalette] = useState(false);
  useShortcuts(ws, () => setPalette(true));
  const entries = entriesOf(ws, waiting);
  return (
    <>
      <a className="skip" href="#content">
        Skip to content
      </a>
      <div className="app">
        <aside className="side" aria-label="Main">
          <a className="brand" href={pathOf("w", ws)}>
            <Mark />
            Herald
          </a>
          <WorkspaceSwitch ws={ws} />
          <nav aria-label="Pages">
            {entries.map((each) => (
              <NavLink key={each.name} of={each} path={path} />
            ))}
            <h2>Installation</h2>
            {installation.map((each) => (
              <NavLink key={each.name} of={each} path={path} />
            ))}
          </nav>
          <Foot />
        </aside>
        <div id="content" tabIndex={-1}>
          <header className="top">
            <nav className="crumbs" aria-label="Where you are">
              {crumbs.map(([name, to], i) =>
                i + 1 < crumbs.length ? (
                  <span key={i} className={i + 2 < crumbs.length ? "far" : ""}>
                    <a href={to}>
                      <Text of={name} most={60} />
                    </a>{" "}
                    <span aria-hidden="true">/</span>
                  </span>
                ) : (
                  <span key={i} aria-current="page">
                    <Text of={name} most={60} />
                  </span>
                ),
              )}
            </nav>
            <button className="find" type="button" aria-keyshortcuts="Control+K" onClick={() => setPalette(true)}>
              <Icon name="search" />
              <span>Search or jump to</span>
              <kbd aria-hidden="true">Ctrl K</kbd>
            </button>
            <ThemeButton />
            <Menu
              label={`Signed in as ${nameOf(user)}`}
              face={initials(user)}
              items={[
                { name: nameOf(user), icon: "people", to: "/me" },
                { name: "Sign out", icon: "leave", onPress: () => void signOut() },
              ]}
            />
          </header>
          <Strips />
          <main>{children}</main>
        </div>
      </div>
      <nav className="dock" aria-label="Pages, short">
        {entries.filter((each) => inDock.has(each.name)).map((each) => (
          <NavLink key={each.name} of={each} path={path} />
        ))}
        <button type="button" onClick={() => setPalette(true)}>
          <Icon name="more" />
          More
        </button>
      </nav>
      {palette && <Palette ws={ws} pages={[...entries, ...installation]} close={() => setPalette(false)} />}
      <Toasts />
    </>
  );
}
