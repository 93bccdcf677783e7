// Who hears of changes: webhooks, their settings, and a test of each.
import { useState, type ReactNode } from "react";
import { call, Refusal, type Sending } from "../data/api";
import type { CreateWebhookRequest, TestResult, UpdateWebhookRequest, Webhook } from "../data/calls";
import { count, duration, oneLine } from "../data/format";
import { go, pathOf, useHere } from "../data/route";
import { useMay, useWorkspace } from "../data/session";
import { useRead } from "../data/store";
import { Badge, Button, Card, Copy, Empty, ErrorBox, Head, KeyValue, LinkButton, Loaded, Text, Time, useTitle } from "../parts/basics";
import { Ask, Choice, Confirm, Menu, TextField, toast, useAct, useDialog } from "../parts/dialog";
import { Icon } from "../parts/icons";
import { Paging, rowsOfPage, usePage } from "../parts/paging";
import { WebhookBadge } from "../parts/stage";
import { Snippets } from "./snippets";

type EventType = Webhook["event_types"][number];
const eventNames: Record<string, string> = { PROMOTE: "Promotions", REQUEST_SCAN: "Scan requests", CREATE: "Things made", UPDATE: "Changes", DELETE: "Deletions", READ: "Reads", TRANSITION: "Steps of requests", WEBHOOK_HEALTH: "Failing webhooks" };
const eventTypes = Object.keys(eventNames) as EventType[];

export function hears(webhook: Pick<Webhook, "all_events" | "event_types">): string {
  return webhook.all_events ? "Everything" : webhook.event_types.map((each) => eventNames[each] ?? each).join(", ") || "Nothing";
}
function hostOf(address: string): string {
  try {
    return new URL(address).host;
  } catch {
    return address;
  }
}

export function WebhooksPage({ ws }: { ws: string }) {
  const workspace = useWorkspace(ws);
  const may = useMay(workspace);
  const page = usePage();
  const read = useRead("POST /api/v1/uac-proxy/events/findWebhook", { body: { workspace_id: [workspace?.id ?? ""], pagination: { page_number: page, page_limit: rowsOfPage } } }, 10_000);
  useTitle("Webhooks");
  const create = may.webhooks ? (
    <Button look="main" icon="plus" not={may.webhooks}>New webhook</Button>
  ) : (
    <LinkButton look="main" icon="plus" to={pathOf("w", ws, "webhooks-new")}>New webhook</LinkButton>
  );
  return (
    <>
      <Head title={<>Webhooks <span className="ghost num">{read.data && count(read.data.total_records)}</span></>} acts={create} />
      <section className="card" aria-label="Webhooks">
        <Loaded read={read}>
          {(data) =>
            data.webhooks.length ? (
              <div className="scroll" tabIndex={0} role="group" aria-label="Table">
                <table className="t flow">
                  <thead>
                    <tr>
                      <th scope="col">Name</th>
                      <th scope="col">Address</th>
                      <th scope="col">Hears</th>
                      <th scope="col">State</th>
                      <th scope="col">Changed</th>
                    </tr>
                  </thead>
                  <tbody>
                    {data.webhooks.map((each) => (
                      <tr key={each.id}>
                        <td>
                          <a className="name" href={pathOf("w", ws, "webhooks", each.name)}><Text of={each.name} most={80} /></a>
                        </td>
                        <td className="wrap"><Text of={hostOf(each.location)} most={80} /></td>
                        <td>{hears(each)}</td>
                        <td>
                          <WebhookBadge webhook={each} />
                          {each.status_reason && <small><Text of={each.status_reason} most={120} /></small>}
                        </td>
                        <td className="nowrap" data-label="Changed"><Time at={each.time_updated} /></td>
                      </tr>
                    ))}
                  </tbody>
                </table>
                <Paging total={Number(data.total_records)} />
              </div>
            ) : (
              <Empty icon="hook" title="No webhooks yet" act={create}>
                A webhook tells another system that something happened: a promotion, a scan that is wanted.
              </Empty>
            )
          }
        </Loaded>
      </section>
    </>
  );
}

// ---- the test

const phases: [keyof TestResult["attempt"], string, string][] = [["dns_us", "DNS", "--dns"], ["connect_us", "Connect", "--connect"], ["tls_us", "TLS", "--tls"], ["first_byte_us", "First byte", "--wait"]];

