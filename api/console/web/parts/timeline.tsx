// What happened, in the order in which it happened; durations are written, and what is still to come is dotted.
import { useState, type ReactNode } from "react";
import type { Activity } from "../data/calls";
import { clockTime, dayAndTime, duration, stageName, timeOf, wholeTime } from "../data/format";
import { useSettings } from "../data/settings";
import { serverNow } from "../data/store";
import { Text, type Tone } from "./basics";
import { Icon, type IconName } from "./icons";
import { Person } from "./people";

export interface TimelineEntry {
  key: string;
  at: number;
  icon: IconName;
  tone: Tone | "todo";
  what: ReactNode;
  said?: string;
  below?: ReactNode;
}

export function after(from: number, to: number): ReactNode {
  return from && to > from ? <span className="muted"> after {duration(to - from)}</span> : null;
}

/// Of the newest page: what was said and decided. `named`: of several versions, what each is called.
export function activityEntries(all: Activity[], named?: (version: Activity["model_version_id"]) => ReactNode): TimelineEntry[] {
  const asked = new Map<string, Activity>();
  for (const each of all) if (each.transition) asked.set(String(each.transition.id), each);
  return all.map((each) => entryOf(each, each.transition_id ? asked.get(String(each.transition_id)) : undefined, named));
}

function entryOf(each: Activity, request: Activity | undefined, named?: (version: Activity["model_version_id"]) => ReactNode): TimelineEntry {
  const at = timeOf(each.time_created);
  const who = (
    <b>
      <Person id={each.author_id} />
    </b>
  );
  const since = request ? after(timeOf(request.time_created), at) : null;
  const version = named ? <> · {named(each.model_version_id)}</> : null;
  const base = { key: "a" + each.id, at, said: each.comment || undefined };
  const note = each.message ? (
    <div className="muted">
      <Text of={each.message} />
    </div>
  ) : null;
  if (each.transition)
    return { ...base, icon: "ask", tone: "ok", what: <>{who} asked for {stageName(each.transition.desired_stage)}{version}{note}</> };
  if (each.approval) return { ...base, icon: "thumb", tone: "ok", what: <>{who} approved{since}{version}{note}</> };
  if (each.rejection) return { ...base, icon: "x", tone: "bad", what: <>{who} rejected it{since}{version}{note}</> };
  if (each.close) return { ...base, icon: "x", tone: "plain", what: <>{who} closed the request{since}{version}{note}</> };
  if (each.update) {
    const from = request?.transition?.source_stage;
    return {
      ...base,
      icon: request ? "merge" : "flag",
      tone: "ok",
      what: <>{who} {request ? "committed" : "changed the stage"}: {from ? `${stageName(from)} → ` : "to "}{stageName(each.update.stage)}{since}{version}{note}</>,
    };
  }
  return { ...base, icon: "comment", tone: "plain", what: <>{who} wrote{version}{note}</> };
}

function when(at: number): string {
  const day = (ms: number) => new Date(ms).toDateString();
  if (day(at) === day(serverNow())) return clockTime(at);
  return dayAndTime(at);
}

const shownAtOnce = 40;

export function Timeline({ entries, todo = [] }: { entries: TimelineEntry[]; todo?: TimelineEntry[] }) {
  useSettings();
  const [whole, show] = useState(false);
  const sorted = entries
    .map((each, i) => [each, i] as const)
    .sort(([left, i], [right, j]) => left.at - right.at || i - j)
    .map(([each]) => each);
  const left = whole ? 0 : Math.max(0, sorted.length - shownAtOnce);
  return (
    <>
      {left > 0 && (
        <div className="pages">
          <button type="button" className="btn s" onClick={() => show(true)}>
            Show {left} earlier
          </button>
        </div>
      )}
      <ol className="tl">
        {[...sorted.slice(left), ...todo].map((each) => (
          <li key={each.key} className={each.tone}>
            <span className="node">
              <Icon name={each.icon} />
            </span>
            <div className={"what " + (each.tone === "todo" ? "soft" : "")}>
              {each.what}
              {each.said && (
                <div className="said">
                  <Text of={each.said} />
                </div>
              )}
            </div>
            {each.at ? (
              <time className="num" dateTime={new Date(each.at).toISOString()} title={wholeTime(each.at)}>
                {when(each.at)}
              </time>
            ) : (
              <span />
            )}
            {each.below}
          </li>
        ))}
      </ol>
    </>
  );
}
