// The small parts that pages are put together from.
import { useEffect, useId, useRef, useState, type ReactNode } from "react";
import { Refusal } from "../data/api";
import { ago, dayAndTime, oneLine, timeOf, visible, wholeTime } from "../data/format";
import { useSettings } from "../data/settings";
import { serverNow, type Read } from "../data/store";
import { Icon, type IconName } from "./icons";

export type Tone = "ok" | "run" | "warn" | "bad" | "plain";

/// A text that came from elsewhere: never markup, in its own direction, with nothing hidden in it.
export function Text({ of, most }: { of: string; most?: number }) {
  return <bdi>{most ? oneLine(of, most) : visible(of)}</bdi>;
}

export function Badge({ tone = "plain", icon, children }: { tone?: Tone; icon?: IconName; children: ReactNode }) {
  return (
    <span className={"badge " + (tone === "plain" ? "" : tone)}>
      {icon && <Icon name={icon} />}
      {children}
    </span>
  );
}

export function Chips({ of }: { of: string[] }) {
  if (!of.length) return null;
  return (
    <span className="chips">
      {of.map((each) => (
        <span className="chip" key={each}>
          <Text of={each} most={60} />
        </span>
      ))}
    </span>
  );
}

/// A button that may not be pressed stays where it is, and says why.
export function Button(props: {
  children: ReactNode;
  icon?: IconName;
  look?: "main" | "quiet" | "bad" | "plain";
  small?: boolean;
  not?: string;
  busy?: boolean;
  type?: "button" | "submit";
  label?: string;
  onPress?: () => void;
}) {
  const { look = "plain", not = "", busy = false } = props;
  const why = useId();
  const isOff = not !== "" || busy;
  return (
    <>
      <button
        className={`btn ${look === "plain" ? "" : look} ${props.small ? "s" : ""}`}
        type={props.type ?? "button"}
        aria-disabled={isOff || undefined}
        aria-describedby={not ? why : undefined}
        aria-label={props.label}
        title={not || undefined}
        onClick={(event) => {
          if (isOff) event.preventDefault();
          else props.onPress?.();
        }}
      >
        {props.icon && <Icon name={props.icon} />}
        {props.children}
        {busy && <span className="sr"> (under way)</span>}
      </button>
      {not && (
        <span className="sr" id={why}>
          {not}
        </span>
      )}
    </>
  );
}

export function LinkButton({ to, icon, look, small, children }: { to: string; icon?: IconName; look?: "main" | "quiet"; small?: boolean; children: ReactNode }) {
  return (
    <a className={`btn ${look ?? ""} ${small ? "s" : ""}`} href={to}>
      {icon && <Icon name={icon} />}
      {children}
    </a>
  );
}

/// An address that came from elsewhere becomes a link only if it is http or https; its host is shown.
export function ForeignLink({ to, children }: { to: string; children?: ReactNode }) {
  let url: URL | null = null;
  try {
    url = new URL(to);
  } catch {
    url = null;
  }
  if (!url || (url.protocol !== "http:" && url.protocol !== "https:")) return <Text of={to} most={120} />;
  return (
    <a href={url.href} target="_blank" rel="noopener noreferrer">
      {children ?? <Text of={url.host} />}
      {children ? (
        <span className="muted">
          {" "}
          (<Text of={url.host} />)
        </span>
      ) : null}
      <Icon name="out" label="opens in a new tab" className="after" />
    </a>
  );
}

let ticker: ReturnType<typeof setInterval> | undefined;
const tickers = new Set<() => void>();
/// Now, by the server's clock, anew each second.
export function useNow(): number {
  const [now, set] = useState(serverNow);
  useEffect(() => {
    const tick = () => set(serverNow());
    tickers.add(tick);
    ticker ??= setInterval(() => tickers.forEach((each) => each()), 1000);
    return () => {
      tickers.delete(tick);
      if (tickers.size) return;
      clearInterval(ticker);
      ticker = undefined;
    };
  }, []);
  return now;
}

export function Time({ at, exact = false }: { at: string | number | undefined; exact?: boolean }) {
  useSettings();
  const now = useNow();
  const ms = timeOf(at);
  if (!ms) return <span className="muted">–</span>;
  return (
    <time dateTime={new Date(ms).toISOString()} title={wholeTime(ms)} className="num">
      {exact ? dayAndTime(ms) : ago(ms, now)}
    </time>
  );
}

export function Card({ title, end, children, label }: { title?: ReactNode; end?: ReactNode; children: ReactNode; label?: string }) {
  return (
    <section className="card" aria-label={label}>
      {title && (
        <h2>
          <span>{title}</span>
          {end && <span className="end">{end}</span>}
        </h2>
      )}
      {children}
    </section>
  );
}

export function KeyValue({ rows }: { rows: [string, ReactNode][] }) {
  return (
    <dl className="kv">
      {rows.map(([name, value]) => (
        <FragmentOf key={name} name={name} value={value} />
      ))}
    </dl>
  );
}
function FragmentOf({ name, value }: { name: string; value: ReactNode }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </>
  );
}

