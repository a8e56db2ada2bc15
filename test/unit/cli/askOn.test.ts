import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { askOn } from '../../../src/cli/askOn';

describe('a question on the terminal', () => {
  let input: PassThrough;
  let output: PassThrough;
  const never = new AbortController().signal;
  beforeEach(() => {
    input = new PassThrough();
    output = new PassThrough();
  });

  it('shows the prompt and answers the line', async () => {
    const answer = askOn(input, output)('go on? ', never);
    input.write('yes\n');
    assert.equal(await answer, 'yes');
    assert.equal(output.read()?.toString(), 'go on? ');
  });

  it('can be followed by another one', async () => {
    const ask = askOn(input, output);
    const first = ask('1 ', never);
    input.write('a\n');
    assert.equal(await first, 'a');
    const second = ask('2 ', never);
    input.write('b\n');
    assert.equal(await second, 'b');
  });

  it('answers nothing at the end of the input', async () => {
    const answer = askOn(input, output)('go on? ', never);
    input.end();
    assert.equal(await answer, undefined);
  });

  it('answers nothing when it is aborted, before or meanwhile', async () => {
    const controller = new AbortController();
    const answer = askOn(input, output)('go on? ', controller.signal);
    controller.abort('user');
    assert.equal(await answer, undefined);
    assert.equal(await askOn(input, output)('go on? ', controller.signal), undefined);
  });
});
