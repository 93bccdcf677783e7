// What is served: endpoints, their stages, tokens and log.
import { useState } from "react";
import { call, type Sending } from "../data/api";
import type { AccessToken, Build, ServedEndpoint as Endpoint, ServedStage as EndpointStage } from "../data/calls";
import { count, oneLine } from "../data/format";
import { go, pathOf } from "../data/route";
import { useMay, useWorkspace, type May } from "../data/session";
import { useMade, useRead } from "../data/store";
import { Button, Card, Command, Copy, Empty, ErrorBox, Head, Loaded, Text, Time, useTitle } from "../parts/basics";
import { Ask, Confirm, Menu, TextField, toast, useAct, useDialog } from "../parts/dialog";
import { Person } from "../parts/people";
import { ServingBadge } from "../parts/stage";
import { DeployDialog } from "./deploy";
import { Ratio, StageShares } from "./endpoint_parts";
import { TryIt } from "./try_it";
import { useStages } from "./version_data";

const mayServe = (may: May) => may.not("DEPLOY", "ENDPOINT") && may.not("UPDATE", "ENDPOINT");

function NewEndpoint({ ws, close }: { ws: string; close: () => void }) {
  const [path, setPath] = useState("/");
  const [description, setDescription] = useState("");
  const send = async (sending: Sending) => {
    const endpoint = await call("POST /api/v1/deployment/workspace/{workspace}/endpoints", { path: { workspace: ws }, body: { path: path.trim(), description } }, sending);
    await call("POST /api/v1/deployment/workspace/{workspace}/endpoints/{endpoint}/stages", { path: { workspace: ws, endpoint: endpoint.id }, body: { name: "production" } }, { key: sending.key && sending.key + "-stage" });
    return endpoint;
  };
  return (
    <Ask title="New endpoint" about="An address for predictions, with a stage called production and a token." act="Create" not={path.trim().length > 1 ? "" : "Give it a path first"} onClose={close} send={send} done={(made) => go(pathOf("w", ws, "endpoints") + (made as Endpoint).path)}>
      <TextField label="Path" value={path} set={setPath} focus required hint="As in /fraud: letters, digits and _ . ~ - between slashes" />
      <TextField label="Description" value={description} set={setDescription} rows={2} />
    </Ask>
  );
}

export function EndpointsPage({ ws }: { ws: string }) {
  const may = useMay(useWorkspace(ws));
  const [dialog, open] = useDialog();
  const read = useStages(ws);
  useTitle("Endpoints");
  const create = (
    <Button look="main" icon="plus" not={may.not("CREATE", "ENDPOINT")} onPress={() => open((close) => <NewEndpoint ws={ws} close={close} />)}>
      New endpoint
    </Button>
  );
  return (
    <>
      <Head title={<>Endpoints <span className="ghost num">{read.data && count(read.data.length)}</span></>} acts={create} />
      <section className="card" aria-label="Endpoints">
        <Loaded read={read}>
          {(all) =>
            all.length ? (
              <div className="scroll" tabIndex={0} role="group" aria-label="Table">
                <table className="t flow">
                  <thead>
                    <tr>
                      <th scope="col">Path</th>
                      <th scope="col">Stage</th>
                      <th scope="col">Status</th>
                      <th scope="col">Serves</th>
                      <th scope="col">Changed</th>
                    </tr>
                  </thead>
                  <tbody>
                    {all.map(({ endpoint, stages }) =>
                      (stages.length ? stages : [undefined]).map((stage, i) => (
                        <tr key={endpoint.id + String(stage?.id)}>
                          <td>
                            {i === 0 && (
                              <a className="name mono" href={pathOf("w", ws, "endpoints") + endpoint.path}>
                                <Text of={endpoint.path} most={80} />
                              </a>
                            )}
                          </td>
                          <td>{stage ? <Text of={stage.name} most={40} /> : <span className="muted">no stage</span>}</td>
                          <td>{stage && <ServingBadge stage={stage} />}</td>
                          <td>{stage && <StageShares ws={ws} stage={stage} />}</td>
                          <td className="nowrap">
                            <Time at={stage?.date_updated ?? endpoint.date_updated} />
                          </td>
                        </tr>
                      )),
                    )}
                  </tbody>
                </table>
              </div>
            ) : (
              <Empty icon="plug" title="No endpoints yet" act={create}>
                An endpoint answers predictions under a path, by a build that was checked and may be served.
              </Empty>
            )
          }
        </Loaded>
      </section>
      {dialog}
    </>
  );
}

// ---- one endpoint

const newestMax = 100;

/// What one may update to: the newest builds of the workspace, and those that the stage has.
function useBuilds(ws: string, stage: EndpointStage) {
  const ids = stage.components.map((each) => String(each.build_id));
  return useMade<Build[]>(
    `builds of ${stage.id} ${ids.join()}`,
    async () => {
      const newest = (await call("GET /api/v1/deployment/workspace/{workspace}/builds", { path: { workspace: ws }, query: { page_number: 1, page_limit: newestMax } })).builds;
      const others = ids.filter((id) => !newest.some((each) => String(each.id) === id));
      const own = await Promise.all(others.map((id) => call("GET /api/v1/deployment/workspace/{workspace}/builds/{build}", { path: { workspace: ws, build: id } }).catch(() => null)));
      return [...newest, ...own.filter((each): each is Build => each !== null)];
    },
    0,
  );
}

