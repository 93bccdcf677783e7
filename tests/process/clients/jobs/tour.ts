// README's tour with the types that openapi-typescript made; says in JSON what came of it.
import createClient from "openapi-fetch";
import type { components, paths } from "./herald.js";

type Schemas = components["schemas"];

const given = (name: string): string => process.env[name] ?? "";
const clientOf = (email: string, key: string) =>
  createClient<paths>({
    baseUrl: given("HERALD_URL"),
    headers: { "Grpc-Metadata-email": email, "Grpc-Metadata-developer_key": key },
  });

/** The answer of a call that must succeed. */
function must<T>(answer: { data?: T; error?: unknown }): T {
  if (answer.data === undefined) throw new Error(JSON.stringify(answer.error));
  return answer.data;
}

function there<T>(found: T | undefined, what: string): T {
  if (found === undefined) throw new Error(`there is no ${what}`);
  return found;
}

/** Polls until `get` answers something that is `done`. */
async function until<T>(get: () => Promise<T>, done: (value: T) => boolean): Promise<T> {
  for (const deadline = Date.now() + 60_000; Date.now() < deadline; await new Promise((go) => setTimeout(go, 20))) {
    const value = await get();
    if (done(value)) return value;
  }
  throw new Error("not within 60 s");
}

const we = clientOf(given("ADMIN"), given("ADMIN_KEY"));
const workspace = "default";

// A subscriber.
const webhook = must(await we.POST("/api/v1/uac-proxy/events/createWebhook", {
  body: {
    name: "tour",
    location: given("RECEIVER_URL"),
    mutual_secret: given("SECRET"),
    event_types: ["PROMOTE", "REQUEST_SCAN"],
    all_events: false,
  },
}));
const test = must(await we.POST("/api/v1/uac-proxy/events/triggerTest", { body: { webhook_id: webhook.id } }));

// A model version, and a search.
const model = must(await we.POST("/api/v1/registry/workspaces/{workspace}/registered_models", {
  params: { path: { workspace } },
  body: { name: "fraud" },
})).registered_model;
const version = must(await we.POST("/api/v1/registry/registered_models/{model_id}/model_versions", {
  params: { path: { model_id: model.id } },
  body: { version: "v1" },
})).model_version;
const ofVersion = { path: { model_id: model.id, version: version.id } };
must(await we.PATCH("/api/v1/registry/registered_models/{model_id}/model_versions/{version}", {
  params: ofVersion,
  body: { labels: ["eu", "nightly"] },
}));
const found = must(await we.POST("/api/v1/registry/model_versions/find", {
  body: {
    predicates: [
      { key: "labels", operator: "EQ", value: "nightly" },
      { key: "stage", operator: "EQ", value: "unassigned" },
    ],
  },
}));

// An upload.
async function urlOf(version: Schemas["version_id"], method: "PUT" | "GET"): Promise<string> {
  return must(await we.POST("/api/v1/registry/model_versions/{version}/getUrlForArtifact", {
    params: { path: { version } },
    body: { key: "model", method },
  })).url;
}
must(await we.PATCH("/api/v1/registry/registered_models/{model_id}/model_versions/{version}", {
  params: ofVersion,
  body: { model: { key: "model", path: "fraud.onnx", artifact_type: "MODEL" } },
}));
await fetch(await urlOf(version.id, "PUT"), { method: "PUT", body: "the bytes of a model" });
const bytes = await (await fetch(await urlOf(version.id, "GET"))).text();

// Its promotion, which somebody else approves.
const transition = must(await we.POST("/api/v1/registry/stage/createTransition", {
  body: { model_version_id: version.id, desired_stage: "PRODUCTION", comment: "ready" },
})).activity.transition;
const ofTransition = { body: { transition_id: there(transition, "transition").id } };
const own = await we.POST("/api/v1/registry/stage/approveTransition", ofTransition);
const grace = must(await we.POST("/api/v1/uac-proxy/uac/createUser", {
  body: { info: { email: "grace@example.com" } },
})).info;
const ours = there(
  must(await we.GET("/api/v1/uac-proxy/workspace/getVisibleWorkspaces")).workspace
    .find((each) => each.org_name === workspace),
  "workspace of the organization",
);
const org = there(ours.org_id, "organization");
const admins = there(
  must(await we.GET("/api/v2/uac-proxy/organization/{org}/groups", { params: { path: { org } } })).groups
    .find((each) => each.name === "Admins"),
  "group of administrators",
);
must(await we.POST("/api/v2/uac-proxy/organization/{org}/groups/{group}/users", {
  params: { path: { org, group: admins.id } },
  body: { user_id: [grace.verta_info.user_id] },
}));
const she = clientOf(grace.email, there(grace.dev_key, "key"));
const waiting = must(await she.POST("/api/v1/registry/stage/findTransitions", { body: { waiting_for_me: true } }));
must(await she.POST("/api/v1/registry/stage/approveTransition", ofTransition));
const committed = must(await we.POST("/api/v1/registry/stage/commitTransition", ofTransition)).activity;
must(await we.PUT("/api/v1/registry/registered_models/{model_id}/model_versions/{version}", {
  params: ofVersion,
  body: { redirect_metadata: "https://models.example.com/fraud/v1" },
}));
const promotion = must(await we.GET("/api/v1/registry/model_versions/{version}/promotion", {
  params: { path: { version: version.id } },
}));

