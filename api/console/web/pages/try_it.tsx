// A prediction from the page, with one of the stage's tokens. The session's cookie does not count for predictions.
import { useState } from "react";
import { call } from "../data/api";
import type { Build, ServedEndpoint as Endpoint, ServedStage as EndpointStage } from "../data/calls";
import { duration, visible } from "../data/format";
import { useRead } from "../data/store";
import { Badge, Button, Card } from "../parts/basics";
import { Field } from "../parts/dialog";

const zeros = (shape: number[]): unknown => (shape.length === 0 ? 0 : Array.from({ length: Math.min(Math.max(shape[0]!, 1), 16) }, () => zeros(shape.slice(1))));

/// An input of zeros, of the build's declared shapes.
function exampleOf(build: Build | undefined): string {
  if (!build || !build.inputs.length) return "{}";
  return JSON.stringify(Object.fromEntries(build.inputs.map((each) => [each.name, each.datatype === "BYTES" ? ["text"] : zeros(each.shape ?? [])])));
}

interface Said {
  status: number;
  ms: number;
  text: string;
  headers: [string, string][];
}
const shownMax = 64 * 1024;

async function ask(path: string, token: string, body: string): Promise<Said> {
  const begun = performance.now();
  const answer = await fetch("/api/v1/predict" + path, { method: "POST", credentials: "omit", headers: { "content-type": "application/json", "access-token": token }, body });
  const text = await answer.text();
  const headers = [...answer.headers].filter(([name]) => name.startsWith("svc-"));
  return { status: answer.status, ms: performance.now() - begun, text: text.slice(0, shownMax), headers };
}

export function TryIt({ ws, endpoint, stage }: { ws: string; endpoint: Endpoint; stage: EndpointStage }) {
  const serving = stage.components.find((each) => each.ratio > 0);
  const build = useRead(serving ? "GET /api/v1/deployment/workspace/{workspace}/builds/{build}" : null, { path: { workspace: ws, build: serving?.build_id ?? "" } }, 0);
  const [typed, type] = useState<string | null>(null);
  const [said, hear] = useState<Said | null>(null);
  const [wrong, setWrong] = useState("");
  const [busy, setBusy] = useState(false);
  const body = typed ?? exampleOf(build.data);
  const send = async () => {
    if (busy) return;
    setBusy(true);
    setWrong("");
    try {
      JSON.parse(body);
      const { tokens } = await call("GET /api/v1/deployment/workspace/{workspace}/endpoints/{endpoint}/stages/{stage}/accesstokens", { path: { workspace: ws, endpoint: endpoint.id, stage: stage.id } });
      const value = tokens.find((each) => each.creator_request.value)?.creator_request.value;
      if (!value) throw new Error("there is no token that you may see; predictions need one");
      hear(await ask(endpoint.path, value, body));
    } catch (why) {
      setWrong(why instanceof SyntaxError ? "This is not JSON: " + why.message : String((why as Error).message));
    }
    setBusy(false);
  };
  return (
    <Card title="Try it">
      <form
        className="in"
        onSubmit={(event) => {
          event.preventDefault();
          void send();
        }}
      >
        <Field label="Body" wrong={wrong} hint="JSON; by the names of the model's inputs">
          {(id, described) => <textarea id={id} aria-describedby={described} className="input mono" rows={3} spellCheck={false} value={body} onChange={(event) => type(event.target.value)} />}
        </Field>
        <Button type="submit" icon="send" busy={busy} not={serving ? "" : "Nothing is deployed here yet"}>
          Send
        </Button>
        {said && (
          <div className="answer" role="status">
            <p className="line">
              <Badge tone={said.status < 300 ? "ok" : "bad"} icon={said.status < 300 ? "ok" : "x"}>
                {said.status}
              </Badge>
              <span className="muted num">in {duration(said.ms)}, seen from the browser</span>
            </p>
            <pre className="code" tabIndex={0}>
              {visible(said.text)}
            </pre>
            <dl className="hs">
              {said.headers.map(([name, value]) => (
                <div className="pair" key={name}>
                  <dt>{name}</dt>
                  <dd>{visible(value)}</dd>
                </div>
              ))}
            </dl>
          </div>
        )}
      </form>
    </Card>
  );
}
