// The bytes of a version: up and down. They come from and go to the node that the page came from, whatever name it
// calls itself by.
import { useState } from "react";
import { call, Refusal } from "../data/api";
import type { Artifact, Version } from "../data/calls";
import { size } from "../data/format";
import type { May } from "../data/session";
import { readAgain } from "../data/store";
import { Badge, Button, Empty, ErrorBox, Text } from "../parts/basics";
import { Dialog, Field, TextField, toast, useDialog } from "../parts/dialog";

async function urlFor(version: Version, key: string, method: "GET" | "PUT"): Promise<string> {
  const { url } = await call("POST /api/v1/registry/model_versions/{version}/getUrlForArtifact", { path: { version: version.id }, body: { key, method, artifact_type: key === "model" ? "MODEL" : "BLOB" } });
  const there = new URL(url, location.origin);
  return there.pathname + there.search;
}

function put(target: string, file: File, progress: (share: number) => void, signal: AbortSignal): Promise<void> {
  return new Promise((done, fail) => {
    const request = new XMLHttpRequest();
    request.open("PUT", target);
    request.upload.onprogress = (event) => progress(event.loaded / Math.max(event.total, 1));
    request.onload = () => {
      if (request.status === 200) return done();
      let message = `the answer was ${request.status}`;
      try {
        message = (JSON.parse(request.responseText) as { message: string }).message;
      } catch {
        // It stays the status.
      }
      fail(new Refusal(request.status, 0, message, request.getResponseHeader("svc-request-id") ?? ""));
    };
    request.onerror = () => fail(new Refusal(0, 0, "the upload was cut off", ""));
    request.onabort = () => fail(new Refusal(400, 0, "the upload was stopped", ""));
    signal.addEventListener("abort", () => request.abort());
    request.send(file);
  });
}

/// The record first, then the bytes.
async function register(version: Version, key: string, file: File): Promise<void> {
  const path = { model_id: version.registered_model_id, version: version.id };
  const artifact = { key, path: file.name, artifact_type: key === "model" ? ("MODEL" as const) : ("BLOB" as const), filename_extension: /\.(\w{1,10})$/.exec(file.name)?.[1] ?? "" };
  if (key === "model") {
    await call("PATCH /api/v1/registry/registered_models/{model_id}/model_versions/{version}/full_body", { path, body: { model_version: { model: artifact }, update_mask: { paths: ["model"] } } });
    return;
  }
  const others = version.artifacts.filter((each) => each.key !== key).map(({ key: name, path: place, path_only, artifact_type, filename_extension, serialization, artifact_subtype }) => ({ key: name, path: place, path_only, artifact_type, filename_extension, serialization, artifact_subtype }));
  await call("PATCH /api/v1/registry/registered_models/{model_id}/model_versions/{version}/full_body", { path, body: { model_version: { artifacts: [...others, artifact] }, update_mask: { paths: ["artifacts"] } } });
}

export function Upload({ version, close }: { version: Version; close: () => void }) {
  const [key, setKey] = useState("model");
  const [file, setFile] = useState<File | null>(null);
  const [share, setShare] = useState(-1);
  const [error, setError] = useState<Refusal | null>(null);
  const [stop, setStop] = useState<AbortController | null>(null);
  const send = async () => {
    if (!file || stop) return;
    const control = new AbortController();
    setStop(control);
    setError(null);
    setShare(0);
    try {
      await register(version, key.trim(), file);
      await put(await urlFor(version, key.trim(), "PUT"), file, setShare, control.signal);
      readAgain();
      toast(`Uploaded ${file.name}`);
      close();
    } catch (why) {
      setError(why instanceof Refusal ? why : new Refusal(0, 0, String(why), ""));
      setShare(-1);
    }
    setStop(null);
  };
  return (
    <Dialog
      title="Upload"
      about="The bytes of the model itself have the key model; everything else is an artifact beside it."
      onClose={() => {
        stop?.abort();
        close();
      }}
    >
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void send();
        }}
      >
        <TextField label="Key" value={key} set={setKey} required />
        <Field label="File" hint={file ? size(file.size) : "An ONNX model is checked and served by Herald itself"}>
          {(id, described) => <input id={id} aria-describedby={described} className="input" type="file" required onChange={(event) => setFile(event.target.files?.[0] ?? null)} />}
        </Field>
        {share >= 0 && (
          <div role="status">
            <progress value={share} max={1} aria-label="Uploaded" /> <span className="num">{Math.round(share * 100)} %</span>
          </div>
        )}
        {error && <ErrorBox error={error} />}
        <div className="acts">
          <Button
            look="quiet"
            onPress={() => {
              stop?.abort();
              close();
            }}
          >
            Cancel
          </Button>
          <Button type="submit" look="main" busy={stop !== null} not={file && key.trim() ? "" : "Choose a file first"}>
            Upload
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

async function download(version: Version, artifact: Artifact): Promise<void> {
  try {
    const link = document.createElement("a");
    link.href = await urlFor(version, artifact.key, "GET");
    link.download = (artifact.path.split("/").pop() || artifact.key).replace(/[^\w.-]/g, "_");
    link.click();
  } catch (why) {
    toast(why instanceof Refusal ? why.message : String(why), true);
  }
}

export function Artifacts({ version, may }: { version: Version; may: May }) {
  const [dialog, open] = useDialog();
  const all = [...(version.model ? [version.model] : []), ...version.artifacts];
  const not = may.not("UPDATE") || (version.lock_level === "CLOSED" ? "It is locked: no ingredient of it can change" : version.lock_level === "REDACT" ? may.admin : "");
  const upload = (
    <Button icon="upload" look="main" not={not} onPress={() => open((close) => <Upload version={version} close={close} />)}>
      Upload…
    </Button>
  );
  return (
    <section className="card" aria-label="Artifacts">
      {all.length ? (
        <>
          <div className="scroll" tabIndex={0} role="group" aria-label="Table">
            <table className="t flow">
              <thead>
                <tr>
                  <th scope="col">Key</th>
                  <th scope="col">Path</th>
                  <th scope="col">Kind</th>
                  <th scope="col">Bytes</th>
                  <th scope="col">
                    <span className="sr">Actions</span>
                  </th>
                </tr>
              </thead>
              <tbody>
                {all.map((each) => (
                  <tr key={each.key}>
                    <td className="name">
                      <Text of={each.key} most={80} />
                    </td>
                    <td className="mono wrap">
                      <Text of={each.path} most={120} />
                    </td>
                    <td>{each.artifact_type.toLowerCase()}</td>
                    <td>{each.upload_completed ? <Badge tone="ok" icon="ok">Here</Badge> : <Badge tone="warn" icon="clock">Not uploaded</Badge>}</td>
                    <td className="right">
                      <Button small not={each.upload_completed ? "" : "No bytes were uploaded yet"} onPress={() => void download(version, each)} label={`Download ${each.key}`}>
                        Download
                      </Button>
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
          <div className="pages">
            <span className="end">{upload}</span>
          </div>
        </>
      ) : (
        <Empty icon="box" title="No bytes yet" act={upload}>
          Upload the model; Herald builds it, and serves ONNX models by itself.
        </Empty>
      )}
      {dialog}
    </section>
  );
}
