// All models of a workspace, with what is in production and in staging.
import { useEffect, useState } from "react";
import { call } from "../data/api";
import type { Model, Version } from "../data/calls";
import { count, oneLine, plural } from "../data/format";
import { go, pathOf, useHere, withQuery } from "../data/route";
import { useMay, useWorkspace } from "../data/session";
import { useMade, useRead } from "../data/store";
import { Button, Chips, Empty, Head, Loaded, Text, Time, useTitle } from "../parts/basics";
import { Ask, TextField, toast, useDialog } from "../parts/dialog";
import { Paging, rowsOfPage, usePage } from "../parts/paging";
import { Person } from "../parts/people";

const versionsMax = 1000;

/// By model, the versions of these stages.
export function useStaged(ws: string) {
  return useMade<Record<string, Version[]>>(
    `staged ${ws}`,
    async () => {
      const found = await call("POST /api/v1/registry/workspaces/{workspace}/model_versions/find", { path: { workspace: ws }, body: { predicates: [{ key: "stage", value: ["PRODUCTION", "STAGING"], operator: "IN" }], pagination: { page_number: 1, page_limit: versionsMax } } });
      const by: Record<string, Version[]> = {};
      for (const each of found.model_versions) (by[each.registered_model_id] ??= []).push(each);
      return by;
    },
    10_000,
  );
}

export function NewModel({ ws, close }: { ws: string; close: () => void }) {
  const [name, setName] = useState("");
  const [description, setDescription] = useState("");
  const [labels, setLabels] = useState("");
  return (
    <Ask
      title="New model"
      about="A model holds versions of the same thing."
      act="Create"
      not={name.trim() ? "" : "Give it a name first"}
      onClose={close}
      send={(sending) => call("POST /api/v1/registry/workspaces/{workspace}/registered_models", { path: { workspace: ws }, body: { name: name.trim(), description, labels: listOf(labels) } }, sending)}
      done={() => go(pathOf("w", ws, "models", name.trim()))}
    >
      <TextField label="Name" value={name} set={setName} focus required hint="Unique in the workspace; people and addresses use it." />
      <TextField label="Description" value={description} set={setDescription} rows={2} />
      <TextField label="Labels" value={labels} set={setLabels} hint="Separated by commas" />
    </Ask>
  );
}
export const listOf = (text: string): string[] => [...new Set(text.split(",").map((each) => each.trim()).filter(Boolean))];

/// `?version_id=` of an id that somebody has pasted: goes to that version.
function useVersionById(ws: string, id: string | null): void {
  useEffect(() => {
    if (!id) return;
    void (async () => {
      try {
        const { model_version: version } = await call("GET /api/v1/registry/model_versions/{version}", { path: { version: id } });
        const { registered_model: model } = await call("GET /api/v1/registry/registered_models/{model_id}", { path: { model_id: version.registered_model_id } });
        go(pathOf("w", ws, "models", model.name, version.version), "replace");
      } catch {
        toast(`There is no version with the id ${oneLine(id, 20)}, or not for you`, true);
        go(pathOf("w", ws, "models"), "replace");
      }
    })();
  }, [ws, id]);
}

const order: Record<string, [string, boolean]> = { changed: ["time_updated", false], name: ["name", true], created: ["time_created", false] };

function Row({ ws, model, staged }: { ws: string; model: Model; staged: Version[] }) {
  const link = (version: Version) => (
    <a href={pathOf("w", ws, "models", model.name, version.version)}>
      <Text of={version.version} most={30} />
    </a>
  );
  const production = staged.filter((each) => each.stage === "PRODUCTION");
  const staging = staged.filter((each) => each.stage === "STAGING");
  return (
    <tr>
      <td>
        <a className="name" href={pathOf("w", ws, "models", model.name)}>
          <Text of={model.name} most={80} />
        </a>
        {model.description && (
          <small>
            <Text of={model.description} most={110} />
          </small>
        )}
      </td>
      <td data-label={production.length ? "Production" : undefined}>
        {production.slice(0, 3).map((each) => (
          <div key={each.id} className="nowrap">
            {link(each)} <span className="muted"><Time at={each.time_updated} /></span>
          </div>
        ))}
        {production.length > 3 && <span className="muted">and {production.length - 3} more</span>}
      </td>
      <td data-label={staging.length ? "Staging" : undefined}>
        {staging.slice(0, 3).map((each) => (
          <div key={each.id}>{link(each)}</div>
        ))}
      </td>
      <td>
        <Chips of={model.labels.slice(0, 4)} />
      </td>
      <td className="nowrap" data-label="Changed">
        <Time at={model.time_updated} />
      </td>
      <td className="soft">
        <Person id={model.owner} />
      </td>
    </tr>
  );
}

