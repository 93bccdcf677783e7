// Protects against texts of others: whatever stands in a name, a readme, a comment or an answer stays text. Nothing
// runs, nothing leaves the page.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { open, Watched } from "./browser.mjs";
import { Herald, receiver } from "./herald.mjs";

const run = "window.__xss=1";
const payloads = [
  `<script>${run}</script>`, `<img src=x onerror=${run}>`, `"><svg onload=${run}>`, `'><iframe src=javascript:${run}>`, `javascript:${run}`, `JaVaScRiPt:${run}`, ` javascript:${run}`,
  `java\tscript:${run}`, `data:text/html,<script>${run}</script>`, `vbscript:${run}`, `{{constructor.constructor('${run}')()}}`, "${" + run + "}", `</title><script>${run}</script>`, `</script><script>${run}</script>`,
  `<a href="javascript:${run}">x</a>`, `[x](javascript:${run})`, `[x](java\u0000script:${run})`, `![x](https://example.com/leak)`, `<base href=https://example.com/>`, `<meta http-equiv=refresh content="0;url=https://example.com">`,
  `<link rel=stylesheet href=https://example.com/x.css>`, `<style>*{background:url(https://example.com/leak)}</style>`, `<form action=https://example.com><button>`, `<math><mi xlink:href="javascript:${run}">`, `<details open ontoggle=${run}>`, `<object data=javascript:${run}>`,
  "\u202egnp.exe", "a\u200b\u2066b\u2069", "\u0007\u001b[31mred", "\u001b]8;;https://example.com\u0007x", "𝕏".repeat(60), "ا".repeat(100), "W".repeat(240), "%3Cscript%3E", "&lt;script&gt;", "../../etc/passwd", "__proto__", "constructor", "toString", "null",
];
// No text of Herald holds control characters, but those of lines.
const asText = (text) => text.replace(/[\u0000-\u0008\u000b-\u001f]/g, "");
let herald, browser, bad, subject;
before(async () => {
  herald = await Herald.start();
  browser = await open();
  bad = await receiver(502, payloads.join("\n"));
  const model = await herald.model("victim", { readme_text: asText(payloads.map((each) => `# ${each}\n\n${each}\n\n- ${each}\n\n\`${each}\` [${each}](${each})`).join("\n")) });
  const attributes = payloads.map((each, i) => ({ key: `k${i} ${each.replace(/[\u0000-\u001f\u200b\u202e\u2066\u2069]/g, "")}`.slice(0, 60).trim(), value: each }));
  const version = await herald.version(model, "v1", { attributes, readme_text: asText(payloads.join("\n\n")), description: asText(payloads.join(" ")), environment: { python: { raw: payloads.join(" ") } } });
  for (const each of payloads) await herald.call("POST", "/api/v1/registry/stage/createComment", { model_version_id: version.id, comment: asText(each) });
  await herald.call("POST", "/api/v1/deployment/workspace/default/builds", { model_version_id: version.id, external_location: payloads[0] });
  // Names take fewer characters: those that are refused cannot harm.
  subject = [];
  for (const each of payloads) {
    const answer = await herald.ask("POST", "/api/v1/registry/workspaces/default/registered_models", { name: each, description: each, labels: [each.slice(0, 100)] });
    if (answer.ok) subject.push(each);
  }
  await herald.webhook("hostile", bad.url, ["PROMOTE"]);
});
after(async () => {
  await browser?.close();
  await bad?.end();
  await herald?.end();
});

test("hostile texts stay texts on every page", async () => {
  assert.ok(subject.length > 20, "enough of them are names");
  const watched = await Watched.make(browser);
  const away = [];
  watched.page.on("request", (request) => !request.url().startsWith(herald.url) && away.push(request.url()));
  watched.page.on("dialog", (dialog) => (away.push(dialog.message()), dialog.dismiss()));
  await watched.signIn(herald);
  const paths = ["/w/default", "/w/default/models", "/w/default/models/victim?tab=readme", "/w/default/models/victim/v1", "/w/default/models/victim/v1?tab=attributes", "/w/default/models/victim/v1?tab=readme", "/w/default/models/victim/v1?tab=builds", "/w/default/builds/1", "/audit"];
  for (const path of [...paths, ...subject.map((each) => `/w/default/models/${encodeURIComponent(each)}?tab=details`)]) {
    await watched.goto(herald.url + path);
    assert.equal(await watched.page.evaluate(() => window.__xss), undefined, path);
    const links = await watched.page.$$eval("a[href]", (all) => all.map((each) => each.protocol));
    assert.deepEqual(links.filter((each) => each !== "http:" && each !== "https:"), [], path);
    assert.equal(await watched.page.evaluate(() => document.querySelectorAll("main script, main iframe, main img, main base, main form[action], main object").length), 0, path);
  }
  await watched.page.goto(`${herald.url}/w/default/webhooks/hostile`);
  await watched.page.getByRole("button", { name: "Send a test" }).click();
  await watched.page.getByText("502").first().waitFor();
  assert.equal(await watched.page.evaluate(() => window.__xss), undefined);
  await watched.close();
  assert.deepEqual([away, watched.faults], [[], []]);
});

test("what is not seen is made visible", async () => {
  const watched = await Watched.make(browser);
  await watched.signIn(herald);
  await watched.goto(`${herald.url}/w/default/models/victim/v1`);
  const text = await watched.page.innerText("main");
  assert.ok(text.includes("\\u{202e}gnp.exe"));
  assert.ok(!/[\u202e\u2066\u001b]/.test(text));
  await watched.close();
});
