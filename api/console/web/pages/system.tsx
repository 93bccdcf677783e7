// How the installation is: this node, backups, feature flags, the workspace's policies.
import { useState } from "react";
import { call, type Sending } from "../data/api";
import type { Policies } from "../data/calls";
import { count, duration, size, stageName, stages } from "../data/format";
import { useMay, useWorkspace } from "../data/session";
import { readAgain, useMade, useRead } from "../data/store";
import { Badge, Button, Card, Copy, Empty, Head, KeyValue, Loaded, Tabs, Text, Time, useTitle } from "../parts/basics";
import { Ask, Confirm, TextField, toast, useDialog } from "../parts/dialog";

interface Ready {
  status: string;
  reason?: string;
  message?: string;
  writes_refused?: boolean;
  next_offset?: number;
  hash?: string;
}

function Node() {
  // 503 is an answer here, too.
  const read = useMade<Ready>("readyz", async () => (await (await fetch("/readyz", { cache: "no-store" })).json()) as Ready, 3000);
  return (
    <Card title="This node">
      <Loaded read={read}>
        {(data) => (
          <div className="in">
            <p className="line">
              {data.status === "ready" ? <Badge tone="ok" icon="ok">Ready</Badge> : <Badge tone="bad" icon="x">Not ready</Badge>}
              {data.writes_refused && <Badge tone="bad" icon="pause">Takes no writes</Badge>}
            </p>
            {data.message && <p className="soft"><Text of={data.message} /></p>}
            <KeyValue rows={[["Applied up to", <span key="o" className="num">{data.next_offset === undefined ? "–" : count(data.next_offset)}</span>], ["Hash of the state", <span key="h" className="mono wrap">{data.hash ? <>{data.hash.slice(0, 16)}… <Copy text={data.hash} what="the hash" /></> : "–"}</span>]]} />
          </div>
        )}
      </Loaded>
    </Card>
  );
}

function Backups({ not }: { not: string }) {
  const [dialog, open] = useDialog();
  const read = useRead(not ? null : "GET /api/v1/uac-proxy/backups", {});
  return (
    <Card title="Backups" end={<Button small icon="plus" not={not} onPress={() => open((close) => <Ask title="Begin a backup" about="The installation serves on meanwhile." act="Begin" onClose={close} send={(sending) => call("POST /api/v1/uac-proxy/backups", { body: {} }, sending)} done={() => toast("The backup has begun")} />)}>Begin one…</Button>}>
      {not ? (
        <Empty icon="lock" title={not} />
      ) : (
        <Loaded read={read}>
          {(data) =>
            data.backups.length ? (
              <ul className="rows">
                {data.backups.map((each) => (
                  <li key={each.name}>
                    <Badge tone={each.state === "done" || each.state === "DONE" ? "ok" : /fail/i.test(each.state) ? "bad" : "run"} icon={/fail/i.test(each.state) ? "x" : "box"}>{each.state}</Badge>
                    <span className="grow"><span className="mono"><Text of={each.path || each.name} most={120} /></span>{each.message && <small><Text of={each.message} /></small>}</span>
                    <span className="end muted">{Number(each.bytes) > 0 && size(Number(each.bytes))} <Time at={each.time_created} /></span>
                  </li>
                ))}
              </ul>
            ) : (
              <Empty icon="box" title="No backups yet">A backup holds all that is registered and not yet delivered; the bytes of artifacts are copied apart.</Empty>
            )
          }
        </Loaded>
      )}
      {dialog}
    </Card>
  );
}

const flagTexts: Record<string, string> = { promote_events: "A promotion sends PROMOTE to webhooks", scan_events: "A scan that is wanted sends REQUEST_SCAN" };
function Flags({ not }: { not: string }) {
  const [dialog, open] = useDialog();
  const read = useRead("GET /api/v1/uac-proxy/feature-flags", {});
  return (
    <Card title="Feature flags">
      <Loaded read={read}>
        {(data) => (
          <ul className="rows">
            {Object.entries(data.feature_flags).map(([name, flag]) => (
              <li key={name}>
                {flag.enabled ? <Badge tone="ok" icon="ok">On</Badge> : <Badge tone="warn" icon="pause">Off</Badge>}
                <span className="grow"><span className="mono">{name}</span><small>{flagTexts[name]}</small></span>
                <span className="end"><Button small not={not} onPress={() => open((close) => <Confirm title={`${flag.enabled ? "Switch off" : "Switch on"} ${name}`} about={flag.enabled ? "Nobody is told from now on, in the whole installation. What is not sent now is not sent later." : "From now on, in the whole installation."} name={name} act={flag.enabled ? "Switch off" : "Switch on"} send={(sending) => call("PUT /api/v1/uac-proxy/feature-flags/{name}", { path: { name }, body: { enabled: !flag.enabled } }, sending)} onClose={close} />)}>{flag.enabled ? "Switch off…" : "Switch on…"}</Button></span>
              </li>
            ))}
          </ul>
        )}
      </Loaded>
      {dialog}
    </Card>
  );
}

