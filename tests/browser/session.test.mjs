// Protects the way in and out: a session is a cookie that no script reads and no other page can use; a link signs in
// once; `next` leads nowhere else.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { after, before, test } from "node:test";
import { open, Watched } from "./browser.mjs";
import { eventually, Herald } from "./herald.mjs";

let herald, browser;
before(async () => {
  herald = await Herald.start();
  browser = await open();
});
after(async () => {
  await browser?.close();
  await herald?.end();
});

const me = (page) => page.evaluate(async () => (await fetch("/api/v1/console/session", { headers: { "herald-console": "1" } })).json());

test("a wrong key is said to be wrong, and a right one leads to where one wanted to go", async () => {
  const watched = await Watched.make(browser, { may: (text) => text.includes("401") });
  const { page } = watched;
  await page.goto(herald.url + "/w/default/models");
  await page.waitForURL("**/sign-in?next=*");
  await page.getByLabel("E-mail").fill(herald.admin.email);
  await page.getByLabel("Developer key").fill("wrong");
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByText("do not belong together").waitFor();
  await page.getByLabel("Developer key").fill(herald.admin.key);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.waitForURL("**/w/default/models");
  const [cookie] = await watched.context.cookies();
  assert.match(cookie.name, /^herald-[0-9a-f]{8}$/);
  assert.deepEqual([cookie.httpOnly, cookie.sameSite, cookie.path], [true, "Strict", "/"]);
  const kept = await page.evaluate(() => JSON.stringify({ ...localStorage, ...sessionStorage }) + document.cookie + document.documentElement.innerHTML);
  assert.ok(!kept.includes(herald.admin.key) && !kept.includes(cookie.value));
  await watched.close();
  assert.deepEqual(watched.faults, []);
});

test("a link signs in once", async () => {
  const link = herald.signInLink();
  const watched = await Watched.make(browser, { may: (text) => text.includes("404") });
  await watched.page.goto(link);
  await watched.page.waitForSelector(".app");
  assert.ok(!watched.page.url().includes("#"));
  const second = await Watched.make(browser, { may: (text) => text.includes("404") });
  await second.page.goto(link);
  await second.page.getByText("herald sign-in-link").first().waitFor();
  assert.deepEqual(await me(second.page), {});
  await second.close();
  await watched.close();
});

test("whoever signs out is out in every tab, and signs in again without losing the page", async () => {
  const watched = await Watched.make(browser, { may: (text) => text.includes("401") });
  await watched.signIn(herald);
  await watched.goto(herald.url + "/w/default/models");
  await watched.page.getByRole("button", { name: "New model" }).first().click();
  await watched.page.getByLabel("Name", { exact: true }).fill("typed before");
  const other = await watched.context.newPage();
  await other.goto(herald.url + "/me");
  await other.getByRole("button", { name: /Signed in as/ }).click();
  await other.getByRole("button", { name: "Sign out" }).click();
  await other.waitForURL("**/sign-in");
  const box = watched.page.getByRole("dialog", { name: "You are signed out" });
  // What the page reads by itself may find out before the button does.
  await watched.page.getByRole("button", { name: "Create" }).click({ timeout: 5000 }).catch(() => box.waitFor());
  await box.getByLabel("E-mail").fill(herald.admin.email);
  await box.getByLabel("Developer key").fill(herald.admin.key);
  await box.getByRole("button", { name: "Sign in" }).click();
  await box.waitFor({ state: "hidden" });
  assert.equal(await watched.page.getByLabel("Name", { exact: true }).inputValue(), "typed before");
  await watched.close();
});

test("200 sign-ins of one browser leave one session", async () => {
  for (let i = 0; i < 200; ++i) await herald.call("POST", "/api/v1/console/session", { browser: "same" });
  const { sessions } = await herald.call("POST", "/api/v1/uac-proxy/session/findSession", { name: ["console-same"] });
  assert.equal(sessions.length, 1);
});

test("a page of another port is not signed in, whatever it tries", async () => {
  const watched = await Watched.make(browser, { may: () => true });
  await watched.signIn(herald);
  const target = herald.url + "/api/v1/registry/workspaces/default/registered_models";
  const answer = createServer((_, out) => {
    out.writeHead(200, { "content-type": "text/html" });
    out.end(`<form method=post enctype=text/plain action="${target}"><input name='{"name":"forged","description":"' value='"}'><button>go</button></form>`);
  });
  await new Promise((done) => answer.listen(0, "127.0.0.1", done));
  try {
    await watched.page.goto(`http://127.0.0.1:${answer.address().port}/`);
    const tries = await watched.page.evaluate(async (url) => {
      const send = (more) => fetch(url, { method: "POST", body: '{"name":"forged"}', credentials: "include", ...more }).then((got) => got.type, () => "refused");
      return [await send({ mode: "no-cors" }), await send({ headers: { "herald-console": "1" } })];
    }, target);
    assert.equal(tries[1], "refused");
    const [came] = await Promise.all([watched.page.waitForResponse(target), watched.page.getByText("go").click()]);
    assert.equal(came.status(), 401);
  } finally {
    answer.close();
  }
  const { registered_models: all } = await herald.call("POST", "/api/v1/registry/registered_models/find", {});
  assert.deepEqual(all.filter((each) => each.name === "forged"), []);
  await watched.close();
});

test("next leads nowhere else", async () => {
  const watched = await Watched.make(browser);
  await watched.signIn(herald);
  for (const next of ["//example.com/x", "/\\example.com", "javascript:alert(1)", "https:example.com", "\t//example.com", "https://example.com/", "/%09/example.com"]) {
    await watched.page.goto(`${herald.url}/sign-in?next=${encodeURIComponent(next)}`);
    await eventually(() => !watched.page.url().includes("sign-in"), `it leaves the sign-in with ${next}`);
    assert.equal(new URL(watched.page.url()).origin, herald.url, next);
  }
  await watched.close();
});

test("pages and files say who may frame, embed and run them", async () => {
  const page = await fetch(herald.url + "/");
  assert.equal(page.headers.get("cache-control"), "no-cache");
  const script = /src="([^"]+)"/.exec(await page.text())[1];
  for (const answer of [page, await fetch(herald.url + script)]) {
    assert.match(answer.headers.get("content-security-policy"), /^default-src 'none'; script-src 'self'; .*frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types console$/);
    assert.equal(answer.headers.get("x-frame-options"), "DENY");
    assert.equal(answer.headers.get("x-content-type-options"), "nosniff");
    assert.equal(answer.headers.get("cross-origin-opener-policy"), "same-origin");
    assert.equal(answer.headers.get("referrer-policy"), "no-referrer");
  }
  const again = await fetch(herald.url + "/", { headers: { "if-none-match": page.headers.get("etag") } });
  assert.equal(again.status, 304);
  assert.equal((await fetch(herald.url + "/nowhere")).status, 404);
});
