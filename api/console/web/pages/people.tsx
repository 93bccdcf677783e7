// Users, groups, roles, workspaces and service accounts of the organisation.
import { useState, type ReactNode } from "react";
import { call } from "../data/api";
import type { Group, Role, User, OrganizationWorkspace } from "../data/calls";
import { oneLine } from "../data/format";
import { textOf, useMay, useSession } from "../data/session";
import { useMade, useRead, type Read } from "../data/store";
import { Badge, Button, Card, Empty, Head, Loaded, Tabs, Text, Time, useTitle } from "../parts/basics";
import { Ask, Choice, Confirm, Menu, TextField, toast, useDialog } from "../parts/dialog";
import { Paging, rowsOfPage, usePage } from "../parts/paging";
import { nameOf, Person } from "../parts/people";
import { KeyOnce } from "./me";

interface Organization {
  id: string;
  name: string;
}
function useOrganization(): Read<Organization | null> {
  return useMade("organization", async () => {
    const { organizations } = await call("GET /api/v2/uac-proxy/organization", {});
    const first = organizations[0];
    return first ? { id: String(first.id), name: first.name } : null;
  }, 60_000);
}
const paging = { page_number: 1, page_limit: 1000 };
const useGroups = (org: string) => useRead("GET /api/v2/uac-proxy/organization/{org}/groups", { path: { org }, query: paging }, 20_000);
const useRoles = (org: string) => useRead("GET /api/v2/uac-proxy/organization/{org}/roles", { path: { org }, query: paging }, 20_000);

/// Members of Admins and system administrators change what is here.
function useAdmin(): { org: string; system: string } {
  const { workspaces } = useSession();
  const may = useMay(workspaces.find((each) => each.org_id) ?? workspaces[0]);
  const is = may.known && (may.known.is_admin || may.known.system_admin);
  return { org: !may.known || is ? "" : "Only members of Admins may do this.", system: may.systemAdmin };
}

// ---- users

function NewUser({ org, close, done }: { org: string; close: () => void; done: (user: User) => void }) {
  const [email, setEmail] = useState("");
  const [name, setName] = useState("");
  const [group, setGroup] = useState("");
  const groups = useGroups(org);
  return (
    <Ask
      title="New user"
      about="Herald makes their key, and shows it once."
      act="Create"
      not={email.trim() ? "" : "Give an e-mail first"}
      onClose={close}
      send={async (sending) => {
        const made = await call("POST /api/v1/uac-proxy/uac/createUser", { body: { info: { email: email.trim(), full_name: name.trim() } } }, sending);
        // The key is shown in any case: it cannot be had again.
        if (group) await call("POST /api/v2/uac-proxy/organization/{org}/groups/{group}/users", { path: { org, group }, body: { user_id: [made.info.verta_info.user_id] } }).catch((why) => toast(`The user was made, but is not in the group: ${textOf(why)}`, true));
        return made;
      }}
      done={(made) => done((made as { info: User }).info)}
    >
      <TextField label="E-mail" value={email} set={setEmail} type="email" focus required />
      <TextField label="Name" value={name} set={setName} />
      <Choice label="Group" value={group} set={setGroup} options={[["", "All Users only"], ...(groups.data?.groups ?? []).filter((each) => each.name !== "All Users").map((each): [string, string] => [String(each.id), oneLine(each.name, 60)])]} />
    </Ask>
  );
}

