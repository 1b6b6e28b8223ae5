/** Returns the kebab case of a name in camel case: `auto-apply` for `autoApply` and for `AutoApply`. */
export const kebabCase = (name: string): string =>
  name.replace(/(?!^)[A-Z]/g, (letter) => `-${letter}`).toLowerCase();
