// What a stage needs, and what of that is there: said before it is asked for, and beside the request.
import type { ReactNode } from "react";
import type { Version } from "../data/calls";
import { plural } from "../data/format";
import { useRead } from "../data/store";
import { Icon } from "./icons";
import { Person } from "./people";

const namedMax = 5;

function Reviewers({ ids }: { ids: string[] }) {
  return (
    <>
      {ids.slice(0, namedMax).map((id, i) => (
        <span key={id}>
          {i > 0 && ", "}
          <Person id={id} />
        </span>
      ))}
      {ids.length > namedMax && " and others"}
    </>
  );
}

export function useReadiness(version: Version["id"], stage: string) {
  return useRead("GET /api/v1/registry/model_versions/{version}/readiness", { path: { version }, query: { stage } }, 10_000);
}

/// Nothing is drawn while nothing is known: what uses this says enough without it.
export function Needs({ version, stage }: { version: Version["id"]; stage: string }) {
  const { data } = useReadiness(version, stage);
  if (!data) return null;
  const approvals = data.approved_by.length;
  const isApproved = approvals >= data.approvals_required;
  const rows: [boolean, ReactNode][] = [];
  if (data.approvals_required > 0)
    rows.push([
      isApproved,
      <>
        {approvals} of {plural(data.approvals_required, "approval")}
        {!isApproved && (data.reviewers.length ? <>; <Reviewers ids={data.reviewers.map(String)} /> may give it</> : <>; nobody else here may approve yet: <a href="/people/users">make a user</a> of the group Admins</>)}
        {data.has_outdated_approvals && "; earlier ones no longer count, since the version was changed"}
      </>,
    ]);
  if (data.needs_safe_scan) rows.push([data.has_safe_scan, data.has_safe_scan ? "A safe scan" : "A safe scan of a finished build is missing"]);
  if (!rows.length) return <p className="needs muted">This stage needs no approval and no scan.</p>;
  return (
    <ul className="needs" aria-label="What it needs">
      {rows.map(([is, what], i) => (
        <li key={i} className={is ? "ok" : "warn"}>
          <Icon name={is ? "ok" : "clock"} label={is ? "There:" : "Missing:"} />
          <span>{what}</span>
        </li>
      ))}
    </ul>
  );
}
