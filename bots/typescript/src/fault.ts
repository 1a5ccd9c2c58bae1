/** What ends a stream with an error status, and the words in it: they are all that the referee is told. */

import { status } from '@grpc/grpc-js';
import { basename, dirname, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { inspect } from 'node:util';

// A status is sent among the headers, of which there may be 8 KiB.
const LONGEST_WORDS = 500;
const HERE = dirname(fileURLToPath(import.meta.url)) + sep;
const FRAME = /^\s+at /;
const PLACE = /(?:\(|\bat (?:async )?)((?:file:\/\/|\/|[A-Za-z]:\\).*?):(\d+):\d+\)?$/;

/** Ends a stream with this status. */
export class Fault extends Error {
  readonly code: status;

  constructor(code: status, words: string) {
    // What is not Unicode, such as half of a surrogate pair, can't be sent.
    super(Buffer.from(words.slice(0, LONGEST_WORDS)).toString());
    this.code = code;
  }
}

/** The status of a stream that this has ended. */
export function statusOf(error: unknown): { code: status; details: string } {
  const code = error instanceof Fault ? error.code : status.INTERNAL;
  return { code, details: (error as Error).message };
}

/** A callback returned what it should not have. */
export function wrong(callback: string, value: unknown, expected: string): Fault {
  return new Fault(status.INTERNAL, `${callback} returned ${shown(value)}: expected ${expected}`);
}

/**
 * What the callback of this name threw, as the status that ends its stream: the place in the
 * author's code comes first. All of it is on standard error.
 */
export function raised(callback: string, error: unknown): Fault {
  print(error);
  const place = ownPlace(error);
  const words = `exception in ${callback}: ${said(error)}`;
  return new Fault(status.INTERNAL, place ? `${place}: ${words}` : words);
}

/** The file and the line at which the author's own code threw or called a library that did. */
function ownPlace(error: unknown): string | null {
  const others = frames(error).filter(({ file }) => !isOfKit(file));
  // A bot that was installed has nothing but code that was.
  const own = others.find(({ file }) => !isOfLibrary(file)) ?? others[0];
  return own ? `${basename(own.file)}:${own.line}` : null;
}

function frames(error: unknown): { file: string; line: string }[] {
  const stack = error instanceof Error && typeof error.stack === 'string' ? error.stack : '';
  return stack.split('\n').flatMap((line) => {
    const found = frame(line);
    return found ? [found] : [];
  });
}

/** The place that a line of a stack names, unless that is within Node. */
function frame(line: string): { file: string; line: string } | null {
  const found = FRAME.test(line) && PLACE.exec(line);
  if (!found) return null;
  const [, file, number] = found as unknown as [string, string, string];
  return { file: file.startsWith('file://') ? path(file) : file, line: number };
}

function path(url: string): string {
  try {
    return fileURLToPath(url);
  } catch {
    return url;
  }
}

function isOfKit(file: string): boolean {
  return file.startsWith(HERE);
}

function isOfLibrary(file: string): boolean {
  return file.includes(`${sep}node_modules${sep}`);
}

/** Writes an error with its stack to standard error, without the frames of Node and of the kit. */
function print(error: unknown): void {
  const isShown = (line: string): boolean => {
    if (!FRAME.test(line)) return true;
    const found = frame(line);
    return found !== null && !isOfKit(found.file);
  };
  try {
    const lines = inspect(error).split('\n').filter(isShown);
    process.stderr.write(`${lines.join('\n')}\n`);
  } catch {
    // The author may have closed standard error, or the error can't be shown.
  }
}

function said(error: unknown): string {
  try {
    return error instanceof Error ? String(error) : shown(error);
  } catch {
    return 'an error that can not be shown';
  }
}

function shown(value: unknown): string {
  try {
    const depth = { depth: 1, maxArrayLength: 6, maxStringLength: 40, breakLength: Infinity };
    return inspect(value, depth);
  } catch {
    return `a value of type ${typeof value} that can not be shown`;
  }
}