/// Where the time went; the rest of it is the body.
export function Waterfall({ attempt }: { attempt: TestResult["attempt"] }) {
  const rows: [string, number, string][] = phases.map(([key, name, colour]) => [name, Number(attempt[key]), colour]);
  const total = Math.max(Number(attempt.total_us), 1);
  rows.push(["Body", Math.max(0, total - rows.reduce((sum, [, us]) => sum + us, 0)), "--read"]);
  let x = 0;
  return (
    <dl className="wfall">
      {rows.map(([name, us, colour]) => {
        const at = x;
        x += us;
        return (
          <div className="pair" key={name}>
            <dt>{name}</dt>
            <dd>
              <svg viewBox="0 0 1000 12" preserveAspectRatio="none" aria-hidden="true">
                <rect width="1000" height="12" fill="var(--well)" />
                {us > 0 && <rect x={(at / total) * 1000} width={Math.max((us / total) * 1000, 4)} height="12" fill={`var(${colour})`} />}
              </svg>
            </dd>
            <dd className="num muted">{us ? duration(us / 1000) : "–"}</dd>
          </div>
        );
      })}
    </dl>
  );
}

export function TestBox({ webhook, not }: { webhook: Pick<Webhook, "id" | "name">; not: string }) {
  const [said, hear] = useState<TestResult | null>(null);
  const [error, setError] = useState<Refusal | null>(null);
  const [busy, setBusy] = useState(false);
  const send = async () => {
    setBusy(true);
    setError(null);
    hear(null);
    try {
      hear(await call("POST /api/v1/uac-proxy/events/triggerTest", { body: { webhook_id: webhook.id } }));
    } catch (why) {
      setError(why instanceof Refusal ? why : new Refusal(0, 0, String(why), ""));
    }
    setBusy(false);
  };
  const isGood = said !== null && said.status_code >= 200 && said.status_code < 300;
  return (
    <Card title="Test" end={<Button small icon="send" busy={busy} not={not} onPress={() => void send()}>Send a test</Button>}>
      <div className="in" role="status">
        {busy && <p className="muted">Sent; waiting for the receiver…</p>}
        {error && <ErrorBox error={error} />}
        {said && (
          <>
            <p className="line">
              <Badge tone={isGood ? "ok" : "bad"} icon={isGood ? "ok" : "x"}>{said.status_code || "No answer"}</Badge>
              <span className="num">in {duration(Number(said.attempt.total_us) / 1000)}</span>
              {said.attempt.address && <span className="end mono muted">{said.attempt.address}</span>}
            </p>
            {said.hint && <p className="soft"><Text of={said.hint} /></p>}
            <Waterfall attempt={said.attempt} />
          </>
        )}
        {!busy && !error && !said && <p className="muted">A signed event of the type TEST goes to the receiver; its answer is shown here.</p>}
      </div>
    </Card>
  );
}

// ---- one webhook

interface Wish {
  all: boolean;
  types: EventType[];
}
function EventChoice({ wish, set }: { wish: Wish; set: (to: Wish) => void }) {
  const toggle = (type: EventType) => set({ all: false, types: wish.types.includes(type) ? wish.types.filter((each) => each !== type) : [...wish.types, type] });
  return (
    <fieldset className="field2">
      <legend>Hears</legend>
      <div className="checks">
        <label>
          <input type="checkbox" checked={wish.all} onChange={() => set({ ...wish, all: !wish.all })} /> Everything
        </label>
        {eventTypes.map((each) => (
          <label key={each}>
            <input type="checkbox" checked={wish.all || wish.types.includes(each)} disabled={wish.all} onChange={() => toggle(each)} /> {eventNames[each]}
          </label>
        ))}
      </div>
    </fieldset>
  );
}

function changeOf(webhook: Webhook, name: string, description: string, location: string, wish: Wish): UpdateWebhookRequest {
  const out: UpdateWebhookRequest = { id: webhook.id };
  if (name !== webhook.name) out.new_name = name;
  if (description !== webhook.description) out.description = description;
  if (location !== webhook.location) out.new_location = location;
  if (wish.all !== webhook.all_events) {
    if (wish.all) out.set_all_events = true;
    else out.clear_all_events = true;
  }
  const added = wish.types.filter((each) => !webhook.event_types.includes(each));
  const removed = webhook.event_types.filter((each) => !wish.types.includes(each));
  if (added.length) out.add_event_types = added;
  if (removed.length) out.delete_event_types = removed;
  return out;
}

function EditWebhook({ ws, webhook, close }: { ws: string; webhook: Webhook; close: () => void }) {
  const [name, setName] = useState(webhook.name);
  const [description, setDescription] = useState(webhook.description);
  const [location, setLocation] = useState(webhook.location);
  const [wish, setWish] = useState<Wish>({ all: webhook.all_events, types: webhook.event_types });
  return (
    <Ask title={`Edit ${webhook.name}`} act="Save" not={wish.all || wish.types.length ? "" : "It must hear something"} onClose={close} send={(sending) => call("POST /api/v1/uac-proxy/events/updateWebhook", { body: changeOf(webhook, name.trim(), description, location.trim(), wish) }, sending)} done={() => (toast(`Saved ${name.trim()}`), name.trim() !== webhook.name && go(pathOf("w", ws, "webhooks", name.trim()), "replace"))}>
      <TextField label="Name" value={name} set={setName} required />
      <TextField label="Description" value={description} set={setDescription} rows={2} />
      <TextField label="Address" value={location} set={setLocation} required />
      <EventChoice wish={wish} set={setWish} />
    </Ask>
  );
}

