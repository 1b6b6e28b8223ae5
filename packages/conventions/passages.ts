import { basename } from "node:path";
import { type ESTree, parseSync, Visitor } from "rolldown/utils";

/** A piece of prose: a comment, a paragraph of a document, a message, the title of a test, or a name. */
export interface Passage {
  kind: "comment" | "document" | "message" | "title" | "identifier" | "file name";
  /**
   * The source text with everything except the prose replaced with blanks, so that offsets stay the same. Of a name,
   * its words, separated by blanks.
   */
  text: string;
  /** Offset in the file. */
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
  const name: Passage = { kind: "file name", text: wordsOf(basename(path)), start: 0 };
  return [name, ...passagesOfContent(path, source)];
}

function passagesOfContent(path: string, source: string): Passage[] {
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
    ...texts(program, source, isTest(path)),
    ...identifiers(program),
  ].sort((one, other) => one.start - other.start);
}

/** Returns the words of a name in camelCase, PascalCase, kebab-case or CONSTANT_CASE. */
const wordsOf = (name: string) =>
  name
    .replace(/(?<=[\p{Ll}\p{N}])(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})/gu, " ")
    .replace(/[^\p{L}\p{N}]+/gu, " ");

/**
 * Returns the identifiers of a script, each once. Excludes names that libraries export, and
 * members that the script only accesses: the file that declares a member is checked.
 */
function identifiers(program: ESTree.Program): Passage[] {
  const found = new Map<string, Passage>();
  const accessed = new Set<number>();
  const ofLibraries = new Set<string>();
  const add = ({ name, start }: { name: string; start: number }) => {
    if (accessed.has(start) || found.has(name)) return;
    found.set(name, { kind: "identifier", text: wordsOf(name), start });
  };
  new Visitor({
    ImportDeclaration({ source, specifiers }) {
      if (/^(?:\.|@statehouse\/)/.test(source.value)) return;
      for (const specifier of specifiers) {
        ofLibraries.add(specifier.local.name);
        if (specifier.type !== "ImportSpecifier" || specifier.imported.type !== "Identifier")
          continue;
        ofLibraries.add(specifier.imported.name);
      }
    },
    MemberExpression({ computed, property }) {
      if (!computed) accessed.add(property.start);
    },
    Identifier: add,
    PrivateIdentifier: add,
  }).visit(program);
  return [...found].flatMap(([name, passage]) => (ofLibraries.has(name) ? [] : [passage]));
}

const isTest = (path: string) => /(^|\/)(test|testing)\/|\.test\.\w+$/.test(path);

/**
 * Returns the texts of a script. In the product every string of several words is a message. In tests only the texts of
 * errors are, and titles: the first argument of `test`, `it`, `describe`, `needs` and of the functions that these return
 * (`test.each(…)`).
 */
function texts(program: ESTree.Program, source: string, test: boolean): Passage[] {
  const found: Passage[] = [];
  const add = (kind: "message" | "title", node: ESTree.Node) => {
    const isTemplate = node.type === "TemplateLiteral";
    if (!isTemplate && !(node.type === "Literal" && typeof node.value === "string")) return;
    let text = source.slice(node.start + 1, node.end - 1);
    if (kind === "message" && isSql(text)) return;
    for (const { start, end } of isTemplate ? node.expressions : []) {
      const from = Math.max(start - node.start - 3, 0);
      const to = end - node.start;
      text = text.slice(0, from) + blank(text.slice(from, to), /[^\n]/g, code) + text.slice(to);
    }
    if (kind === "title" || /\p{L}[,;:.]? +\p{L}/u.test(text))
      found.push({ kind, text: withoutCode(text), start: node.start + 1 });
  };
  const callee = ({ callee: { start, end } }: ESTree.CallExpression | ESTree.NewExpression) =>
    source.slice(start, end);
  const inTests = new Visitor({
    CallExpression(node) {
      const [title] = node.arguments;
      if (title && /^(?:test|it|describe|needs)\b/.test(callee(node))) add("title", title);
    },
    NewExpression(node) {
      if (/Error$|^Failure$/.test(callee(node)))
        for (const text of node.arguments) add("message", text);
    },
  });
  const inProduct = new Visitor({
    Literal: (node) => add("message", node),
    TemplateLiteral: (node) => add("message", node),
  });
  (test ? inTests : inProduct).visit(program);
  return found;
}

const isSql = (text: string) =>
  /^\s*(?:--|(?:select|insert|update|delete|with|alter|create|drop|begin|set|lock|from|where|and|join|order by)\b[\s\S]*\b(?:from|into|set|table|index|where|select|is|on|local|=))/.test(
    text,
  );
