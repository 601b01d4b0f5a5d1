// A handful of line icons, drawn here.

const PATHS = {
  sun: "M12 4V2M12 22v-2M4 12H2M22 12h-2M5.6 5.6 4.2 4.2M19.8 19.8l-1.4-1.4M5.6 18.4l-1.4 1.4M19.8 4.2l-1.4 1.4M16 12a4 4 0 1 1-8 0 4 4 0 0 1 8 0Z",
  moon: "M20 14.5A8.5 8.5 0 0 1 9.5 4 8.5 8.5 0 1 0 20 14.5Z",
  wall: "M3 5h18v11H3zM8 20h8M12 16v4",
  out: "M10 4H5v16h5M15 8l4 4-4 4M19 12H9",
  pin: "M9 4h6l-1 6 4 3v2H6v-2l4-3zM12 15v6",
  off: "M12 3v9M6.3 7a8 8 0 1 0 11.4 0",
  print: "M7 9V3h10v6M7 18H4v-8h16v8h-3M7 14h10v7H7z",
  down: "M12 4v11M7 11l5 5 5-5M5 20h14",
  up: "M12 20V9M7 13l5-5 5 5M5 4h14",
  scan: "M4 8V4h4M16 4h4v4M20 16v4h-4M8 20H4v-4M4 12h16",
  flask: "M9 3h6M10 3v6l-5.2 9a2 2 0 0 0 1.7 3h11a2 2 0 0 0 1.7-3L14 9V3M7.5 15h9",
  cloud: "M7 18a4 4 0 0 1-.6-7.9A6 6 0 0 1 18 9.5a4.3 4.3 0 0 1-.5 8.5zM4 4l16 16",
  lock: "M6 11h12v9H6zM8.5 11V8a3.5 3.5 0 0 1 7 0v3",
  check: "m5 12.5 4.5 4.5L19 7.5",
  file: "M6 3h8l4 4v14H6zM14 3v4h4M9 12h6M9 16h6",
  close: "M6 6l12 12M18 6 6 18",
  help: "M9.2 9.2a2.9 2.9 0 1 1 4.3 2.5c-1 .6-1.5 1.2-1.5 2.3M12 17.2h.01M21 12a9 9 0 1 1-18 0 9 9 0 0 1 18 0Z",
  people:
    "M15 20v-1.5a3.5 3.5 0 0 0-3.5-3.5h-4A3.5 3.5 0 0 0 4 18.5V20M9.5 11a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7ZM20 20v-1.5a3.5 3.5 0 0 0-2.6-3.4M15.5 4.2a3.5 3.5 0 0 1 0 6.7",
  columns: "M4 5h16v14H4zM9.3 5v14M14.7 5v14",
  chart: "M4 20V4M4 20h16M8 15l3.5-4 3 2.5L20 7",
  plus: "M12 5v14M5 12h14",
  minus: "M5 12h14",
  fork: "M7 8v8M7 8a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5ZM7 21a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5ZM17 8a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5ZM17 8c0 4-10 3-10 8",
  star: "m12 4 2.4 5 5.6.8-4 3.9.9 5.5L12 16.6l-4.9 2.6.9-5.5-4-3.9 5.6-.8z",
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name, size = 18 }: { name: IconName; size?: number }) {
  return (
    <svg
      viewBox="0 0 24 24"
      width={size}
      height={size}
      fill="none"
      stroke="currentColor"
      stroke-width={size > 30 ? 1.25 : 1.75}
      stroke-linecap="round"
      stroke-linejoin="round"
      aria-hidden="true"
    >
      <path d={PATHS[name]} />
    </svg>
  );
}
