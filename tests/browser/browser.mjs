// Debian's chromium, and a page that notes whatever goes wrong in it.
import { chromium } from "playwright-core";

export const settled = ".bones, .bone";

export async function open() {
  return chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] });
}

export class Watched {
  faults = [];
  /// `may`: what may be said on the console, as the answer of a call that the test breaks.
  static async make(browser, { width = 1440, scheme = "light", may = () => false } = {}) {
    const made = new Watched();
    made.context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme: scheme, reducedMotion: "reduce" });
    made.page = await made.context.newPage();
    made.page.setDefaultTimeout(20_000);
    made.page.on("console", (message) => message.type() === "error" && !may(message.text()) && made.faults.push(`console: ${message.text()}`));
    made.page.on("pageerror", (error) => made.faults.push(`error: ${error}`));
    await made.context.addInitScript(() => {
      window.__csp = [];
      document.addEventListener("securitypolicyviolation", (event) => window.__csp.push(`${event.violatedDirective} ${event.blockedURI}`));
    });
    return made;
  }
  async signIn(herald, who = herald.admin) {
    await this.page.goto(herald.url + "/sign-in");
    await this.page.getByLabel("E-mail").fill(who.email);
    await this.page.getByLabel("Developer key").fill(who.key);
    await this.page.getByRole("button", { name: "Sign in" }).click();
    await this.page.waitForSelector(".app");
  }
  /// The page when it has drawn what it read.
  async goto(url) {
    await this.page.goto(url);
    await this.page.waitForFunction(() => document.querySelector("h1, .empty, .box-error") && !document.querySelector(".bones"));
  }
  async close() {
    const violations = await this.page.evaluate(() => window.__csp).catch(() => []);
    for (const each of violations ?? []) this.faults.push(`policy: ${each}`);
    await this.context.close();
  }
}
