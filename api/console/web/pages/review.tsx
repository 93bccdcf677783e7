// Requests for a stage: asking, deciding, committing. In one place: what changes, what was said, what is missing.
import { useState } from "react";
import { call } from "../data/api";
import type { Activity, Version } from "../data/calls";
import { isChange, type Change } from "../data/diff";
import { plural, stageName, stages } from "../data/format";
import { useSession, type May } from "../data/session";
import { Bones, Button, Text, Time } from "../parts/basics";
import { ShortDiff } from "../parts/diff";
import { Ask, Choice, TextField, toast, useDialog } from "../parts/dialog";
import { Icon } from "../parts/icons";
import { Needs, useReadiness } from "../parts/needs";
import { Person } from "../parts/people";

type Act = "approve" | "reject" | "commit" | "close";
const acts: Record<Act, { title: string; act: string; about: string; done: string; look: "main" | "bad" }> = {
  approve: { title: "Approve", act: "Approve", about: "The approval holds for the version as it is now.", done: "Approved", look: "main" },
  reject: { title: "Reject", act: "Reject", about: "Say what would have to change.", done: "Rejected", look: "bad" },
  commit: { title: "Commit", act: "Commit", about: "The stage changes now; of a version that goes to Production, the webhooks hear at once.", done: "Committed", look: "main" },
  close: { title: "Close the request", act: "Close it", about: "Nothing changes; somebody can ask again.", done: "Closed", look: "bad" },
};
const operations = {
  approve: "POST /api/v1/registry/stage/approveTransition",
  reject: "POST /api/v1/registry/stage/rejectTransition",
  commit: "POST /api/v1/registry/stage/commitTransition",
  close: "POST /api/v1/registry/stage/closeTransition",
} as const;

/// What the request would change, in the dialog that decides it: nobody approves what they have not seen.
export interface Against {
  name: string;
  changes: Change[];
}

function WhatChanges({ against }: { against: Against | null | undefined }) {
  if (against === undefined) return <Bones rows={2} />;
  if (!against) return <p className="soft">Nothing is in production yet: there is nothing to compare with.</p>;
  return (
    <div className="changes">
      <p className="soft">
        {plural(against.changes.filter(isChange).length, "change")} against <Text of={against.name} most={40} />, in production
      </p>
      <ShortDiff changes={against.changes} />
    </div>
  );
}

/// `against`: null when nothing is in production; undefined as long as that is not known.
export function Decide({ what, request, name, against, close }: { what: Act; request: Activity; name: string; against: Against | null | undefined; close: () => void }) {
  const [comment, setComment] = useState("");
  const { title, act, about, done, look } = acts[what];
  return (
    <Ask
      title={`${title}: ${name} → ${stageName(request.transition!.desired_stage)}`}
      about={about}
      act={act}
      look={look}
      not={what === "reject" && !comment.trim() ? "Write why, so that it can be mended" : what === "approve" && against === undefined ? "What changes is not known yet" : ""}
      onClose={close}
      send={(sending) => call(operations[what], { body: { transition_id: request.transition!.id, comment } }, sending)}
      done={() => toast(`${done}: ${name}`)}
    >
      {what === "approve" && <WhatChanges against={against} />}
      {what === "commit" && <Needs version={request.model_version_id} stage={request.transition!.desired_stage} />}
      <TextField label={what === "reject" ? "What is wrong" : "Comment"} value={comment} set={setComment} rows={3} focus />
    </Ask>
  );
}

export function RequestPromotion({ version, name, close }: { version: Version; name: string; close: () => void }) {
  const [stage, setStage] = useState<string>("PRODUCTION");
  const [comment, setComment] = useState("");
  return (
    <Ask
      title={`Request a stage for ${name}`}
      about="Others see the request in their inbox. What the stage needs is checked when it is committed."
      act="Request"
      onClose={close}
      send={(sending) => call("POST /api/v1/registry/stage/createTransition", { body: { model_version_id: version.id, desired_stage: stage, comment } }, sending)}
      done={() => toast(`Requested ${stageName(stage)} for ${name}`)}
    >
      <Choice label="Stage" value={stage} set={setStage} options={stages.map((each) => [each, stageName(each)])} />
      <Needs version={version.id} stage={stage} />
      <TextField label="Why now" value={comment} set={setComment} rows={3} focus hint="What changed, and how you know that it is better" />
    </Ask>
  );
}

