import { useEffect, useReducer, useRef } from 'preact/hooks';

export function useRerender(): () => void {
  const [, rerender] = useReducer((count: number) => count + 1, 0);
  return () => rerender(undefined);
}

/** Renders again each `everyMs` while `isActive`. */
export function useTicking(isActive: boolean, everyMs: number): void {
  const rerender = useRerender();
  const latest = useRef(rerender);
  latest.current = rerender;
  useEffect(() => {
    if (!isActive) return undefined;
    const timer = setInterval(() => latest.current(), everyMs);
    return () => clearInterval(timer);
  }, [isActive, everyMs]);
}
