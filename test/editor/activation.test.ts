import assert from 'node:assert/strict';
import * as vscode from 'vscode';

describe('the extension', () => {
  it('is known to the editor', () => {
    assert.ok(vscode.extensions.getExtension('tributary.tributary'));
  });
});
