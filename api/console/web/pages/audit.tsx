// Who did what. Refused attempts are in it, too.
import { go, useHere, withQuery } from "../data/route";
import { useMay, useWorkspace } from "../data/session";
import { useRead } from "../data/store";
import { Badge, Card, Empty, Head, Loaded, Text, Time, useTitle } from "../parts/basics";
import { Paging, rowsOfPage, usePage } from "../parts/paging";
import { Person } from "../parts/people";

export function AuditPage({ ws }: { ws: string }) {
  const here = useHere();
  const page = usePage();
  const may = useMay(useWorkspace(ws));
  const wanted = (name: string) => here.searchParams.get(name) ?? "";
  const everywhere = !may.systemAdmin && wanted("all") === "1";
  const read = useRead("GET /api/v1/uac-proxy/audit", { query: { workspace: everywhere ? undefined : ws, user: wanted("user"), resource: wanted("resource"), outcome: wanted("outcome"), page_number: page, page_limit: rowsOfPage } });
  useTitle("Audit");
  const set = (name: string, value: string) => go(withQuery(here, { [name]: value.trim(), page: "" }));
  const field = (name: string, label: string) => (
    <input className="input" aria-label={label} placeholder={label} key={name + wanted(name)} defaultValue={wanted(name)} onKeyDown={(event) => event.key === "Enter" && set(name, event.currentTarget.value)} onBlur={(event) => event.currentTarget.value.trim() !== wanted(name) && set(name, event.currentTarget.value)} />
  );
  return (
    <>
      <Head title="Audit" by={everywhere ? "Of the whole installation." : <span>Of the workspace <Text of={ws} most={60} />.</span>} />
      <div className="tools">
        {field("user", "User: an e-mail or id")}
        {field("resource", "Thing: version/12")}
        <select className="input" aria-label="Outcome" value={wanted("outcome")} onChange={(event) => set("outcome", event.target.value)}>
          <option value="">Every outcome</option>
          <option value="OK">Done</option>
          <option value="REFUSED">Refused</option>
        </select>
        {!may.systemAdmin && may.known && (
          <label className="checks">
            <span>
              <input type="checkbox" checked={everywhere} onChange={() => set("all", everywhere ? "" : "1")} /> Whole installation
            </span>
          </label>
        )}
      </div>
      <Card label="Audit">
        <Loaded read={read}>
          {(data) =>
            data.entries.length ? (
              <div className="scroll" tabIndex={0} role="group" aria-label="Table">
                <table className="t flow">
                  <thead>
                    <tr>
                      <th scope="col">Who</th>
                      <th scope="col">Did</th>
                      <th scope="col">Thing</th>
                      <th scope="col">From</th>
                      <th scope="col">Outcome</th>
                      <th scope="col">When</th>
                    </tr>
                  </thead>
                  <tbody>
                    {data.entries.map((each) => (
                      <tr key={`${each.generation}-${each.sequence}-${each.offset}`}>
                        <td className="name">{each.user_name ? <Text of={each.user_name} most={60} /> : <Person id={String(each.user_id)} />}</td>
                        <td>{each.action.replaceAll("_", " ")}</td>
                        <td className="wrap">
                          {each.resource_name && <Text of={each.resource_name} most={80} />}
                          {each.resource_type && <small className="mono"><Text of={`${each.resource_type.toLowerCase()}/${each.resource_id}`} most={80} /></small>}
                        </td>
                        <td className="mono"><Text of={each.address} most={60} /></td>
                        <td>{each.code === 0 ? <Badge tone="ok" icon="ok">Done</Badge> : <Badge tone="bad" icon="x"><Text of={each.outcome} most={60} /></Badge>}</td>
                        <td className="nowrap"><Time at={each.time} /></td>
                      </tr>
                    ))}
                  </tbody>
                </table>
                <Paging total={Number(data.total_records)} />
              </div>
            ) : (
              <Empty icon="log" title="Nothing fits" />
            )
          }
        </Loaded>
      </Card>
    </>
  );
}
