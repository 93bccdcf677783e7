// What needs the caller: reviews of others' requests, own requests that can go on, and what went wrong.
import { useRead, useMade } from "../data/store";
import { call } from "../data/api";
import type { Activity, Build, Model, Version } from "../data/calls";
import { compare, isChange, type Change } from "../data/diff";
import { plural, stageName, visible } from "../data/format";
import { pathOf } from "../data/route";
import { useMay, useSession, workspaceName } from "../data/session";
import { Badge, Bones, Button, Card, Empty, Head, Loaded, Text, Time, useTitle } from "../parts/basics";
import { useDialog } from "../parts/dialog";
import { LineDiff } from "../parts/diff";
import { Needs } from "../parts/needs";
import { Person } from "../parts/people";
import { BuildBadge, ScanBadge } from "../parts/stage";
import { Decide, useDecisions } from "./review";
import { isOpen } from "./version_data";

export interface Subject {
  version: Version;
  model: Model;
  base?: Version;
  build?: Build;
}

/// What a request is about.
export function useSubject(versionId: string) {
  return useMade<Subject>(
    `subject ${versionId}`,
    async () => {
      const { model_version: version } = await call("GET /api/v1/registry/model_versions/{version}", { path: { version: versionId } });
      const [{ registered_model: model }, production, { builds }] = await Promise.all([
        call("GET /api/v1/registry/registered_models/{model_id}", { path: { model_id: version.registered_model_id } }),
        call("POST /api/v1/registry/registered_models/{model_id}/model_versions/find", { path: { model_id: version.registered_model_id }, body: { predicates: [{ key: "stage", value: "PRODUCTION", operator: "EQ" }], pagination: { page_number: 1, page_limit: 5 } } }),
        call("GET /api/v1/deployment/builds", { query: { model_version_id: versionId } }),
      ]);
      return { version, model, base: production.model_versions.find((each) => each.id !== version.id), build: [...builds].sort((a, b) => Number(b.id) - Number(a.id))[0] };
    },
    30_000,
  );
}
function useWorkspaceOf(subject: Subject | undefined) {
  return useSession().workspaces.find((each) => String(each.id) === String(subject?.model.workspace_id));
}

function Need({ request }: { request: Activity }) {
  const read = useSubject(String(request.model_version_id));
  const workspace = useWorkspaceOf(read.data);
  const may = useMay(workspace);
  const not = useDecisions(request, may);
  const [dialog, open] = useDialog();
  const { desired_stage: stage, state } = request.transition!;
  if (!read.data) return <div className="need">{read.error ? <p className="muted">Version {request.model_version_id}: <Text of={read.error.message} /></p> : <Bones rows={2} />}</div>;
  const { version, model, base, build } = read.data;
  const name = `${visible(model.name)} ${visible(version.version)}`;
  const to = pathOf("w", workspace ? workspaceName(workspace) : "", "models", model.name, version.version);
  const changes: Change[] | null = base ? compare(base, version) : null;
  const decide = (what: "approve" | "reject" | "commit") => () => open((close) => <Decide what={what} request={request} name={name} against={base ? { name: base.version, changes: changes! } : null} close={close} />);
  return (
    <article className="need">
      <h3>
        <a href={to}><Text of={model.name} most={60} /> <Text of={version.version} most={40} /></a> → {stageName(stage)}{" "}
        {state === "APPROVED" ? <Badge tone="ok" icon="thumb">Approved</Badge> : state === "REJECTED" ? <Badge tone="bad" icon="x">Rejected</Badge> : null}
      </h3>
      <p className="soft">
        <Person id={request.author_id} />, <Time at={request.time_created} />
        {request.comment && <>: “<Text of={request.comment} most={160} />”</>}
      </p>
      <p className="soft">
        {changes ? (
          <>
            {plural(changes.filter(isChange).length, "change")} against <Text of={base!.version} most={30} />: <LineDiff changes={changes} /> <a href={`${to}/compare/${encodeURIComponent(base!.version)}`}>Compare</a>
          </>
        ) : (
          "Nothing is in production yet."
        )}
      </p>
      <p className="line">{build ? <>{build.status === "finished" ? <ScanBadge scan={build} /> : <BuildBadge build={build} />} <span className="muted">build {build.id}{build.status === "error" && <>: <Text of={build.message} most={160} /></>}</span></> : <span className="muted">Not built</span>}</p>
      <Needs version={request.model_version_id} stage={stage} />
      {not.approve && state !== "APPROVED" && <p className="why-off">{not.approve}.</p>}
      <div className="acts">
        {state === "APPROVED" ? (
          <Button look="main" icon="merge" not={not.commit} onPress={decide("commit")}>Commit</Button>
        ) : (
          <>
            <Button not={not.reject} onPress={decide("reject")}>Reject…</Button>
            <Button look="main" icon="thumb" not={not.approve} onPress={decide("approve")}>Approve</Button>
          </>
        )}
      </div>
      {dialog}
    </article>
  );
}

