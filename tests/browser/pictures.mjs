// See pictures.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { open, Watched } from "./browser.mjs";
import { eventually, fill, Herald, receiver } from "./herald.mjs";
import { pages } from "./paths.mjs";

async function takeAll(herald, browser, folder, scheme, width) {
  const watched = await Watched.make(browser, { width, scheme });
  const take = (name) => watched.page.screenshot({ path: join(folder, `${name.replaceAll(" ", "-")}-${width}-${scheme}.png`), fullPage: true });
  await watched.page.goto(herald.url + "/sign-in");
  await watched.page.waitForSelector("h1");
  await take("sign-in");
  await watched.signIn(herald);
  for (const [name, path] of Object.entries(pages("full"))) {
    await watched.goto(herald.url + path);
    await take(name);
  }
  await watched.close();
}

/// A promotion in progress, small enough for a README.
async function takeOfReadme(herald, browser) {
  const watched = await Watched.make(browser, { width: 1280 });
  await watched.page.setViewportSize({ width: 1280, height: 800 });
  await watched.signIn(herald);
  await watched.goto(herald.url + "/w/default/models/fraud/v2");
  await watched.page.screenshot({ path: new URL("../../docs/console.png", import.meta.url).pathname });
  await watched.close();
}

const herald = await Herald.start();
const hook = await receiver(200);
const browser = await open();
try {
  await herald.webhook("warehouse", hook.url);
  await fill(herald);
  await eventually(() => hook.came.length === 2, "both promotions arrive");
  if (process.argv[2] === "--readme") await takeOfReadme(herald, browser);
  else {
    mkdirSync(process.argv[2], { recursive: true });
    for (const scheme of ["light", "dark"]) for (const width of [1440, 390]) await takeAll(herald, browser, process.argv[2], scheme, width);
  }
} finally {
  await browser.close();
  await hook.end();
  await herald.end();
}
