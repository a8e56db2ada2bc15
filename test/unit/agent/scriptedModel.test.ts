import assert from 'node:assert/strict';
import { modelFailureOf } from '../../../src/agent/modelFailure';
import { ScriptedModel } from '../../fakes/scriptedModel';
import { languageModelContract, modelRequest } from '../../wire/support/modelContract';

describe('The scripted model, as a LanguageModel', () => {
  languageModelContract(async () => {
    const model = new ScriptedModel([]);
    return {
      model,
      answerWith: (replies) => model.answerWith(replies),
      failMidway: (errorType) =>
        model.answerWith([
          {
            content: [{ type: 'text', text: 'Hello' }],
            fault: { kind: 'error', before: 'content_block_stop', errorType },
          },
        ]),
      dispose: () => Promise.resolve(),
    };
  });

  it('refuses what the API would refuse', async () => {
    const model = new ScriptedModel([{ content: [{ type: 'text', text: 'never' }] }]);
    const request = modelRequest({
      messages: [{ role: 'assistant', content: [{ type: 'text', text: 'x' }] }],
    });
    await assert.rejects(
      model.stream(request, () => undefined, new AbortController().signal),
      (error: unknown) => modelFailureOf(error).code === 'badRequest',
    );
    assert.match(model.refusals[0] ?? '', /first message/);
  });
});
