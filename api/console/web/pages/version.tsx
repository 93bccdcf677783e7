// One version: what it is, what waits, what happened, what serves it.
import { useState, type ReactNode } from "react";
import { call } from "../data/api";
import type { Activity, Build, Promotion, Version } from "../data/calls";
import { compare, isChange } from "../data/diff";
import { dayAndTime, duration, oneLine, plural, stageName, timeOf, visible } from "../data/format";
import { go, pathOf, useHere } from "../data/route";
import { useMay, useWorkspace, type May } from "../data/session";
import { useRead, type Read } from "../data/store";
import { Badge, Bones, Button, Card, Chips, Copy, Empty, ErrorBox, Head, KeyValue, Loaded, Tabs, Text, Time, useNow, useTitle } from "../parts/basics";
import { Ask, Choice, Confirm, Menu, TextField, toast, useAct, useDialog } from "../parts/dialog";
import { ShortDiff, WholeDiff } from "../parts/diff";
import { Icon } from "../parts/icons";
import { Markdown } from "../parts/markdown";
import { Person } from "../parts/people";
import { BuildBadge, lockText, ScanBadge, StageBadge } from "../parts/stage";
import { Artifacts } from "./artifacts";
import { reasonAgainstScan, ReportScan, Unconfirmed, useScanning, Verdict } from "./build";
import { DeployDialog } from "./deploy";
import { ChangeStage, RequestBox, RequestPromotion } from "./review";
import { Ratio } from "./endpoint_parts";
import { isOpen, servingOf, useInProduction, useScans, useStages } from "./version_data";
import { VersionTimeline } from "./version_timeline";
import { listOf } from "./models";

function EditVersion({ version, close, ws, model }: { version: Version; close: () => void; ws: string; model: string }) {
  const [name, setName] = useState(version.version);
  const [description, setDescription] = useState(version.description);
  const [labels, setLabels] = useState(version.labels.join(", "));
  const [readme, setReadme] = useState(version.readme_text);
  return (
    <Ask
      title={`Edit ${model} ${version.version}`}
      act="Save"
      onClose={close}
      send={(sending) =>
        call(
          "PATCH /api/v1/registry/registered_models/{model_id}/model_versions/{version}/full_body",
          { path: { model_id: version.registered_model_id, version: version.id }, body: { model_version: { version: name.trim(), description, labels: listOf(labels), readme_text: readme }, update_mask: { paths: ["version", "description", "labels", "readme_text"] } } },
          sending,
        )
      }
      done={() => {
        toast(`Saved ${name.trim()}`);
        if (name.trim() !== version.version) go(pathOf("w", ws, "models", model, name.trim()), "replace");
      }}
    >
      <TextField label="Name" value={name} set={setName} required />
      <TextField label="Description" value={description} set={setDescription} rows={2} />
      <TextField label="Labels" value={labels} set={setLabels} hint="Separated by commas" />
      <TextField label="Readme" value={readme} set={setReadme} rows={8} hint="Headings, lists, code and links of Markdown" />
    </Ask>
  );
}

function Lock({ version, close }: { version: Version; close: () => void }) {
  const [level, set] = useState<string>(version.lock_level);
  return (
    <Ask title="Lock" about="Attributes, artifacts, environment, datasets and code are its ingredients." act="Set" onClose={close} send={(sending) => call("PUT /api/v1/registry/model_versions/{version}/lock", { path: { version: version.id }, body: { lock_level: level } }, sending)} done={() => toast("The lock is set")}>
      <Choice label="Level" value={level} set={set} options={[["OPEN", "Open: editors change everything"], ["REDACT", "Redact: only admins change ingredients"], ["CLOSED", "Closed: nobody changes ingredients"]]} />
    </Ask>
  );
}

