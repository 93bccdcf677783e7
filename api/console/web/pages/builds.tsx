// The builds of a workspace: what failed, what is scanned, what may be served.
import { call } from "../data/api";
import type { Build } from "../data/calls";
import { count } from "../data/format";
import { pathOf, useHere, withQuery } from "../data/route";
import { useMade, useRead } from "../data/store";
import { Empty, Head, Loaded, Tabs, Text, Time, useTitle } from "../parts/basics";
import { Paging, rowsOfPage, usePage } from "../parts/paging";
import { BuildBadge, ScanBadge } from "../parts/stage";

type Filter = { status?: string; scan_status?: string; safety_status?: string };
const filters: Record<string, [string, Filter, string]> = {
  "": ["All", {}, "No builds yet"],
  building: ["Building", { status: "building" }, "Nothing is being built"],
  failed: ["Failed", { status: "error" }, "No build failed"],
  unscanned: ["Not scanned", { status: "finished", scan_status: "unscanned" }, "Every build was scanned"],
  scanning: ["Scanning", { scan_status: "scanning" }, "Nothing is being scanned"],
  unsafe: ["Unsafe", { safety_status: "unsafe" }, "No build is unsafe"],
  safe: ["Safe", { safety_status: "safe" }, "No build is known to be safe"],
};

interface Of {
  model: string;
  version: string;
}
/// Of which versions they are, by the version's id.
export function useVersionsOf(ws: string, builds: Build[] | undefined) {
  const ids = [...new Set((builds ?? []).map((each) => String(each.model_version_id)))].sort();
  return useMade<Record<string, Of>>(
    ids.length ? `versions ${ws} ${ids.join()}` : null,
    async () => {
      const { model_versions: versions } = await call("POST /api/v1/registry/workspaces/{workspace}/model_versions/find", { path: { workspace: ws }, body: { ids, pagination: { page_number: 1, page_limit: ids.length } } });
      const models = [...new Set(versions.map((each) => each.registered_model_id))];
      if (!models.length) return {};
      const { registered_models: found } = await call("POST /api/v1/registry/workspaces/{workspace}/registered_models/find", { path: { workspace: ws }, body: { ids: models, pagination: { page_number: 1, page_limit: models.length } } });
      const names = new Map(found.map((each) => [each.id, each.name]));
      return Object.fromEntries(versions.map((each) => [String(each.id), { model: names.get(each.registered_model_id) ?? "", version: each.version }]));
    },
    30_000,
  );
}

function Row({ ws, build, of }: { ws: string; build: Build; of?: Of }) {
  return (
    <tr>
      <td>
        <a className="name" href={pathOf("w", ws, "builds", build.id)}>
          Build {build.id}
        </a>
        {build.message && (
          <small className={build.status === "error" ? "bad-text" : ""}>
            <Text of={build.message} most={240} />
          </small>
        )}
      </td>
      <td className="one">
        {of ? (
          <a href={pathOf("w", ws, "models", of.model, of.version)}>
            <Text of={of.model} most={60} /> <Text of={of.version} most={40} />
          </a>
        ) : (
          <span className="muted">version {build.model_version_id}</span>
        )}
      </td>
      <td>
        <BuildBadge build={build} />
      </td>
      <td>{build.status === "error" ? null : <ScanBadge scan={build} />}</td>
      <td className="nowrap" data-label="Made">
        <Time at={build.date_created} />
      </td>
    </tr>
  );
}

export function BuildsPage({ ws }: { ws: string }) {
  const here = useHere();
  const page = usePage();
  const chosen = here.searchParams.get("show") ?? "";
  const [, filter, none] = filters[chosen] ?? filters[""]!;
  const read = useRead("GET /api/v1/deployment/workspace/{workspace}/builds", { path: { workspace: ws }, query: { ...filter, page_number: page, page_limit: rowsOfPage } }, 10_000);
  const versions = useVersionsOf(ws, read.data?.builds);
  useTitle("Builds and scans");
  return (
    <>
      <Head title={<>Builds and scans <span className="ghost num">{read.data && count(read.data.total_records)}</span></>} by="What was made of versions, and what scanners say of it." />
      <Tabs label="Which builds" here={chosen} tabs={Object.entries(filters).map(([id, [name]]) => ({ id, name, to: withQuery(here, { show: id, page: "" }) }))} />
      <section className="card" aria-label="Builds">
        <Loaded read={read}>
          {(data) =>
            data.builds.length ? (
              <div className="scroll" tabIndex={0} role="group" aria-label="Table">
                <table className="t flow">
                  <thead>
                    <tr>
                      <th scope="col">Build</th>
                      <th scope="col">Of</th>
                      <th scope="col">State</th>
                      <th scope="col">Scan</th>
                      <th scope="col">Made</th>
                    </tr>
                  </thead>
                  <tbody>
                    {data.builds.map((each) => (
                      <Row key={each.id} ws={ws} build={each} of={versions.data?.[String(each.model_version_id)]} />
                    ))}
                  </tbody>
                </table>
                <Paging total={data.total_records} />
              </div>
            ) : (
              <Empty icon="box" title={none}>
                A build is made on the page of a version: it checks the model, and can then be scanned and served.
              </Empty>
            )
          }
        </Loaded>
      </section>
    </>
  );
}
