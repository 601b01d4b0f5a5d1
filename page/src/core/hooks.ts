// Small hooks that several views need.

import type { RefObject } from "preact";
import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { get } from "./api.ts";

export interface Fetched<T> {
  data: T | null;
  error: unknown;
  reload: () => void;
}

// What `read` gives, read again when `facts` change. An older answer never replaces a newer one.
export function useRead<T>(read: (() => Promise<T>) | null, facts: unknown[]): Fetched<T> {
  const [state, setState] = useState<{ data: T | null; error: unknown }>({ data: null, error: null });
  const round = useRef(0);
  const reload = useCallback(() => {
    const mine = ++round.current;
    if (!read) return;
    read().then(
      (data) => mine === round.current && setState((last) => (last.data === data ? last : { data, error: null })),
      (error) => mine === round.current && setState((last) => ({ data: last.data, error })),
    );
    // The caller names what matters.
  }, facts);
  useEffect(() => {
    reload();
    return () => {
      round.current += 1;
    };
  }, [reload]);
  return { ...state, reload };
}

export function useGet<T>(path: string | null, ...facts: unknown[]): Fetched<T> {
  return useRead<T>(path === null ? null : () => get<T>(path), [path, ...facts]);
}

// A function that runs once, a while after the last call.
export function useDelayed<A extends unknown[]>(work: (...args: A) => void, milliseconds: number) {
  const latest = useRef(work);
  latest.current = work;
  const delayed = useMemo(() => {
    let timer = 0;
    const run = (...args: A) => {
      clearTimeout(timer);
      timer = setTimeout(() => latest.current(...args), milliseconds);
    };
    run.cancel = () => clearTimeout(timer);
    return run;
  }, [milliseconds]);
  useEffect(() => delayed.cancel, [delayed]);
  return delayed;
}

// A value that follows another at a distance: what costs much is not read again with every event.
export function useFollowed<T>(value: T, milliseconds: number): T {
  const [followed, setFollowed] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setFollowed(value), milliseconds);
    return () => clearTimeout(timer);
  }, [value, milliseconds]);
  return followed;
}

export function useTitle(...parts: (string | undefined)[]): void {
  const title = [...parts.filter(Boolean), "Nextbatch"].join(" · ");
  useEffect(() => {
    document.title = title;
  }, [title]);
}

// A value kept in the browser under a name.
export function useStored<T>(name: string, start: T): [T, (value: T) => void] {
  const [value, setValue] = useState<T>(() => {
    const kept = localStorage.getItem(name);
    return kept === null ? start : (JSON.parse(kept) as T);
  });
  const keep = (fresh: T) => {
    localStorage.setItem(name, JSON.stringify(fresh));
    setValue(fresh);
  };
  return [value, keep];
}

// Counts the changes of light and dark, for what is drawn with colours read from the theme.
export function useTheme(): number {
  const [changes, setChanges] = useState(0);
  useEffect(() => {
    const onChange = () => setChanges((number) => number + 1);
    const system = matchMedia("(prefers-color-scheme: dark)");
    addEventListener("themechange", onChange);
    system.addEventListener("change", onChange);
    return () => {
      removeEventListener("themechange", onChange);
      system.removeEventListener("change", onChange);
    };
  }, []);
  return changes;
}

// Closes what is open when a tap lands outside `box`, or on Escape.
export function useClosing(open: boolean, box: RefObject<HTMLElement | null>, close: () => void): void {
  // A layout effect listens from the moment the box is on the screen: Escape may follow the tap at once.
  useLayoutEffect(() => {
    if (!open) return;
    const onTap = (event: Event) => {
      if (!box.current?.contains(event.target as Node)) close();
    };
    const onKey = (event: KeyboardEvent) => {
      if (event.key === "Escape") close();
    };
    document.addEventListener("pointerdown", onTap);
    document.addEventListener("keydown", onKey);
    return () => {
      document.removeEventListener("pointerdown", onTap);
      document.removeEventListener("keydown", onKey);
    };
  }, [open]);
}
