// The timeline of a version, made of everything that is known of it.
import { useState, type ReactNode } from "react";
import { call } from "../data/api";
import type { Activity, Build, Promotion, Scan, Version } from "../data/calls";
import { plural, stageName, timeOf } from "../data/format";
import { pathOf } from "../data/route";
import { Button, ForeignLink, Text } from "../parts/basics";
import { useAct } from "../parts/dialog";
import { Person } from "../parts/people";
import { activityEntries, after, Timeline, type TimelineEntry } from "../parts/timeline";
import { isOpen } from "./version_data";

export interface Known {
  ws: string;
  version: Version;
  activities: Activity[];
  builds: Build[];
  scans: Scan[];
  promotion?: Promotion;
}

function scanEntries(scan: Scan): TimelineEntry[] {
  return [scan, ...scan.history].flatMap((each) => {
    const begun = timeOf(each.date_created);
    const ended = timeOf(each.date_updated);
    const name = <b>Scan of build {each.build_id}</b>;
    const url = each.scan_external_results.url;
    const report = url ? (
      <>
        {" "}
        · <ForeignLink to={url}>report</ForeignLink>
      </>
    ) : null;
    const note = each.message ? <div className="muted"><Text of={each.message} /></div> : null;
    const asked = Number(each.requested_by) ? <>, asked for by <Person id={String(each.requested_by)} /></> : null;
    const key = `s${each.build_id}-${each.id}`;
    if (each.scan_status === "scanning") return [{ key, at: begun, icon: "shield", tone: "run", what: <>{name}{asked}: no result yet{note}</> }];
    if (each.scan_status === "error") return [{ key, at: ended, icon: "warn", tone: "bad", what: <>{name}{asked}, failed{after(begun, ended)}{report}{note}</> }];
    if (each.scan_status !== "scanned" && each.safety_status === "unknown") return [];
    const isSafe = each.safety_status === "safe";
    return [{ key, at: ended, icon: "shield", tone: isSafe ? "ok" : "bad", what: <>{name}{asked}: <b>{isSafe ? "safe" : "unsafe"}</b>{after(begun, ended)}{report}{note}</> }] as TimelineEntry[];
  }) as TimelineEntry[];
}

function buildEntry(ws: string, build: Build): TimelineEntry {
  const link: ReactNode = <a href={pathOf("w", ws, "builds", build.id)}>Build {build.id}</a>;
  const at = timeOf(build.date_created);
  const key = `b${build.id}`;
  if (build.status === "error")
    return { key, at, icon: "box", tone: "bad", what: <>{link} failed</>, below: build.message ? <p className="err below"><Text of={build.message} /></p> : null };
  return { key, at, icon: "box", tone: build.status === "building" ? "run" : "ok", what: <>{link} {build.status === "building" ? "is being made" : "was made"}</> };
}

function promotionEntries(promotion: Promotion): TimelineEntry[] {
  if (promotion.status === "NONE") return [];
  const out: TimelineEntry[] = [];
  const committed = timeOf(promotion.time_committed);
  const sent = promotion.deliveries;
  if (sent) {
    const all = sent.pending + sent.succeeded + sent.dead + sent.unknown;
    const parts = [sent.succeeded && `${sent.succeeded} delivered`, sent.pending && `${sent.pending} still to come`, sent.dead && `${sent.dead} given up`, sent.unknown && `${sent.unknown} unknown`].filter(Boolean).join(", ");
    out.push({
      key: "p-sent",
      at: committed + 1,
      icon: "send",
      tone: sent.dead ? "bad" : sent.pending ? "run" : "ok",
      what: all ? <><b>PROMOTE</b> {sent.pending ? "is on its way to" : "went to"} {plural(all, "webhook")}: {parts}</> : <><b>PROMOTE</b>: no webhook listens, so nobody was told</>,
    });
  }
  const ended = timeOf(promotion.time_completed);
  if (promotion.status === "COMPLETE") out.push({ key: "p-done", at: ended, icon: "flag", tone: "ok", what: <><b>Complete</b>{after(committed, ended)}: <ForeignLink to={promotion.redirect_metadata}><Text of={promotion.redirect_metadata} most={90} /></ForeignLink></> });
  if (promotion.status === "FAILED") out.push({ key: "p-failed", at: ended || committed + 2, icon: "x", tone: "bad", what: <><b>The promotion failed</b>{after(committed, ended)}</>, said: promotion.reason || undefined });
  return out;
}

function todoEntries({ activities, promotion }: Known): TimelineEntry[] {
  const out: TimelineEntry[] = [];
  for (const each of activities) {
    const transition = each.transition;
    if (!transition || !isOpen(transition.state)) continue;
    const stage = stageName(transition.desired_stage);
    if (transition.state === "PENDING") out.push({ key: `t${each.id}`, at: 0, icon: "thumb", tone: "todo", what: <>A review of the request for {stage}, by somebody else than <Person id={each.author_id} /></> });
    if (transition.state !== "REJECTED") out.push({ key: `c${each.id}`, at: 0, icon: "merge", tone: "todo", what: <>Commit to {stage}</> });
  }
  if (promotion?.status === "IN_PROGRESS") out.push({ key: "p-todo", at: 0, icon: "flag", tone: "todo", what: <>Complete, once a receiver reports the address <span className="muted">with PUT on this version</span></> });
  return out;
}

export function VersionTimeline({ known, not }: { known: Known; not: string }) {
  const { version, activities, builds, scans, promotion, ws } = known;
  const entries: TimelineEntry[] = [
    { key: "made", at: timeOf(version.time_created), icon: "plus", tone: "plain", what: <><b><Person id={version.owner} /></b> made version <Text of={version.version} most={60} /></> },
    ...activityEntries(activities),
    ...builds.map((each) => buildEntry(ws, each)),
    ...scans.flatMap(scanEntries),
    ...(promotion ? promotionEntries(promotion) : []),
  ];
  return (
    <section className="card" aria-label="Timeline">
      <Timeline entries={entries} todo={todoEntries(known)} />
      <Comment version={version} not={not} />
    </section>
  );
}

function Comment({ version, not }: { version: Version; not: string }) {
  const [text, set] = useState("");
  const [isBusy, act] = useAct();
  const send = () => {
    if (text.trim() && !not) act(`comment ${text}`, (sending) => call("POST /api/v1/registry/stage/createComment", { body: { model_version_id: version.id, comment: text } }, sending), () => set(""));
  };
  return (
    <form
      className="say"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      <label className="sr" htmlFor="comment">
        Comment
      </label>
      <input className="input field" id="comment" placeholder="Write a comment" autoComplete="off" value={text} onChange={(event) => set(event.target.value)} />
      <Button type="submit" busy={isBusy(`comment ${text}`)} not={not}>
        Comment
      </Button>
    </form>
  );
}
