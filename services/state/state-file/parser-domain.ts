import { exactNumber } from "@statehouse/runtime/exact-json";
import { type ParsedTokenInfo, Tokenizer, TokenParser, TokenType } from "@streamparser/json";
import { type Extraction, StateFileError } from "../extraction/domain.ts";
import { type ListName, StateFile } from "./domain.ts";

/** Keeps the text of numbers that JavaScript would format differently, because output values are returned unchanged. */
class ExactTokenizer extends Tokenizer {
  protected override parseNumber(text: string): number {
    return exactNumber(text);
  }
}

/**
 * A file that is nested more deeply than this is not a state and is refused. The time to parse it would grow
 * quadratically with its depth.
 */
const MAX_DEPTH = 1000;

const isListName = (name: string): name is ListName => name === "resources" || name === "modules";

/** The part of a file that is kept in memory; lists are processed one item at a time. */
const paths = [
  "version",
  "serial",
  "lineage",
  "terraform_version",
  "outputs",
  "resources.*",
  "modules.*",
];

/** Parses a state file as a stream and keeps only the values that documents show. */
export class StateFileParser {
  readonly #file = new StateFile();
  readonly #tokenizer = new ExactTokenizer();
  readonly #values = new TokenParser({ paths: paths.map((path) => `$.${path}`), keepStack: false });
  #depth = 0;
  /** Name of the top-level member that is being parsed. */
  #member = "";
  /** Whether the next token is the name or the value of a top-level member; undefined if it is neither. */
  #expected: "member" | "value" | undefined;
  /** Set when the rest of the file is not needed. */
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

  /** Throws `StateFileError` if the content is not a JSON object, or is nested too deeply. */
  write(chunk: Uint8Array): void {
    if (!this.#isDone) reading(() => this.#tokenizer.write(chunk));
  }

  /** Returns the extracted content of the file. Throws `StateFileError`. */
  end(): Extraction {
    if (!this.#isDone) {
      reading(() => this.#tokenizer.end());
      if (!this.#values.isEnded) throw new StateFileError("the state is not JSON");
    }
    return this.#file.finish();
  }

  /** Tracks the top-level members of the file. */
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
      // An encrypted state is one string that can be as large as the file. Nothing can be extracted from it, so it is
      // not kept.
      if (this.#member === "encrypted_data") {
        this.#file.setMember(this.#member, true);
        this.#isDone = true;
      }
    } else if (this.#expected === "member") {
      this.#member = String(value);
      this.#expected = undefined;
    } else if (this.#expected === "value") {
      const isList = token === TokenType.LEFT_BRACKET || token === TokenType.NULL;
      if (isListName(this.#member)) this.#file.beginList(this.#member, isList);
      this.#expected = undefined;
    }
  }
}

function reading(work: () => void): void {
  try {
    work();
  } catch (error) {
    // The parser's own messages are not used, because they quote the state.
    throw error instanceof StateFileError ? error : new StateFileError("the state is not JSON");
  }
}
