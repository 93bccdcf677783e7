// The API, as this node's own document says it.
import { useState } from "react";
import { pathOf } from "../data/route";
import { useMade } from "../data/store";
import { Badge, Card, Command, Empty, Head, Loaded, Text, useTitle } from "../parts/basics";

interface Schema {
  $ref?: string;
  type?: string | string[];
  description?: string;
  enum?: unknown[];
  oneOf?: Schema[];
  items?: Schema;
  properties?: Record<string, Schema>;
  required?: string[];
  maxLength?: number;
  example?: unknown;
}
interface Operation {
  operationId: string;
  summary: string;
  description?: string;
  tags: string[];
  parameters?: { $ref?: string; name?: string; in?: string; description?: string; required?: boolean }[];
  requestBody?: { content: Record<string, { schema: Schema }> };
  responses: Record<string, { $ref?: string; description?: string; content?: Record<string, { schema: Schema }> }>;
}
interface Document {
  info: { version: string; description: string };
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema> };
}
interface Row {
  method: string;
  path: string;
  of: Operation;
}

function useDocument() {
  return useMade<{ document: Document; rows: Row[] }>(
    "openapi",
    async () => {
      const document = (await (await fetch("/api/openapi.json")).json()) as Document;
      const rows = Object.entries(document.paths).flatMap(([path, item]) => Object.entries(item).map(([method, of]) => ({ method: method.toUpperCase(), path, of })));
      return { document, rows };
    },
    0,
  );
}

const resolve = (document: Document, schema: Schema | undefined): Schema => (schema?.$ref ? (document.components.schemas[schema.$ref.split("/").pop()!] ?? {}) : (schema ?? {}));

function typeText(schema: Schema): string {
  if (schema.$ref) return schema.$ref.split("/").pop()!.replaceAll("_", " ");
  if (schema.enum) return schema.enum.map(String).join(" | ");
  if (schema.oneOf) return [...new Set(schema.oneOf.map(typeText))].join(" | ");
  if (schema.type === "array") return `list of ${typeText(schema.items ?? {})}`;
  return Array.isArray(schema.type) ? schema.type.join(" | ") : (schema.type ?? "any JSON");
}

function Members({ document, schema, title }: { document: Document; schema: Schema; title: string }) {
  const whole = resolve(document, schema);
  const members = Object.entries(whole.properties ?? {});
  if (!members.length) return null;
  return (
    <Card title={title}>
      <div className="scroll" tabIndex={0} role="group" aria-label="Table">
        <table className="t">
          <thead>
            <tr><th scope="col">Member</th><th scope="col">Type</th><th scope="col">Meaning</th></tr>
          </thead>
          <tbody>
            {members.map(([name, each]) => (
              <tr key={name}>
                <td className="mono name">{name}{whole.required?.includes(name) && <small>always</small>}</td>
                <td className="soft wrap">{typeText(each)}{each.maxLength ? `, ≤ ${each.maxLength}` : ""}</td>
                <td className="soft">{each.description ?? resolve(document, each).description}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Card>
  );
}

function One({ document, row }: { document: Document; row: Row }) {
  const { method, path, of } = row;
  const body = of.requestBody?.content["application/json"]?.schema;
  const example = resolve(document, body).example;
  const data = method === "GET" ? "" : ` \\\n  -H 'Content-Type: application/json' -d '${example === undefined ? "{}" : JSON.stringify(example)}'`;
  const own = (of.parameters ?? []).filter((each) => each.name);
  return (
    <>
      <Head title={<span className="mono"><Badge tone="run">{method}</Badge> <Text of={path} /></span>} by={<>{of.summary}. {of.description}</>} />
      <div className="stack">
        <Card title="As a command"><div className="in"><Command text={`curl -X ${method} '${location.origin}${path}' \\\n  -H "Grpc-Metadata-email: $EMAIL" -H "Grpc-Metadata-developer_key: $KEY"${data}`} /></div></Card>
        {own.length > 0 && (
          <Card title="Parameters">
            <ul className="rows">{own.map((each) => <li key={each.name}><span className="mono">{each.name}</span><span className="grow soft">{each.description}</span><span className="end muted">{each.in}{each.required ? ", required" : ""}</span></li>)}</ul>
          </Card>
        )}
        {body && <Members document={document} schema={body} title="Body" />}
        {of.responses["200"]?.content?.["application/json"] && <Members document={document} schema={of.responses["200"].content["application/json"].schema} title="Answer" />}
      </div>
    </>
  );
}

export function ReferencePage({ name }: { name?: string }) {
  const read = useDocument();
  const [text, set] = useState("");
  useTitle(name ?? "API reference");
  return (
    <Loaded read={read} rows={10} page="API reference">
      {({ document, rows }) => {
        if (name) {
          const row = rows.find((each) => each.of.operationId === name);
          return row ? <One document={document} row={row} /> : <Empty page icon="flag" title="There is no such operation" act={<a href="/reference">All operations</a>} />;
        }
        const wanted = text.trim().toLowerCase();
        const found = rows.filter((each) => !wanted || `${each.path} ${each.of.summary} ${each.of.operationId}`.toLowerCase().includes(wanted));
        const tags = [...new Set(found.flatMap((each) => each.of.tags))].sort();
        return (
          <>
            <Head title={<>API reference <span className="ghost num">{rows.length}</span></>} by={<a href="/api/openapi.json" download="herald-openapi.json">The OpenAPI document</a>} />
            <div className="tools"><input className="input grow" type="search" aria-label="Search the operations" placeholder="Search" value={text} onChange={(event) => set(event.target.value)} /></div>
            <div className="stack">
              {tags.map((tag) => (
                <Card key={tag} title={tag}>
                  <ul className="rows">
                    {found.filter((each) => each.of.tags[0] === tag).map((each) => (
                      <li key={each.of.operationId}>
                        <span className="mono method">{each.method}</span>
                        <span className="grow"><a className="mono" href={pathOf("reference", each.of.operationId)}>{each.path}</a><small>{each.of.summary}</small></span>
                      </li>
                    ))}
                  </ul>
                </Card>
              ))}
              {!found.length && <Card label="Operations"><Empty icon="search" title="No operation fits" /></Card>}
            </div>
          </>
        );
      }}
    </Loaded>
  );
}
