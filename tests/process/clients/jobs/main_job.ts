// The main job with the types that openapi-typescript made; says in JSON what came of it.
import createClient from "openapi-fetch";
import type { paths } from "./herald.js";

const given = (name: string): string => process.env[name] ?? "";
const clientOf = (who: string) =>
  createClient<paths>({
    baseUrl: given("HERALD_URL"),
    headers: { "Grpc-Metadata-email": given(who), "Grpc-Metadata-developer_key": given(`${who}_KEY`) },
  });

/** The answer of a call that must succeed. */
function must<T>(answer: { data?: T; error?: unknown }): T {
  if (answer.data === undefined) throw new Error(JSON.stringify(answer.error));
  return answer.data;
}

const author = clientOf("AUTHOR");
const approver = clientOf("APPROVER");
const workspace = "default";

must(await author.POST("/api/v1/uac-proxy/events/createWebhook", {
  body: { name: "job", location: given("RECEIVER_URL"), event_types: ["PROMOTE", "REQUEST_SCAN"] },
}));
const model = must(await author.POST("/api/v1/registry/workspaces/{workspace}/registered_models", {
  params: { path: { workspace } },
  body: { name: "m" },
})).registered_model;
const version = must(await author.POST("/api/v1/registry/registered_models/{model_id}/model_versions", {
  params: { path: { model_id: Number(model.id) } },
  body: { version: "v" },
})).model_version;
const asked = must(await author.POST("/api/v1/registry/stage/createTransition", {
  body: { model_version_id: version.id, desired_stage: "PRODUCTION" },
})).activity;
must(await approver.POST("/api/v1/registry/stage/approveTransition", { body: { transition_id: asked.id } }));
const committed = must(await author.POST("/api/v1/registry/stage/commitTransition", {
  body: { transition_id: asked.id },
})).activity;
const build = must(await author.POST("/api/v1/deployment/workspace/{workspace}/builds", {
  params: { path: { workspace } },
  body: { model_version_id: Number(version.id), external_location: "registry.example.com/m:1" },
}));
const ofBuild = { path: { workspace, build: build.id } };
must(await author.POST("/api/v1/deployment/workspace/{workspace}/builds/{build}/scan", {
  params: ofBuild,
  body: { scan_external: true },
}));
const scan = must(await author.PUT("/api/v1/deployment/workspace/{workspace}/builds/{build}/scan", {
  params: ofBuild,
  body: {
    scan_status: "scanned",
    scan_external_results: { safety_status: "safe", url: "https://scanner.example.com/1" },
  },
}));
const builds = must(await author.GET("/api/v1/deployment/builds", {
  params: { query: { model_version_id: Number(version.id) } },
}));
const refused = await author.GET("/api/v1/registry/registered_models/{model_id}", {
  params: { path: { model_id: 999999 } },
});
console.log(JSON.stringify({
  version: version.id,
  build: build.id,
  activity_state: committed.activity_state,
  safety_status: scan.safety_status,
  builds: builds.builds.length,
  refusal_code: refused.error?.code,
}));
