import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { createAnthropicModel } from '../../src/agent/anthropicModel';
import { modelRequest } from './support/modelContract';
import { startStrictServer } from './support/strictServer';

describe('a model that thinks in silence', () => {
  it('is waited for beyond the five minutes after which Node itself gives up', async () => {
    const server = await startStrictServer();
    try {
      // Silence before the headers, and again in the middle of the answer.
      server.script(async () => {
        await sleep(305_000);
        return {
          content: [{ type: 'text', text: 'at last' }],
          pause: { before: 'content_block_stop', ms: 305_000 },
        };
      });
      const message = await createAnthropicModel({
        credentials: { kind: 'apiKey', value: 'test-key' },
        baseUrl: server.url,
      }).stream(modelRequest({ silenceMs: 900_000 }), () => undefined, new AbortController().signal);
      assert.equal(message.content[0]?.['text'], 'at last');
    } finally {
      await server.close();
    }
  });
});