function Users({ org }: { org: string }) {
  const page = usePage();
  const not = useAdmin();
  const [dialog, open] = useDialog();
  const read = useRead("GET /api/v2/uac-proxy/organization/{org}/users", { path: { org }, query: { page_number: page, page_limit: rowsOfPage } }, 15_000);
  const admins = useRead("GET /api/v1/uac-proxy/system_admin/listSystemAdmins", { query: paging }, 30_000);
  const isAdmin = (user: User) => admins.data?.user_ids.some((each) => String(each) === String(user.verta_info.user_id));
  const items = (user: User) => [
    { name: "Make another key…", icon: "key" as const, not: not.system, onPress: () => open((close) => <Ask title={`Another key for ${nameOf(user)}`} about="They may have two at a time." act="Make it" onClose={close} send={(sending) => call("POST /api/v1/uac-proxy/uac/addDevKeyForUser", { body: { user_id: user.verta_info.user_id } }, sending)} done={(made) => open((shut) => <KeyOnce user={made as User} close={shut} />)} />) },
    { name: isAdmin(user) ? "No system administrator any more" : "Make a system administrator", icon: "gauge" as const, not: not.system, onPress: () => open((close) => <Ask title={isAdmin(user) ? `Take it from ${nameOf(user)}` : `Make ${nameOf(user)} a system administrator`} about="System administrators may do everything in the installation." act="Do it" look="bad" onClose={close} send={(sending) => call(isAdmin(user) ? "POST /api/v1/uac-proxy/system_admin/removeSystemAdmin" : "POST /api/v1/uac-proxy/system_admin/addSystemAdmin", { body: { share_with: user.email } }, sending)} />) },
    { name: "Delete…", icon: "trash" as const, not: not.system, onPress: () => open((close) => <Confirm title={`Delete ${nameOf(user)}`} about={`Keys, sessions and memberships end; what they did stays under their name (id ${user.verta_info.user_id}).`} name={user.email} act="Delete" send={(sending) => call("POST /api/v1/uac-proxy/uac/deleteUser", { body: { user_id: user.verta_info.user_id } }, sending)} done={() => toast("The user was deleted")} onClose={close} />) },
  ];
  return (
    <Card title="Users" end={<Button small icon="plus" not={not.system} onPress={() => open((close) => <NewUser org={org} close={close} done={(user) => open((shut) => <KeyOnce user={user} close={shut} />)} />)}>New user…</Button>}>
      <Loaded read={read}>
        {(data) => (
          <>
            <ul className="rows">
              {data.users.map((each) => (
                <li key={each.verta_info.user_id}>
                  <span className="grow">
                    <b><Text of={nameOf(each)} most={80} /></b> {isAdmin(each) && <Badge tone="run" icon="gauge">System administrator</Badge>}
                    <small><Text of={each.email} most={120} /> · id {each.verta_info.user_id}</small>
                  </span>
                  <span className="end"><Menu label={`Actions of ${nameOf(each)}`} items={items(each)} /></span>
                </li>
              ))}
            </ul>
            <Paging total={Number(data.total_records)} />
          </>
        )}
      </Loaded>
      {dialog}
    </Card>
  );
}

// ---- groups

function GroupRow({ org, group, not }: { org: string; group: Group; not: string }) {
  const [dialog, open] = useDialog();
  const read = useRead("GET /api/v2/uac-proxy/organization/{org}/groups/{group}", { path: { org, group: group.id } }, 20_000);
  const members = read.data?.group.member_ids ?? [];
  const isFixed = group.name === "All Users" && group.built_in;
  return (
    <li>
      <span className="grow">
        <b><Text of={group.name} most={80} /></b> {group.built_in && <Badge>Built in</Badge>}
        {group.description && <small><Text of={group.description} most={160} /></small>}
        <small>
          {members.slice(0, 12).map((each, i) => (
            <span key={each}>{i > 0 && ", "}<Person id={String(each)} /></span>
          ))}
          {members.length > 12 && ` and ${members.length - 12} more`}
          {read.data && !members.length && "nobody"}
        </small>
      </span>
      <span className="end">
        <Menu
          label={`Actions of ${group.name}`}
          items={[
            { name: "Add a member…", icon: "plus", not: not || (isFixed ? "Everybody is in it" : ""), onPress: () => open((close) => <Member org={org} group={group} members={members.map(String)} close={close} />) },
            { name: "Take out a member…", icon: "x", not: not || (isFixed ? "Nobody leaves it" : members.length ? "" : "Nobody is in it"), onPress: () => open((close) => <Member org={org} group={group} members={members.map(String)} out close={close} />) },
            { name: "Delete…", icon: "trash", not: not || (group.built_in ? "It is built in" : ""), onPress: () => open((close) => <Confirm title={`Delete ${group.name}`} about="Its members lose what they may do through it." name={group.name} act="Delete" send={(sending) => call("DELETE /api/v2/uac-proxy/organization/{org}/groups/{group}", { path: { org, group: group.id } }, sending)} onClose={close} />) },
          ]}
        />
      </span>
      {dialog}
    </li>
  );
}

function Member({ org, group, members, out = false, close }: { org: string; group: Group; members: string[]; out?: boolean; close: () => void }) {
  const users = useRead("GET /api/v2/uac-proxy/organization/{org}/users", { path: { org }, query: paging }, 0);
  const choice = (users.data?.users ?? []).filter((each) => members.includes(String(each.verta_info.user_id)) === out);
  const [chosen, choose] = useState("");
  const id = chosen || String(choice[0]?.verta_info.user_id ?? "");
  const operation = out ? "POST /api/v2/uac-proxy/organization/{org}/groups/{group}/removeUsers" : "POST /api/v2/uac-proxy/organization/{org}/groups/{group}/users";
  return (
    <Ask title={out ? `Take out of ${group.name}` : `Add to ${group.name}`} act={out ? "Take out" : "Add"} not={id ? "" : "Nobody is left to choose"} onClose={close} send={(sending) => call(operation, { path: { org, group: group.id }, body: { user_id: [id] } }, sending)}>
      <Choice label="User" value={id} set={choose} options={choice.map((each) => [String(each.verta_info.user_id), `${oneLine(nameOf(each), 40)} (${oneLine(each.email, 60)})`])} />
    </Ask>
  );
}

