import { type ESTree, parseSync, Visitor } from "rolldown/utils";

/** A piece of prose: a comment, a paragraph of a document, a message, or the title of a test. */
export interface Passage {
  kind: "comment" | "document" | "message" | "title";
  /** The source text with everything except the prose replaced with blanks, so that offsets stay the same. */
  text: string;
  /** Offset of the prose in the file. */
  start: number;
}

/** Replaces each match with blanks of the same length; line breaks stay. */
function blank(text: string, pattern: RegExp, filler = " "): string {
  return text.replace(pattern, (match) => match.replace(/[^\n]/g, filler));
}

/** The placeholder that replaces code inside prose. The character separates words, and no rule matches it. */
const code = "\u25a1";

const withoutCode = (text: string) =>
  blank(text, /`[^`\n]*`|\bhttps?:\/\/\S+|\b[\w.-]*\/[\w./-]+\.\w+|%[sdijo]\b/g, code);

/** Returns the passages of a file according to its file type; empty for an unknown type. */
export function passagesOf(path: string, source: string): Passage[] {
  if (/\.(ts|mts|mjs|js)$/.test(path)) return passagesOfScript(path, source);
  if (/\.proto$/.test(path)) return lineComments(source, "//");
  if (/\.(ya?ml|tf|toml|sh)$/.test(path)) return lineComments(source, "#");
  if (/\.md$/.test(path)) return paragraphs(source);
  return [];
}

function paragraphs(source: string): Passage[] {
  let text = blank(source, /^(`{3,})[\s\S]*?^\1`*[ \t]*$/gm);
  text = blank(text, /<!--[\s\S]*?-->/g);
  text = blank(text, /\]\([^)\n]*\)/g);
  return splitAt(withoutCode(text), /\n[ \t]*\n|\n(?=[ \t]*(?:[-*|#]|\d+\.)[ \t])/g, "document");
}

function splitAt(text: string, separator: RegExp, kind: Passage["kind"]): Passage[] {
  const passages: Passage[] = [];
  let start = 0;
  for (const match of [...text.matchAll(separator), undefined]) {
    const end = match?.index ?? text.length;
    const passage = text.slice(start, end);
    if (/\p{L}/u.test(passage)) passages.push({ kind, text: passage, start });
    start = end;
  }
  return passages;
}

/** Returns the line comments of a file. Consecutive lines are one passage. */
function lineComments(source: string, marker: "//" | "#"): Passage[] {
  const comment = marker === "//" ? /(?<!:)\/\/[^\n]*/g : /(?:^|\s)#[^\n]*/g;
  return joined(
    source,
    [...source.matchAll(comment)].map(({ index, 0: text }) => ({
      start: index,
      end: index + text.length,
    })),
  );
}

function joined(source: string, spans: { start: number; end: number }[]): Passage[] {
  const groups: { start: number; end: number }[] = [];
  for (const span of spans) {
    const last = groups.at(-1);
    if (last && /^[ \t]*\r?\n[ \t]*$/.test(source.slice(last.end, span.start))) last.end = span.end;
    else groups.push({ ...span });
  }
  return groups.map(({ start, end }) => ({
    kind: "comment",
    start,
    text: withoutCode(
      blank(source.slice(start, end), /^[ \t]*(?:\/\/+|\/\*+|\*+(?!\/)|#+)|\*+\/$/gm),
    ),
  }));
}

function passagesOfScript(path: string, source: string): Passage[] {
  const { program, comments, errors } = parseSync(path, source);
  if (errors.length > 0) throw new Error(`${path} cannot be parsed: ${errors[0]?.message}`);
  const lines = comments.filter(({ type }) => type === "Line");
  const blocks = comments.filter(({ type }) => type === "Block");
  return [
    ...joined(source, lines),
    ...blocks.flatMap((block) => joined(source, [block])),
    ...messages(program, source, isTest(path)),
    ...(isTest(path) ? titles(program, source) : []),
  ].sort((one, other) => one.start - other.start);
}

const isTest = (path: string) => /(^|\/)(test|testing)\/|\.test\.\w+$/.test(path);

/**
 * Returns the titles of tests and suites: the first argument of `test`, `it`, `describe`, `needs` and of the functions
 * that these return (`test.each(…)`).
 */
function titles(program: ESTree.Program, source: string): Passage[] {
  const found: Passage[] = [];
  new Visitor({
    CallExpression({ callee, arguments: [title] }) {
      if (!/^(?:test|it|describe|needs)\b/.test(source.slice(callee.start, callee.end))) return;
      if (title?.type !== "TemplateLiteral" && !(title?.type === "Literal" && isText(title)))
        return;
      const text = source.slice(title.start + 1, title.end - 1);
      found.push({ kind: "title", text: withoutCode(text), start: title.start + 1 });
    },
  }).visit(program);
  return found;
}

const isText = ({ value }: { value: unknown }) => typeof value === "string";

/**
 * Returns the messages of a script. In the product every string of several words is a message; in tests only the texts
 * of errors are.
 */
function messages(program: ESTree.Program, source: string, test: boolean): Passage[] {
  const found = new Map<number, Passage>();
  const add = (node: { start: number; end: number }) => {
    const text = source.slice(node.start + 1, node.end - 1);
    if (!/\p{L}[,;:.]? +\p{L}/u.test(text) || isSql(text)) return;
    found.set(node.start, { kind: "message", text: withoutCode(text), start: node.start + 1 });
  };
  const addTemplate = (node: ESTree.TemplateLiteral) => {
    if (found.has(node.start)) return;
    let text = source.slice(node.start + 1, node.end - 1);
    if (isSql(text)) return;
    for (const { start, end } of node.expressions) {
      const from = Math.max(start - node.start - 3, 0);
      const to = end - node.start;
      text = text.slice(0, from) + blank(text.slice(from, to), /[^\n]/g, code) + text.slice(to);
    }
    if (/\p{L}[,;:.]? +\p{L}/u.test(text))
      found.set(node.start, { kind: "message", text: withoutCode(text), start: node.start + 1 });
  };
  new Visitor({
    NewExpression(node) {
      if (/Error$|^Failure$/.test(source.slice(node.callee.start, node.callee.end)))
        for (const argument of node.arguments) {
          if (argument.type === "Literal" && typeof argument.value === "string") add(argument);
          if (argument.type === "TemplateLiteral") addTemplate(argument);
        }
    },
    Literal(node) {
      if (!test && typeof node.value === "string") add(node);
    },
    TemplateLiteral(node) {
      if (!test) addTemplate(node);
    },
  }).visit(program);
  return [...found.values()];
}

const isSql = (text: string) =>
  /^\s*(?:--|(?:select|insert|update|delete|with|alter|create|drop|begin|set|lock|from|where|and|join|order by)\b[\s\S]*\b(?:from|into|set|table|index|where|select|is|on|local|=))/.test(
    text,
  );
