// A real `herald standalone`, people who use it, and things in it.
import { spawn, execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { createServer as createSocket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

export const binary = process.env.HERALD_BINARY ?? new URL("../../build/release/herald", import.meta.url).pathname;
const startMsMax = 60_000;

export async function freePort() {
  const probe = createSocket();
  await new Promise((done) => probe.listen(0, "127.0.0.1", done));
  const { port } = probe.address();
  await new Promise((done) => probe.close(done));
  return port;
}

export async function eventually(look, what, ms = 30_000) {
  const end = Date.now() + ms;
  for (;;) {
    const found = await look();
    if (found) return found;
    if (Date.now() > end) throw new Error(`not within ${ms} ms: ${what}`);
    await new Promise((done) => setTimeout(done, 50));
  }
}

export class Herald {
  static async start() {
    const made = new Herald();
    made.folder = mkdtempSync(join(tmpdir(), "herald-browser-"));
    made.port = await freePort();
    made.url = `http://127.0.0.1:${made.port}`;
    await made.run();
    const text = readFileSync(join(made.folder, "herald/admin-key"), "utf8");
    made.admin = { email: /email (.*)/.exec(text)[1], key: /key (.*)/.exec(text)[1] };
    return made;
  }
  async run() {
    this.process = spawn(binary, ["standalone", "--data", this.folder, "--listen", `127.0.0.1:${this.port}`, "--serve-predictions", "false"], { stdio: ["ignore", "ignore", "pipe"] });
    this.said = "";
    this.process.stderr.on("data", (piece) => (this.said = (this.said + piece).slice(-4000)));
    await eventually(async () => {
      if (this.process.exitCode !== null) throw new Error(`herald ended: ${this.said}`);
      return (await fetch(this.url + "/readyz").catch(() => null))?.ok;
    }, "herald is ready", startMsMax);
  }
  async stop() {
    if (this.process.exitCode !== null) return;
    const ended = new Promise((done) => this.process.once("exit", done));
    this.process.kill("SIGTERM");
    await ended;
  }
  async end() {
    await this.stop();
    rmSync(this.folder, { recursive: true, force: true });
  }
  signInLink() {
    return execFileSync(binary, ["sign-in-link", "--data", this.folder, "--listen", `127.0.0.1:${this.port}`], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim();
  }
  async ask(method, path, body, who = this.admin, headers = {}) {
    const credentials = who ? { "grpc-metadata-email": who.email, "grpc-metadata-developer_key": who.key } : {};
    return fetch(this.url + path, { method, headers: { ...credentials, ...headers }, body: body === undefined ? undefined : JSON.stringify(body) });
  }
  async call(method, path, body, who) {
    const answer = await this.ask(method, path, body, who);
    const said = await answer.json();
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${said.message}`);
    return said;
  }
  /// A member of Admins, with a key.
  async person(email, name, group = "Admins") {
    const organization = (await this.call("GET", "/api/v2/uac-proxy/organization")).organizations[0].id;
    const { info } = await this.call("POST", "/api/v1/uac-proxy/uac/createUser", { info: { email, full_name: name } });
    const { groups } = await this.call("GET", `/api/v2/uac-proxy/organization/${organization}/groups`);
    const id = groups.find((each) => each.name === group)?.id;
    if (id && group !== "All Users") await this.call("POST", `/api/v2/uac-proxy/organization/${organization}/groups/${id}/users`, { user_id: [info.verta_info.user_id] });
    return { email, key: info.dev_key, id: info.verta_info.user_id, name };
  }
  async model(name, more = {}, who) {
    return (await this.call("POST", "/api/v1/registry/workspaces/default/registered_models", { name, ...more }, who)).registered_model;
  }
  async version(model, name, more = {}, who) {
    return (await this.call("POST", `/api/v1/registry/registered_models/${model.id}/model_versions`, { version: name, ...more }, who)).model_version;
  }
  async request(version, stage, comment, who) {
    return (await this.call("POST", "/api/v1/registry/stage/createTransition", { model_version_id: version.id, desired_stage: stage, comment }, who)).activity.transition.id;
  }
  decide(what, transition, comment, who) {
    return this.call("POST", `/api/v1/registry/stage/${what}Transition`, { transition_id: transition, comment }, who);
  }
  webhook(name, location, types = ["PROMOTE"]) {
    return this.call("POST", "/api/v1/uac-proxy/events/createWebhook", { name, location, event_types: types, mutual_secret: "" });
  }
}

/// Answers every POST with the status.
export async function receiver(status, body = "") {
  const came = [];
  const server = createServer((request, answer) => {
    request.resume();
    request.on("end", () => {
      came.push(request.headers);
      answer.writeHead(status, { "content-length": Buffer.byteLength(body) });
      answer.end(body);
    });
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  return { url: `http://127.0.0.1:${server.address().port}/hook`, came, end: () => new Promise((done) => (server.closeAllConnections(), server.close(done))) };
}

/// What a workspace holds after some weeks.
export async function fill(herald) {
  const ada = await herald.person("ada@example.com", "Ada Byron");
  const grace = await herald.person("grace@example.com", "Grace Hopper");
  const fraud = await herald.model("fraud", { description: "Fraud score", labels: ["eu"], readme_text: "# Fraud\n\n- one\n- **two**" }, ada);
  await herald.model("churn", {}, grace);
  const v1 = await herald.version(fraud, "v1", { attributes: [{ key: "auc", value: 0.931 }, { key: "threshold", value: 0.62 }] }, ada);
  const v2 = await herald.version(fraud, "v2", { attributes: [{ key: "auc", value: 0.941 }, { key: "threshold", value: 0.58 }], labels: ["nightly"] }, ada);
  const v3 = await herald.version(fraud, "v3", {}, ada);
  await herald.webhook("edge", "http://127.0.0.1:1024/hook");
  const policies = { require_approval_for: ["PRODUCTION"], promotion_deadline_seconds: 86_400 };
  await herald.call("PUT", "/api/v1/registry/workspaces/default/policies", policies);
  for (const version of [v1, v2]) {
    const transition = await herald.request(version, "PRODUCTION", "AUC 0.941 on the October set, 12 ms quicker than before. Threshold moved to 0.58 as agreed with risk.", ada);
    await herald.decide("approve", transition, "Looked at the diff and at the drift report. Go.", grace);
    await herald.decide("commit", transition, "", ada);
  }
  await herald.request(v3, "PRODUCTION", "please look", ada);
  const builds = "/api/v1/deployment/workspace/default/builds";
  const build = await herald.call("POST", builds, { model_version_id: v2.id, external_location: "registry.example.com/fraud:2" }, ada);
  await herald.call("POST", `${builds}/${build.id}/scan`, { scan_external: true }, ada);
  await herald.call("PUT", `${builds}/${build.id}/scan`, { scan_status: "scanned", scan_external_results: { safety_status: "safe", url: "https://scanner.example.com/1" } }, grace);
  // It has no bytes: its build fails, and says why.
  await herald.call("POST", builds, { model_version_id: v3.id }, ada);
  await herald.call("PUT", "/api/v1/registry/workspaces/default/policies", { ...policies, require_safe_scan_for: ["PRODUCTION"] });
  const endpoint = await herald.call("POST", "/api/v1/deployment/workspace/default/endpoints", { path: "/fraud" }, ada);
  await herald.call("POST", `/api/v1/deployment/workspace/default/endpoints/${endpoint.id}/stages`, { name: "production" }, ada);
  return { ada, grace, fraud, v1, v2, v3, build };
}
