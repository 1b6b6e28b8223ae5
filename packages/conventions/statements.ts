import { parseSync, Visitor } from "rolldown/utils";

/** A function, method or SQL string of a store. */
interface Unit {
  file: string;
  name: string;
  /** The noun of a method, as in `tx.<noun>.<method>`; undefined if the unit is not a method. */
  noun: string | undefined;
  text: string;
}

const sendsSql = /\b(?:queryIn|existsIn|commitWith)\b[<(]|\.(?:query|page)\b[<(]/;
/** Captures the name of the SQL constant in `database.query<Row>(authenticate, …)`. */
const sentNames = /(?:\.(?:query|page)|\bqueryIn|\bexistsIn)(?:<[^()]*>)?\(\s*(?:em,\s*)?(\w+)/g;

const mentions = (text: string, name: string): boolean => new RegExp(`\\b${name}\\b`).test(text);

function unitsOf(file: string, source: string): Unit[] {
  const noun = /export const (\w+) = \{[^}]*\b(?:rows|reads|leases)\b/.exec(source)?.[1];
  const units: Unit[] = [];
  const add = (
    name: string,
    { start, end }: { start: number; end: number },
    ofNoun: string | undefined = undefined,
  ) => void units.push({ file, name, noun: ofNoun, text: source.slice(start, end) });
  new Visitor({
    Property({ key, value }) {
      const { type } = value;
      const isMethod = /Function|CallExpression/.test(type);
      if (noun && key.type === "Identifier" && isMethod) add(key.name, value, noun);
    },
    FunctionDeclaration(node) {
      if (node.id) add(node.id.name, node);
    },
    VariableDeclarator({ id, init }) {
      if (id.type !== "Identifier" || !init || init.type === "AwaitExpression") return;
      // Objects of methods are skipped, because their methods are added separately.
      if (!/^(?:rows|reads|leases)$|Rows$/.test(id.name)) add(id.name, init);
    },
  }).visit(parseSync(file, source).program);
  return units;
}

/**
 * Returns, as `file: name`, the functions and methods of a service's store that send SQL and have no plan test. A plan
 * test covers the methods that it calls as `noun.method(…)`, the SQL strings and functions that it names, and
 * everything that these use.
 */
export function withoutPlanTest(store: ReadonlyMap<string, string>, plans: string): string[] {
  const units = [...store].flatMap(([file, source]) => unitsOf(file, source));
  const examined = new Set(
    units.filter(({ name, noun }) =>
      noun ? plans.includes(`${noun}.${name}(`) : mentions(plans, name),
    ),
  );
  const isUsed = ({ name, noun }: Unit) =>
    [...examined].some(({ text }) => mentions(text, noun ? `this\\.${name}` : name));
  const isExaminedText = (name: string | undefined) =>
    [...examined].some((unit) => !unit.noun && unit.name === name);
  const sendsExamined = ({ text }: Unit) => {
    const sent = [...text.matchAll(sentNames)].map(([, name]) => name);
    return sent.length > 0 && sent.every(isExaminedText);
  };
  for (let before = -1; before !== examined.size; ) {
    before = examined.size;
    for (const unit of units) if (isUsed(unit) || sendsExamined(unit)) examined.add(unit);
  }
  return units
    .filter((unit) => sendsSql.test(unit.text) && !examined.has(unit))
    .map(({ file, name }) => `${file}: ${name}`);
}
