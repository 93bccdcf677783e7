// Pages of a list; the page is in the address, so Back keeps it.
import { go, useHere, withQuery } from "../data/route";
import { count } from "../data/format";
import { Button } from "./basics";

export const rowsOfPage = 50;

export function usePage(): number {
  const page = Number(useHere().searchParams.get("page") ?? "1");
  return Number.isInteger(page) && page > 0 && page < 1e6 ? page : 1;
}
export function Paging({ total }: { total: number }) {
  const here = useHere();
  const page = usePage();
  const pages = Math.max(1, Math.ceil(total / rowsOfPage));
  if (pages === 1 && page === 1) return null;
  const to = (number: number) => go(withQuery(here, { page: number === 1 ? "" : String(number) }));
  return (
    <div className="pages">
      <span className="num">
        {count(Math.min((page - 1) * rowsOfPage + 1, total))}–{count(Math.min(page * rowsOfPage, total))} of {count(total)}
      </span>
      <span className="end">
        <Button small not={page === 1 ? "This is the first page" : ""} onPress={() => to(page - 1)}>
          Before
        </Button>
        <Button small not={page >= pages ? "This is the last page" : ""} onPress={() => to(page + 1)}>
          Next
        </Button>
      </span>
    </div>
  );
}