function Tokens({ ws, endpoint, stage, may }: { ws: string; endpoint: Endpoint; stage: EndpointStage; may: May }) {
  const [dialog, open] = useDialog();
  const path = { workspace: ws, endpoint: endpoint.id, stage: stage.id };
  const read = useRead("GET /api/v1/deployment/workspace/{workspace}/endpoints/{endpoint}/stages/{stage}/accesstokens", { path }, 15_000);
  const [isBusy, act] = useAct();
  const add = () => act("token", (sending) => call("POST /api/v1/deployment/workspace/{workspace}/endpoints/{endpoint}/stages/{stage}/accesstokens", { path, body: {} }, sending), () => toast("A token was made"));
  return (
    <Card title="Tokens" end={<Button small icon="plus" busy={isBusy("token")} not={mayServe(may)} onPress={add}>New</Button>}>
      <Loaded read={read}>
        {({ tokens }) =>
          tokens.length ? (
            <ul className="rows">
              {tokens.map((each) => (
                <Token key={each.id} token={each} end={() => open((close) => <Ask title="End the token" about="Callers that use it are refused at once, on all nodes." act="End it" look="bad" onClose={close} send={(sending) => call("DELETE /api/v1/deployment/workspace/{workspace}/endpoints/{endpoint}/stages/{stage}/accesstokens/{token}", { path: { ...path, token: each.id } }, sending)} done={() => toast("The token has ended")} />)} not={mayServe(may)} />
              ))}
            </ul>
          ) : (
            <Empty icon="key" title="No tokens: nobody can ask for predictions" />
          )
        }
      </Loaded>
      {dialog}
    </Card>
  );
}

const shownMs = 60_000;
function Token({ token, end, not }: { token: AccessToken; end: () => void; not: string }) {
  const [shown, show] = useState(false);
  const value = token.creator_request.value ?? "";
  return (
    <li>
      <span className="grow mono">{!value ? <span className="muted">not shown to you</span> : shown ? <Text of={value} /> : "••••••••••••"}{token.creator_request.label && <small><Text of={token.creator_request.label} most={60} /></small>}</span>
      <span className="end">
        {value && (
          <>
            <Button
              small
              look="quiet"
              onPress={() => {
                show(!shown);
                if (!shown) setTimeout(() => show(false), shownMs);
              }}
            >
              {shown ? "Hide" : "Show"}
            </Button>
            <Copy text={value} what="the token" />
          </>
        )}
        <Button small look="quiet" not={not} onPress={end}>
          End
        </Button>
      </span>
    </li>
  );
}

function StageCard({ ws, endpoint, stage, may }: { ws: string; endpoint: Endpoint; stage: EndpointStage; may: May }) {
  const [dialog, open] = useDialog();
  const builds = useBuilds(ws, stage);
  const logs = useRead("GET /api/v1/deployment/workspace/{workspace}/endpoints/{endpoint}/stages/{stage}/logs", { path: { workspace: ws, endpoint: endpoint.id, stage: stage.id } });
  const curl = `curl -X POST '${location.origin}/api/v1/predict${endpoint.path}' -H 'Content-Type: application/json' -H "Access-token: $TOKEN" -d '{}'`;
  return (
    <div className="two">
      <div className="stack">
        <Card title={<><Text of={stage.name} most={40} /> <ServingBadge stage={stage} /></>} end={
            <span className="line">
              {stage.previous_build_id ? <Button small icon="again" not={mayServe(may)} onPress={() => open((close) => <RollBack ws={ws} endpoint={endpoint} stage={stage} close={close} />)}>Back to {stage.previous_build_id}…</Button> : null}
              <Button small look={stage.components.length ? "plain" : "main"} icon="up" not={mayServe(may)} onPress={() => open((close) => <DeployDialog ws={ws} builds={builds.data ?? []} fixed={{ endpoint, stage }} close={close} />)}>{stage.components.length ? "Update…" : "Deploy…"}</Button>
            </span>
          }>
          <div className="in">
            {stage.components.length ? (
              stage.components.map((each) => (
                <div key={each.build_id} className="component">
                  <div className="line">
                    <a href={pathOf("w", ws, "builds", each.build_id)}>Build {each.build_id}</a>
                    <span className="muted">{each.status}</span>
                    <span className="end num">{Math.round(each.ratio * 100)} %</span>
                  </div>
                  <Ratio shares={[each.ratio]} names={[`build ${each.build_id}`]} />
                  {each.message && (
                    <p className={each.status === "error" ? "err" : "muted"}>
                      <Text of={each.message} />
                    </p>
                  )}
                </div>
              ))
            ) : (
              <p className="muted">Nothing is deployed here yet.</p>
            )}
            {stage.status === "error" && stage.components.some((each) => each.ratio > 0) && <p className="soft">The update failed; the build from before serves on.</p>}
          </div>
        </Card>
        <TryIt endpoint={endpoint} ws={ws} stage={stage} />
        <Card title="Ask for a prediction">
          <div className="in">
            <Command text={curl} />
          </div>
        </Card>
      </div>
      <div className="stack">
        <Tokens ws={ws} endpoint={endpoint} stage={stage} may={may} />
        <Card title="Log">
          <Loaded read={logs}>
            {({ entries }) =>
              entries.length ? (
                <ul className="rows">
                  {[...entries].reverse().slice(0, 30).map((each) => (
                    <li key={each.id}>
                      <span className="grow">
                        <Text of={each.message} most={300} />
                        {each.author_name && <small><Text of={each.author_name} most={60} /></small>}
                      </span>
                      <span className="end muted nowrap">
                        <Time at={each.date_created} />
                      </span>
                    </li>
                  ))}
                </ul>
              ) : (
                <Empty icon="log" title="Nothing happened yet" />
              )
            }
          </Loaded>
        </Card>
      </div>
      {dialog}
    </div>
  );
}

