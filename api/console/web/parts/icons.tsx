// The icons: 16 by 16, drawn with strokes.
const shapes = {
  ok: <path d="m3 8.5 3.3 3.3L13 5"/>,
  x: <path d="m4 4 8 8m0-8-8 8"/>,
  clock: <><circle cx="8" cy="8" r="6"/><path d="M8 4.8V8l2.2 1.6"/></>,
  again: <path d="M13.2 8a5.2 5.2 0 1 1-1.6-3.8L13.4 6M13.4 2.8V6h-3.2"/>,
  send: <path d="M14 2 7.2 8.8M14 2 9.6 14l-2.4-5.2L2 6.4z"/>,
  ask: <path d="M8 13V3.2M3.8 7.2 8 3l4.2 4.2"/>,
  thumb: <><circle cx="8" cy="5.4" r="2.6"/><path d="M2.8 13.4c.6-2.6 2.6-4 5.2-4s4.6 1.4 5.2 4"/></>,
  merge: <><circle cx="4" cy="3.6" r="1.7"/><circle cx="4" cy="12.4" r="1.7"/><circle cx="12" cy="8" r="1.7"/><path d="M4 5.3v5.400M10.3 8C6.5 8 4.4 7.2 4 5.3"/></>,
  flag: <path d="M4 14V2.600m0 .6c3-1.6 5 1.6 8.4 0v6c-3.4 1.6-5.4-1.6-8.4 0"/>,
  shield: <><path d="M8 1.8 13 3.600v4c0 3.2-2.1 5.4-5 6.6-2.9-1.2-5-3.4-5-6.600v-4z"/><path d="m5.7 7.9 1.7 1.7 3-3.2"/></>,
  box: <path d="M8 1.8 13.6 5v6L8 14.2 2.4 11V5zM2.6 5.1 8 8.200l5.4-3.100M8 8.200v5.9"/>,
  copy: <><rect x="5.5" y="5.5" width="8" height="8" rx="1.5"/><path d="M3.5 10.500h-.5A.9.9 0 0 1 2.5 9.600V3.400a.9.9 0 0 1 .9-.9h6.200a.9.9 0 0 1 .9.9v.4"/></>,
  search: <><circle cx="7" cy="7" r="4.4"/><path d="m10.4 10.4 3.4 3.4"/></>,
  home: <path d="M2.4 7.4 8 2.600l5.6 4.800M3.9 6.300v7h8.200v-7"/>,
  inbox: <path d="M2.2 9.2 4 3.400h8l1.8 5.800v3.600H2.200zM2.4 9.200h3.200c0 1.4 1 2.2 2.4 2.200s2.4-.8 2.4-2.200h3.2"/>,
  model: <><circle cx="8" cy="3.6" r="1.8"/><circle cx="3.6" cy="12" r="1.8"/><circle cx="12.4" cy="12" r="1.8"/><path d="M7.2 5.2 4.4 10.400M8.8 5.200l2.8 5.200M5.4 12h5.2"/></>,
  plug: <path d="M5.6 2.200v3.200m4.8-3.200v3.200M3.8 5.400h8.400v2.200c0 2.4-1.6 4-4.2 4s-4.2-1.6-4.2-4zM8 11.600v2.4"/>,
  hook: <><circle cx="8" cy="3.8" r="2"/><path d="M8 5.800v4.600a2.6 2.6 0 1 1-5.2 0M8 10.400h3.4"/><circle cx="12.4" cy="10.4" r="1.1"/></>,
  dead: <path d="M2.6 5.4 8 2.400l5.4 3v6.200H2.600zM6 11.600l4-4m-4 0 4 4"/>,
  log: <path d="M3.4 2.400h9.200v11.200H3.400zM5.8 5.600h4.400M5.8 8h4.400M5.8 10.400h2.6"/>,
  people: <><circle cx="6" cy="5.4" r="2.4"/><path d="M1.6 13c.4-2.6 2-4 4.4-4s4 1.4 4.4 4M10.6 3.400a2.3 2.3 0 0 1 0 4.100M12 9.400c1.4.6 2.2 1.8 2.4 3.6"/></>,
  gauge: <><path d="M2.6 12.200a6 6 0 1 1 10.8 0M8 9.400l2.6-3.2"/><circle cx="8" cy="9.6" r=".9"/></>,
  book: <path d="M8 4c-1.4-1-3.2-1.4-5.6-1.400v9.600C4.8 12.2 6.6 12.6 8 13.600c1.4-1 3.2-1.4 5.6-1.400V2.600C11.2 2.6 9.4 3 8 4zm0 0v9.4"/>,
  down: <path d="m4.5 6.5 3.5 3.5 3.5-3.5"/>,
  right: <path d="m6.5 4 4 4-4 4"/>,
  sun: <><circle cx="8" cy="8" r="2.8"/><path d="M8 1.600v1.400M8 13v1.400M1.6 8H3m10 0h1.400M3.5 3.500l1 1m7 7 1 1m0-9-1 1m-7 7-1 1"/></>,
  more: <><circle cx="3.5" cy="8" r=".8"/><circle cx="8" cy="8" r=".8"/><circle cx="12.5" cy="8" r=".8"/></>,
  lock: <><rect x="3.4" y="7" width="9.2" height="6.4" rx="1.4"/><path d="M5.4 7V5.200a2.6 2.6 0 0 1 5.2 0"/></>,
  up: <path d="M8 12.500v-9m-3.5 3.400L8 3.500l3.5 3.4"/>,
  pause: <path d="M5.5 3.500v9m5-9v9"/>,
  plus: <path d="M8 3.2v9.6M3.2 8h9.6"/>,
  comment: <path d="M2.6 3.4h10.800v7H7.400L4.6 13v-2.600h-2z"/>,
  edit: <path d="m3 13 .7-2.9 7.6-7.6 2.2 2.2-7.6 7.600z"/>,
  trash: <path d="M3 4.600h10M6.2 4.600V3h3.600v1.600M4.4 4.600l.6 8.800h6l.6-8.8"/>,
  warn: <><path d="M8 2.4 14.2 13H1.800z"/><path d="M8 6.400v3.200M8 11.400v.1"/></>,
  out: <path d="M9.6 3H13v3.400M12.8 3.2 7.6 8.400M11.4 9.200V13H3V4.600h3.8"/>,
  key: <><circle cx="5.4" cy="10.6" r="2.8"/><path d="m7.4 8.6 5.8-5.800M11 5l2 2"/></>,
  upload: <path d="M8 10.400V2.800M4.8 5.8 8 2.600l3.2 3.200M2.8 10.600v2.800h10.400v-2.8"/>,
  diff: <path d="M5 2.800v10.400M2.6 5.200h4.800M11 2.800v10.400M8.6 10.800h4.8"/>,
  leave: <path d="M6.4 3H3v10h3.400M10 4.8 13.2 8 10 11.200M13 8H6.4"/>,
};

export type IconName = keyof typeof shapes;

/// With a label it says something; without, what stands beside it does.
export function Icon({ name, label, className = "" }: { name: IconName; label?: string; className?: string }) {
  return (
    <svg className={"i " + className} viewBox="0 0 16 16" {...(label ? { role: "img", "aria-label": label } : { "aria-hidden": true })}>
      {shapes[name]}
    </svg>
  );
}

export function Mark() {
  return (
    <svg viewBox="0 0 32 32" aria-hidden="true">
      <path fill="var(--azure-solid)" d="M5 3h22v12c0 7-5 11.5-11 14.5C10 26.5 5 22 5 15z" />
      <path fill="none" stroke="#fff" strokeWidth="3" d="m9 12.5 7 5 7-5" />
    </svg>
  );
}