export function freshSecret(): string {
  return "whsec_" + btoa(String.fromCharCode(...crypto.getRandomValues(new Uint8Array(32))));
}

/// A secret is on the screen once, and masked.
function Secret({ value, regenerate }: { value: string; regenerate?: () => void }) {
  const [shown, show] = useState(false);
  return (
    <div className="field2">
      <span className="line">
        <b>Secret</b> <span className="muted">Only now: Herald never shows it again.</span>
      </span>
      <div className="secret">
        <span className="wrap">{shown ? value : "whsec_" + "•".repeat(24)}</span>
        <span className="end line">
          <Button small look="quiet" onPress={() => show(!shown)}>{shown ? "Hide" : "Show"}</Button>
          <Copy text={value} what="the secret" />
          {regenerate && <Button small look="quiet" icon="again" onPress={regenerate}>New one</Button>}
        </span>
      </div>
    </div>
  );
}

function NewSecret({ webhook, close }: { webhook: Webhook; close: () => void }) {
  const [secret, setSecret] = useState(freshSecret);
  const [overlap, setOverlap] = useState("86400");
  return (
    <Ask title={`New secret of ${webhook.name}`} about="Deliveries are signed with both until the old one ends: a receiver that knows either takes them." act="Set it" onClose={close} send={(sending) => call("POST /api/v1/uac-proxy/events/rotateSecret", { body: { webhook_id: webhook.id, new_secret: secret, overlap_seconds: Number(overlap) } }, sending)} done={() => toast("The new secret counts")}>
      <Secret value={secret} regenerate={() => setSecret(freshSecret())} />
      <Choice label="The old one signs, too, for" value={overlap} set={setOverlap} options={[["86400", "a day"], ["3600", "an hour"], ["604800", "a week"], ["0", "no longer: it has leaked"]]} />
    </Ask>
  );
}

export function WebhookPage({ ws, name }: { ws: string; name: string }) {
  const workspace = useWorkspace(ws);
  const may = useMay(workspace);
  const [dialog, open] = useDialog();
  const read = useRead("POST /api/v1/uac-proxy/events/findWebhook", { body: { workspace_id: [workspace?.id ?? ""], names: [name] } });
  useTitle(name);
  const [isBusy, act] = useAct();
  const setStatus = (webhook: Webhook, status: "ENABLED" | "DISABLED") =>
    act("status", (sending) => call("POST /api/v1/uac-proxy/events/setWebhookStatus", { body: { webhook_id: webhook.id, status } }, sending), () => toast(status === "ENABLED" ? `${webhook.name} hears again` : `${webhook.name} hears nothing from now on`));
  return (
    <Loaded read={read} rows={6} page={name}>
      {({ webhooks }) => {
        const webhook = webhooks.find((each) => each.name === name);
        if (!webhook) return <Empty page icon="flag" title={`There is no webhook "${oneLine(name, 60)}", or not for you`} act={<a href={pathOf("w", ws, "webhooks")}>All webhooks</a>} />;
        const isOn = webhook.status === "ENABLED";
        return (
          <>
            <Head
              title={<><Text of={webhook.name} most={80} /> <WebhookBadge webhook={webhook} /></>}
              by={<>{webhook.description && <Text of={webhook.description} most={240} />}<span className="mono wrap"><Text of={webhook.location} /></span><span className="mono">id {webhook.id} <Copy text={String(webhook.id)} what="the id" /></span></>}
              acts={
                <>
                  <Button icon={isOn ? "pause" : "again"} busy={isBusy("status")} not={may.webhooks} onPress={() => setStatus(webhook, isOn ? "DISABLED" : "ENABLED")}>{isOn ? "Switch off" : "Switch on"}</Button>
                  <Menu
                    label="More actions"
                    items={[
                      { name: "Edit…", icon: "edit", not: may.webhooks, onPress: () => open((close) => <EditWebhook ws={ws} webhook={webhook} close={close} />) },
                      { name: "New secret…", icon: "key", not: may.webhooks, onPress: () => open((close) => <NewSecret webhook={webhook} close={close} />) },
                      { name: "Delete…", icon: "trash", not: may.webhooks, onPress: () => open((close) => <Confirm title={`Delete ${webhook.name}`} about={`What still waits for it is never delivered (id ${webhook.id}).`} name={webhook.name} act="Delete" send={(sending) => call("DELETE /api/v1/uac-proxy/events/deleteWebhook", { body: { ids: [webhook.id] } }, sending)} done={() => go(pathOf("w", ws, "webhooks"))} onClose={close} />) },
                    ]}
                  />
                </>
              }
            />
            {!isOn && (
              <section className="alert warn" role="status" aria-label="Off">
                <Icon name="pause" className="ring still" />
                <strong>It hears nothing</strong>
                <p>{webhook.status_reason ? <Text of={webhook.status_reason} /> : "Somebody switched it off."}</p>
              </section>
            )}
            <div className="two">
              <div className="stack">
                <TestBox webhook={webhook} not={may.admin && may.webhooks} />
                <Snippets />
              </div>
              <div className="stack">
                <Card title="Details">
                  <div className="in">
                    <KeyValue rows={[["Hears", hears(webhook)], ["About", resources(webhook)], ["Made", <Time key="c" at={webhook.time_created} exact />], ["Changed", <Time key="u" at={webhook.time_updated} exact />]]} />
                  </div>
                </Card>
              </div>
            </div>
            {dialog}
          </>
        );
      }}
    </Loaded>
  );
}

