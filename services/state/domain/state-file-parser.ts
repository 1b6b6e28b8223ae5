import { type ParsedTokenInfo, Tokenizer, TokenParser, TokenType } from "@streamparser/json";
import { exactNumber } from "./exact-json.ts";
import { type Extraction, StateFileError } from "./extraction.ts";
import { type ListName, StateFile } from "./state-file.ts";

/** Numbers that JavaScript would respell keep their text: values of outputs are passed on. */
class ExactTokenizer extends Tokenizer {
  protected override parseNumber(text: string): number {
    return exactNumber(text);
  }
}

/** Deeper files are no states, and take time that grows with the square of their depth. */
const MAX_DEPTH = 1000;

const listNames: ReadonlyMap<string, ListName> = new Map([
  ["resources", "resources"],
  ["modules", "modules"],
]);

/** What is kept of a file; of the lists one item at a time. */
const paths = [
  "version",
  "serial",
  "lineage",
  "terraform_version",
  "outputs",
  "resources.*",
  "modules.*",
];

/** Reads a state file as its bytes come. What nobody looks at is never kept. */
export class StateFileParser {
  readonly #file = new StateFile();
  readonly #tokenizer = new ExactTokenizer();
  readonly #values = new TokenParser({ paths: paths.map((path) => `$.${path}`), keepStack: false });
  #depth = 0;
  /** The member of the file that is being read. */
  #member = "";
  /** What the next token is, where it is one of the file's own members. */
  #expected: "member" | "value" | undefined;
  /** Nothing more is to be known. */
  #isDone = false;

  constructor() {
    this.#values.onValue = ({ key, value, stack }) => {
      if (stack.length === 1 && typeof key === "string") this.#file.setMember(key, value);
      else if (this.#member === "resources") this.#file.addResource(value);
      else if (this.#member === "modules") this.#file.addModule(value);
    };
    this.#tokenizer.onToken = (token) => {
      if (this.#isDone) return;
      this.#values.write(token);
      this.#follow(token);
    };
  }

  /** Throws `StateFileError` on what is no JSON object. */
  write(chunk: Uint8Array): void {
    if (!this.#isDone) reading(() => this.#tokenizer.write(chunk));
  }

  /** What the file holds. Throws `StateFileError`. */
  end(): Extraction {
    if (!this.#isDone) {
      reading(() => this.#tokenizer.end());
      if (!this.#values.isEnded) throw new StateFileError("the state is not JSON");
    }
    return this.#file.finish();
  }

  /** Keeps track of the file's own members. */
  #follow({ token, value }: ParsedTokenInfo): void {
    if (this.#depth === 0 && token !== TokenType.LEFT_BRACE) {
      throw new StateFileError("the state is not a JSON object");
    }
    if (this.#depth === 1) this.#followMember(token, value);
    if (token === TokenType.LEFT_BRACE || token === TokenType.LEFT_BRACKET) {
      if (++this.#depth > MAX_DEPTH) throw new StateFileError("the state is nested too deeply");
      if (this.#depth === 1) this.#expected = "member";
    }
    if (token === TokenType.RIGHT_BRACE || token === TokenType.RIGHT_BRACKET) this.#depth -= 1;
  }

  #followMember(token: TokenType, value: unknown): void {
    if (token === TokenType.COMMA) this.#expected = "member";
    else if (token === TokenType.COLON) {
      this.#expected = "value";
      // One string that may be the whole file: not to be kept, and nothing else is known without it.
      if (this.#member === "encrypted_data") {
        this.#file.setMember(this.#member, true);
        this.#isDone = true;
      }
    } else if (this.#expected === "member") {
      this.#member = String(value);
      this.#expected = undefined;
    } else if (this.#expected === "value") {
      const name = listNames.get(this.#member);
      const isList = token === TokenType.LEFT_BRACKET || token === TokenType.NULL;
      if (name) this.#file.beginList(name, isList);
      this.#expected = undefined;
    }
  }
}

function reading(work: () => void): void {
  try {
    work();
  } catch (error) {
    // The parser's own messages quote the state.
    throw error instanceof StateFileError ? error : new StateFileError("the state is not JSON");
  }
}