function EditPolicies({ ws, now, close }: { ws: string; now: Policies; close: () => void }) {
  const [approval, setApproval] = useState<string[]>(now.require_approval_for);
  const [safe, setSafe] = useState<string[]>(now.require_safe_scan_for);
  const [needed, setNeeded] = useState(String(now.approvals_required));
  const [commits, setCommits] = useState(now.commit_on_approve);
  const [others, setOthers] = useState(now.scan_by_others);
  const send = (sending: Sending) => call("PUT /api/v1/registry/workspaces/{workspace}/policies", { path: { workspace: ws }, body: { ...now, require_approval_for: approval, require_safe_scan_for: safe, approvals_required: Number(needed), commit_on_approve: commits, scan_by_others: others } }, sending);
  const boxes = (title: string, value: string[], set: (to: string[]) => void) => (
    <fieldset className="field2">
      <legend>{title}</legend>
      <div className="checks">
        {stages.map((each) => (
          <label key={each}>
            <input type="checkbox" checked={value.includes(each)} onChange={() => set(value.includes(each) ? value.filter((one) => one !== each) : [...value, each])} /> {stageName(each)}
          </label>
        ))}
      </div>
    </fieldset>
  );
  return (
    <Ask title={`Policies of ${ws}`} act="Save" onClose={close} send={send} done={() => toast("The policies are in force")}>
      {boxes("An approval is needed for", approval, setApproval)}
      <TextField label="Approvals that are needed" value={needed} set={setNeeded} type="number" />
      {boxes("A safe scan is needed for", safe, setSafe)}
      <div className="checks">
        <label><input type="checkbox" checked={commits} onChange={() => setCommits(!commits)} /> The last approval commits</label>
        <label><input type="checkbox" checked={others} onChange={() => setOthers(!others)} /> Who asked for a scan may not report it safe</label>
      </div>
    </Ask>
  );
}
function PoliciesCard({ ws }: { ws: string }) {
  const may = useMay(useWorkspace(ws));
  const [dialog, open] = useDialog();
  const read = useRead("GET /api/v1/registry/workspaces/{workspace}/policies", { path: { workspace: ws } });
  const list = (all: string[]) => all.map(stageName).join(", ") || "no stage";
  return (
    <Card title={<>Policies of <Text of={ws} most={60} /></>} end={read.data && <Button small icon="edit" not={may.admin} onPress={() => open((close) => <EditPolicies ws={ws} now={read.data!} close={close} />)}>Edit…</Button>}>
      <Loaded read={read}>
        {(data) => (
          <div className="in">
            <KeyValue rows={[["An approval is needed for", list(data.require_approval_for)], ["Approvals", String(data.approvals_required)], ["A safe scan is needed for", list(data.require_safe_scan_for)], ["A promotion is complete within", data.promotion_deadline_seconds ? duration(data.promotion_deadline_seconds * 1000) : "any time"], ["Scans are reported by others", data.scan_by_others ? "yes" : "no"], ["The last approval commits", data.commit_on_approve ? "yes" : "no"]]} />
          </div>
        )}
      </Loaded>
      {dialog}
    </Card>
  );
}

export function SystemPage({ part, ws }: { part: string; ws: string }) {
  const may = useMay(useWorkspace(ws));
  useTitle("System");
  const here = ["nodes", "backups", "flags", "policies"].includes(part) ? part : "nodes";
  return (
    <>
      <Head title="System" acts={<Button icon="again" onPress={readAgain}>Read again</Button>} />
      <Tabs label="Parts of the system" here={here} tabs={[{ id: "nodes", name: "Node", to: "/system/nodes" }, { id: "backups", name: "Backups", to: "/system/backups" }, { id: "flags", name: "Feature flags", to: "/system/flags" }, { id: "policies", name: "Policies", to: "/system/policies" }]} />
      {here === "backups" ? <Backups not={may.systemAdmin} /> : here === "flags" ? <Flags not={may.systemAdmin} /> : here === "policies" ? <PoliciesCard ws={ws} /> : <Node />}
    </>
  );
}
