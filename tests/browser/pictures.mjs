// See pictures.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { open, Watched } from "./browser.mjs";
import { fill, Herald } from "./herald.mjs";
import { pages } from "./paths.mjs";

const folder = process.argv[2];
mkdirSync(folder, { recursive: true });
const herald = await Herald.start();
const browser = await open();
try {
  await fill(herald);
  for (const scheme of ["light", "dark"])
    for (const width of [1440, 390]) {
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
} finally {
  await browser.close();
  await herald.end();
}
