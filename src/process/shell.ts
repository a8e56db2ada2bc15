/** The shell of a tool's command: bash where the system has it, since that is what the text is written in. */
export function shellLine(text: string): { file: string; args: string[]; isVerbatim: boolean } {
  if (process.platform === 'win32') {
    return {
      file: process.env['ComSpec'] ?? 'cmd.exe',
      args: ['/d', '/s', '/c', `"${text}"`],
      isVerbatim: true,
    };
  }
  // sh is the one shell every system has; it hands over to bash without a look at the disk by us.
  const handOver = 'if command -v bash >/dev/null 2>&1; then exec bash -c "$1"; else exec sh -c "$1"; fi';
  return { file: '/bin/sh', args: ['-c', handOver, 'sh', text], isVerbatim: false };
}
