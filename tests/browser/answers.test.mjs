// Protects whoever looks while something is broken: whatever one call answers, no page is blank, none loads for ever,
// and a text says what is wrong.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { open, Watched } from "./browser.mjs";
import { fill, Herald } from "./herald.mjs";

const broken = {
  403: (route) => route.fulfill({ status: 403, json: { code: 7, message: "this needs a right", error: "" } }),
  404: (route) => route.fulfill({ status: 404, json: { code: 5, message: "it is not here", error: "" } }),
  409: (route) => route.fulfill({ status: 409, json: { code: 10, message: "it has changed", error: "" } }),
  429: (route) => route.fulfill({ status: 429, headers: { "retry-after": "1" }, json: { code: 8, message: "too many", error: "" } }),
  500: (route) => route.fulfill({ status: 500, json: { code: 13, message: "a fault", error: "" } }),
  503: (route) => route.fulfill({ status: 503, headers: { "retry-after": "1" }, json: { code: 14, message: "not now", error: "" } }),
  nothing: (route) => route.abort("connectionreset"),
  garbage: (route) => route.fulfill({ status: 200, contentType: "application/json", body: "{nonsense" }),
  page: (route) => route.fulfill({ status: 502, contentType: "text/html", body: "<html>a proxy</html>" }),
};
const kinds = Object.keys(broken);
const paths = ["/w/default", "/inbox", "/w/default/models", "/w/default/models/fraud", "/w/default/models/fraud/v2", "/w/default/builds", "/w/default/endpoints", "/w/default/webhooks", "/people/users", "/audit", "/system/policies"];
let herald, browser;
before(async () => {
  herald = await Herald.start();
  await fill(herald);
  browser = await open();
});
after(async () => {
  await browser?.close();
  await herald?.end();
});

/// The calls of a page, without those that make the frame.
async function callsOf(watched, path) {
  const seen = new Set();
  const note = (request) => request.url().includes("/api/") && !/console\/session|getVisibleWorkspaces/.test(request.url()) && seen.add(`${request.method()} ${new URL(request.url()).pathname}`);
  watched.page.on("request", note);
  await watched.goto(herald.url + path);
  watched.page.off("request", note);
  return [...seen];
}

test("each call of each page may be broken", async () => {
  const watched = await Watched.make(browser, { may: () => true });
  await watched.signIn(herald);
  let turn = 0;
  for (const path of paths)
    for (const each of await callsOf(watched, path)) {
      const kind = kinds[turn++ % kinds.length];
      const [method, target] = each.split(" ");
      const isIt = (url) => url.pathname === target;
      await watched.page.route(isIt, (route) => (route.request().method() === method ? broken[kind](route) : route.continue()));
      await watched.page.goto(herald.url + path);
      await watched.page.waitForSelector("main h1, main .empty, main .box-error, main .card");
      // Nothing but what the broken call feeds may still be under way, and that says so.
      await watched.page.waitForFunction(() => !document.querySelector(".bones") || document.querySelector(".box-error, .strip")).catch(() => assert.fail(`${path} with ${kind} of ${each} loads for ever`));
      const text = await watched.page.innerText("main");
      assert.ok(text.trim().length > 10, `${path} with ${kind} of ${each} is blank`);
      await watched.page.unroute(isIt);
    }
  assert.deepEqual(watched.faults.filter((each) => each.startsWith("error:")), []);
  await watched.close();
});

test("a server that is gone is said to be gone, and the page is right again when it is back", async () => {
  const watched = await Watched.make(browser, { may: () => true });
  await watched.signIn(herald);
  await watched.goto(herald.url + "/w/default/models");
  await herald.stop();
  await watched.page.getByText("Herald does not answer since").waitFor({ timeout: 40_000 });
  assert.ok(await watched.page.getByText("fraud", { exact: true }).count(), "what was known stays");
  await herald.run();
  await herald.model("made meanwhile");
  await watched.page.getByText("made meanwhile").waitFor({ timeout: 40_000 });
  await watched.page.getByText("Herald does not answer since").waitFor({ state: "hidden" });
  await watched.close();
});