// A scan of a build whose image was made elsewhere.
const made = must(await we.POST("/api/v1/deployment/workspace/{workspace}/builds", {
  params: { path: { workspace } },
  body: { model_version_id: version.id, external_location: "registry.example.com/fraud:v1" },
}));
must(await we.POST("/api/v1/deployment/workspace/{workspace}/builds/{build}/scan", {
  params: { path: { workspace, build: made.id } },
  body: { scan_external: true },
}));
async function report(build: Schemas["build_id"], safety: "safe" | "unsafe") {
  return must(await we.PUT("/api/v1/deployment/workspace/{workspace}/builds/{build}/scan", {
    params: { path: { workspace, build } },
    body: {
      scan_status: "scanned",
      scan_external_results: { safety_status: safety, url: "https://scanner.example.com/1" },
    },
  }));
}
await report(made.id, "safe");
const scan = must(await we.GET("/api/v1/deployment/builds/{build}/scan", { params: { path: { build: made.id } } }));
const builds = must(await we.GET("/api/v1/deployment/builds", { params: { query: { model_version_id: version.id } } }));

// A prediction.
const price = must(await we.POST("/api/v1/registry/workspaces/{workspace}/registered_models", {
  params: { path: { workspace } },
  body: { name: "price" },
})).registered_model;
const priced = must(await we.POST("/api/v1/registry/registered_models/{model_id}/model_versions", {
  params: { path: { model_id: price.id } },
  body: { version: "v1", model: { key: "model", path: "price.onnx", artifact_type: "MODEL" } },
})).model_version;
await fetch(await urlOf(priced.id, "PUT"), { method: "PUT", body: Buffer.from(given("ONNX_MODEL"), "base64") });
const begun = must(await we.POST("/api/v1/deployment/workspace/{workspace}/builds", {
  params: { path: { workspace } },
  body: { model_version_id: priced.id },
}));
const built = await until(
  async () => must(await we.GET("/api/v1/deployment/workspace/{workspace}/builds/{build}", {
    params: { path: { workspace, build: begun.id } },
  })),
  (build) => build.status !== "building",
);
const endpoint = must(await we.POST("/api/v1/deployment/workspace/{workspace}/endpoints", {
  params: { path: { workspace } },
  body: { path: "/price" },
}));
const stages = "/api/v1/deployment/workspace/{workspace}/endpoints/{endpoint}/stages";
const stage = must(await we.POST(stages, {
  params: { path: { workspace, endpoint: endpoint.id } },
  body: { name: "production" },
}));
const ofStage = { path: { workspace, endpoint: endpoint.id, stage: stage.id } };
must(await we.PUT(`${stages}/{stage}/update`, {
  params: ofStage,
  body: { build_id: built.id, strategy: "rollout" },
}));
const serving = await until(
  async () => must(await we.GET(`${stages}/{stage}`, { params: ofStage })),
  (stage) => stage.status === "active" || stage.status === "error",
);
const token = there(must(await we.GET(`${stages}/{stage}/accesstokens`, { params: ofStage })).tokens[0], "token");
const caller = createClient<paths>({
  baseUrl: given("HERALD_URL"),
  headers: { "Access-token": there(token.creator_request.value, "value of the token") },
});
const ask = (house: number[][]) =>
  caller.POST("/api/v1/predict/{endpoint_path}", {
    params: { path: { endpoint_path: "price" } },
    body: { house },
  });
const prices = must(await ask([[80, 3], [120, 5]]));
const misfit = await ask([[80]]);
const unsafe = await report(built.id, "unsafe");
const stopped = await ask([[80, 3]]);

// A repeat is safe.
const repeats: string[] = [];
for (let attempt = 0; attempt < 2; ++attempt) {
  const repeated = must(await we.POST("/api/v1/registry/workspaces/{workspace}/registered_models", {
    params: { path: { workspace }, header: { "Idempotency-Key": "my-first" } },
    body: { name: "churn" },
  }));
  repeats.push(repeated.registered_model.id);
}

console.log(JSON.stringify({
  test_status: test.status_code,
  found: found.model_versions.map((each) => each.version),
  bytes,
  refused_own_approval: own.error?.code,
  waiting: waiting.activities.map((each) => each.comment),
  activity_state: committed.activity_state,
  promotion: promotion.status,
  safety_status: scan.safety_status,
  builds: builds.builds.map((each) => each.id === made.id),
  build_status: built.status,
  stage_status: serving.status,
  prices,
  misfit: misfit.error?.code,
  unconfirmed: unsafe.unconfirmed.length,
  stopped: stopped.error?.code,
  is_repeated: repeats[0] === repeats[1],
  version: version.id,
  build: made.id,
}));
