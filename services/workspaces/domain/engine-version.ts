const version = String.raw`v?\d{1,9}(\.\d{1,9}){0,2}(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?`;
const condition = new RegExp(String.raw`^\s*(=|!=|>=|<=|>|<|~>)?\s*${version}\s*$`);
const MAX_LENGTH = 128;

/**
 * Whether a text is an exact version, a constraint such as `~> 1.0.0, != 1.0.3`, or `latest`. Which
 * versions exist is not asked: OpenTofu's clients send versions of their own.
 */
export const isEngineVersion = (text: string): boolean =>
  text === "latest" ||
  (text.length <= MAX_LENGTH && text.split(",").every((part) => condition.test(part)));
