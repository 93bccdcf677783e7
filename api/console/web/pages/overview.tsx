// What is going on in a workspace, at a glance. Each number leads to what it counts.
import type { ReactNode } from "react";
import { call } from "../data/api";
import type { Activity, Model, Promotion, Version } from "../data/calls";
import { count, duration, plural, stageName, timeOf } from "../data/format";
import { pathOf } from "../data/route";
import { useMay, useWorkspace } from "../data/session";
import { useMade, useRead } from "../data/store";
import { Badge, Button, Card, Command, Empty, Head, LinkButton, Loaded, Text, Time, useNow, useTitle } from "../parts/basics";
import { useDialog } from "../parts/dialog";
import { Needs } from "../parts/needs";
import { Person } from "../parts/people";
import { BuildBadge, ScanBadge, ServingBadge } from "../parts/stage";
import { useVersionsOf } from "./builds";
import { StageShares } from "./endpoint_parts";
import { useSubject } from "./inbox";
import { NewModel } from "./models";
import { useStages } from "./version_data";

function Waiting({ request, ws }: { request: Activity; ws: string }) {
  const subject = useSubject(String(request.model_version_id)).data;
  return (
    <li>
      <span className="grow">
        {subject ? <><Text of={subject.model.name} most={50} /> <Text of={subject.version.version} most={30} /></> : `Version ${request.model_version_id}`} → {stageName(request.transition!.desired_stage)}
        <small><Person id={request.author_id} />, <Time at={request.time_created} /></small>
      </span>
      <span className="end">
        {subject ? <LinkButton small to={pathOf("w", ws, "models", subject.model.name, subject.version.version)}>Review</LinkButton> : <LinkButton small to="/inbox">Review</LinkButton>}
      </span>
    </li>
  );
}

function NeedsYou({ ws }: { ws: string }) {
  const read = useRead("POST /api/v1/registry/stage/findTransitions", { body: { waiting_for_me: true, pagination: { page_number: 1, page_limit: 5 } } });
  return (
    <Card title={<>Needs you {read.data && Number(read.data.total_records) > 0 && <span className="num">{count(read.data.total_records)}</span>}</>} end={<a href="/inbox">Inbox</a>}>
      <Loaded read={read} rows={2}>
        {(data) => (data.activities.length ? <ul className="rows">{data.activities.map((each) => <Waiting key={each.id} request={each} ws={ws} />)}</ul> : <Empty icon="ok" title="Nothing waits for you" />)}
      </Loaded>
    </Card>
  );
}

interface Staged {
  version: Version;
  model: string;
  /// None of a version that came there without a request.
  promotion?: Promotion;
}
const productionMax = 20;
const modelsMax = 50;

/// The newest versions in production, with their promotions.
function useProduction(ws: string) {
  return useMade<Staged[]>(
    `production ${ws}`,
    async () => {
      const { model_versions: versions } = await call("POST /api/v1/registry/workspaces/{workspace}/model_versions/find", { path: { workspace: ws }, body: { predicates: [{ key: "stage", value: "PRODUCTION", operator: "EQ" }], sort_key: "time_updated", ascending: false, pagination: { page_number: 1, page_limit: productionMax } } });
      if (!versions.length) return [];
      const ids = [...new Set(versions.map((each) => each.registered_model_id))];
      const [{ registered_models: models }, { promotions }] = await Promise.all([
        call("POST /api/v1/registry/workspaces/{workspace}/registered_models/find", { path: { workspace: ws }, body: { ids, pagination: { page_number: 1, page_limit: modelsMax } } }),
        call("GET /api/v1/registry/workspaces/{workspace}/promotions", { path: { workspace: ws } }),
      ]);
      const names = new Map(models.map((each) => [each.id, each.name]));
      const of = new Map(promotions.map((each) => [each.model_version_id, each]));
      return versions.map((version) => ({ version, model: names.get(version.registered_model_id) ?? "", promotion: of.get(version.id) }));
    },
    6000,
  );
}

function InProgress({ ws, all }: { ws: string; all: Staged[] }) {
  const now = useNow();
  return (
    <ul className="rows">
      {all.map(({ version, model, promotion }) => {
        const sent = promotion?.deliveries;
        const hooks = sent ? sent.pending + sent.succeeded + sent.dead + sent.unknown : 0;
        const due = timeOf(promotion?.time_due);
        return (
          <li key={version.id}>
            <Badge tone="run" icon="send">In progress</Badge>
            <span className="grow">
              <a href={pathOf("w", ws, "models", model, version.version)}><Text of={model} most={50} /> <Text of={version.version} most={30} /></a>
              <small>
                {hooks ? `delivered to ${sent!.succeeded} of ${hooks}` : "no webhook listens"}
                {due > now && `; fails in ${duration(due - now)}`}
              </small>
            </span>
            <span className="end muted num">{duration(now - timeOf(promotion?.time_committed))}</span>
          </li>
        );
      })}
    </ul>
  );
}

