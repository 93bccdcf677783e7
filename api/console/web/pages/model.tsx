// One model: its versions, its readme, and what happened to it.
import { useState } from "react";
import { call } from "../data/api";
import type { Model, Version } from "../data/calls";
import { count } from "../data/format";
import { go, pathOf, useHere, withQuery } from "../data/route";
import { useMay, useWorkspace } from "../data/session";
import { useMade, useRead } from "../data/store";
import { Button, Card, Chips, Copy, Empty, Head, KeyValue, Loaded, Tabs, Text, Time, useTitle } from "../parts/basics";
import { Ask, Confirm, Menu, TextField, toast, useDialog } from "../parts/dialog";
import { Icon } from "../parts/icons";
import { Markdown } from "../parts/markdown";
import { Paging, rowsOfPage, usePage } from "../parts/paging";
import { Person } from "../parts/people";
import { StageBadge } from "../parts/stage";
import { activityEntries, Timeline } from "../parts/timeline";
import { listOf } from "./models";

function NewVersion({ ws, model, close }: { ws: string; model: Model; close: () => void }) {
  const [name, setName] = useState(`v${Number(model.version_number || 0) + 1}`);
  const [description, setDescription] = useState("");
  const [labels, setLabels] = useState("");
  return (
    <Ask
      title={`New version of ${model.name}`}
      about="Afterwards, on its page, upload the model and add attributes."
      act="Create"
      not={name.trim() ? "" : "Give it a name first"}
      onClose={close}
      send={(sending) => call("POST /api/v1/registry/registered_models/{model_id}/model_versions", { path: { model_id: model.id }, body: { version: name.trim(), description, labels: listOf(labels) } }, sending)}
      done={() => go(pathOf("w", ws, "models", model.name, name.trim()))}
    >
      <TextField label="Name" value={name} set={setName} focus required hint="Unique in the model." />
      <TextField label="Description" value={description} set={setDescription} rows={2} />
      <TextField label="Labels" value={labels} set={setLabels} hint="Separated by commas" />
    </Ask>
  );
}

function EditModel({ model, close, ws }: { model: Model; close: () => void; ws: string }) {
  const [name, setName] = useState(model.name);
  const [description, setDescription] = useState(model.description);
  const [labels, setLabels] = useState(model.labels.join(", "));
  const [readme, setReadme] = useState(model.readme_text);
  return (
    <Ask
      title={`Edit ${model.name}`}
      act="Save"
      onClose={close}
      send={(sending) =>
        call(
          "PATCH /api/v1/registry/registered_models/{model_id}/full_body",
          { path: { model_id: model.id }, body: { registered_model: { name: name.trim(), description, labels: listOf(labels), readme_text: readme }, update_mask: { paths: ["name", "description", "labels", "readme_text"] } } },
          sending,
        )
      }
      done={() => {
        toast(`Saved ${name.trim()}`);
        if (name.trim() !== model.name) go(pathOf("w", ws, "models", name.trim()), "replace");
      }}
    >
      <TextField label="Name" value={name} set={setName} required />
      <TextField label="Description" value={description} set={setDescription} rows={2} />
      <TextField label="Labels" value={labels} set={setLabels} hint="Separated by commas" />
      <TextField label="Readme" value={readme} set={setReadme} rows={8} hint="Headings, lists, code and links of Markdown" />
    </Ask>
  );
}

function Versions({ ws, model }: { ws: string; model: Model }) {
  const here = useHere();
  const page = usePage();
  const stage = here.searchParams.get("stage") ?? "";
  const read = useRead("POST /api/v1/registry/registered_models/{model_id}/model_versions/find", {
    path: { model_id: model.id },
    body: { predicates: stage ? [{ key: "stage", value: stage, operator: "EQ" }] : [], pagination: { page_number: page, page_limit: rowsOfPage } },
  });
  return (
    <>
      <div className="tools">
        <select className="input" aria-label="Stage" value={stage} onChange={(event) => go(withQuery(here, { stage: event.target.value, page: "" }))}>
          <option value="">Every stage</option>
          <option value="PRODUCTION">Production</option>
          <option value="STAGING">Staging</option>
          <option value="DEVELOPMENT">Development</option>
          <option value="ARCHIVED">Archived</option>
          <option value="UNASSIGNED">Unassigned</option>
        </select>
      </div>
      <section className="card" aria-label="Versions">
        <Loaded read={read}>
          {(data) =>
            data.model_versions.length ? (
              <div className="scroll" tabIndex={0} role="group" aria-label="Table">
                <table className="t flow">
                  <thead>
                    <tr>
                      <th scope="col">Version</th>
                      <th scope="col">Stage</th>
                      <th scope="col">Labels</th>
                      <th scope="col">Made</th>
                      <th scope="col">By</th>
                    </tr>
                  </thead>
                  <tbody>
                    {data.model_versions.map((each: Version) => (
                      <tr key={each.id}>
                        <td>
                          <a className="name" href={pathOf("w", ws, "models", model.name, each.version)}>
                            <Text of={each.version} most={60} />
                          </a>{" "}
                          {each.lock_level !== "OPEN" && <Icon name="lock" label="Locked" className="muted" />}
                          {each.description && (
                            <small>
                              <Text of={each.description} most={110} />
                            </small>
                          )}
                        </td>
                        <td>
                          <StageBadge stage={each.stage} />
                        </td>
                        <td>
                          <Chips of={each.labels.slice(0, 4)} />
                        </td>
                        <td className="nowrap" data-label="Made">
                          <Time at={each.time_created} />
                        </td>
                        <td className="soft">
                          <Person id={each.owner} />
                        </td>
                      </tr>
                    ))}
                  </tbody>
                </table>
                <Paging total={Number(data.total_records)} />
              </div>
            ) : (
              <Empty icon="box" title={stage ? "No version has this stage" : "No versions yet"}>
                A version holds the model's bytes, its attributes, and everything that is decided about it.
              </Empty>
            )
          }
        </Loaded>
      </section>
    </>
  );
}