function RollBack({ ws, endpoint, stage, close }: { ws: string; endpoint: Endpoint; stage: EndpointStage; close: () => void }) {
  const build = stage.previous_build_id;
  return (
    <Ask title={`Back to build ${build}`} about={`${oneLine(endpoint.path, 60)}, ${oneLine(stage.name, 40)}: the build that served before is loaded again, and takes over when it is warm.`} act="Go back" onClose={close} send={(sending) => call("PUT /api/v1/deployment/workspace/{workspace}/endpoints/{endpoint}/stages/{stage}/rollback", { path: { workspace: ws, endpoint: endpoint.id, stage: stage.id }, body: {} }, sending)} done={() => toast(`Build ${build} comes back`)} />
  );
}

export function EndpointPage({ ws, path }: { ws: string; path: string }) {
  const may = useMay(useWorkspace(ws));
  const [dialog, open] = useDialog();
  const read = useStages(ws);
  useTitle(path);
  if (!read.data) return <Loaded read={read} page={path}>{() => null}</Loaded>;
  const found = read.data.find(({ endpoint }) => endpoint.path === path);
  if (!found) return <Empty page icon="flag" title={`There is no endpoint ${oneLine(path, 80)}, or not for you`} act={<a href={pathOf("w", ws, "endpoints")}>All endpoints</a>} />;
  const { endpoint, stages } = found;
  const serving = stages.filter((each) => each.components.some((one) => one.ratio > 0)).length;
  return (
    <>
      <Head
        title={<span className="mono"><Text of={endpoint.path} /></span>}
        by={
          <>
            <span className="mono">
              id {endpoint.id} <Copy text={String(endpoint.id)} what="the id" />
            </span>
            <span>
              made by <Person id={String(endpoint.owner_id)} /> <Time at={endpoint.date_created} />
            </span>
          </>
        }
        acts={
          <Menu
            label="More actions"
            items={[
              { name: "New stage…", icon: "plus", not: mayServe(may), onPress: () => open((close) => <NewStage ws={ws} endpoint={endpoint} close={close} />) },
              {
                name: "Delete…",
                icon: "trash",
                not: may.not("DELETE", "ENDPOINT"),
                onPress: () =>
                  open((close) => (
                    <Confirm
                      title={`Delete ${endpoint.path}`}
                      about={serving ? "It serves now: callers are refused at once." : "Its stages and tokens go with it."}
                      name={endpoint.path}
                      act="Delete"
                      send={(sending) => call("DELETE /api/v1/deployment/workspace/{workspace}/endpoints/{endpoint}", { path: { workspace: ws, endpoint: endpoint.id } }, sending)}
                      done={() => go(pathOf("w", ws, "endpoints"))}
                      onClose={close}
                    />
                  )),
              },
            ]}
          />
        }
      />
      {read.error && <ErrorBox error={read.error} />}
      <div className="stack">
        {stages.length ? stages.map((each) => <StageCard key={each.id} ws={ws} endpoint={endpoint} stage={each} may={may} />) : <Card label="Stages"><Empty icon="plug" title="No stage yet" act={<Button not={mayServe(may)} onPress={() => open((close) => <NewStage ws={ws} endpoint={endpoint} close={close} />)}>New stage…</Button>} /></Card>}
      </div>
      {dialog}
    </>
  );
}

function NewStage({ ws, endpoint, close }: { ws: string; endpoint: Endpoint; close: () => void }) {
  const [name, set] = useState("production");
  return (
    <Ask title={`New stage of ${endpoint.path}`} about="A slot to deploy into, with tokens of its own." act="Create" onClose={close} send={(sending) => call("POST /api/v1/deployment/workspace/{workspace}/endpoints/{endpoint}/stages", { path: { workspace: ws, endpoint: endpoint.id }, body: { name } }, sending)}>
      <TextField label="Name" value={name} set={set} focus required />
    </Ask>
  );
}