function Production({ ws }: { ws: string }) {
  const read = useProduction(ws);
  return (
    <>
      {read.data && read.data.some((each) => each.promotion?.status === "IN_PROGRESS") && (
        <Card title="Promotions in progress">
          <InProgress ws={ws} all={read.data.filter((each) => each.promotion?.status === "IN_PROGRESS")} />
        </Card>
      )}
      <Card title="In production" end={<a href={pathOf("w", ws, "models")}>Models</a>}>
        <Loaded read={read}>
          {(all) =>
            all.length ? (
              <ul className="rows">
                {all.slice(0, 8).map(({ version, model, promotion }) => (
                  <li key={version.id}>
                    <span className="grow">
                      <a href={pathOf("w", ws, "models", model, version.version)}><Text of={model} most={50} /> <Text of={version.version} most={30} /></a>
                      <small>{promotion?.status === "FAILED" ? "its promotion failed" : promotion?.status === "COMPLETE" ? "complete" : promotion?.status === "IN_PROGRESS" ? "in progress" : ""}</small>
                    </span>
                    <span className="end muted"><Time at={promotion?.time_committed || version.time_updated} /></span>
                  </li>
                ))}
              </ul>
            ) : (
              <Empty icon="flag" title="Nothing is in production">Promote a version, and it stands here.</Empty>
            )
          }
        </Loaded>
      </Card>
    </>
  );
}

function Endpoints({ ws }: { ws: string }) {
  const read = useStages(ws);
  return (
    <Card title="Endpoints" end={<a href={pathOf("w", ws, "endpoints")}>All</a>}>
      <Loaded read={read} rows={3}>
        {(all) =>
          all.length ? (
            <ul className="rows">
              {all.slice(0, 6).map(({ endpoint, stages }) => (
                <li key={endpoint.id}>
                  <span className="grow">
                    <a className="mono" href={pathOf("w", ws, "endpoints") + endpoint.path}><Text of={endpoint.path} most={50} /></a>
                    <small>{stages[0] ? <StageShares ws={ws} stage={stages[0]} /> : "no stage"}</small>
                  </span>
                  <span className="end">{stages[0] && <ServingBadge stage={stages[0]} />}</span>
                </li>
              ))}
            </ul>
          ) : (
            <Empty icon="plug" title="No endpoints" />
          )
        }
      </Loaded>
    </Card>
  );
}

function Builds({ ws }: { ws: string }) {
  const read = useRead("GET /api/v1/deployment/workspace/{workspace}/builds", { path: { workspace: ws }, query: { page_number: 1, page_limit: 4 } }, 10_000);
  const versions = useVersionsOf(ws, read.data?.builds).data;
  return (
    <Card title="Newest builds" end={<a href={pathOf("w", ws, "builds")}>All</a>}>
      <Loaded read={read} rows={3}>
        {(data) =>
          data.builds.length ? (
            <ul className="rows">
              {data.builds.map((each) => {
                const of = versions?.[String(each.model_version_id)];
                return (
                  <li key={each.id}>
                    <span className="grow">
                      <a href={pathOf("w", ws, "builds", each.id)}>Build {each.id}</a>
                      <small>{of ? <>of <Text of={of.model} most={40} /> <Text of={of.version} most={30} />, </> : null}<Time at={each.date_created} /></small>
                    </span>
                    <span className="end">{each.status === "finished" ? <ScanBadge scan={each} /> : <BuildBadge build={each} />}</span>
                  </li>
                );
              })}
            </ul>
          ) : (
            <Empty icon="box" title="No builds" />
          )
        }
      </Loaded>
    </Card>
  );
}

function Webhooks({ ws, id }: { ws: string; id: string }) {
  const read = useRead("POST /api/v1/uac-proxy/events/findWebhook", { body: { workspace_id: [id], pagination: { page_number: 1, page_limit: 1000 } } }, 15_000);
  const off = read.data?.webhooks.filter((each) => each.status === "DISABLED") ?? [];
  return (
    <Card title="Webhooks" end={<a href={pathOf("w", ws, "webhooks")}>All</a>}>
      <Loaded read={read} rows={2}>
        {(data) => (
          <div className="in">
            <dl className="stat">
              <div><dt>There are</dt><dd>{count(data.total_records)}</dd></div>
              <div><dt>Switched off</dt><dd>{count(off.length)}</dd></div>
            </dl>
            {off.slice(0, 3).map((each) => (
              <p key={each.id} className="line"><Badge tone="warn" icon="pause">Off</Badge> <a href={pathOf("w", ws, "webhooks", each.name)}><Text of={each.name} most={40} /></a></p>
            ))}
          </div>
        )}
      </Loaded>
    </Card>
  );
}

