// Protects every page: with much and with nothing in it, in light and dark, wide and narrow, it is drawn without an
// error, without a violation of the policy, without sideways scrolling, and axe finds nothing.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { open, Watched } from "./browser.mjs";
import { fill, Herald } from "./herald.mjs";
import { pages } from "./paths.mjs";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core"), "utf8");
let herald, browser;

before(async () => {
  herald = await Herald.start();
  browser = await open();
});
after(async () => {
  await browser?.close();
  await herald?.end();
});

test("the types of calls are those of the program's document", async () => {
  const document = join(herald.folder, "openapi.json");
  writeFileSync(document, await (await fetch(herald.url + "/api/openapi.json")).text());
  execFileSync(new URL("../../api/console/make_types", import.meta.url).pathname, [document, "--check"], { stdio: "pipe" });
});

async function look(watched, name, path) {
  await watched.goto(herald.url + path);
  const sideways = await watched.page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
  assert.ok(sideways <= 0, `${name} is ${sideways} px too wide`);
  // The page's own policy allows no script of others: axe comes through the debugger.
  await watched.page.evaluate(axe);
  const found = await watched.page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }));
  return found.violations.map((each) => `${name}: ${each.id}: ${each.nodes.slice(0, 3).map((node) => node.html).join(" ")}`);
}

async function lookAtAll(scheme, width, states) {
  const watched = await Watched.make(browser, { width, scheme, may: (text) => text.includes("404") });
  await watched.page.goto(herald.url + "/sign-in");
  const found = await look(watched, "sign-in", "/sign-in");
  await watched.signIn(herald);
  for (const [name, path] of Object.entries(pages(states))) found.push(...(await look(watched, name, path)));
  assert.deepEqual(found, []);
  assert.deepEqual(watched.faults, []);
  await watched.close();
  assert.deepEqual(watched.faults, []);
}

test("every page is right while there is nothing", () => lookAtAll("light", 390, "empty"));

test("every page is right with something in it, light and wide, dark and narrow", async () => {
  await fill(herald);
  await lookAtAll("light", 1440, "full");
  await lookAtAll("dark", 320, "full");
});
