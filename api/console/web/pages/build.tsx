// One build: what became of it, its scans, and who may say how a scan ended.
import { useState } from "react";
import { call } from "../data/api";
import type { Build, Scan, Version } from "../data/calls";
import { pathOf } from "../data/route";
import { useMay, useWorkspace } from "../data/session";
import { useRead } from "../data/store";
import { Button, Card, Copy, Empty, ForeignLink, Head, KeyValue, Loaded, Text, Time, useNow, useTitle } from "../parts/basics";
import { Ask, Choice, TextField, toast, useAct, useDialog } from "../parts/dialog";
import { duration, oneLine, timeOf } from "../data/format";
import { Icon } from "../parts/icons";
import { BuildBadge, ScanBadge } from "../parts/stage";

export function ReportScan({ ws, build, close }: { ws: string; build: Build; close: () => void }) {
  const [verdict, setVerdict] = useState("safe");
  const [url, setUrl] = useState("");
  return (
    <Ask
      title={`Report the scan of build ${build.id}`}
      about={verdict === "unsafe" ? "An unsafe build is never served again. That cannot be taken back." : "A scanner usually does this by itself, where its event said so."}
      act="Report"
      look={verdict === "unsafe" ? "bad" : "main"}
      onClose={close}
      send={(sending) =>
        call(
          "PUT /api/v1/deployment/workspace/{workspace}/builds/{build}/scan",
          { path: { workspace: ws, build: build.id }, body: verdict === "error" ? { scan_status: "error" } : { scan_status: "scanned", scan_external_results: { safety_status: verdict, url: url.trim() || undefined } } },
          sending,
        )
      }
      done={() => toast(`Reported build ${build.id}: ${verdict}`)}
    >
      <Choice label="Result" value={verdict} set={setVerdict} options={[["safe", "Safe"], ["unsafe", "Unsafe"], ["error", "The scan itself failed"]]} />
      {verdict !== "error" && <TextField label="Report" value={url} set={setUrl} placeholder="https://" hint="An http or https address, if there is one" />}
    </Ask>
  );
}

/// A request may be answered without a scan that begins: then the answer says why, as the error of a build.
function tellOfScan(scan: Scan): void {
  if (scan.scan_status === "scanning") toast(`The scan of build ${scan.build_id} was requested${scan.message ? `: ${oneLine(scan.message, 300)}` : ""}`);
  else toast(`No scan of build ${scan.build_id} has begun: ${oneLine(scan.message, 300) || "the build is not finished yet"}`, scan.message !== "");
}

/// Requests scans of a build, or of a version, for which Herald makes a build first where there is none.
export function useScanning(ws: string): { isBusy: (name: string) => boolean; ofBuild: (id: Build["id"]) => void; ofVersion: (id: Version["id"]) => void } {
  const [isBusy, act] = useAct();
  const body = { scan_external: true };
  return {
    isBusy,
    ofBuild: (id) => act(`scan ${id}`, (sending) => call("POST /api/v1/deployment/workspace/{workspace}/builds/{build}/scan", { path: { workspace: ws, build: id }, body }, sending), tellOfScan),
    ofVersion: (id) => act("scan", (sending) => call("POST /api/v1/registry/model_versions/{version}/requestScan", { path: { version: id }, body }, sending), tellOfScan),
  };
}

export function reasonAgainstScan(build: Build): string {
  if (build.status !== "finished") return "Only a finished build can be scanned";
  return "";
}

/// Nodes that may still serve an unsafe build, for a moment.
export function Unconfirmed({ scan }: { scan: Scan }) {
  const now = useNow();
  const left = scan.unconfirmed.filter((each) => timeOf(each.serves_until) > now);
  if (!left.length) return null;
  return (
    <ul className="muted">
      {left.map((each) => (
        <li key={each.node} className="num">
          <Text of={each.node} most={60} /> has not confirmed; it stops by itself in {duration(timeOf(each.serves_until) - now)}
        </li>
      ))}
    </ul>
  );
}

export function Verdict({ build, scan }: { build: Build; scan?: Scan }) {
  const tone = build.safety_status === "unsafe" || build.scan_status === "error" ? "bad" : build.scan_status === "scanning" ? "run" : build.safety_status === "safe" ? "ok" : "";
  const title = build.safety_status === "unsafe" ? "Unsafe" : build.scan_status === "scanning" ? "Scanning" : build.scan_status === "error" ? "The scan failed" : build.safety_status === "safe" ? "Safe" : "Not scanned";
  const url = scan?.scan_external_results.url || scan?.scan_external_status.url;
  return (
    <div className={"verdict " + tone}>
      <Icon name={tone === "bad" ? "warn" : tone === "run" ? "clock" : "shield"} />
      <div className="wrap">
        <b>{title}</b>
        <small>
          Build {build.id}
          {scan && build.scan_status !== "unscanned" && (
            <>
              , <Time at={scan.date_updated} />
            </>
          )}
          {url && (
            <>
              {" "}
              · <ForeignLink to={url}>report</ForeignLink>
            </>
          )}
        </small>
        {scan?.message && (
          <small>
            <br />
            <Text of={scan.message} />
          </small>
        )}
      </div>
    </div>
  );
}

