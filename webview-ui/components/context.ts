import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { RunId } from '../../src/model/ids';
import type { Host } from '../ipc';

/** What components inside the list need of the page. */
export interface PageContext {
  readonly host: Host;
  readonly runId: RunId;
  readonly isOpen: (key: string, byDefault: boolean) => boolean;
  readonly setOpen: (key: string, isOpen: boolean) => void;
  /** Copies, and says so. */
  readonly copy: (text: string) => void;
  /** Brings all of an entry whose text was shortened. */
  readonly loadWhole: (index: number) => void;
  /** Our time corrected by the host's clock. */
  readonly now: () => number;
  readonly hasEnded: boolean;
  /** Ids of questions that can be answered now. */
  readonly waiting: ReadonlySet<string>;
  /** Tells whether the buttons of a question are in sight now. */
  readonly setInSight: (questionId: string, isInSight: boolean) => void;
}

const context = createContext<PageContext | undefined>(undefined);
export const PageProvider = context.Provider;

export function usePage(): PageContext {
  const page = useContext(context);
  if (page === undefined) throw new Error('outside of the page');
  return page;
}
