// A small part of Markdown, for readmes: headings, lists, code, emphasis, links. Text becomes text; there is no
// way from it to markup.
import type { ReactNode } from "react";
import { visible } from "../data/format";
import { ForeignLink } from "./basics";

const inlineForms = /(`[^`\n]+`)|(\*\*[^*\n]+\*\*)|(\*[^*\n]+\*|_[^_\n]+_)|(\[[^\]\n]*\]\([^()\s]+\))/;
const charactersMax = 200_000;

function inline(text: string): ReactNode[] {
  const out: ReactNode[] = [];
  let rest = text;
  for (let i = 0; rest && i < 2000; ++i) {
    const found = inlineForms.exec(rest);
    if (!found) break;
    if (found.index) out.push(visible(rest.slice(0, found.index)));
    const [all, code, strong, soft, link] = found;
    if (code) out.push(<code key={i}>{visible(code.slice(1, -1))}</code>);
    else if (strong) out.push(<strong key={i}>{visible(strong.slice(2, -2))}</strong>);
    else if (soft) out.push(<em key={i}>{visible(soft.slice(1, -1))}</em>);
    else if (link) {
      const middle = link.indexOf("](");
      out.push(
        <ForeignLink key={i} to={link.slice(middle + 2, -1)}>
          {visible(link.slice(1, middle))}
        </ForeignLink>,
      );
    }
    rest = rest.slice(found.index + all!.length);
  }
  out.push(visible(rest));
  return out;
}

export function Markdown({ text }: { text: string }) {
  const lines = text.slice(0, charactersMax).replace(/\r\n?/g, "\n").split("\n");
  const out: ReactNode[] = [];
  for (let i = 0; i < lines.length; ) {
    const line = lines[i]!;
    const heading = /^(#{1,6})\s+(.*)$/.exec(line);
    if (/^```/.test(line)) {
      const begin = ++i;
      while (i < lines.length && !/^```/.test(lines[i]!)) ++i;
      out.push(
        <pre key={i} tabIndex={0}>
          <code>{visible(lines.slice(begin, i).join("\n"))}</code>
        </pre>,
      );
      ++i;
    } else if (heading) {
      const Level = `h${Math.min(heading[1]!.length + 1, 4)}` as "h2" | "h3" | "h4";
      out.push(<Level key={i}>{inline(heading[2]!)}</Level>);
      ++i;
    } else if (/^\s*([-*+]|\d+[.)])\s+/.test(line)) {
      const Kind = /^\s*\d/.test(line) ? "ol" : "ul";
      const items: ReactNode[] = [];
      for (; i < lines.length && /^\s*([-*+]|\d+[.)])\s+/.test(lines[i]!); ++i) items.push(<li key={i}>{inline(lines[i]!.replace(/^\s*([-*+]|\d+[.)])\s+/, ""))}</li>);
      out.push(<Kind key={i}>{items}</Kind>);
    } else if (!line.trim()) ++i;
    else {
      const begin = i;
      while (i < lines.length && lines[i]!.trim() && !/^(#{1,6}\s|```|\s*([-*+]|\d+[.)])\s)/.test(lines[i]!)) ++i;
      out.push(<p key={begin}>{inline(lines.slice(begin, Math.max(i, begin + 1)).join(" "))}</p>);
      if (i === begin) ++i;
    }
  }
  return <div className="md">{out}</div>;
}