export function ModelsPage({ ws }: { ws: string }) {
  const here = useHere();
  const page = usePage();
  const may = useMay(useWorkspace(ws));
  const [dialog, open] = useDialog();
  const query = here.searchParams.get("q") ?? "";
  const label = here.searchParams.get("label") ?? "";
  const [sortKey, ascending] = order[here.searchParams.get("sort") ?? "changed"] ?? order["changed"]!;
  const [typed, type] = useState(query);
  useTitle("Models");
  useVersionById(ws, here.searchParams.get("version_id"));
  useEffect(() => {
    if (typed.trim() === query) return;
    const timer = setTimeout(() => go(withQuery(here, { q: typed.trim(), page: "" }), "replace"), 200);
    return () => clearTimeout(timer);
  });
  const predicates = [
    ...(query ? [{ key: "name", value: query, operator: "CONTAIN" as const }] : []),
    ...(label ? [{ key: "labels", value: label, operator: "EQ" as const }] : []),
  ];
  const read = useRead("POST /api/v1/registry/workspaces/{workspace}/registered_models/find", { path: { workspace: ws }, body: { predicates, sort_key: sortKey, ascending, pagination: { page_number: page, page_limit: rowsOfPage } } });
  const staged = useStaged(ws);
  const create = () => open((close) => <NewModel ws={ws} close={close} />);
  const isFiltered = predicates.length > 0;
  return (
    <>
      <Head
        title={
          <>
            Models <span className="ghost num">{read.data && count(read.data.total_records)}</span>
          </>
        }
        acts={
          <Button look="main" icon="plus" not={may.not("CREATE")} onPress={create}>
            New model
          </Button>
        }
      />
      <div className="tools">
        <input className="input grow" type="search" aria-label="Search by name" placeholder="Search by name" value={typed} onChange={(event) => type(event.target.value)} />
        <input className="input" aria-label="Label" placeholder="Label" key={label} defaultValue={label} onKeyDown={(event) => event.key === "Enter" && go(withQuery(here, { label: event.currentTarget.value.trim(), page: "" }))} onBlur={(event) => event.currentTarget.value.trim() !== label && go(withQuery(here, { label: event.currentTarget.value.trim(), page: "" }))} />
        <select className="input" aria-label="Order" value={here.searchParams.get("sort") ?? "changed"} onChange={(event) => go(withQuery(here, { sort: event.target.value === "changed" ? "" : event.target.value, page: "" }))}>
          <option value="changed">Last changed</option>
          <option value="name">Name</option>
          <option value="created">Newest</option>
        </select>
      </div>
      <section className="card" aria-label="Models">
        <Loaded read={read}>
          {(data) =>
            data.registered_models.length ? (
              <div className="scroll" tabIndex={0} role="group" aria-label="Table">
                <table className="t flow">
                  <thead>
                    <tr>
                      <th scope="col">Model</th>
                      <th scope="col">In production</th>
                      <th scope="col">Staging</th>
                      <th scope="col">Labels</th>
                      <th scope="col">Changed</th>
                      <th scope="col">Owner</th>
                    </tr>
                  </thead>
                  <tbody>
                    {data.registered_models.map((each) => (
                      <Row key={each.id} ws={ws} model={each} staged={staged.data?.[each.id] ?? []} />
                    ))}
                  </tbody>
                </table>
                <Paging total={Number(data.total_records)} />
              </div>
            ) : isFiltered ? (
              <Empty icon="search" title="No model fits" act={<Button onPress={() => { type(""); go(pathOf("w", ws, "models")); }}>Show all</Button>}>
                {plural(0, "model")} with {query && `"${oneLine(query, 40)}" in the name`} {label && `the label "${oneLine(label, 40)}"`}
              </Empty>
            ) : (
              <Empty
                icon="model"
                title="No models yet"
                act={
                  <Button look="main" icon="plus" not={may.not("CREATE")} onPress={create}>
                    New model
                  </Button>
                }
              >
                A model is a name under which versions are registered, promoted and served.
              </Empty>
            )
          }
        </Loaded>
      </section>
      {dialog}
    </>
  );
}