function Groups({ org }: { org: string }) {
  const not = useAdmin().org;
  const [dialog, open] = useDialog();
  const read = useGroups(org);
  return (
    <Card title="Groups" end={<Button small icon="plus" not={not} onPress={() => open((close) => <NewGroup org={org} close={close} />)}>New group…</Button>}>
      <Loaded read={read}>{(data) => <ul className="rows">{data.groups.map((each) => <GroupRow key={each.id} org={org} group={each} not={not} />)}</ul>}</Loaded>
      {dialog}
    </Card>
  );
}
function NewGroup({ org, close }: { org: string; close: () => void }) {
  const [name, setName] = useState("");
  const [description, setDescription] = useState("");
  return (
    <Ask title="New group" act="Create" not={name.trim() ? "" : "Give it a name first"} onClose={close} send={(sending) => call("POST /api/v2/uac-proxy/organization/{org}/groups", { path: { org }, body: { group: { name: name.trim(), description } } }, sending)}>
      <TextField label="Name" value={name} set={setName} focus required />
      <TextField label="Description" value={description} set={setDescription} />
    </Ask>
  );
}

// ---- roles, workspaces, accounts

const actions = ["READ", "UPDATE", "CREATE", "DELETE", "APPROVE_REJECT", "REGISTER", "DEPLOY", "PREDICT"] as const;
const kinds = [["REGISTERED_MODEL", "Models"], ["ENDPOINT", "Endpoints"], ["PROJECT", "Projects"], ["DATASET", "Datasets"]] as const;

