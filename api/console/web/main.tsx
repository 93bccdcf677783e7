// The console: who is signed in, then the page that the address names.
import { Component, useEffect, useState, type ReactNode } from "react";
import { createRoot } from "react-dom/client";
import { call, listen } from "./data/api";
import type { Workspace } from "./data/calls";
import { go, match, pathOf, useHere } from "./data/route";
import { SessionContext, useSession, workspaceName, type Session } from "./data/session";
import { change, settings } from "./data/settings";
import { forgetAll, useRead, useMade } from "./data/store";
import { Bones, Empty, ErrorBox, LinkButton } from "./parts/basics";
import { Dialog } from "./parts/dialog";
import { Frame } from "./parts/frame";
import { AuditPage } from "./pages/audit";
import { BuildPage } from "./pages/build";
import { BuildsPage } from "./pages/builds";
import { EndpointPage, EndpointsPage } from "./pages/endpoints";
import { InboxPage } from "./pages/inbox";
import { MePage } from "./pages/me";
import { ModelPage } from "./pages/model";
import { ModelsPage } from "./pages/models";
import { OverviewPage } from "./pages/overview";
import { PeoplePage } from "./pages/people";
import { ReferencePage } from "./pages/reference";
import { SignIn, SignInBox } from "./pages/sign_in";
import { SystemPage } from "./pages/system";
import { VersionPage } from "./pages/version";
import { NewWebhookPage, WebhookPage, WebhooksPage } from "./pages/webhooks";

type Found = Record<string, string>;
interface Page {
  pattern: string;
  crumbs: (at: Found) => [string, string][];
  draw: (at: Found & { ws: string }) => ReactNode;
}
const inWorkspace = (at: Found, ...rest: string[]) => pathOf("w", at["ws"] ?? "", ...rest);
const modelCrumbs = (at: Found): [string, string][] => [
  ["Models", inWorkspace(at, "models")],
  [at["model"]!, inWorkspace(at, "models", at["model"]!)],
];
const versionCrumbs = (at: Found): [string, string][] => [...modelCrumbs(at), [at["version"]!, inWorkspace(at, "models", at["model"]!, at["version"]!)]];

const pages: Page[] = [
  { pattern: "/w/{ws}", crumbs: (at) => [["Overview", inWorkspace(at)]], draw: ({ ws }) => <OverviewPage ws={ws} /> },
  { pattern: "/inbox", crumbs: () => [["Inbox", "/inbox"]], draw: ({ ws }) => <InboxPage ws={ws} /> },
  { pattern: "/w/{ws}/models", crumbs: (at) => [["Models", inWorkspace(at, "models")]], draw: ({ ws }) => <ModelsPage ws={ws} /> },
  { pattern: "/w/{ws}/models/{model}", crumbs: modelCrumbs, draw: ({ ws, model }) => <ModelPage ws={ws} name={model!} /> },
  { pattern: "/w/{ws}/models/{model}/{version}", crumbs: versionCrumbs, draw: ({ ws, model, version }) => <VersionPage ws={ws} model={model!} name={version!} /> },
  { pattern: "/w/{ws}/models/{model}/{version}/compare", crumbs: versionCrumbs, draw: ({ ws, model, version }) => <VersionPage ws={ws} model={model!} name={version!} compare="" /> },
  { pattern: "/w/{ws}/models/{model}/{version}/compare/{other}", crumbs: versionCrumbs, draw: ({ ws, model, version, other }) => <VersionPage ws={ws} model={model!} name={version!} compare={other!} /> },
  { pattern: "/w/{ws}/builds", crumbs: (at) => [["Builds and scans", inWorkspace(at, "builds")]], draw: ({ ws }) => <BuildsPage ws={ws} /> },
  { pattern: "/w/{ws}/builds/{build}", crumbs: (at) => [["Builds and scans", inWorkspace(at, "builds")], [`Build ${at["build"]}`, ""]], draw: ({ ws, build }) => <BuildPage ws={ws} id={build!} /> },
  { pattern: "/w/{ws}/endpoints", crumbs: (at) => [["Endpoints", inWorkspace(at, "endpoints")]], draw: ({ ws }) => <EndpointsPage ws={ws} /> },
  { pattern: "/w/{ws}/endpoints/{path...}", crumbs: (at) => [["Endpoints", inWorkspace(at, "endpoints")], ["/" + at["path"], ""]], draw: ({ ws, path }) => <EndpointPage ws={ws} path={"/" + path} /> },
  { pattern: "/w/{ws}/webhooks", crumbs: (at) => [["Webhooks", inWorkspace(at, "webhooks")]], draw: ({ ws }) => <WebhooksPage ws={ws} /> },
  { pattern: "/w/{ws}/webhooks-new", crumbs: (at) => [["Webhooks", inWorkspace(at, "webhooks")], ["New", ""]], draw: ({ ws }) => <NewWebhookPage ws={ws} /> },
  { pattern: "/w/{ws}/webhooks/{name}", crumbs: (at) => [["Webhooks", inWorkspace(at, "webhooks")], [at["name"]!, ""]], draw: ({ ws, name }) => <WebhookPage ws={ws} name={name!} /> },
  { pattern: "/me", crumbs: () => [["Me", "/me"]], draw: () => <MePage /> },
  { pattern: "/audit", crumbs: () => [["Audit", "/audit"]], draw: ({ ws }) => <AuditPage ws={ws} /> },
  { pattern: "/people/{part}", crumbs: () => [["People", "/people/users"]], draw: ({ part }) => <PeoplePage part={part!} /> },
  { pattern: "/people/{part}/{id}", crumbs: () => [["People", "/people/users"]], draw: ({ part, id }) => <PeoplePage part={part!} id={id!} /> },
  { pattern: "/system/{part}", crumbs: () => [["System", "/system/nodes"]], draw: ({ part, ws }) => <SystemPage part={part!} ws={ws} /> },
  { pattern: "/reference", crumbs: () => [["API reference", "/reference"]], draw: () => <ReferencePage /> },
  { pattern: "/reference/{operation}", crumbs: (at) => [["API reference", "/reference"], [at["operation"]!, ""]], draw: ({ operation }) => <ReferencePage name={operation!} /> },
];