export function ChangeStage({ version, name, close }: { version: Version; name: string; close: () => void }) {
  const [stage, setStage] = useState<string>("STAGING");
  const [comment, setComment] = useState("");
  return (
    <Ask
      title={`Change the stage of ${name}`}
      about="At once and without an approval, where the workspace allows that. It sends no PROMOTE."
      act="Change"
      onClose={close}
      send={(sending) => call("POST /api/v1/registry/stage/updateStage", { body: { model_version_id: version.id, stage, comment } }, sending)}
      done={() => toast(`${name} is in ${stageName(stage)}`)}
    >
      <Choice label="Stage" value={stage} set={setStage} options={[...stages.map((each): [string, string] => [each, stageName(each)]), ["UNASSIGNED", "Unassigned"]]} />
      <TextField label="Comment" value={comment} set={setComment} rows={2} />
    </Ask>
  );
}

/// What may be done with a request, with the reasons for what may not.
export function useDecisions(request: Activity, may: May): Record<Act, string> {
  const me = String(useSession().user.verta_info.user_id);
  const isOwn = String(request.author_id) === me;
  const state = request.transition!.state;
  const review = may.not("APPROVE_REJECT") || (isOwn ? "You asked for it: somebody else must review it" : "");
  const edit = may.not("UPDATE");
  return {
    approve: review,
    reject: review,
    commit: edit || (state === "REJECTED" ? "It was rejected" : ""),
    close: edit,
  };
}

export function RequestBox({ request, name, may, against }: { request: Activity; name: string; may: May; against: Against | null | undefined }) {
  const [dialog, open] = useDialog();
  const not = useDecisions(request, may);
  const { desired_stage: stage, state } = request.transition!;
  const decide = (what: Act) => () => open((close) => <Decide what={what} request={request} name={name} against={against} close={close} />);
  const isReady = state === "APPROVED";
  const readiness = useReadiness(request.model_version_id, stage).data;
  const mayCommitNow = !isReady && state !== "REJECTED" && readiness !== undefined && readiness.approvals_required === 0;
  const text = isReady ? "It is approved, and can be committed." : state === "REJECTED" ? "It was rejected. A later word of the same reviewer can change that." : "It waits for a review.";
  return (
    <section className={"alert " + (state === "REJECTED" ? "bad" : isReady ? "ok" : "warn")} aria-label={`Request for ${stageName(stage)}`}>
      <Icon name={state === "REJECTED" ? "x" : isReady ? "thumb" : "ask"} className="ring still" />
      <strong>
        <Person id={request.author_id} /> asked for {stageName(stage)} <Time at={request.time_created} />
      </strong>
      <div className="about">
        {text} {not.approve && !isReady && <span className="muted">{not.approve}.</span>}
        {request.comment && (
          <span className="said">
            <Text of={request.comment} />
          </span>
        )}
        <Needs version={request.model_version_id} stage={stage} />
      </div>
      <div className="acts">
        {isReady && (
          <Button look="main" icon="merge" not={not.commit} onPress={decide("commit")}>
            Commit
          </Button>
        )}
        {!isReady && (
          <Button look="main" icon="thumb" not={not.approve} onPress={decide("approve")}>
            Approve…
          </Button>
        )}
        <Button not={not.reject} onPress={decide("reject")}>
          Reject…
        </Button>
        {mayCommitNow && (
          <Button look="quiet" not={not.commit} onPress={decide("commit")}>
            Commit…
          </Button>
        )}
        <Button look="quiet" not={not.close} onPress={decide("close")}>
          Close…
        </Button>
      </div>
      {dialog}
    </section>
  );
}