/// Works without the clipboard API, which plain http does not have.
export async function copy(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = document.createElement("textarea");
    area.value = text;
    area.className = "sr";
    const at = document.activeElement as HTMLElement | null;
    (document.querySelector("dialog[open]") ?? document.body).append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    at?.focus();
    return done;
  }
}
export function Copy({ text, what }: { text: string; what: string }) {
  const [done, set] = useState("");
  useEffect(() => {
    if (!done) return;
    const timer = setTimeout(() => set(""), 2000);
    return () => clearTimeout(timer);
  }, [done]);
  return (
    <button className="copy" type="button" aria-label={`Copy ${what}`} title={`Copy ${what}`} onClick={() => void copy(text).then((ok) => set(ok ? "Copied" : "Not copied: select it by hand"))}>
      <Icon name={done === "Copied" ? "ok" : "copy"} />
      <span className="sr" role="status">
        {done}
      </span>
    </button>
  );
}
/// `code`: its lines stay lines.
export function Command({ text, code = false }: { text: string; code?: boolean }) {
  return (
    <div className={code ? "cmd code" : "cmd"}>
      <pre tabIndex={0}>{text}</pre>
      <Copy text={text} what={code ? "the code" : "the command"} />
    </div>
  );
}

/// `page`: it is all that the page has.
export function Empty({ icon, title, children, act, command, page = false }: { icon: IconName; title: string; children?: ReactNode; act?: ReactNode; command?: string; page?: boolean }) {
  return (
    <div className="empty">
      <Icon name={icon} />
      {page ? <h1>{title}</h1> : <strong>{title}</strong>}
      {children && <p>{children}</p>}
      {(act || command) && (
        <div className="acts">
          {act}
          {act && command && <span className="muted">or</span>}
          {command && <code>{command}</code>}
        </div>
      )}
    </div>
  );
}

const widths = ["62%", "84%", "47%", "71%", "55%", "78%"];
export function Bones({ rows = 4 }: { rows?: number }) {
  return (
    <div className="bones" role="status" aria-label="Loading">
      {Array.from({ length: rows }, (_, i) => (
        <span className="bone" key={i} style={{ width: widths[i % widths.length] }} />
      ))}
    </div>
  );
}

function titleOf(error: Refusal): [string, string] {
  if (error.status === 404) return ["Not here, or not for you", "Either it does not exist, or you may not see it."];
  if (error.status === 403) return ["You may not do this", "Admins of the workspace can grant it."];
  if (error.status === 401) return ["You are signed out", ""];
  if (error.status === 429) return ["Too much at once", `Trying again by itself${error.retrySeconds ? ` in ${error.retrySeconds} s` : ""}.`];
  if (error.status === 409) return ["It has changed meanwhile, or exists already", ""];
  if (error.mayHaveHappened && error.status === 500) return ["It may have happened", "Look before you repeat it."];
  if (error.isAway) return ["Herald does not answer", "Trying again by itself."];
  if (error.status >= 500) return ["A fault in Herald", "Tell your administrator the request's id."];
  return ["That was not right", ""];
}
export function ErrorBox({ error, retry }: { error: Refusal; retry?: () => void }) {
  const [title, advice] = titleOf(error);
  return (
    <div className="box-error" role="alert">
      <Icon name="warn" />
      <strong>{title}</strong>
      <p>
        <Text of={error.message} />
      </p>
      {advice && <p>{advice}</p>}
      <div className="more">
        {error.requestId && (
          <span>
            Request <span className="mono">{oneLine(error.requestId, 60)}</span> <Copy text={error.requestId} what="the request's id" />
          </span>
        )}
        {retry && (
          <button type="button" className="btn s" onClick={retry}>
            Try again
          </button>
        )}
      </div>
    </div>
  );
}

/// A card's inside: bones, then what was read; the error if nothing was ever read.
/// `page`: the name of a page that is nothing without it.
export function Loaded<T>({ read, children, rows, page }: { read: Read<T>; children: (data: T) => ReactNode; rows?: number; page?: string }) {
  if (read.data !== undefined) return <>{children(read.data)}</>;
  if (read.error)
    return (
      <>
        {page && <Head title={<Text of={page} most={80} />} />}
        <ErrorBox error={read.error} />
      </>
    );
  return <Bones rows={rows} />;
}

export function Tabs({ label, tabs, here }: { label: string; tabs: { id: string; name: string; note?: ReactNode; to: string }[]; here: string }) {
  const list = useRef<HTMLElement>(null);
  useEffect(() => {
    // Some browsers return a promise, which would be taken for what cleans up.
    void list.current?.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }, [here]);
  return (
    <nav className="tabs" aria-label={label} ref={list}>
      {tabs.map((each) => (
        <a key={each.id} href={each.to} aria-current={each.id === here ? "page" : undefined}>
          {each.name}
          {each.note !== undefined && each.note !== "" && <small>{each.note}</small>}
        </a>
      ))}
    </nav>
  );
}

export function Head({ title, by, acts }: { title: ReactNode; by?: ReactNode; acts?: ReactNode }) {
  return (
    <div className="head">
      <div>
        <h1>{title}</h1>
        {by && <p className="by">{by}</p>}
      </div>
      {acts && <div className="acts">{acts}</div>}
    </div>
  );
}

export function useTitle(title: string): void {
  useEffect(() => {
    document.title = title ? `${oneLine(title, 80)} · Herald` : "Herald";
  }, [title]);
}
