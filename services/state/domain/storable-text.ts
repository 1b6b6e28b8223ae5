/** Text of a state as the database takes it: characters that are none (NUL, halves of a pair) become U+FFFD. */
export const storable = (text: string): string => text.toWellFormed().replaceAll("\0", "\ufffd");