function resources(webhook: Webhook): ReactNode {
  const all = webhook.resource_types.flatMap((each) => Object.values(each)).filter(Boolean) as string[];
  return all.length ? all.map((each) => each.toLowerCase().replaceAll("_", " ")).join(", ") : "everything";
}

// ---- a new one

const presets: Record<string, Wish> = { promotions: { all: false, types: ["PROMOTE"] }, scans: { all: false, types: ["REQUEST_SCAN"] }, everything: { all: true, types: [] } };

export function NewWebhookPage({ ws }: { ws: string }) {
  const workspace = useWorkspace(ws);
  const may = useMay(workspace);
  const here = useHere();
  const [name, setName] = useState("");
  const [address, setAddress] = useState("https://");
  const [preset, setPreset] = useState(here.searchParams.get("for") === "scans" ? "scans" : "promotions");
  const [wish, setWish] = useState<Wish>(presets["promotions"]!);
  const [secret, setSecret] = useState(freshSecret);
  const [made, setMade] = useState<Webhook | null>(null);
  const [dialog, open] = useDialog();
  useTitle("New webhook");
  const chosen = presets[preset] ?? wish;
  const not = may.webhooks || (!name.trim() ? "Give it a name first" : !/^https?:\/\/.+/.test(address.trim()) ? "Give it an address first" : !chosen.all && !chosen.types.length ? "It must hear something" : "");
  const body: CreateWebhookRequest = { name: name.trim(), location: address.trim(), all_events: chosen.all, event_types: chosen.all ? [] : chosen.types, mutual_secret: secret, workspace_id: workspace?.id };
  return (
    <>
      <Head title="New webhook" by="It tells another system that something happened, signed, and again until it is taken." />
      <div className="two">
        <div className="stack">
          <Card label="The webhook">
            <div className="in">
              <TextField label="Name" value={name} set={setName} focus required />
              <TextField label="Address" value={address} set={setAddress} required hint={address.startsWith("http://") ? "Plain http is taken only where the installation allows it (--allow-http)" : "Where the receiver listens"} />
              <Choice label="Hears" value={preset} set={setPreset} options={[["promotions", "Promotions"], ["scans", "Scan requests"], ["everything", "Everything"], ["choose", "Choose…"]]} />
              {preset === "choose" && <EventChoice wish={wish} set={setWish} />}
              <Secret value={secret} regenerate={made ? undefined : () => setSecret(freshSecret())} />
              {made ? (
                <p className="line"><Badge tone="ok" icon="ok">Made</Badge> <a href={pathOf("w", ws, "webhooks", made.name)}>Its page</a></p>
              ) : (
                <Button look="main" icon="plus" not={not} onPress={() => open((close) => <Create body={body} close={close} done={setMade} />)}>Create…</Button>
              )}
            </div>
          </Card>
          {made && <TestBox webhook={made} not="" />}
        </div>
        <div className="stack"><Snippets /></div>
      </div>
      {dialog}
    </>
  );
}

function Create({ body, close, done }: { body: CreateWebhookRequest; close: () => void; done: (made: Webhook) => void }) {
  return (
    <Ask title={`Create ${oneLine(body.name, 60)}`} about="Have you copied the secret? Herald does not show it again." act="Create" onClose={close} send={(sending: Sending) => call("POST /api/v1/uac-proxy/events/createWebhook", { body }, sending)} done={(made) => done(made as Webhook)}>
      <KeyValue rows={[["Address", <Text key="a" of={body.location} most={120} />], ["Hears", hears({ all_events: !!body.all_events, event_types: (body.event_types ?? []) as EventType[] })]]} />
    </Ask>
  );
}