function pageOf(path: string): { page: Page; at: Found } | null {
  for (const page of pages) {
    const at = match(page.pattern, path);
    if (at) return { page, at };
  }
  return null;
}

/// A fault of a page leaves the rest of the console.
class Guard extends Component<{ children: ReactNode; of: string }, { fault: string; at: string }> {
  override state = { fault: "", at: "" };
  static getDerivedStateFromError(why: unknown) {
    return { fault: String(why) };
  }
  static getDerivedStateFromProps(props: { of: string }, state: { fault: string; at: string }) {
    return props.of === state.at ? null : { fault: "", at: props.of };
  }
  override render() {
    if (!this.state.fault) return this.props.children;
    return (
      <Empty page icon="warn" title="This page has a fault" act={<LinkButton to="/">Go to the start</LinkButton>}>
        {this.state.fault}
      </Empty>
    );
  }
}

/// The workspace that a page without one is about: the last, else the default one.
function wantedWorkspace(session: Session, named: string | undefined): string {
  const names = session.workspaces.map(workspaceName);
  if (named !== undefined) return named;
  if (names.includes(settings().workspace)) return settings().workspace;
  const own = session.workspaces.find((each: Workspace) => each.id === session.user.verta_info.default_workspace_id);
  return own ? workspaceName(own) : names[0] ?? "";
}

function Pages() {
  const here = useHere();
  const session = useSession();
  const found = pageOf(here.pathname);
  const ws = wantedWorkspace(session, found?.at["ws"]);
  const isKnown = session.workspaces.some((each) => workspaceName(each) === ws);
  useEffect(() => {
    if (isKnown && settings().workspace !== ws) change({ workspace: ws });
  }, [ws, isKnown]);
  useEffect(() => {
    if (here.pathname === "/" && ws) go(pathOf("w", ws), "replace");
  }, [here.pathname, ws]);
  if (here.pathname === "/") return null;
  return (
    <Frame ws={isKnown ? ws : wantedWorkspace(session, undefined)} crumbs={found ? found.page.crumbs(found.at) : [["Not found", ""]]}>
      <Guard of={here.pathname}>
        {!found ? (
          <Empty page icon="flag" title="There is no such page" act={<LinkButton to="/">Go to the start</LinkButton>} />
        ) : !isKnown ? (
          <Empty page icon="lock" title={`No workspace "${ws}" here, or not for you`} act={<LinkButton to="/">Go to yours</LinkButton>} />
        ) : (
          <div key={found.page.pattern + ws}>{found.page.draw({ ...found.at, ws })}</div>
        )}
      </Guard>
    </Frame>
  );
}

/// Over the page: what was typed there stays.
function SignedOut({ done }: { done: () => void }) {
  return (
    <Dialog title="You are signed out" about="Your session has ended. Sign in again; nothing on the page is lost." onClose={() => {}}>
      <SignInBox done={done} />
    </Dialog>
  );
}

function App() {
  const here = useHere();
  const [isOut, setOut] = useState(false);
  const who = useRead("GET /api/v1/console/session", {}, 60_000);
  const isIn = !!who.data?.info;
  const id = who.data?.info?.verta_info.user_id;
  const spaces = useMade(isIn ? `workspaces of ${id}` : null, async () => (await call("GET /api/v1/uac-proxy/workspace/getVisibleWorkspaces", { query: { page_number: 1, page_limit: 1000 } })).workspace, 60_000);
  const [kept, keep] = useState<Session | null>(null);
  useEffect(() => listen((refusal) => refusal?.status === 401 && setOut(true)), []);
  useEffect(() => {
    if (who.data?.info && spaces.data) keep({ user: who.data.info, workspaces: spaces.data });
  }, [who.data, spaces.data]);
  useEffect(() => {
    if (!who.data || who.data.info) return;
    if (kept) setOut(true);
    else if (here.pathname !== "/sign-in") go(`/sign-in?next=${encodeURIComponent(here.pathname + here.search)}`, "replace");
  }, [who.data, kept, here.pathname, here.search]);
  const back = () => {
    setOut(false);
    forgetAll();
  };
  if (here.pathname === "/sign-in") return <SignIn isIn={isIn} done={back} />;
  if (kept)
    return (
      <SessionContext.Provider value={kept}>
        <Pages />
        {isOut && <SignedOut done={back} />}
      </SessionContext.Provider>
    );
  const error = who.error ?? spaces.error;
  return <main className="sign">{error ? <ErrorBox error={error} /> : <Bones />}</main>;
}

createRoot(document.getElementById("root")!).render(<App />);
