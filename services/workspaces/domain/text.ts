/** PostgreSQL cannot keep this character, and no name holds it. */
export const holdsNul = (text: string): boolean => text.includes("\0");

/** Words for an attribute in a problem's detail: `working-directory` → `Working directory`. */
export const inWords = (field: string): string => {
  const words = field.replaceAll("-", " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
};
