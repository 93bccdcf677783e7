// Which build a stage of an endpoint serves, at once or step by step.
import { useState } from "react";
import { call, type Sending } from "../data/api";
import type { Build, ServedEndpoint as Endpoint, ServedStage as EndpointStage, UpdateEndpointStageRequest } from "../data/calls";
import { duration, oneLine } from "../data/format";
import { Empty, Loaded } from "../parts/basics";
import { Ask, Choice, Dialog, TextField, toast } from "../parts/dialog";
import { useStages } from "./version_data";

type Place = { endpoint: Endpoint; stage: EndpointStage };

const rules = [
  ["1008", "Server errors (5xx), as a share", "0.01"],
  ["1007", "Client errors (4xx), as a share", "0.05"],
  ["1005", "Mean time, in seconds", "0.05"],
  ["1006", "90 % are quicker than, in seconds", "0.1"],
] as const;

function reasonAgainst(build: Build): string {
  if (build.safety_status === "unsafe") return "unsafe";
  if (build.status === "error") return "failed";
  return "";
}

function Form({ ws, places, builds, build, close }: { ws: string; places: Place[]; builds: Build[]; build?: Build; close: () => void }) {
  const sorted = [...builds].sort((a, b) => Number(b.id) - Number(a.id));
  const [place, setPlace] = useState(0);
  const [chosen, setChosen] = useState(String(build?.id ?? sorted.find((each) => !reasonAgainst(each))?.id ?? ""));
  const [strategy, setStrategy] = useState("rollout");
  const [seconds, setSeconds] = useState("60");
  const [step, setStep] = useState("10");
  const [limits, setLimits] = useState<Record<string, string>>({ "1008": "0.01" });
  const at = places[place];
  const target = sorted.find((each) => String(each.id) === chosen);
  const against = target ? reasonAgainst(target) : "";
  const steps = Math.ceil(100 / Math.max(Number(step) || 1, 1));
  const kept = Object.entries(limits).filter(([, value]) => value.trim());
  const isCanary = strategy === "canary";
  const not = !at ? "There is no endpoint yet" : !target ? "Choose a build" : against ? `Build ${target.id} ${against === "unsafe" ? "is unsafe" : "failed"}: it cannot be served` : isCanary && !kept.length ? "A canary needs at least one limit" : "";
  const send = (sending: Sending) => {
    const body: UpdateEndpointStageRequest = { build_id: chosen, strategy };
    if (isCanary)
      body.canary_strategy = {
        progress_interval_seconds: Number(seconds),
        progress_step: Number(step) / 100,
        rules: kept.map(([id, value]) => ({ rule_id: Number(id), rule_parameters: [{ name: "threshold", value: Number(value) }] })),
      };
    return call("PUT /api/v1/deployment/workspace/{workspace}/endpoints/{endpoint}/stages/{stage}/update", { path: { workspace: ws, endpoint: at!.endpoint.id, stage: at!.stage.id }, body }, sending);
  };
  return (
    <Ask
      title="Deploy"
      about="The build that serves now goes on until the new one is loaded and warm. If the update fails, it stays."
      act="Deploy"
      not={not}
      onClose={close}
      send={send}
      done={() => toast(`Build ${chosen} goes to ${at!.endpoint.path}`)}
    >
      {places.length > 1 && <Choice label="Endpoint" value={String(place)} set={(to) => setPlace(Number(to))} options={places.map((each, i) => [String(i), `${oneLine(each.endpoint.path, 60)}, ${oneLine(each.stage.name, 30)}`])} />}
      <Choice label="Build" value={chosen} set={setChosen} options={sorted.map((each) => [String(each.id), `${each.id}${reasonAgainst(each) ? `: ${reasonAgainst(each)}` : each.status === "building" ? ": is being made" : ""}`])} />
      <Choice label="How" value={strategy} set={setStrategy} options={[["rollout", "All requests at once"], ["canary", "Step by step, and back if a limit is passed"]]} />
      {isCanary && (
        <>
          <div className="cols">
            <TextField label="Each step, in percent" value={step} set={setStep} type="number" />
            <TextField label="A step lasts, in seconds" value={seconds} set={setSeconds} type="number" hint={`All of it after ${duration(steps * (Number(seconds) || 0) * 1000)}`} />
          </div>
          {rules.map(([id, name, example]) => (
            <TextField key={id} label={name} value={limits[id] ?? ""} set={(to) => setLimits({ ...limits, [id]: to })} placeholder={example} hint="Empty: not watched" />
          ))}
        </>
      )}
    </Ask>
  );
}

/// `fixed`: of one stage, whose page shows it.
export function DeployDialog({ ws, builds, build, fixed, close }: { ws: string; builds: Build[]; build?: Build; fixed?: Place; close: () => void }) {
  const read = useStages(ws);
  const places = fixed ? [fixed] : (read.data ?? []).flatMap(({ endpoint, stages }) => stages.map((stage) => ({ endpoint, stage })));
  if (!fixed && !read.data) return <Dialog title="Deploy" onClose={close}><Loaded read={read}>{() => null}</Loaded></Dialog>;
  if (!places.length)
    return (
      <Dialog title="Deploy" onClose={close}>
        <Empty icon="plug" title="There is no endpoint yet">Make one under Endpoints first; it takes a path and a stage.</Empty>
      </Dialog>
    );
  return <Form ws={ws} places={places} builds={builds} build={build} close={close} />;
}
