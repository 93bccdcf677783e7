// Protects the main job: two people take a version to production in the browser, by the keyboard alone; each sees what
// they may and why not. A repeat of a write whose answer was lost is done once.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { open, Watched } from "./browser.mjs";
import { eventually, Herald, receiver } from "./herald.mjs";

let herald, browser, hook, ada, grace;
before(async () => {
  herald = await Herald.start();
  browser = await open();
  hook = await receiver(200);
  ada = await herald.person("ada@example.com", "Ada Byron");
  grace = await herald.person("grace@example.com", "Grace Hopper");
  await herald.webhook("edge", hook.url);
});
after(async () => {
  await browser?.close();
  await hook?.end();
  await herald?.end();
});

/// Tab until the focus is on what has this name, then Enter.
async function press(page, name) {
  const isThere = () =>
    page.evaluate((wanted) => {
      const it = document.activeElement;
      return (it?.textContent ?? "").trim().startsWith(wanted) && it.matches("a, button");
    }, name);
  for (const end = Date.now() + 30_000; !(await isThere()); await page.keyboard.press("Tab")) assert.ok(Date.now() < end, `Tab reaches ${name}`);
  await page.keyboard.press("Enter");
}

test("a version goes to production by the keyboard of two people", async () => {
  const first = await Watched.make(browser);
  await first.signIn(herald, ada);
  await first.goto(herald.url + "/w/default/models");
  await press(first.page, "New model");
  await first.page.keyboard.type("fraud");
  await first.page.keyboard.press("Enter");
  await first.page.waitForURL("**/models/fraud");
  await press(first.page, "New version");
  await first.page.keyboard.press("Enter");
  await first.page.waitForURL("**/models/fraud/v1");
  await press(first.page, "Request stage");
  await first.page.keyboard.type("it is better");
  await press(first.page, "Request");
  await first.page.getByText("It waits for a review").waitFor();
  await first.page.getByText("0 of 1 approval; ").waitFor();
  const own = first.page.getByRole("button", { name: "Approve" });
  assert.equal(await own.getAttribute("aria-disabled"), "true");
  assert.match(await own.getAttribute("title"), /somebody else/);

  const second = await Watched.make(browser);
  await second.signIn(herald, grace);
  await second.goto(herald.url + "/inbox");
  await press(second.page, "Approve");
  await second.page.keyboard.type("go");
  await press(second.page, "Approve");
  await second.page.getByText("Nothing waits for you").waitFor();

  await first.page.getByText("It is approved").waitFor();
  await press(first.page, "Commit");
  await first.page.getByRole("dialog").waitFor();
  await press(first.page, "Commit");
  await first.page.getByText("Promotion in progress").waitFor();
  await eventually(() => hook.came.length === 1, "PROMOTE arrives");
  await first.page.getByText("went to 1 webhook").waitFor();
  await press(first.page, "Report address");
  await first.page.keyboard.type("https://models.example.com/fraud");
  await first.page.keyboard.press("Enter");
  await first.page.getByText("Promotion in progress").waitFor({ state: "hidden" });
  for (const each of [first, second]) {
    await each.close();
    assert.deepEqual(each.faults, []);
  }
});

test("a scan is requested and its result is shown, and so is what a build did not do", async () => {
  const model = await herald.model("scanned", {}, ada);
  const version = await herald.version(model, "v1", {}, ada);
  const builds = "/api/v1/deployment/workspace/default/builds";
  const watched = await Watched.make(browser);
  const { page } = watched;
  await watched.signIn(herald, ada);
  await watched.goto(herald.url + "/w/default/models/scanned/v1");
  await page.getByRole("button", { name: "Scan", exact: true }).click();
  await page.locator(".toasts .wrong").getByText("has begun").waitFor();
  await page.getByText(/Build \d+ failed/).first().waitFor();
  assert.match(await page.locator(".err").first().innerText(), /external_location/);
  const { id } = await herald.call("POST", builds, { model_version_id: version.id, external_location: "registry.example.com/scanned:1" }, ada);
  await page.getByText("Not scanned").first().waitFor();
  await page.getByRole("button", { name: "Scan", exact: true }).click();
  await page.getByText(`The scan of build ${id} was requested`).waitFor();
  await page.getByText("asked for by").first().waitFor();
  await herald.call("PUT", `${builds}/${id}/scan`, { scan_status: "scanned", scan_external_results: { safety_status: "unsafe", url: "https://scanner.example.com/9" } }, grace);
  await page.getByText(`Build ${id} is unsafe`).waitFor();
  await watched.goto(herald.url + "/w/default/builds?show=unsafe");
  assert.deepEqual(await page.locator("tbody a.name").allInnerTexts(), [`Build ${id}`]);
  await watched.goto(herald.url + "/w/default/builds?show=failed");
  assert.match(await page.locator("tbody").innerText(), /external_location/);
  await watched.close();
  assert.deepEqual(watched.faults, []);
});

test("a write whose answer is lost is repeated under its key, and done once", async () => {
  const watched = await Watched.make(browser, { may: () => true });
  await watched.signIn(herald, ada);
  await watched.goto(herald.url + "/w/default/models");
  const target = "**/workspaces/default/registered_models";
  let tries = 0;
  await watched.page.route(target, async (route) => {
    if (route.request().method() !== "POST") return route.continue();
    if (++tries > 1) return route.continue();
    await route.fetch();
    await route.abort("connectionreset");
  });
  await watched.page.getByRole("button", { name: "New model" }).first().click();
  await watched.page.getByLabel("Name", { exact: true }).fill("once");
  await watched.page.getByRole("button", { name: "Create" }).click();
  await watched.page.getByRole("button", { name: "Repeat safely" }).click();
  await watched.page.waitForURL("**/models/once");
  const { registered_models: all } = await herald.call("POST", "/api/v1/registry/registered_models/find", {});
  assert.equal(all.filter((each) => each.name === "once").length, 1);
  await watched.close();
});

test("a reader sees everything, and what they may not do is off and says why", async () => {
  const organization = (await herald.call("GET", "/api/v2/uac-proxy/organization")).organizations[0].id;
  const base = `/api/v2/uac-proxy/organization/${organization}`;
  const { group } = await herald.call("POST", base + "/groups", { group: { name: "readers" } });
  const reader = await herald.person("rea@example.com", "Rea Der", "readers");
  const { roles } = await herald.call("GET", base + "/roles");
  const { workspaces } = await herald.call("GET", base + "/workspaces");
  await herald.call("POST", `${base}/workspaces/${workspaces.find((each) => each.name === "default").id}/permissions`, { group_id: group.id, role_id: roles.find((each) => each.name === "Read Only").id });
  const watched = await Watched.make(browser);
  await watched.signIn(herald, reader);
  await watched.goto(herald.url + "/w/default/models/fraud/v1");
  for (const name of ["Request stage…", "Scan", "Deploy…"]) {
    const button = watched.page.getByRole("button", { name, exact: true });
    await eventually(async () => (await button.getAttribute("aria-disabled")) === "true", `${name} is off`);
    assert.match(await button.getAttribute("title"), /permission|build/);
  }
  await watched.close();
  assert.deepEqual(watched.faults, []);
});
