// The caller: keys, sessions, and how this browser shows things.
import { useState } from "react";
import { call, Refusal, type Sending } from "../data/api";
import type { User } from "../data/calls";
import { timeOf } from "../data/format";
import { useSession, workspaceName } from "../data/session";
import { change, useSettings } from "../data/settings";
import { readAgain, useRead } from "../data/store";
import { Button, Card, Copy, Empty, ErrorBox, Head, KeyValue, Loaded, Text, Time, useTitle } from "../parts/basics";
import { Ask, Choice, Dialog, TextField, toast, useAct, useDialog } from "../parts/dialog";
import { nameOf } from "../parts/people";

/// A session makes no keys: the developer key itself is asked for, used once, and forgotten.
function WithKey({ title, about, act, look, send, done, close }: { title: string; about: string; act: string; look?: "bad"; send: (sending: Sending) => Promise<unknown>; done: (answer: unknown) => void; close: () => void }) {
  const { user } = useSession();
  const [key, setKey] = useState("");
  return (
    <Ask title={title} about={about} act={act} look={look} not={key.trim() ? "" : "Type your developer key first"} onClose={close} send={(sending) => send({ ...sending, as: { email: user.email, key: key.trim() } })} done={done}>
      <TextField label="Your developer key" value={key} set={setKey} type="password" focus complete="current-password" hint="Keys are made with a key, not with a session" />
    </Ask>
  );
}

export function KeyOnce({ user, close }: { user: User; close: () => void }) {
  const value = user.dev_key || user.secondary_dev_key || "";
  const [shown, show] = useState(false);
  return (
    <Dialog title={`The key of ${nameOf(user)}`} about="Only now: Herald never shows it again." onClose={close}>
      <div className="secret">
        <span className="wrap">{shown ? value : "•".repeat(32)}</span>
        <span className="end line">
          <Button small look="quiet" onPress={() => show(!shown)}>{shown ? "Hide" : "Show"}</Button>
          <Copy text={value} what="the key" />
        </span>
      </div>
      <div className="acts">
        <Button look="main" onPress={close}>I have it</Button>
      </div>
    </Dialog>
  );
}

function Keys() {
  const [dialog, open] = useDialog();
  return (
    <Card title="Developer keys">
      <div className="in">
        <p className="soft">You may have two at a time, so that one can be changed while the other works.</p>
        <div className="tools">
          <Button icon="plus" onPress={() => open((close) => <WithKey title="New key" about="The second of two." act="Make it" send={(sending) => call("POST /api/v1/uac-proxy/uac/addDevKey", { body: {} }, sending)} done={(user) => open((shut) => <KeyOnce user={user as User} close={shut} />)} close={close} />)}>
            New key…
          </Button>
          {(["Primary", "Secondary"] as const).map((which) => (
            <Button
              key={which}
              look="bad"
              icon="trash"
              onPress={() =>
                open((close) => (
                  <WithKey
                    title={`End the ${which.toLowerCase()} key`}
                    about="Whatever uses it is refused at once."
                    act="End it"
                    look="bad"
                    send={(sending) => call(which === "Primary" ? "DELETE /api/v1/uac-proxy/uac/deletePrimaryDevKey" : "DELETE /api/v1/uac-proxy/uac/deleteSecondaryDevKey", { body: {} }, sending)}
                    done={() => toast(`The ${which.toLowerCase()} key has ended`)}
                    close={close}
                  />
                ))
              }
            >
              End the {which.toLowerCase()}…
            </Button>
          ))}
        </div>
      </div>
      {dialog}
    </Card>
  );
}

function Sessions() {
  const { user } = useSession();
  const read = useRead("POST /api/v1/uac-proxy/session/findSession", { body: { verta_user_id: [user.verta_info.user_id], pagination: { page_number: 1, page_limit: 100 } } }, 20_000);
  const [, act] = useAct();
  const end = (id: string) => act(id, (sending) => call("POST /api/v1/uac-proxy/session/deleteSession", { body: { ids: [id] } }, sending), () => toast("The session has ended"));
  return (
    <Card title="Sessions">
      <Loaded read={read}>
        {({ sessions }) =>
          sessions.length ? (
            <ul className="rows">
              {[...sessions].sort((a, b) => timeOf(b.time_created) - timeOf(a.time_created)).map((each) => (
                <li key={each.id}>
                  <span className="grow">
                    <Text of={each.name} most={60} />
                    <small>made <Time at={each.time_created} />, ends <Time at={each.ttl_epoch} /></small>
                  </span>
                  <span className="end"><Button small onPress={() => end(String(each.id))}>End</Button></span>
                </li>
              ))}
            </ul>
          ) : (
            <Empty icon="clock" title="No sessions" />
          )
        }
      </Loaded>
    </Card>
  );
}

function Look() {
  const now = useSettings();
  return (
    <Card title="This browser">
      <div className="in">
        <Choice label="Look" value={now.theme} set={(theme) => change({ theme: theme as typeof now.theme })} options={[["system", "As the system"], ["light", "Light"], ["dark", "Dark"]]} />
        <Choice label="Times" value={now.zone} set={(zone) => change({ zone: zone as typeof now.zone })} options={[["local", `Local (${Intl.DateTimeFormat().resolvedOptions().timeZone})`], ["UTC", "UTC"]]} />
        <div className="checks">
          <label>
            <input type="checkbox" checked={now.shortcuts} onChange={() => change({ shortcuts: !now.shortcuts })} /> Shortcuts of single letters: / to search, g m to models, g i to the inbox, c to comment
          </label>
        </div>
      </div>
    </Card>
  );
}

export function MePage() {
  const { user, workspaces } = useSession();
  const [error, setError] = useState<Refusal | null>(null);
  const own = workspaces.find((each) => each.id === user.verta_info.default_workspace_id);
  useTitle("Me");
  const setDefault = (id: string) =>
    void call("POST /api/v1/uac-proxy/uac/updateUser", { body: { info: { verta_info: { user_id: user.verta_info.user_id } }, default_workspace_id: id } }).then(
      () => {
        setError(null);
        readAgain();
        toast("Saved");
      },
      (why: Refusal) => setError(why),
    );
  return (
    <>
      <Head title={<Text of={nameOf(user)} most={80} />} by={<Text of={user.email} />} />
      <div className="two">
        <div className="stack">
          <Keys />
          <Sessions />
        </div>
        <div className="stack">
          <Card title="You">
            <div className="in">
              <KeyValue rows={[["Name", <Text key="n" of={user.full_name || "–"} />], ["User name", <Text key="u" of={user.verta_info.username} />], ["Id", <span key="i" className="mono">{user.verta_info.user_id}</span>]]} />
              <br />
              <Choice label="Workspace to begin in" value={String(own?.id ?? "")} set={setDefault} options={workspaces.map((each) => [String(each.id), workspaceName(each)])} />
              {error && <ErrorBox error={error} />}
            </div>
          </Card>
          <Look />
        </div>
      </div>
    </>
  );
}
