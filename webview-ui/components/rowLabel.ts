import type { Facts } from '../../src/protocol/transcriptApi';
import type { ListRow } from '../listRows';
import { safeLine } from '../safeText';
import { toolLine } from '../toolLine';
import { stateText, t } from '../words';

/** What a screen reader says of a row before its content. */
export function rowLabel(row: ListRow, facts: Facts): string {
  switch (row.kind) {
    case 'user':
      return row.origin === 'user' ? t('Your message') : t('Message to the agent');
    case 'thinking':
      return t('Thinking');
    case 'text':
      return t('Agent');
    case 'answer':
      return t('Answer');
    case 'tool': {
      const { verb, subject } = toolLine(row.name, row.input);
      return `${verb} ${subject}`.trim().slice(0, 200);
    }
    case 'question':
      return t('Question: may it run {0}', safeLine(row.command).slice(0, 200));
    case 'retry':
      return t('Retry {0}', row.attempt);
    case 'cut':
      return t('An answer that was cut off');
    case 'state':
      return t('Run {0}', stateText(row.state));
    case 'note':
      return t('Note');
    case 'live':
      return t('The agent is writing');
    case 'preparing':
      return t('Preparing');
    case 'end':
      return t('Run {0}', stateText(facts.run.state));
    case 'verdict':
      return t('Verdict: {0}', facts.verdict?.verdict ?? '');
    case 'problems':
      return t('Problems of this transcript');
    case 'newer':
      return t('A later run');
  }
}
