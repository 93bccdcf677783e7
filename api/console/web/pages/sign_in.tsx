// The way in: e-mail and key, or a link of `herald sign-in-link`.
import { useEffect, useRef, useState } from "react";
import { Refusal } from "../data/api";
import { go, ownTarget, useHere } from "../data/route";
import { redeem, signIn } from "../data/session";
import { Button, Command, ErrorBox, useTitle } from "../parts/basics";
import { TextField } from "../parts/dialog";
import { Mark } from "../parts/icons";

const refusalOf = (why: unknown) => (why instanceof Refusal ? why : new Refusal(0, 0, String(why), ""));

function KeyForm({ done }: { done: () => void }) {
  const [email, setEmail] = useState("");
  const [key, setKey] = useState("");
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<Refusal | null>(null);
  const submit = async () => {
    setBusy(true);
    setError(null);
    try {
      await signIn(email.trim(), key.trim());
      setKey("");
      done();
    } catch (why) {
      setError(refusalOf(why));
      setBusy(false);
    }
  };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}
    >
      <TextField label="E-mail" value={email} set={setEmail} complete="username" required focus />
      <TextField label="Developer key" value={key} set={setKey} type="password" complete="current-password" required />
      {error && (
        <div className="field2">
          <ErrorBox error={error.status === 401 ? new Refusal(400, error.code, "E-mail and key do not belong together. Keys are long: copy the whole line.", error.requestId) : error} />
        </div>
      )}
      <Button type="submit" look="main" busy={busy}>
        Sign in
      </Button>
    </form>
  );
}

function WhereIsTheKey() {
  return (
    <details>
      <summary>Where is my key?</summary>
      <dl>
        <div>
          <dt>On your own machine, with herald standalone</dt>
          <dd>
            A link that signs you in: <Command text="herald sign-in-link" /> The key itself is in the file herald/admin-key of its data folder.
          </dd>
        </div>
        <div>
          <dt>In a cluster</dt>
          <dd>herald init printed the first key once. Your administrator makes you a user, and gives you the key.</dd>
        </div>
        <div>
          <dt>Lost</dt>
          <dd>
            An administrator at the machine makes a new one: <Command text="herald admin-key" />
          </dd>
        </div>
      </dl>
    </details>
  );
}

/// Also over a page whose session has ended: then what was typed there stays.
export function SignInBox({ done }: { done: () => void }) {
  return (
    <>
      <KeyForm done={done} />
      <WhereIsTheKey />
    </>
  );
}

function Redeeming({ code, done }: { code: string; done: () => void }) {
  const [error, setError] = useState<Refusal | null>(null);
  const begun = useRef(false);
  useEffect(() => {
    if (begun.current) return;
    begun.current = true;
    redeem(code).then(done, (why) => setError(refusalOf(why)));
  }, [code, done]);
  if (!error) return <p role="status">Signing you in…</p>;
  return (
    <>
      <div className="field2">
        <ErrorBox error={error} />
      </div>
      <SignInBox done={done} />
    </>
  );
}

export function SignIn({ isIn, done }: { isIn: boolean; done: () => void }) {
  const here = useHere();
  const next = ownTarget(here.searchParams.get("next"));
  const [code] = useState(() => (/^#[0-9a-f]{64}$/.test(location.hash) ? location.hash.slice(1) : ""));
  useTitle("Sign in");
  useEffect(() => {
    // The code is good for once, but needs not stay on the screen.
    if (location.hash) history.replaceState(null, "", location.pathname + location.search);
  }, []);
  useEffect(() => {
    if (isIn && !code) go(next, "replace");
  }, [isIn, code, next]);
  const enter = () => {
    done();
    go(next, "replace");
  };
  return (
    <main className="sign" id="content" tabIndex={-1}>
      <section>
        <span className="brand">
          <Mark />
          Herald
        </span>
        <div className="card">
          <div className="in">
            <h1>Sign in</h1>
            <p className="soft" style={{ marginBottom: 16 }}>
              Models, promotions and their deliveries.
            </p>
            {code ? <Redeeming code={code} done={enter} /> : <SignInBox done={enter} />}
          </div>
        </div>
      </section>
    </main>
  );
}
