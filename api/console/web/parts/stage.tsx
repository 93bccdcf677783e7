// How stages, builds, scans and the like look everywhere: a colour, a shape, and a word.
import type { Build, ServedStage as EndpointStage, Version, Webhook } from "../data/calls";
import { stageName } from "../data/format";
import { Badge } from "./basics";

export function StageBadge({ stage }: { stage: Version["stage"] }) {
  if (stage === "PRODUCTION") return <Badge tone="ok" icon="flag">Production</Badge>;
  if (stage === "STAGING") return <Badge tone="run" icon="up">Staging</Badge>;
  if (stage === "ARCHIVED") return <Badge icon="box">Archived</Badge>;
  if (stage === "DEVELOPMENT") return <Badge icon="edit">Development</Badge>;
  return <Badge>{stageName(stage)}</Badge>;
}

export function BuildBadge({ build }: { build: Pick<Build, "status"> }) {
  if (build.status === "error") return <Badge tone="bad" icon="x">Failed</Badge>;
  if (build.status === "building") return <Badge tone="run" icon="clock">Building</Badge>;
  return <Badge tone="ok" icon="ok">Built</Badge>;
}

export function ScanBadge({ scan }: { scan: Pick<Build, "scan_status" | "safety_status"> }) {
  if (scan.safety_status === "unsafe") return <Badge tone="bad" icon="x">Unsafe</Badge>;
  if (scan.scan_status === "scanning") return <Badge tone="run" icon="clock">Scanning</Badge>;
  if (scan.scan_status === "error") return <Badge tone="bad" icon="warn">Scan failed</Badge>;
  if (scan.scan_status === "scanned" && scan.safety_status === "safe") return <Badge tone="ok" icon="shield">Safe</Badge>;
  return <Badge>Not scanned</Badge>;
}

export function ServingBadge({ stage }: { stage: Pick<EndpointStage, "status"> }) {
  const looks = {
    active: ["ok", "ok", "Active"],
    updating: ["run", "again", "Updating"],
    creating: ["run", "clock", "Starting"],
    error: ["bad", "x", "Update failed"],
    inactive: ["plain", "pause", "Inactive"],
  } as const;
  const [tone, icon, name] = looks[stage.status];
  return <Badge tone={tone} icon={icon}>{name}</Badge>;
}

export function WebhookBadge({ webhook }: { webhook: Pick<Webhook, "status"> }) {
  if (webhook.status === "DISABLED") return <Badge tone="warn" icon="pause">Off</Badge>;
  return <Badge tone="ok" icon="ok">Enabled</Badge>;
}

export const lockText: Record<Version["lock_level"], string> = {
  UNKNOWN: "",
  OPEN: "",
  REDACT: "Redact: only admins change its ingredients",
  CLOSED: "Closed: no ingredient of it can change",
};
