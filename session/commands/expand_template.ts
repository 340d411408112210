/** The arguments of a command put into its prompt. */

/** The longest prompt a command makes, in UTF-16 code units: placeholders multiply what is typed. */
export const MAX_EXPANSION = 1_000_000;

/** `$ARGUMENTS`, and `$1` to `$99`. */
const PLACEHOLDER = /\$(ARGUMENTS(?!\w)|[1-9]\d?(?!\d))/g;

/** Whether a template has a place for arguments. */
export function takesArguments(template: string): boolean {
  return template.search(PLACEHOLDER) !== -1;
}

/**
 * Puts arguments into a template: all of them for `$ARGUMENTS`, one word each for `$1` and so on,
 * nothing for a word that is missing. What has no place in the template follows it.
 *
 * @returns Undefined where the result is longer than {@linkcode MAX_EXPANSION}.
 */
export function expandTemplate(template: string, args: string): string | undefined {
  const words = argumentWords(args);
  const value = (name: string): string =>
    name === "ARGUMENTS" ? args : words[Number(name) - 1] ?? "";
  let length = template.length + args.length;
  for (const [, name = ""] of template.matchAll(PLACEHOLDER)) length += value(name).length;
  if (length > MAX_EXPANSION) return undefined;
  const text = template.replace(PLACEHOLDER, (_, name: string) => value(name));
  return args === "" || takesArguments(template) ? text : `${text}\n\nArguments: ${args}`;
}

/** Words as a shell would tell them apart: quotes hold one together and are left out. */
export function argumentWords(args: string): string[] {
  const words = args.match(/(?:"[^"]*"|'[^']*'|\S)+/g) ?? [];
  return words.map((word) => word.replace(/"([^"]*)"|'([^']*)'/g, (_, a, b) => a ?? b));
}
