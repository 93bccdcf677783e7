// Dialogs, menus, and the messages that come and go.
import { useEffect, useId, useRef, useState, useSyncExternalStore, type ReactNode } from "react";
import { Refusal, freshKey, type Sending } from "../data/api";
import { oneLine } from "../data/format";
import { readAgain } from "../data/store";
import { Button, ErrorBox } from "./basics";
import { Icon, type IconName } from "./icons";

/// A native dialog: it keeps the focus, and gives it back.
export function Dialog({ title, about, onClose, children, className = "" }: { title: string; about?: ReactNode; onClose: () => void; children: ReactNode; className?: string }) {
  const box = useRef<HTMLDialogElement>(null);
  const name = useId();
  useEffect(() => {
    const opener = document.activeElement as HTMLElement | null;
    box.current?.showModal();
    return () => {
      // What opened it may be gone by now: then the page takes the focus.
      if (opener?.isConnected) opener.focus();
      else document.getElementById("content")?.focus();
    };
  }, []);
  return (
    <dialog
      className={"box " + className}
      ref={box}
      aria-labelledby={name}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
    >
      <div>
        <h2 id={name}>{title}</h2>
        {about && <p>{about}</p>}
        {children}
      </div>
    </dialog>
  );
}

/// A dialog with a form that sends something. What was typed stays when the sending fails; a repeat has the same
/// key, so it is never done twice.
export function Ask(props: {
  title: string;
  about?: ReactNode;
  act: string;
  look?: "main" | "bad";
  not?: string;
  children?: ReactNode;
  onClose: () => void;
  send: (sending: Sending) => Promise<unknown>;
  done?: (answer: unknown) => void;
}) {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<Refusal | null>(null);
  const key = useRef(freshKey());
  const submit = async () => {
    if (busy || props.not) return;
    setBusy(true);
    setError(null);
    try {
      const answer = await props.send({ key: key.current });
      readAgain();
      props.onClose();
      props.done?.(answer);
    } catch (why) {
      const refusal = why instanceof Refusal ? why : new Refusal(0, 0, String(why), "");
      // What was refused for good may be changed and sent anew.
      if (!refusal.mayHaveHappened && !refusal.isAway) key.current = freshKey();
      setError(refusal);
      setBusy(false);
    }
  };
  return (
    <Dialog title={props.title} about={props.about} onClose={props.onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void submit();
        }}
      >
        {props.children}
        {error && <ErrorBox error={error} />}
        <div className="acts">
          <Button look="quiet" onPress={props.onClose}>
            Cancel
          </Button>
          <Button type="submit" look={props.look === "bad" ? "bad" : "main"} busy={busy} not={props.not}>
            {error?.mayHaveHappened ? "Repeat safely" : props.act}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

/// Writes that one press sends. A repeat of one whose outcome is unknown has the same key, so it is done once;
/// while one is under way, the same is not sent again.
export function useAct(): [isBusy: (name: string) => boolean, act: <T>(name: string, send: (sending: Sending) => Promise<T>, done: (answer: T) => void) => void] {
  const keys = useRef(new Map<string, string>());
  const running = useRef(new Set<string>());
  const [, redraw] = useState(0);
  const tell = () => redraw((times) => times + 1);
  const run = async <T,>(name: string, send: (sending: Sending) => Promise<T>, done: (answer: T) => void) => {
    const key = keys.current.get(name) ?? freshKey();
    keys.current.set(name, key);
    running.current.add(name);
    tell();
    try {
      const answer = await send({ key });
      keys.current.delete(name);
      done(answer);
    } catch (why) {
      const refusal = why instanceof Refusal ? why : new Refusal(0, 0, String(why), "");
      if (!refusal.mayHaveHappened && !refusal.isAway) keys.current.delete(name);
      toast(refusal.mayHaveHappened ? `${oneLine(refusal.message)}. It may have happened; pressing again does not do it twice.` : oneLine(refusal.message, 400), true);
    }
    running.current.delete(name);
    tell();
    readAgain();
  };
  return [(name) => running.current.has(name), (name, send, done) => void (running.current.has(name) || run(name, send, done))];
}

export function Field({ label, hint, wrong, children }: { label: string; hint?: ReactNode; wrong?: string; children: (id: string, described: string) => ReactNode }) {
  const id = useId();
  return (
    <div className="field2">
      <label htmlFor={id}>{label}</label>
      {children(id, id + "-h")}
      <span id={id + "-h"} className={wrong ? "wrong" : "hint"}>
        {wrong || hint}
      </span>
    </div>
  );
}
export function TextField(props: { label: string; value: string; set: (to: string) => void; hint?: ReactNode; wrong?: string; placeholder?: string; type?: string; rows?: number; required?: boolean; focus?: boolean; complete?: string }) {
  const shared = { className: "input", value: props.value, placeholder: props.placeholder, required: props.required, autoFocus: props.focus };
  return (
    <Field label={props.label} hint={props.hint} wrong={props.wrong}>
      {(id, described) =>
        props.rows ? (
          <textarea id={id} aria-describedby={described} rows={props.rows} {...shared} onChange={(event) => props.set(event.target.value)} />
        ) : (
          <input id={id} aria-describedby={described} type={props.type ?? "text"} autoComplete={props.complete ?? "off"} spellCheck={false} {...shared} onChange={(event) => props.set(event.target.value)} />
        )
      }
    </Field>
  );
}
export function Choice({ label, value, set, options, hint }: { label: string; value: string; set: (to: string) => void; options: [string, string][]; hint?: ReactNode }) {
  return (
    <Field label={label} hint={hint}>
      {(id, described) => (
        <select id={id} aria-describedby={described} className="input" value={value} onChange={(event) => set(event.target.value)}>
          {options.map(([each, name]) => (
            <option key={each} value={each}>
              {name}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

/// For what cannot be undone: the name must be typed.
export function Confirm({ title, about, name, act, send, done, onClose }: { title: string; about: ReactNode; name: string; act: string; send: (sending: Sending) => Promise<unknown>; done?: () => void; onClose: () => void }) {
  const [typed, set] = useState("");
  return (
    <Ask title={title} about={about} act={act} look="bad" not={typed === name ? "" : `Type ${name} first`} send={send} done={done} onClose={onClose}>
      <TextField label={`Type ${name} to go on`} value={typed} set={set} focus />
    </Ask>
  );
}

export interface MenuItem {
  name: string;
  icon: IconName;
  to?: string;
  not?: string;
  onPress?: () => void;
}
export function Menu({ label, items, icon = "more", face }: { label: string; items: MenuItem[]; icon?: IconName; face?: string }) {
  const [open, set] = useState(false);
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!open) return;
    const away = (event: Event) => !box.current?.contains(event.target as Node) && set(false);
    const key = (event: KeyboardEvent) => {
      if (event.key === "Escape") {
        set(false);
        box.current?.querySelector("button")?.focus();
      }
      if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
      event.preventDefault();
      const all = [...(box.current?.querySelectorAll<HTMLElement>("li > :is(a, button)") ?? [])];
      const at = all.indexOf(document.activeElement as HTMLElement);
      all[(at + (event.key === "ArrowDown" ? 1 : all.length - 1) + (at < 0 && event.key === "ArrowUp" ? 1 : 0)) % all.length]?.focus();
    };
    document.addEventListener("pointerdown", away);
    document.addEventListener("keydown", key);
    box.current?.querySelector<HTMLElement>("li > :is(a, button)")?.focus();
    return () => {
      document.removeEventListener("pointerdown", away);
      document.removeEventListener("keydown", key);
    };
  }, [open]);
  return (
    <div className="menu" ref={box}>
      <button className={face ? "me" : "btn sq"} type="button" aria-label={label} aria-expanded={open} onClick={() => set(!open)}>
        {face ?? <Icon name={icon} />}
      </button>
      {open && (
        <ul>
          {items.map((each) => (
            <li key={each.name}>
              {each.to && !each.not ? (
                <a href={each.to} onClick={() => set(false)}>
                  <Icon name={each.icon} />
                  {each.name}
                </a>
              ) : (
                <button
                  type="button"
                  aria-disabled={each.not ? true : undefined}
                  onClick={() => {
                    if (each.not) return;
                    set(false);
                    box.current?.querySelector("button")?.focus();
                    each.onPress?.();
                  }}
                >
                  <Icon name={each.icon} />
                  {each.name}
                </button>
              )}
              {each.not && <div className="why">{each.not}</div>}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

// ---- messages

interface Message {
  id: number;
  text: string;
  isBad: boolean;
}
let messages: Message[] = [];
let next = 0;
const watchers = new Set<() => void>();
function show(to: Message[]): void {
  messages = to;
  watchers.forEach((tell) => tell());
}
/// What went wrong stays until it is closed.
export function toast(text: string, isBad = false): void {
  const id = ++next;
  show([...messages, { id, text, isBad }].slice(-4));
  if (isBad) return;
  setTimeout(() => document.activeElement?.closest(".toasts") === null && show(messages.filter((each) => each.id !== id)), 6000);
}
export function Toasts() {
  const now = useSyncExternalStore(
    (tell) => {
      watchers.add(tell);
      return () => void watchers.delete(tell);
    },
    () => messages,
  );
  return (
    <div className="toasts" role="status">
      {now.map((each) => (
        <div key={each.id} className={each.isBad ? "wrong" : ""}>
          {each.isBad && <Icon name="warn" label="Not done:" />}
          <span>{each.text}</span>
          <button type="button" aria-label="Close the message" onClick={() => show(messages.filter((one) => one.id !== each.id))}>
            <Icon name="x" />
          </button>
        </div>
      ))}
    </div>
  );
}

/// The state of one dialog at a time of a page.
export function useDialog(): [ReactNode, (make: (close: () => void) => ReactNode) => void] {
  const [shown, set] = useState<ReactNode>(null);
  return [shown, (make) => set(make(() => set(null)))];
}
