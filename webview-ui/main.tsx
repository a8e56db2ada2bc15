import './withoutEval';
import './styles.css';
import { render } from 'preact';
import { App } from './components/app';
import { connect, editorApi } from './ipc';
import { PageStore } from './store';
import { type ViewState, viewStateSchema } from './viewState';
import { useLanguage } from './words';

const root = document.getElementById('root');
if (root === null) throw new Error('the page has no root');
begin(root);

function begin(element: HTMLElement): void {
  const { task, run, l10n } = element.dataset;
  useLanguage(l10n);
  const api = editorApi();
  const given = viewStateSchema.parse({
    taskId: task,
    ...(run === undefined || run === '' ? {} : { runId: run }),
  });
  const view = keptView(api.getState(), given);
  // What the editor restores the page from after a reload.
  api.setState(view);
  const store = new PageStore();
  const reveal: { call: number | undefined } = { call: undefined };
  const host = connect(api, {
    snapshot: (snapshot) => store.dispatch({ type: 'snapshot', snapshot }),
    append: (append) => store.dispatch({ type: 'append', append }),
    stream: (stream) => store.dispatch({ type: 'stream', stream }),
    facts: ({ runId, facts }) => store.dispatch({ type: 'facts', runId, facts }),
    missing: () => store.miss(),
    reveal: ({ call }) => {
      reveal.call = call;
      store.touch();
    },
  });
  render(
    <App store={store} host={host} view={view} onView={(next) => api.setState(next)} reveal={reveal} />,
    element,
  );
  store.begin(host);
}

/** What was kept of this very page, if it can be read. */
function keptView(kept: unknown, given: ViewState): ViewState {
  const parsed = viewStateSchema.safeParse(kept);
  if (!parsed.success || parsed.data.taskId !== given.taskId) return given;
  // Newer than what the page was made with: the user may have gone to another Run since.
  return parsed.data;
}
