import type { JSX } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { Facts } from '../../src/protocol/transcriptApi';
import { t } from '../words';
import { usePage } from './context';
import { type Waiting, WaitingLine } from './question';
import { Button } from './small';
import { Unsent } from './unsent';

interface Props {
  readonly facts: Facts;
  readonly draft: string;
  readonly onDraft: (text: string) => void;
  readonly onLeave: () => void;
}

interface FooterProps extends Props {
  readonly inSight: ReadonlySet<string>;
  readonly onShow: (question: Waiting) => void;
}

/** What waits for an answer out of sight, and the box for a message. */
export function Footer({ facts, draft, onDraft, onLeave, inSight, onShow }: FooterProps): JSX.Element {
  return (
    <footer class="footer">
      <WaitingLine waiting={facts.waiting} inSight={inSight} onShow={onShow} />
      <Unsent texts={facts.unsent} />
      <FollowUp facts={facts} draft={draft} onDraft={onDraft} onLeave={onLeave} />
    </footer>
  );
}

function FollowUp({ facts, draft, onDraft, onLeave }: Props): JSX.Element {
  const { host } = usePage();
  const [isSending, setSending] = useState(false);
  const box = useRef<HTMLTextAreaElement>(null);
  useLayoutEffect(() => {
    if (box.current === null) return;
    box.current.style.height = 'auto';
    box.current.style.height = `${Math.min(box.current.scrollHeight + 2, 180)}px`;
  }, [draft]);
  const send = async (): Promise<void> => {
    if (draft.trim() === '' || isSending) return;
    setSending(true);
    try {
      if (await host.sendMessage({ text: draft })) onDraft('');
    } catch (error) {
      // The host has told the user; the text stays in the box.
      console.warn(`not sent: ${String(error)}`);
    } finally {
      setSending(false);
    }
  };
  return (
    <div class="follow-up">
      <textarea
        ref={box}
        rows={1}
        value={draft}
        aria-label={t('Message to the agent')}
        aria-describedby="follow-up-hint"
        placeholder={t('Message to the agent')}
        onInput={(event) => onDraft(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) {
            event.preventDefault();
            void send();
          } else if (event.key === 'Escape') {
            event.preventDefault();
            onLeave();
          }
        }}
      />
      <Button
        kind="primary"
        icon="send"
        isIconOnly
        label={t('Send (Ctrl+Enter)')}
        isDisabled={isSending || draft.trim() === ''}
        onClick={() => void send()}
      />
      <p id="follow-up-hint" class="hint">
        {facts.isBusy
          ? t('A run is at work: it gets this at its next step, else a follow-up run does.')
          : facts.task.state === 'open'
            ? t('Starts a follow-up run in the same worktree.')
            : facts.task.state === 'closed'
              ? t('This task has ended: a message takes it up again.')
              : t('This task is over: a message begins a new one from HEAD.')}{' '}
        {t('Ctrl+Enter sends.')}
      </p>
    </div>
  );
}
