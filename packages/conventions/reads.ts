import { parseSync, Visitor } from "rolldown/utils";

const isRead = (name: string) => /^reads$|Reads$|^reads[A-Z]/.test(name);

/** Matches statements of SQL, Kysely and MikroORM that change rows. */
const change =
  /\b(?:insert\s+into|update\s+\w+[\w\s.]*\bset\b|delete\s+from|for\s+(?:no\s+key\s+)?update)\b|\.(?:insertInto|updateTable|deleteFrom|insert|insertMany|nativeInsert|nativeUpdate|nativeDelete|upsert|persist|remove|flush)\(/i;

/**
 * Returns, as `name: statement`, the statements that change rows inside a declaration whose name says that it only
 * reads (`const reads`, `userReads`, `class Reads`).
 */
export function changesInReads(file: string, source: string): string[] {
  const found: string[] = [];
  const check = (name: string, { start, end }: { start: number; end: number }) => {
    const match = isRead(name) ? change.exec(source.slice(start, end)) : null;
    if (match) found.push(`${name}: ${match[0]}`);
  };
  new Visitor({
    VariableDeclarator(node) {
      if (node.id.type === "Identifier") check(node.id.name, node);
    },
    FunctionDeclaration(node) {
      if (node.id) check(node.id.name, node);
    },
    ClassDeclaration(node) {
      if (node.id) check(node.id.name, node);
    },
    Property(node) {
      if (node.key.type === "Identifier") check(node.key.name, node);
    },
  }).visit(parseSync(file, source).program);
  return found;
}
