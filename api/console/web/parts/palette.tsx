// Ctrl K: every page, and things by name.
import { useEffect, useRef, useState } from "react";
import { call } from "../data/api";
import { go, pathOf } from "../data/route";
import { oneLine } from "../data/format";
import { Dialog } from "./dialog";
import { Icon, type IconName } from "./icons";

interface Hit {
  name: string;
  kind: string;
  icon: IconName;
  to: string;
}
const lettersMin = 3;
const settleMs = 150;

async function things(ws: string, text: string, signal: AbortSignal): Promise<Hit[]> {
  const pagination = { page_number: 1, page_limit: 6 };
  const models = call("POST /api/v1/registry/workspaces/{workspace}/registered_models/find", { path: { workspace: ws }, body: { predicates: [{ key: "name", value: text, operator: "CONTAIN" }], pagination } }, { signal });
  const endpoints = call("GET /api/v1/deployment/workspace/{workspace}/endpoints", { path: { workspace: ws }, query: { page_number: 1, page_limit: 50 } }, { signal });
  const hits: Hit[] = [];
  const [found, served] = await Promise.allSettled([models, endpoints]);
  if (found.status === "fulfilled") for (const model of found.value.registered_models) hits.push({ name: model.name, kind: "Model", icon: "model", to: pathOf("w", ws, "models", model.name) });
  if (served.status === "fulfilled") for (const endpoint of served.value.endpoints) if (endpoint.path.toLowerCase().includes(text.toLowerCase())) hits.push({ name: endpoint.path, kind: "Endpoint", icon: "plug", to: `${pathOf("w", ws, "endpoints")}${endpoint.path}` });
  const id = /^#?(\d{1,19})$/.exec(text);
  if (id) hits.unshift({ name: `Version with the id ${id[1]}`, kind: "Id", icon: "box", to: `/w/${encodeURIComponent(ws)}/models?version_id=${id[1]}` });
  return hits;
}

export function Palette({ ws, pages, close }: { ws: string; pages: { name: string; icon: IconName; to: string }[]; close: () => void }) {
  const [text, setText] = useState("");
  const [found, setFound] = useState<Hit[]>([]);
  const [at, setAt] = useState(0);
  const list = useRef<HTMLUListElement>(null);
  useEffect(() => {
    setFound([]);
    if (text.trim().length < lettersMin && !/^#?\d+$/.test(text.trim())) return;
    const stop = new AbortController();
    const timer = setTimeout(() => void things(ws, text.trim(), stop.signal).then(setFound, () => {}), settleMs);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [text, ws]);
  const known = [...pages.map((each) => ({ ...each, kind: "Page" })), { name: "New webhook", kind: "Act", icon: "plus" as IconName, to: pathOf("w", ws, "webhooks-new") }, { name: "My keys and sessions", kind: "Page", icon: "key" as IconName, to: "/me" }];
  const hits: Hit[] = [...found, ...known.filter((each) => each.name.toLowerCase().includes(text.trim().toLowerCase()))].slice(0, 20);
  const chosen = Math.min(at, hits.length - 1);
  useEffect(() => {
    void list.current?.children[chosen]?.scrollIntoView({ block: "nearest" });
  }, [chosen]);
  const open = (hit: Hit | undefined) => {
    if (!hit) return;
    close();
    go(hit.to);
  };
  return (
    <Dialog title="Search or jump to" onClose={close} className="palette">
      <input
        autoFocus
        role="combobox"
        aria-expanded="true"
        aria-controls="palette-list"
        aria-activedescendant={hits.length ? `hit-${chosen}` : undefined}
        aria-label="Search or jump to"
        placeholder="A page, a model, an endpoint, an id"
        value={text}
        onChange={(event) => {
          setText(event.target.value);
          setAt(0);
        }}
        onKeyDown={(event) => {
          if (event.key === "ArrowDown") setAt((chosen + 1) % Math.max(hits.length, 1));
          else if (event.key === "ArrowUp") setAt((chosen + hits.length - 1) % Math.max(hits.length, 1));
          else if (event.key === "Enter") open(hits[chosen]);
          else return;
          event.preventDefault();
        }}
      />
      <ul role="listbox" id="palette-list" aria-label="What was found" ref={list}>
        {hits.map((each, i) => (
          <li key={each.to + each.name} role="option" id={`hit-${i}`} aria-selected={i === chosen} onClick={() => open(each)}>
            <Icon name={each.icon} />
            <bdi>{oneLine(each.name, 70)}</bdi>
            <small>{each.kind}</small>
          </li>
        ))}
      </ul>
    </Dialog>
  );
}
