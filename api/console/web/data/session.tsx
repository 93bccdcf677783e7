// Who is signed in, and what they may do.
import { createContext, useContext } from "react";
import { call, Refusal } from "./api";
import type { Permissions, User, Workspace } from "./calls";
import { forgetAll, useRead } from "./store";
import { settings } from "./settings";

export interface Session {
  user: User;
  workspaces: Workspace[];
}
export const SessionContext = createContext<Session | null>(null);
export function useSession(): Session {
  const session = useContext(SessionContext);
  if (!session) throw new Error("a page without a session");
  return session;
}

/// As paths name it: the personal one by its user's name.
export const workspaceName = (workspace: Workspace): string => workspace.org_name ?? workspace.username ?? "";

export function useWorkspace(name: string): Workspace | undefined {
  return useSession().workspaces.find((each) => workspaceName(each) === name);
}

export async function signIn(email: string, key: string): Promise<void> {
  await call("POST /api/v1/console/session", { body: { browser: settings().browser } }, { as: { email, key } });
  forgetAll();
}
export async function redeem(code: string): Promise<void> {
  await call("POST /api/v1/console/session/redeem", { body: { code, browser: settings().browser } });
  forgetAll();
}
export async function signOut(): Promise<void> {
  await call("DELETE /api/v1/console/session", {});
  location.assign("/sign-in");
}

type Kind = Permissions["actions"][number]["resource_type"];
type Action = Permissions["actions"][number]["allowed_actions"][number];

export interface May {
  /// Why not; empty: yes. While nothing is known, yes: Herald itself refuses what is not allowed.
  not: (action: Action, on?: Kind) => string;
  admin: string;
  systemAdmin: string;
  reportScans: string;
  webhooks: string;
  known?: Permissions;
}

/// What the caller may do in the workspace, with the reasons that buttons show.
export function useMay(workspace: Workspace | undefined): May {
  const read = useRead(workspace ? "GET /api/v1/uac-proxy/workspace/getMyPermissions" : null, { query: { workspace_id: workspace?.id ?? "" } }, 60_000);
  const known = read.data;
  const where = workspace ? workspaceName(workspace) : "this workspace";
  const reason = (what: string) => `You may not: this needs ${what} in ${where}. Its admins can grant it.`;
  return {
    known,
    not: (action, on = "REGISTERED_MODEL") => {
      if (!known) return "";
      const row = known.actions.find((each) => each.resource_type === on);
      return row?.allowed_actions.includes(action) ? "" : reason(`the permission ${action} on ${on === "ENDPOINT" ? "endpoints" : "models"}`);
    },
    admin: !known || known.is_admin ? "" : `Only admins of ${where} may do this.`,
    systemAdmin: !known || known.system_admin ? "" : "Only system administrators may do this.",
    webhooks: !known || known.changes_webhooks ? "" : `You may not: only system administrators change webhooks of ${where}, unless Herald runs with --webhooks-by workspace-admins.`,
    reportScans: !known || known.reports_scans ? "" : reason("a role that reports scans"),
  };
}

/// A text for a refusal that a button's own dialog shows.
export const textOf = (why: unknown): string => (why instanceof Refusal ? why.message : String(why));
