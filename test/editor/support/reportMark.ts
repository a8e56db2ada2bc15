/** Starts each line of the test report, so that it is told apart from what the editor says about itself. */
export const reportMark = '\u2063';
