// What differs between two versions.
import type { Artifact, Version } from "./calls";

export interface Change {
  part: string;
  name: string;
  before?: string;
  after?: string;
}

function leavesOf(value: unknown, path: string, out: Map<string, string>): void {
  if (out.size > 2000) return;
  if (value !== null && typeof value === "object" && Object.keys(value).length)
    for (const [name, each] of Object.entries(value)) leavesOf(each, path ? `${path}.${name}` : name, out);
  else if (path) out.set(path, typeof value === "string" ? value : JSON.stringify(value));
}

function ofArtifacts(all: Artifact[]): Map<string, string> {
  return new Map(all.map((each) => [each.key, each.path + (each.upload_completed ? "" : " (no bytes yet)")]));
}

/// The leaves of a JSON value, by their paths.
export function leaves(value: unknown): Map<string, string> {
  const out = new Map<string, string>();
  leavesOf(value, "", out);
  return out;
}

function parts(version: Version): Record<string, Map<string, string>> {
  return {
    Attributes: new Map(version.attributes.map((each) => [each.key, typeof each.value === "string" ? each.value : JSON.stringify(each.value)])),
    Model: version.model ? ofArtifacts([version.model]) : new Map(),
    Artifacts: ofArtifacts(version.artifacts),
    Environment: leaves(version.environment ?? {}),
    Docker: leaves(version.docker_metadata ?? {}),
    Datasets: ofArtifacts(version.datasets),
    Code: leaves(version.code_blob_map ?? {}),
    Labels: new Map(version.labels.map((each) => [each, "set"])),
    About: new Map(Object.entries({ description: version.description, input: version.input_description, output: version.output_description }).filter(([, text]) => text)),
  };
}

/// All members of both, those that are equal too.
export function compare(before: Version, after: Version): Change[] {
  const out: Change[] = [];
  const left = parts(before);
  const right = parts(after);
  for (const part of Object.keys(left)) {
    const names = [...new Set([...left[part]!.keys(), ...right[part]!.keys()])].sort();
    for (const name of names) out.push({ part, name, before: left[part]!.get(name), after: right[part]!.get(name) });
  }
  return out;
}
export const isChange = (each: Change): boolean => each.before !== each.after;

/// "+0.01" of two numbers.
export function difference(change: Change): string {
  const before = Number(change.before);
  const after = Number(change.after);
  if (change.before === undefined || change.after === undefined || !change.before.trim() || !change.after.trim()) return "";
  if (!Number.isFinite(before) || !Number.isFinite(after) || before === after) return "";
  const by = Number((after - before).toPrecision(4));
  return `${by > 0 ? "+" : "−"}${Math.abs(by)}`;
}