/// The names of these versions, by their ids.
function useVersionNames(model: Model, ids: string[]) {
  const wanted = [...new Set(ids)].sort().slice(0, 1000);
  return useMade<Map<string, string>>(
    wanted.length ? `names of ${model.id} ${wanted.join()}` : null,
    async () => {
      const found = await call("POST /api/v1/registry/registered_models/{model_id}/model_versions/find", { path: { model_id: model.id }, body: { ids: wanted, pagination: { page_number: 1, page_limit: wanted.length } } });
      return new Map(found.model_versions.map((each) => [String(each.id), each.version]));
    },
    30_000,
  );
}

function Activity({ ws, model }: { ws: string; model: Model }) {
  const read = useRead("POST /api/v1/registry/stage/findActivities", { body: { registered_model_id: model.id, pagination: { page_number: 1, page_limit: 1000 } } });
  const names = useVersionNames(model, (read.data?.activities ?? []).map((each) => String(each.model_version_id))).data;
  const named = (id: string) => {
    const name = names?.get(String(id));
    return name === undefined ? <span className="muted">version {id}</span> : <a href={pathOf("w", ws, "models", model.name, name)}><Text of={name} most={60} /></a>;
  };
  return (
    <Card label="Activity">
      <Loaded read={read}>{(data) => (data.activities.length ? <Timeline entries={activityEntries(data.activities, named)} /> : <Empty icon="log" title="Nothing happened yet" />)}</Loaded>
    </Card>
  );
}

export function ModelPage({ ws, name }: { ws: string; name: string }) {
  const here = useHere();
  const may = useMay(useWorkspace(ws));
  const [dialog, open] = useDialog();
  const read = useRead("GET /api/v1/registry/workspaces/{workspace}/registered_models/{model}", { path: { workspace: ws, model: name } });
  const tab = here.searchParams.get("tab") ?? "versions";
  useTitle(name);
  return (
    <Loaded read={read} rows={8} page={name}>
      {({ registered_model: model }) => {
        const to = (id: string) => pathOf("w", ws, "models", name) + (id === "versions" ? "" : `?tab=${id}`);
        return (
          <>
            <Head
              title={<Text of={model.name} />}
              by={
                <>
                  {model.description && <Text of={model.description} most={240} />}
                  <span className="mono">
                    id {model.id} <Copy text={String(model.id)} what="the id" />
                  </span>
                  <Chips of={model.labels} />
                </>
              }
              acts={
                <>
                  <Button look="main" icon="plus" not={may.not("UPDATE")} onPress={() => open((close) => <NewVersion ws={ws} model={model} close={close} />)}>
                    New version
                  </Button>
                  <Menu
                    label="More actions"
                    items={[
                      { name: "Edit…", icon: "edit", not: may.not("UPDATE"), onPress: () => open((close) => <EditModel ws={ws} model={model} close={close} />) },
                      {
                        name: "Delete…",
                        icon: "trash",
                        not: may.not("DELETE"),
                        onPress: () =>
                          open((close) => (
                            <Confirm
                              title={`Delete ${model.name}`}
                              about={`All versions of it go with it, locked ones too (id ${model.id}). This cannot be undone.`}
                              name={model.name}
                              act="Delete"
                              send={(sending) => call("DELETE /api/v1/registry/registered_models/{model_id}", { path: { model_id: model.id } }, sending)}
                              done={() => go(pathOf("w", ws, "models"))}
                              onClose={close}
                            />
                          )),
                      },
                    ]}
                  />
                </>
              }
            />
            <Tabs
              label="Parts of the model"
              here={tab}
              tabs={[
                { id: "versions", name: "Versions", to: to("versions"), note: Number(model.version_number) ? count(model.version_number) : "" },
                { id: "readme", name: "Readme", to: to("readme") },
                { id: "activity", name: "Activity", to: to("activity") },
                { id: "details", name: "Details", to: to("details") },
              ]}
            />
            {tab === "readme" ? (
              <Card label="Readme">
                <div className="in">{model.readme_text ? <Markdown text={model.readme_text} /> : <Empty icon="book" title="No readme" act={<Button not={may.not("UPDATE")} onPress={() => open((close) => <EditModel ws={ws} model={model} close={close} />)}>Write one</Button>} />}</div>
              </Card>
            ) : tab === "activity" ? (
              <Activity ws={ws} model={model} />
            ) : tab === "details" ? (
              <Card label="Details">
                <div className="in">
                  <KeyValue
                    rows={[
                      ["Owner", <Person key="o" id={model.owner} />],
                      ["Made", <Time key="c" at={model.time_created} exact />],
                      ["Changed", <Time key="u" at={model.time_updated} exact />],
                      ["Data", model.data_type.toLowerCase()],
                      ["Task", model.task_type.toLowerCase()],
                      ["Personal data", model.pii ? "yes" : "no"],
                      ...model.attributes.map((each): [string, string] => [each.key, JSON.stringify(each.value)]),
                    ]}
                  />
                </div>
              </Card>
            ) : (
              <Versions ws={ws} model={model} />
            )}
            {dialog}
          </>
        );
      }}
    </Loaded>
  );
}