/// The newest version of the workspace, and the model that was changed last: where the next step is done.
function useNewest(ws: string) {
  return useMade<{ model?: Model; version?: Version; of?: string }>(
    `newest ${ws}`,
    async () => {
      const newest = { pagination: { page_number: 1, page_limit: 1 }, sort_key: "time_created", ascending: false };
      const [{ registered_models: models }, { model_versions: versions }] = await Promise.all([
        call("POST /api/v1/registry/workspaces/{workspace}/registered_models/find", { path: { workspace: ws }, body: newest }),
        call("POST /api/v1/registry/workspaces/{workspace}/model_versions/find", { path: { workspace: ws }, body: newest }),
      ]);
      const version = versions[0];
      const of = version && (await call("GET /api/v1/registry/registered_models/{model_id}", { path: { model_id: version.registered_model_id } })).registered_model.name;
      return { model: models[0], version, of };
    },
    15_000,
  );
}

function Step({ done, next, title, children }: { done: boolean; next: boolean; title: string; children: ReactNode }) {
  return (
    <li className={done ? "done" : next ? "next" : ""}>
      <b>{title}</b>
      {done && <span className="sr"> (done)</span>}
      <div className="soft">{children}</div>
    </li>
  );
}

function FirstSteps({ ws, has }: { ws: string; has: { models: boolean; versions: boolean; webhooks: boolean; promoted: boolean } }) {
  const may = useMay(useWorkspace(ws));
  const [dialog, open] = useDialog();
  const { model, version, of } = useNewest(ws).data ?? {};
  const steps = [has.models, has.versions, has.webhooks, has.promoted];
  const next = steps.indexOf(false);
  const command = `curl --config curl.conf '${location.origin}/api/v1/registry/workspaces/${encodeURIComponent(ws)}/registered_models' -d '{"name":"fraud"}'`;
  return (
    <Card title="The first steps" end={<span className="muted num">{steps.filter(Boolean).length} of {steps.length} done</span>}>
      <ol className="steps4">
        <Step done={has.models} next={next === 0} title="Make a model">
          A name under which versions are registered, promoted and served.
          {next === 0 && (
            <>
              <div className="tools"><Button look="main" icon="plus" not={may.not("CREATE")} onPress={() => open((close) => <NewModel ws={ws} close={close} />)}>New model</Button></div>
              <details><summary>The same as a command</summary><Command text={command} /></details>
            </>
          )}
        </Step>
        <Step done={has.versions} next={next === 1} title="Add a version, and upload its bytes">
          On the model's page; an ONNX model is then built and served by Herald itself.
          {next === 1 && model && <div className="tools"><LinkButton look="main" to={pathOf("w", ws, "models", model.name)}>Open <Text of={model.name} most={40} /></LinkButton></div>}
        </Step>
        <Step done={has.webhooks} next={next === 2} title="Make a webhook">
          It tells another system of every promotion, and gets an answer back.
          {next === 2 && <div className="tools">{may.webhooks ? <Button look="main" icon="plus" not={may.webhooks}>New webhook</Button> : <LinkButton look="main" icon="plus" to={pathOf("w", ws, "webhooks-new")}>New webhook</LinkButton>}</div>}
        </Step>
        <Step done={has.promoted} next={next === 3} title="Take a version to production">
          You request it on the version's page, somebody else approves it, and you commit.
          {next === 3 && version && of && (
            <>
              <Needs version={version.id} stage="PRODUCTION" />
              <div className="tools"><LinkButton look="main" to={pathOf("w", ws, "models", of, version.version)}>Open <Text of={of} most={40} /> <Text of={version.version} most={30} /></LinkButton></div>
            </>
          )}
        </Step>
      </ol>
      {dialog}
    </Card>
  );
}

export function OverviewPage({ ws }: { ws: string }) {
  const workspace = useWorkspace(ws);
  const models = useRead("GET /api/v1/registry/registered_models/count", { query: { workspace_name: ws } }, 15_000);
  const versions = useRead("POST /api/v1/registry/workspaces/{workspace}/model_versions/find", { path: { workspace: ws }, body: { pagination: { page_number: 1, page_limit: 1 } } }, 15_000);
  const hooks = useRead("POST /api/v1/uac-proxy/events/findWebhook", { body: { workspace_id: [workspace?.id ?? ""], pagination: { page_number: 1, page_limit: 1000 } } }, 15_000);
  const production = useProduction(ws);
  useTitle("Overview");
  const has = { models: Number(models.data?.count ?? 1) > 0, versions: Number(versions.data?.total_records ?? 1) > 0, webhooks: Number(hooks.data?.total_records ?? 1) > 0, promoted: (production.data?.length ?? 1) > 0 };
  const isNew = !has.models || !has.versions || !has.webhooks || !has.promoted;
  return (
    <>
      <Head title={<Text of={ws} most={80} />} by={models.data && versions.data && <span>{plural(models.data.count, "model")}, {plural(versions.data.total_records, "version")}</span>} />
      <div className="two">
        <div className="stack">
          {isNew && <FirstSteps ws={ws} has={has} />}
          <NeedsYou ws={ws} />
          <Production ws={ws} />
        </div>
        <div className="stack">
          <Builds ws={ws} />
          <Endpoints ws={ws} />
          <Webhooks ws={ws} id={String(workspace?.id ?? "")} />
        </div>
      </div>
    </>
  );
}