function Scans({ scan }: { scan: Scan }) {
  const all = [scan, ...scan.history];
  return (
    <ul className="rows">
      {all.map((each, i) => (
        <li key={String(each.id) + i}>
          <ScanBadge scan={each} />
          <span className="grow">
            asked for <Time at={each.date_created} />
            {each.message && (
              <small>
                <Text of={each.message} />
              </small>
            )}
          </span>
          <span className="end muted">
            {each.scan_status === "scanned" || each.scan_status === "error" ? (
              <>
                ended <Time at={each.date_updated} />
              </>
            ) : null}
            {each.scan_external_results.url && (
              <small>
                <ForeignLink to={each.scan_external_results.url} />
              </small>
            )}
          </span>
        </li>
      ))}
    </ul>
  );
}

export function BuildPage({ ws, id }: { ws: string; id: string }) {
  const may = useMay(useWorkspace(ws));
  const [dialog, open] = useDialog();
  const read = useRead("GET /api/v1/deployment/workspace/{workspace}/builds/{build}", { path: { workspace: ws, build: id } });
  const scan = useRead("GET /api/v1/deployment/builds/{build}/scan", { path: { build: id } });
  const version = useRead(read.data ? "GET /api/v1/registry/model_versions/{version}" : null, { path: { version: read.data?.model_version_id ?? "" } }, 0);
  const model = useRead(version.data ? "GET /api/v1/registry/registered_models/{model_id}" : null, { path: { model_id: version.data?.model_version.registered_model_id ?? "" } }, 0);
  const scanning = useScanning(ws);
  useTitle(`Build ${id}`);
  const noDeploy = may.not("DEPLOY", "ENDPOINT") && may.not("CREATE", "ENDPOINT");
  return (
    <Loaded read={read} rows={6} page={`Build ${id}`}>
      {(build) => (
        <>
          <Head
            title={
              <>
                Build {build.id} <BuildBadge build={build} /> <ScanBadge scan={build} />
              </>
            }
            by={
              <>
                {version.data && model.data && (
                  <span>
                    of{" "}
                    <a href={pathOf("w", ws, "models", model.data.registered_model.name, version.data.model_version.version)}>
                      <Text of={model.data.registered_model.name} most={60} /> <Text of={version.data.model_version.version} most={40} />
                    </a>
                  </span>
                )}
                <span>
                  made <Time at={build.date_created} />
                </span>
              </>
            }
            acts={
              <>
                <Button icon="shield" busy={scanning.isBusy(`scan ${build.id}`)} not={noDeploy || reasonAgainstScan(build)} onPress={() => scanning.ofBuild(build.id)}>
                  {build.scan_status === "unscanned" ? "Request scan" : "Scan again"}
                </Button>
                <Button not={may.reportScans} onPress={() => open((close) => <ReportScan ws={ws} build={build} close={close} />)}>
                  Report result…
                </Button>
              </>
            }
          />
          <div className="two">
            <div className="stack">
              <Card title="Scans">
                <Loaded read={scan}>{(data) => (data.scan_status === "unscanned" && !data.history.length ? <Empty icon="shield" title="Not scanned yet" /> : <Scans scan={data} />)}</Loaded>
              </Card>
              {build.message && (
                <Card title="Message">
                  <div className="in">
                    <p className={build.status === "error" ? "err" : "wrap"}>
                      <Text of={build.message} />
                    </p>
                  </div>
                </Card>
              )}
              {(build.inputs.length > 0 || build.outputs.length > 0) && (
                <Card title="Inputs and outputs">
                  <div className="in">
                    <KeyValue rows={[...build.inputs.map((each): [string, string] => ["in " + each.name, `${each.datatype} [${(each.shape ?? []).join(", ")}]`]), ...build.outputs.map((each): [string, string] => ["out " + each.name, `${each.datatype} [${(each.shape ?? []).join(", ")}]`])]} />
                  </div>
                </Card>
              )}
            </div>
            <div className="stack">
              <Card title="Result">
                <div className="in">
                  <Verdict build={build} scan={scan.data} />
                  {scan.data && <Unconfirmed scan={scan.data} />}
                </div>
              </Card>
              <Card title="Details">
                <div className="in">
                  <KeyValue
                    rows={[
                      ["Location", <span key="l" className="mono">{build.location ? <><Text of={build.location} most={120} /> <Copy text={build.location} what="the location" /></> : "–"}</span>],
                      ["Server", build.upstream_url ? <ForeignLink key="u" to={build.upstream_url} /> : "Herald itself"],
                      ["Changed", <Time key="c" at={build.date_updated} exact />],
                      ["Needs root", build.requires_root ? "yes" : "no"],
                    ]}
                  />
                </div>
              </Card>
            </div>
          </div>
          {dialog}
        </>
      )}
    </Loaded>
  );
}
