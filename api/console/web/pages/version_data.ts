// What the page of a version reads.
import { call } from "../data/api";
import type { Build, ServedEndpoint as Endpoint, ServedStage as EndpointStage, Scan, Version } from "../data/calls";
import { useMade, useRead } from "../data/store";

export interface Serving {
  endpoint: Endpoint;
  stage: EndpointStage;
  build: Build["id"];
  ratio: number;
}

const scansMax = 5;
const endpointsMax = 100;

export const isOpen = (state: string): boolean => state === "PENDING" || state === "APPROVED" || state === "REJECTED";

/// The scans of the newest builds.
export function useScans(builds: Build[] | undefined) {
  const wanted = (builds ?? []).filter((each) => each.scan_status !== "unscanned").sort((a, b) => Number(b.id) - Number(a.id)).slice(0, scansMax);
  const key = wanted.length ? "scans " + wanted.map((each) => each.id).join() : null;
  return useMade<Scan[]>(key, () => Promise.all(wanted.map((each) => call("GET /api/v1/deployment/builds/{build}/scan", { path: { build: each.id } }))));
}

/// Every stage of the workspace's endpoints.
export function useStages(ws: string) {
  return useMade<{ endpoint: Endpoint; stages: EndpointStage[] }[]>(
    `stages ${ws}`,
    async () => {
      const { endpoints } = await call("GET /api/v1/deployment/workspace/{workspace}/serving", { path: { workspace: ws }, query: { page_number: 1, page_limit: endpointsMax } });
      return endpoints.map((endpoint) => ({ endpoint, stages: endpoint.stages }));
    },
    5000,
  );
}
export function servingOf(all: { endpoint: Endpoint; stages: EndpointStage[] }[] | undefined, builds: Build[] | undefined): Serving[] {
  const own = new Set((builds ?? []).map((each) => String(each.id)));
  return (all ?? []).flatMap(({ endpoint, stages }) =>
    stages.flatMap((stage) => stage.components.filter((each) => each.ratio > 0 && own.has(String(each.build_id))).map((each) => ({ endpoint, stage, build: each.build_id, ratio: each.ratio }))),
  );
}

/// The other version of the model that is in production: what a promotion would replace.
export function useInProduction(version: Version | undefined) {
  return useRead(version ? "POST /api/v1/registry/registered_models/{model_id}/model_versions/find" : null, {
    path: { model_id: version?.registered_model_id ?? "" },
    body: { predicates: [{ key: "stage", value: "PRODUCTION", operator: "EQ" }], pagination: { page_number: 1, page_limit: 5 } },
  });
}
