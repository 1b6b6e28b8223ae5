import { readFileSync } from "node:fs";
import path from "node:path";
import retextEnglish from "retext-english";
import retextRepeatedWords from "retext-repeated-words";
import { unified } from "unified";
import { VFile } from "vfile";
import { type Passage, passagesOf } from "./passages.ts";

/** An entry of forbidden.json. `pattern` is a regular expression that matches whole words; the default is `word`. */
export interface ForbiddenWord {
  word: string;
  pattern?: string;
  replacement: string;
  reason: string;
}

export interface Finding {
  /** `path:line`, with the path under which the file was read. */
  place: string;
  kind: Passage["kind"];
  /** The matched text as it is written in the file; of a name, the matched words. */
  found: string;
  replacement: string;
  reason: string;
}

const read = <T>(file: string): T =>
  JSON.parse(readFileSync(path.join(import.meta.dirname, file), "utf8"));

const forbidden = read<ForbiddenWord[]>("forbidden.json").map((row) => ({
  ...row,
  expression: new RegExp(
    `(?<![\\p{L}\\p{N}_-])(?:${row.pattern ?? row.word})(?![\\p{L}\\p{N}_-])`.replaceAll(
      " ",
      "\\s+",
    ),
    "giu",
  ),
}));

/** Messages that must not change, because clients match them verbatim. */
const exempt = read<string[]>("exempt.json");

const repeatedWords = unified().use(retextEnglish).use(retextRepeatedWords);

function repetitions(text: string): { found: string; offset: number }[] {
  // Parsing English is slow, so only text in which two equal words follow each other is parsed.
  if (!/(?<![\p{L}\p{N}])(\p{L}+)\s+\1(?![\p{L}\p{N}])/iu.test(text)) return [];
  const file = new VFile(text);
  repeatedWords.runSync(repeatedWords.parse(file), file);
  return file.messages.map(({ actual, place }) => ({
    found: actual ?? "",
    offset: place && "start" in place ? (place.start.offset ?? 0) : 0,
  }));
}

function withoutExempt(text: string): string {
  let rest = text;
  for (const message of exempt) rest = rest.replaceAll(message, " ".repeat(message.length));
  return rest;
}

/**
 * Returns the language findings of one file. The extension of `file` selects the parser; its path appears in the
 * findings.
 */
export function lint(file: string, source: string): Finding[] {
  const lineOf = (offset: number) => source.slice(0, offset).split("\n").length;
  return passagesOf(file, source).flatMap(({ kind, text, start }) => {
    const prose = withoutExempt(text);
    const words = forbidden.flatMap(({ expression, replacement, reason }) =>
      [...prose.matchAll(expression)].map(({ index, 0: found }) => ({
        offset: index,
        found: found.replace(/\s+/g, " "),
        replacement,
        reason,
      })),
    );
    const isName = kind === "identifier" || kind === "file name";
    const twice = (isName ? [] : repetitions(prose)).map(({ found, offset }) => ({
      offset,
      found,
      replacement: "the word once",
      reason: "a repeated word",
    }));
    return [...words, ...twice]
      .sort((one, other) => one.offset - other.offset)
      .map(({ offset, ...finding }) => ({
        place: `${file}:${lineOf(isName ? start : start + offset)}`,
        kind,
        ...finding,
      }));
  });
}
