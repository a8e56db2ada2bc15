import * as z from 'zod';
import { severitySchema } from '../../model/verdict';
import { answer, failure } from './outcome';
import { resolveInside } from './paths';
import type { CheckReport, Tool } from './tool';

const call = z.number().int().positive().describe('N of the [call N] that shows it').optional();
const line = z.number().int().positive();

const checkInput = z.object({
  title: z.string().min(1),
  command: z.string(),
  call,
  exitCode: z.number().int().nullable(),
  observed: z.string().describe('the output seen, shortened'),
  result: z.enum(['pass', 'fail', 'skip']),
});
type CheckInput = z.infer<typeof checkInput>;

export const reportCheckTool: Tool<CheckInput> = {
  name: 'ReportCheck',
  description: 'Records one check that you ran, with what was observed.',
  input: checkInput,
  isCommand: false,
  async run({ call: callNumber, ...rest }, _call, context) {
    const report: CheckReport = { ...rest, ...(callNumber === undefined ? {} : { call: callNumber }) };
    context.onCheck(report);
    return answer('Check recorded.');
  },
};

const findingInput = z.object({
  path: z.string(),
  line,
  endLine: line.optional(),
  severity: severitySchema,
  title: z.string().min(1),
  detail: z.string(),
  call,
});
type FindingInput = z.infer<typeof findingInput>;

export const reportFindingTool: Tool<FindingInput> = {
  name: 'ReportFinding',
  description: 'Records one problem with its place.',
  input: findingInput,
  isCommand: false,
  async run(wish, _call, context) {
    const resolved = await resolveInside(wish.path, context, 'read');
    if (resolved.kind === 'refused') return failure(`Not recorded: ${resolved.message}`);
    const { line: first, endLine } = wish;
    if (endLine !== undefined && endLine < first) return failure('Not recorded: endLine is before line.');
    // A file that the change deleted is a place too, so it need not exist.
    context.onFinding({
      location: { path: resolved.shown, line: first, ...(endLine === undefined ? {} : { endLine }) },
      severity: wish.severity,
      title: wish.title,
      detail: wish.detail,
      ...(wish.call === undefined ? {} : { call: wish.call }),
    });
    return answer('Finding recorded.');
  },
};