function Done({ request }: { request: Activity }) {
  const read = useSubject(String(request.model_version_id));
  const workspace = useWorkspaceOf(read.data);
  if (!read.data) return null;
  const { model, version } = read.data;
  const state = request.transition!.state;
  return (
    <li>
      <Badge tone={state === "COMMITTED" ? "ok" : "plain"} icon={state === "COMMITTED" ? "merge" : "x"}>{state === "COMMITTED" ? "Committed" : "Closed"}</Badge>
      <span className="grow">
        <a href={pathOf("w", workspace ? workspaceName(workspace) : "", "models", model.name, version.version)}><Text of={model.name} most={60} /> <Text of={version.version} most={40} /></a> → {stageName(request.transition!.desired_stage)}
      </span>
      <span className="end muted"><Time at={request.time_created} /></span>
    </li>
  );
}

const lastMax = 5;

/// Lists begin with the oldest, so their number is asked for first.
async function lastRequests(): Promise<Activity[]> {
  const page = (number: number, limit: number) => call("POST /api/v1/registry/stage/findTransitions", { body: { state: ["COMMITTED", "CLOSED"], pagination: { page_number: number, page_limit: limit } } });
  const pages = Math.ceil(Number((await page(1, 1)).total_records) / lastMax);
  if (!pages) return [];
  const before = pages > 1 ? (await page(pages - 1, lastMax)).activities : [];
  return [...before, ...(await page(pages, lastMax)).activities].slice(-lastMax).reverse();
}

export function InboxPage({ ws }: { ws: string }) {
  const waiting = useRead("POST /api/v1/registry/stage/findTransitions", { body: { waiting_for_me: true, pagination: { page_number: 1, page_limit: 50 } } });
  const mine = useRead("POST /api/v1/registry/stage/findTransitions", { body: { mine: true, state: ["PENDING", "APPROVED", "REJECTED"], pagination: { page_number: 1, page_limit: 50 } } });
  const last = useMade("the last requests", lastRequests, 30_000);
  useTitle("Inbox");
  const total = Number(waiting.data?.total_records ?? 0);
  const own = mine.data?.activities.filter((each) => each.transition && isOpen(each.transition.state)) ?? [];
  return (
    <>
      <Head title={<>Inbox <span className="ghost num">{total || ""}</span></>} by="What needs you, in every workspace." />
      <div className="stack">
        <Card title="To review">
          <Loaded read={waiting}>
            {(data) => (data.activities.length ? <>{data.activities.map((each) => <Need key={each.id} request={each} />)}</> : <Empty icon="ok" title="Nothing waits for you">Requests for a stage come here when you may approve them.</Empty>)}
          </Loaded>
        </Card>
        {own.length > 0 && (
          <Card title="Yours">
            {own.map((each) => (
              <Need key={each.id} request={each} />
            ))}
          </Card>
        )}
        {!!last.data?.length && (
          <Card title="The last ones" end={<a href={pathOf("w", ws, "models")}>All models</a>}>
            <ul className="rows">
              {last.data.map((each) => (
                <Done key={each.id} request={each} />
              ))}
            </ul>
          </Card>
        )}
      </div>
    </>
  );
}
