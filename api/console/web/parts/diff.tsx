// Changes, old and new side by side.
import { difference, isChange, type Change } from "../data/diff";
import { plural } from "../data/format";
import { Text } from "./basics";

function Value({ of }: { of: string }) {
  return <Text of={of} most={90} />;
}

/// The few that matter first.
export function ShortDiff({ changes }: { changes: Change[] }) {
  const all = changes.filter(isChange);
  if (!all.length) return <p className="muted">Nothing differs.</p>;
  return (
    <table className="diff">
      <tbody>
        {all.slice(0, 6).map((each) => (
          <tr key={each.part + each.name}>
            <th scope="row">
              <Text of={each.name} most={30} />
            </th>
            <td>
              {each.before !== undefined && (
                <del>
                  <Text of={each.before} most={18} />
                </del>
              )}{" "}
              {each.after !== undefined ? (
                <ins>
                  <Text of={each.after} most={18} />
                </ins>
              ) : (
                <span className="muted">gone</span>
              )}
            </td>
          </tr>
        ))}
        {all.length > 6 && (
          <tr>
            <th scope="row" colSpan={2} className="muted">
              and {plural(all.length - 6, "more change")}
            </th>
          </tr>
        )}
      </tbody>
    </table>
  );
}

/// On one line, for a list.
export function LineDiff({ changes }: { changes: Change[] }) {
  const all = changes.filter(isChange);
  return (
    <>
      {all.slice(0, 4).map((each, i) => (
        <span key={each.part + each.name}>
          {i > 0 && ", "}
          <Text of={each.name} most={30} /> <span className="mono">{each.before === undefined ? "new " : ""}</span>
          <span className="mono">
            {each.before !== undefined && <Text of={each.before} most={18} />}
            {each.before !== undefined && " → "}
            {each.after === undefined ? "gone" : <Text of={each.after} most={18} />}
          </span>
        </span>
      ))}
      {all.length > 4 && ` and ${all.length - 4} more`}
    </>
  );
}

export function WholeDiff({ changes, names }: { changes: Change[]; names: [string, string] }) {
  const parts = [...new Set(changes.map((each) => each.part))];
  return (
    <>
      {parts.map((part) => {
        const all = changes.filter((each) => each.part === part);
        const different = all.filter(isChange);
        const equal = all.length - different.length;
        return (
          <section className="card" key={part} aria-label={part}>
            <h2>
              {part} <span className="end muted">{plural(different.length, "change")}</span>
            </h2>
            {different.length > 0 && (
              <div className="scroll" tabIndex={0} role="group" aria-label="Table">
                <table className="t">
                  <thead>
                    <tr>
                      <th scope="col">Name</th>
                      <th scope="col">
                        <Text of={names[0]} most={40} />
                      </th>
                      <th scope="col">
                        <Text of={names[1]} most={40} />
                      </th>
                      <th scope="col" className="right">
                        Difference
                      </th>
                    </tr>
                  </thead>
                  <tbody>
                    {different.map((each) => (
                      <tr key={each.name}>
                        <td className="wrap">
                          <Text of={each.name} most={120} />
                        </td>
                        <td className="mono wrap">{each.before === undefined ? <span className="muted">none</span> : <Value of={each.before} />}</td>
                        <td className="mono wrap">{each.after === undefined ? <span className="muted">none</span> : <Value of={each.after} />}</td>
                        <td className="right num">{difference(each)}</td>
                      </tr>
                    ))}
                  </tbody>
                </table>
              </div>
            )}
            {equal > 0 && (
              <details className="in equal">
                <summary>{equal === 1 ? "1 is equal" : `${equal} are equal`}</summary>
                <dl className="kv">
                  {all
                    .filter((each) => !isChange(each))
                    .map((each) => (
                      <div key={each.name} className="pair">
                        <dt>
                          <Text of={each.name} most={80} />
                        </dt>
                        <dd className="mono">
                          <Value of={each.after ?? ""} />
                        </dd>
                      </div>
                    ))}
                </dl>
              </details>
            )}
          </section>
        );
      })}
    </>
  );
}
