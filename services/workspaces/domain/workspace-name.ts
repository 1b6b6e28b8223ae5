/** The public service's limit; far below what an index row can hold. */
const MAX_LENGTH = 90;
const CHARACTERS = /^[A-Za-z0-9_-]+$/;

/** Whether a workspace can have this name at all. */
export const isWorkspaceName = (name: string): boolean =>
  problemOfWorkspaceName(name) === undefined;

/** What is wrong with a name, in the words that clients show. */
export function problemOfWorkspaceName(name: string): string | undefined {
  if (name === "") return "Name can't be blank";
  if (!CHARACTERS.test(name)) return "Name is invalid";
  if (name.length > MAX_LENGTH) return `Name is too long (maximum is ${MAX_LENGTH} characters)`;
  return undefined;
}