function ReportAddress({ version, close }: { version: Version; close: () => void }) {
  const [url, set] = useState("");
  return (
    <Ask
      title="Report the address"
      about="A receiver does this by itself when the version is in place. It completes the promotion."
      act="Report"
      not={/^https?:\/\//.test(url.trim()) ? "" : "An address begins with http:// or https://"}
      onClose={close}
      send={(sending) => call("PATCH /api/v1/registry/registered_models/{model_id}/model_versions/{version}", { path: { model_id: version.registered_model_id, version: version.id }, body: { redirect_metadata: url.trim() } }, sending)}
      done={() => toast("The promotion is complete")}
    >
      <TextField label="Where it serves" value={url} set={set} placeholder="https://" focus />
    </Ask>
  );
}
function FailPromotion({ version, close }: { version: Version; close: () => void }) {
  const [reason, set] = useState("");
  return (
    <Ask title="Mark the promotion as failed" about="The stage stays as it is; a new request begins a new promotion." act="Mark as failed" look="bad" onClose={close} send={(sending) => call("POST /api/v1/registry/model_versions/{version}/promotion/fail", { path: { version: version.id }, body: { reason } }, sending)} done={() => toast("The promotion is marked as failed")}>
      <TextField label="Why" value={reason} set={set} rows={3} focus />
    </Ask>
  );
}

function InProgress({ version, promotion, may }: { version: Version; promotion: Promotion; may: May }) {
  const [dialog, open] = useDialog();
  const now = useNow();
  const sent = promotion.deliveries;
  const all = sent ? sent.pending + sent.succeeded + sent.dead + sent.unknown : 0;
  const due = timeOf(promotion.time_due);
  const isSent = sent ? sent.pending === 0 : false;
  const steps: [string, "done" | "now" | ""][] = [
    ["Requested", "done"],
    [promotion.approved_by.length ? "Approved" : "No approval needed", "done"],
    ["Committed", "done"],
    [sent ? (all ? `Delivered to ${sent.succeeded} of ${all}` : "No webhook listens") : "Being delivered", isSent ? "done" : "now"],
    ["Complete", isSent ? "now" : ""],
  ];
  return (
    <section className="alert" role="status" aria-label="Promotion in progress">
      <svg className="ring" viewBox="0 0 32 32" fill="none" aria-hidden="true">
        <circle cx="16" cy="16" r="13" stroke="currentColor" strokeOpacity=".22" strokeWidth="3" />
        <path className="arc" d="M16 3a13 13 0 0 1 13 13" stroke="currentColor" strokeWidth="3" strokeLinecap="round" />
      </svg>
      <strong>Promotion in progress: {visible(version.version)} is on its way to production</strong>
      <p>
        {all ? "Waiting for a receiver to report the new address." : "No webhook hears of promotions, so nobody will report the new address: report it yourself, or make a webhook for the next one."}{" "}
        <span className="num">
          {duration(now - timeOf(promotion.time_committed))} so far.
          {due > 0 && (due > now ? ` It fails in ${duration(due - now)} unless it is complete.` : " Its time is over.")}
        </span>
      </p>
      <div className="acts">
        <Button not={may.not("UPDATE")} onPress={() => open((close) => <ReportAddress version={version} close={close} />)}>
          Report address…
        </Button>
        <Button look="quiet" not={may.not("UPDATE")} onPress={() => open((close) => <FailPromotion version={version} close={close} />)}>
          Mark as failed…
        </Button>
      </div>
      <ol className="steps">
        {steps.map(([name, state]) => (
          <li key={name} className={state}>
            {state === "done" && <Icon name="ok" label="done" />}
            {name}
          </li>
        ))}
      </ol>
      {dialog}
    </section>
  );
}

function BuildsTab({ ws, version, builds, may }: { ws: string; version: Version; builds: Read<{ builds: Build[] }>; may: May }) {
  const [dialog, open] = useDialog();
  const not = may.not("DEPLOY", "ENDPOINT") && may.not("CREATE", "ENDPOINT");
  const [isBusy, act] = useAct();
  const scanning = useScanning(ws);
  const make = () =>
    act(
      "build",
      (sending) => call("POST /api/v1/deployment/workspace/{workspace}/builds", { path: { workspace: ws }, body: { model_version_id: version.id } }, sending),
      (build) => (build.status === "error" ? toast(`Build ${build.id} failed: ${oneLine(build.message, 300)}`, true) : toast(`Build ${build.id} has begun`)),
    );
  return (
    <Card title="Builds" end={<Button small icon="plus" busy={isBusy("build")} not={not} onPress={make}>{builds.data?.builds.length ? "Build again" : "Build"}</Button>}>
      <Loaded read={builds}>
        {({ builds: all }) =>
          all.length ? (
            <ul className="rows">
              {[...all].sort((a, b) => Number(b.id) - Number(a.id)).map((each) => (
                <li key={each.id}>
                  <BuildBadge build={each} />
                  <span className="grow">
                    <a href={pathOf("w", ws, "builds", each.id)}>Build {each.id}</a> <ScanBadge scan={each} />
                    {each.message && <small className={each.status === "error" ? "err" : ""}><Text of={each.message} /></small>}
                    {each.location && <small className="mono"><Text of={each.location} most={100} /></small>}
                  </span>
                  <span className="end">
                    <Time at={each.date_created} />{" "}
                    <Menu
                      label={`Actions of build ${each.id}`}
                      items={[
                        { name: "Request a scan", icon: "shield", not: not || reasonAgainstScan(each), onPress: () => scanning.ofBuild(each.id) },
                        { name: "Report a scan's result…", icon: "flag", not: may.reportScans, onPress: () => open((close) => <ReportScan ws={ws} build={each} close={close} />) },
                        { name: "Deploy…", icon: "plug", not: may.not("DEPLOY", "ENDPOINT") && may.not("UPDATE", "ENDPOINT"), onPress: () => open((close) => <DeployDialog ws={ws} builds={all} build={each} close={close} />) },
                      ]}
                    />
                  </span>
                </li>
              ))}
            </ul>
          ) : (
            <Empty icon="box" title="Not built yet" act={<Button busy={isBusy("build")} not={not} onPress={make}>Build</Button>}>
              A build checks the model and makes what can be scanned and served.
            </Empty>
          )
        }
      </Loaded>
      {dialog}
    </Card>
  );
}

function CompareTab({ ws, model, version, other }: { ws: string; model: string; version: Version; other: string }) {
  const all = useRead("POST /api/v1/registry/registered_models/{model_id}/model_versions/find", { path: { model_id: version.registered_model_id }, body: { pagination: { page_number: 1, page_limit: 200 } } }, 30_000);
  return (
    <Loaded read={all}>
      {({ model_versions: versions }) => {
        const others = versions.filter((each) => each.id !== version.id);
        const chosen = others.find((each) => each.version === other) ?? others.find((each) => each.stage === "PRODUCTION") ?? others[0];
        if (!chosen) return <Card label="Compare"><Empty icon="diff" title="Nothing to compare with">This is the only version of {oneLine(model, 60)}.</Empty></Card>;
        return (
          <>
            <div className="tools">
              <label htmlFor="against">Against</label>
              <select id="against" className="input" value={chosen.version} onChange={(event) => go(pathOf("w", ws, "models", model, version.version, "compare", event.target.value), "replace")}>
                {others.map((each) => (
                  <option key={each.id} value={each.version}>
                    {each.version}
                    {each.stage !== "UNASSIGNED" ? `, ${stageName(each.stage).toLowerCase()}` : ""}
                  </option>
                ))}
              </select>
            </div>
            <div className="stack">
              <WholeDiff changes={compare(chosen, version)} names={[chosen.version, version.version]} />
            </div>
          </>
        );
      }}
    </Loaded>
  );
}

function SideCards({ ws, model, version, read, activities, may }: { ws: string; model: string; version: Version; read: Read<{ builds: Build[] }>; activities: Activity[]; may: May }) {
  const builds = read.data?.builds;
  const newest = [...(builds ?? [])].sort((a, b) => Number(b.id) - Number(a.id));
  const scanned = newest.find((each) => each.scan_status !== "unscanned" || each.safety_status !== "unknown") ?? newest.find((each) => each.status === "finished");
  const failed = newest.find((each) => each.status === "error");
  const scans = useScans(builds);
  const scan = scans.data?.find((each) => String(each.build_id) === String(scanned?.id));
  const production = useInProduction(version);
  const base = production.data?.model_versions.find((each) => each.id !== version.id);
  const serving = servingOf(useStages(ws).data, builds);
  const changedAt = Math.max(0, ...activities.filter((each) => each.update).map((each) => timeOf(each.time_created)));
  return (
    <div className="stack">
      <Card title="Scan" end={<a href="?tab=builds">Builds and scans</a>}>
        <div className="in">
          {builds === undefined ? (
            <Loaded read={read} rows={2}>{() => null}</Loaded>
          ) : scanned ? (
            <>
              <Verdict build={scanned} scan={scan} />
              {scan && <Unconfirmed scan={scan} />}
            </>
          ) : (
            <p className="muted">{newest.length ? "No finished build to scan." : "Not built yet."}</p>
          )}
          {failed && (
            <>
              <div className="line">
                <Badge tone="bad" icon="x">Build {failed.id} failed</Badge>
                <span className="end muted"><Time at={failed.date_updated} /></span>
              </div>
              {failed.message && <p className="err"><Text of={failed.message} /></p>}
            </>
          )}
        </div>
      </Card>
      {base && (
        <Card title={<>Against <Text of={base.version} most={24} />, in production</>} end={<a href={pathOf("w", ws, "models", model, version.version, "compare", base.version)}>Compare</a>}>
          <div className="in">
            <ShortDiff changes={compare(base, version)} />
          </div>
        </Card>
      )}
      <Card title="Serving">
        <div className="in">
          {serving.length ? (
            serving.map((each) => (
              <div key={each.endpoint.id + String(each.stage.id) + each.build}>
                <div className="line">
                  <a className="mono wrap" href={pathOf("w", ws, "endpoints") + each.endpoint.path}><Text of={each.endpoint.path} most={40} /></a>
                  <span className="muted"><Text of={each.stage.name} most={20} /></span>
                  <span className="end soft num">build {each.build} · {Math.round(each.ratio * 100)} %</span>
                </div>
                <Ratio shares={[each.ratio]} names={["this version"]} />
              </div>
            ))
          ) : (
            <p className="muted">No endpoint serves it.</p>
          )}
        </div>
      </Card>
      <Card title="Details">
        <div className="in">
          <KeyValue
            rows={[
              ["Workspace", <Text key="w" of={ws} most={40} />],
              ["Stage", <span key="s">{stageName(version.stage)}{changedAt > 0 && `, since ${dayAndTime(changedAt)}`}</span>],
              ["Number", version.version_number],
              ["Inputs", version.input_description ? <Text key="i" of={version.input_description} most={80} /> : "–"],
              ["Made", <Time key="c" at={version.time_created} exact />],
              ["Changed", <Time key="u" at={version.time_updated} exact />],
              ["You may change it", may.not("UPDATE") ? "no" : version.lock_level === "CLOSED" ? "texts only" : "yes"],
            ]}
          />
        </div>
      </Card>
    </div>
  );
}

export function VersionPage({ ws, model, name, compare: other }: { ws: string; model: string; name: string; compare?: string }) {
  const parent = useRead("GET /api/v1/registry/workspaces/{workspace}/registered_models/{model}", { path: { workspace: ws, model } }, 30_000);
  const found = useRead("POST /api/v1/registry/workspaces/{workspace}/registered_models/{model}/model_versions/find", { path: { workspace: ws, model }, body: { predicates: [{ key: "version", value: name, operator: "EQ" }], pagination: { page_number: 1, page_limit: 1 } } });
  useTitle(`${model} ${name}`);
  if (!found.data || !parent.data) return <Loaded read={{ isLoading: true, error: found.error ?? parent.error }} rows={8} page={`${model} ${name}`}>{() => null}</Loaded>;
  const version = found.data.model_versions[0];
  if (!version) return <Empty page icon="flag" title={`${oneLine(model, 60)} has no version "${oneLine(name, 60)}", or not for you`} act={<a href={pathOf("w", ws, "models", model)}>All versions</a>} />;
  return <OneVersion ws={ws} model={model} version={version} other={other} />;
}

function OneVersion({ ws, model, version, other }: { ws: string; model: string; version: Version; other?: string }) {
  const here = useHere();
  const may = useMay(useWorkspace(ws));
  const [dialog, open] = useDialog();
  const tab = other !== undefined ? "compare" : here.searchParams.get("tab") ?? "timeline";
  const builds = useRead("GET /api/v1/deployment/builds", { query: { model_version_id: version.id } });
  const promotion = useRead("GET /api/v1/registry/model_versions/{version}/promotion", { path: { version: version.id } });
  const activities = useRead("POST /api/v1/registry/stage/findActivities", { body: { model_version_id: version.id, pagination: { page_number: 1, page_limit: 1000 } } });
  const scans = useScans(builds.data?.builds);
  const production = useInProduction(version);
  const base = production.data?.model_versions.find((each) => each.id !== version.id);
  const all = activities.data?.activities ?? [];
  const requests = all.filter((each) => each.transition && isOpen(each.transition.state));
  const name = `${visible(model)} ${visible(version.version)}`;
  const root = pathOf("w", ws, "models", model, version.version);
  const to = (id: string) => (id === "timeline" ? root : id === "compare" ? `${root}/compare` : `${root}?tab=${id}`);
  const scanning = useScanning(ws);
  const noScan = may.not("DEPLOY", "ENDPOINT") && may.not("CREATE", "ENDPOINT");
  const noDeploy = may.not("DEPLOY", "ENDPOINT") && may.not("UPDATE", "ENDPOINT");
  const unsafe = builds.data?.builds.find((each) => each.safety_status === "unsafe");
  const stopped = servingOf(useStages(ws).data, unsafe ? [unsafe] : []);
  const body: Record<string, () => ReactNode> = {
    artifacts: () => <Artifacts version={version} may={may} />,
    builds: () => <BuildsTab ws={ws} version={version} builds={builds} may={may} />,
    compare: () => <CompareTab ws={ws} model={model} version={version} other={other ?? ""} />,
    attributes: () => <Attributes version={version} />,
    readme: () => (
      <Card label="Readme">
        <div className="in">{version.readme_text ? <Markdown text={version.readme_text} /> : <Empty icon="book" title="No readme" act={<Button not={may.not("UPDATE")} onPress={() => open((close) => <EditVersion version={version} ws={ws} model={model} close={close} />)}>Write one</Button>} />}</div>
      </Card>
    ),
  };
  return (
    <>
      <Head
        title={
          <>
            <Text of={model} most={80} /> <span className="ghost"><Text of={version.version} most={60} /></span>
            {promotion.data?.status === "IN_PROGRESS" ? <Badge tone="run" icon="send">Production, in progress</Badge> : <StageBadge stage={version.stage} />}
          </>
        }
        by={
          <>
            <span>Version {version.version_number}, made by <Person id={version.owner} /> <Time at={version.time_created} /></span>
            <span className="mono">id {version.id} <Copy text={String(version.id)} what="the id" /></span>
            <Chips of={version.labels} />
            {lockText[version.lock_level] && <span className="line"><Icon name="lock" />{lockText[version.lock_level]}</span>}
          </>
        }
        acts={
          <>
            <Button look={requests.length || promotion.data?.status === "IN_PROGRESS" ? "plain" : "main"} icon="ask" not={may.not("UPDATE")} onPress={() => open((close) => <RequestPromotion version={version} name={name} close={close} />)}>Request stage…</Button>
            <Button icon="shield" busy={scanning.isBusy("scan")} not={noScan} onPress={() => scanning.ofVersion(version.id)}>{scans.data?.length ? "Scan again" : "Scan"}</Button>
            <Button icon="plug" not={noDeploy || (builds.data?.builds.some((each) => each.status !== "error") ? "" : "There is no build yet")} onPress={() => open((close) => <DeployDialog ws={ws} builds={builds.data?.builds ?? []} close={close} />)}>Deploy…</Button>
            <Menu
              label="More actions"
              items={[
                { name: "Edit…", icon: "edit", not: may.not("UPDATE"), onPress: () => open((close) => <EditVersion version={version} ws={ws} model={model} close={close} />) },
                { name: "Change the stage…", icon: "flag", not: may.not("UPDATE"), onPress: () => open((close) => <ChangeStage version={version} name={name} close={close} />) },
                { name: "Lock…", icon: "lock", not: may.not("UPDATE"), onPress: () => open((close) => <Lock version={version} close={close} />) },
                { name: "Delete…", icon: "trash", not: may.not("DELETE") || (version.lock_level === "CLOSED" ? "It is locked" : ""), onPress: () => open((close) => <Confirm title={`Delete ${name}`} about={`Its artifacts and builds go with it (id ${version.id}). This cannot be undone.`} name={version.version} act="Delete" send={(sending) => call("DELETE /api/v1/registry/model_versions/{version}", { path: { version: version.id } }, sending)} done={() => go(pathOf("w", ws, "models", model))} onClose={close} />) },
              ]}
            />
          </>
        }
      />
      {unsafe && (
        <section className="alert bad" role="status" aria-label="Unsafe">
          <Icon name="warn" className="ring still" />
          <strong>Build {unsafe.id} is unsafe: it is never served again</strong>
          <p>
            {stopped.length ? (
              <>
                {stopped.map((each, i) => (
                  <span key={each.endpoint.id + String(each.stage.id)}>
                    {i > 0 && ", "}
                    <a className="mono" href={pathOf("w", ws, "endpoints") + each.endpoint.path}>
                      <Text of={each.endpoint.path} most={50} />
                    </a>
                  </span>
                ))}{" "}
                had it: predictions there are refused on every node.
              </>
            ) : (
              "No endpoint has it. Its predictions would be refused on every node."
            )}{" "}
            A new build is the way back.
          </p>
        </section>
      )}
      {promotion.data?.status === "IN_PROGRESS" && <InProgress version={version} promotion={promotion.data} may={may} />}
      {requests.map((each) => (
        <RequestBox key={each.id} request={each} name={name} may={may} against={base ? { name: base.version, changes: compare(base, version) } : production.data ? null : undefined} />
      ))}
      <Tabs
        label="Parts of the version"
        here={tab}
        tabs={[
          { id: "timeline", name: "Timeline", to: to("timeline") },
          { id: "compare", name: "Compare", to: to("compare"), note: base ? plural(compare(base, version).filter(isChange).length, "change") : "" },
          { id: "artifacts", name: "Artifacts", to: to("artifacts"), note: version.artifacts.length + (version.model ? 1 : 0) || "" },
          { id: "builds", name: "Builds", to: to("builds"), note: builds.data?.builds.length || "" },
          { id: "attributes", name: "Attributes", to: to("attributes"), note: version.attributes.length || "" },
          { id: "readme", name: "Readme", to: to("readme") },
        ]}
      />
      {body[tab] ? (
        body[tab]!()
      ) : (
        <div className="two">
          <div className="stack">
            {activities.data ? (
              <VersionTimeline known={{ ws, version, activities: all, builds: builds.data?.builds ?? [], scans: scans.data ?? [], promotion: promotion.data }} not={may.not("UPDATE") && may.not("APPROVE_REJECT")} />
            ) : (
              <Card label="Timeline">{activities.error ? <ErrorBox error={activities.error} /> : <Bones rows={6} />}</Card>
            )}
          </div>
          <SideCards ws={ws} model={model} version={version} read={builds} activities={all} may={may} />
        </div>
      )}
      {dialog}
    </>
  );
}

function Attributes({ version }: { version: Version }) {
  if (!version.attributes.length) return <Card label="Attributes"><Empty icon="log" title="No attributes">They come with the version: metrics, parameters, whatever its makers log.</Empty></Card>;
  return (
    <section className="card" aria-label="Attributes">
      <table className="t">
        <thead>
          <tr>
            <th scope="col">Name</th>
            <th scope="col">Value</th>
          </tr>
        </thead>
        <tbody>
          {version.attributes.map((each) => (
            <tr key={each.key}>
              <td className="name"><Text of={each.key} /></td>
              <td className="mono wrap"><Text of={typeof each.value === "string" ? each.value : JSON.stringify(each.value)} most={2000} /></td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
