// What pages about serving share.
import type { ServedStage as EndpointStage } from "../data/calls";
import { pathOf } from "../data/route";

const scale = 1000;

/// One bar: how the requests are shared out.
export function Ratio({ shares, names }: { shares: number[]; names: string[] }) {
  let x = 0;
  const label = shares.map((share, i) => `${names[i]} ${Math.round(share * 100)} percent`).join(", ");
  return (
    <svg className="ratio" viewBox={`0 0 ${scale} 8`} preserveAspectRatio="none" role="img" aria-label={label}>
      <rect width={scale} height="8" rx="4" fill="var(--well)" />
      {shares.map((share, i) => {
        const at = x;
        x += share * scale;
        return share > 0 ? <rect key={i} x={at} width={Math.max(share * scale - 2, 2)} height="8" className={i === 0 ? "a" : "b"} /> : null;
      })}
    </svg>
  );
}

export function StageShares({ ws, stage }: { ws: string; stage: EndpointStage }) {
  const live = stage.components.filter((each) => each.ratio > 0);
  if (!live.length) return <span className="muted">nothing yet</span>;
  return (
    <>
      {live.map((each, i) => (
        <span key={each.build_id} className="nowrap">
          {i > 0 && " · "}
          <a href={pathOf("w", ws, "builds", each.build_id)}>build {each.build_id}</a> <span className="num">{Math.round(each.ratio * 100)} %</span>
        </span>
      ))}
      <Ratio shares={live.map((each) => each.ratio)} names={live.map((each) => `build ${each.build_id}`)} />
    </>
  );
}
