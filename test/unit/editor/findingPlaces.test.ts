import assert from 'node:assert/strict';
import { placedFindings } from '../../../src/editor/findings/findingPlaces';
import type { FileChange } from '../../../src/model/changes';
import type { Finding, Verdict } from '../../../src/model/verdict';
import { at, makeTask } from '../../fakes/records';

const finding = (id: string, parts: Partial<Finding> = {}): Finding => ({
  id,
  severity: 'error',
  title: id,
  detail: '',
  source: 'verifier',
  ...parts,
});
const verdict = (word: Verdict['verdict'], findings: Finding[]): Verdict => ({
  verdict: word,
  runId: 'r',
  tree: 't',
  at,
  checks: [],
  findings,
  reasons: [],
});
const file = (path: string, status: FileChange['status']): FileChange => ({
  path,
  status,
  oldMode: '',
  newMode: '',
  oldBlob: '',
  newBlob: '',
  isBinary: false,
  added: 1,
  removed: 0,
});
const located = finding('f1', { location: { path: 'src/a.ts', line: 3, endLine: 5, column: 2 } });

describe('where open findings are shown', () => {
  it('is their own place', () => {
    const task = makeTask({ verdicts: [verdict('FAIL', [located])] });
    const [one] = placedFindings(task, []);
    assert.deepEqual([one?.path, one?.line, one?.endLine, one?.column], ['src/a.ts', 3, 5, 2]);
  });

  it('is the first changed file that is there for one without a place', () => {
    const task = makeTask({ verdicts: [verdict('FAIL', [finding('f1')])] });
    const [one] = placedFindings(task, [file('gone.ts', 'deleted'), file('b.ts', 'added')]);
    assert.deepEqual([one?.path, one?.line, one?.isLocated], ['b.ts', 1, false]);
  });

  it('is nowhere while the changed files are not known', () => {
    const task = makeTask({ verdicts: [verdict('FAIL', [finding('f1')])] });
    assert.deepEqual(placedFindings(task, undefined), []);
  });

  it('is nowhere for those that were dismissed, passed, or whose Task has ended', () => {
    const failed = makeTask({ verdicts: [verdict('FAIL', [located])] });
    const dismissed = [{ runId: 'r', findingId: 'f1', reason: 'no', at }];
    assert.deepEqual(placedFindings({ ...failed, dismissed }, []), []);
    assert.deepEqual(placedFindings({ ...failed, state: 'accepted' }, []), []);
    assert.deepEqual(placedFindings(makeTask({ verdicts: [verdict('PASS', [located])] }), []), []);
  });
});