function RoleCard({ role }: { role: Role }) {
  const allows = (kind: string, action: string) => role.resource_actions.some((each) => each.resource_type === kind && (each.allowed_actions as string[]).includes(action));
  return (
    <Card title={<><Text of={role.name} most={80} /> {role.built_in && <Badge>Built in</Badge>} {role.reports_scans && <Badge tone="run" icon="shield">Reports scans</Badge>}</>}>
      <div className="scroll" tabIndex={0} role="group" aria-label="Table">
        <table className="t mx">
          <thead>
            <tr>
              <th scope="col">On</th>
              {actions.map((each) => <th scope="col" key={each}>{each.toLowerCase().replace("_", " or ")}</th>)}
            </tr>
          </thead>
          <tbody>
            {kinds.map(([kind, name]) => (
              <tr key={kind}>
                <td>{name}</td>
                {actions.map((each) => <td key={each}>{allows(kind, each) ? <Badge tone="ok" icon="ok"><span className="sr">yes</span></Badge> : <span className="muted" aria-label="no">·</span>}</td>)}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Card>
  );
}
function Roles({ org }: { org: string }) {
  return <Loaded read={useRoles(org)}>{(data) => <div className="stack">{data.roles.map((each) => <RoleCard key={each.id} role={each} />)}</div>}</Loaded>;
}

function NewPermission({ org, workspace, groups, roles, close }: { org: string; workspace: OrganizationWorkspace; groups: Group[]; roles: Role[]; close: () => void }) {
  const [group, setGroup] = useState(String(groups[0]?.id ?? ""));
  const [role, setRole] = useState(String(roles[0]?.id ?? ""));
  return (
    <Ask title={`Grant a role in ${workspace.name}`} about="Every member of the group has it from now on." act="Grant" onClose={close} send={(sending) => call("POST /api/v2/uac-proxy/organization/{org}/workspaces/{workspace_id}/permissions", { path: { org, workspace_id: workspace.id }, body: { group_id: group, role_id: role } }, sending)}>
      <Choice label="Group" value={group} set={setGroup} options={groups.map((each) => [String(each.id), oneLine(each.name, 60)])} />
      <Choice label="Role" value={role} set={setRole} options={roles.map((each) => [String(each.id), oneLine(each.name, 60)])} />
    </Ask>
  );
}
function NewWorkspace({ org, close }: { org: string; close: () => void }) {
  const [name, setName] = useState("");
  const [description, setDescription] = useState("");
  return (
    <Ask title="New workspace" about="Nobody but admins sees it until a group has a role there." act="Create" not={name.trim() ? "" : "Give it a name first"} onClose={close} send={(sending) => call("POST /api/v2/uac-proxy/organization/{org}/workspaces", { path: { org }, body: { workspace: { name: name.trim(), description } } }, sending)}>
      <TextField label="Name" value={name} set={setName} focus required />
      <TextField label="Description" value={description} set={setDescription} />
    </Ask>
  );
}
function Workspaces({ org }: { org: string }) {
  const not = useAdmin().org;
  const [dialog, open] = useDialog();
  const read = useRead("GET /api/v2/uac-proxy/organization/{org}/workspaces", { path: { org }, query: paging }, 20_000);
  const groups = useGroups(org).data?.groups ?? [];
  const roles = useRoles(org).data?.roles ?? [];
  const nameIn = (all: { id: string | number; name: string }[], id: string | number): ReactNode => <Text of={all.find((each) => String(each.id) === String(id))?.name ?? String(id)} most={60} />;
  return (
    <Card title="Workspaces" end={<Button small icon="plus" not={not} onPress={() => open((close) => <NewWorkspace org={org} close={close} />)}>New workspace…</Button>}>
      <Loaded read={read}>
        {(data) => (
          <ul className="rows">
            {data.workspaces.map((each) => (
              <li key={each.id}>
                <span className="grow">
                  <b><Text of={each.name} most={80} /></b> {each.built_in && <Badge>Built in</Badge>}
                  {each.permissions.map((one) => <small key={`${one.group_id}-${one.role_id}`}>{nameIn(groups, one.group_id)}: {nameIn(roles, one.role_id)}</small>)}
                </span>
                <span className="end">
                  <Menu
                    label={`Actions of ${each.name}`}
                    items={[
                      { name: "Grant a role…", icon: "plus", not, onPress: () => open((close) => <NewPermission org={org} workspace={each} groups={groups} roles={roles} close={close} />) },
                      { name: "Delete…", icon: "trash", not: not || (each.built_in ? "It is built in" : ""), onPress: () => open((close) => <Confirm title={`Delete ${each.name}`} about="It must be empty: no models, endpoints or webhooks." name={each.name} act="Delete" send={(sending) => call("DELETE /api/v2/uac-proxy/organization/{org}/workspaces/{workspace_id}", { path: { org, workspace_id: each.id } }, sending)} onClose={close} />) },
                    ]}
                  />
                </span>
              </li>
            ))}
          </ul>
        )}
      </Loaded>
      {dialog}
    </Card>
  );
}

function Accounts() {
  const read = useRead("POST /api/v1/uac-proxy/service_account/findServiceAccount", { body: { pagination: paging } }, 20_000);
  return (
    <Card title="Service accounts">
      <Loaded read={read}>
        {(data) =>
          data.service_accounts.length ? (
            <ul className="rows">
              {data.service_accounts.map((each) => (
                <li key={each.id}>
                  <span className="grow"><b><Text of={each.username || each.email} most={80} /></b>{each.description && <small><Text of={each.description} most={160} /></small>}</span>
                  <span className="end muted"><Time at={each.time_created} /></span>
                </li>
              ))}
            </ul>
          ) : (
            <Empty icon="people" title="No service accounts">They are users without a person, for programs.</Empty>
          )
        }
      </Loaded>
    </Card>
  );
}

export function PeoplePage({ part }: { part: string; id?: string }) {
  const org = useOrganization();
  useTitle("People");
  const tabs = ["users", "groups", "roles", "workspaces", "accounts"];
  const here = tabs.includes(part) ? part : "users";
  return (
    <>
      <Head title="People" by={org.data && <span>Organisation <Text of={org.data.name} most={60} /></span>} />
      <Tabs label="People" here={here} tabs={tabs.map((each) => ({ id: each, name: each === "accounts" ? "Service accounts" : each[0]!.toUpperCase() + each.slice(1), to: `/people/${each}` }))} />
      <Loaded read={org}>
        {(data) =>
          !data ? (
            <Empty icon="people" title="You belong to no organisation" />
          ) : here === "groups" ? (
            <Groups org={data.id} />
          ) : here === "roles" ? (
            <Roles org={data.id} />
          ) : here === "workspaces" ? (
            <Workspaces org={data.id} />
          ) : here === "accounts" ? (
            <Accounts />
          ) : (
            <Users org={data.id} />
          )
        }
      </Loaded>
    </>
  );
}
