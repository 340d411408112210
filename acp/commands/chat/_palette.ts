import type { Style } from "./_flow.ts";

/** How things look. Without colours all of it is plain text. */
export interface Palette {
  readonly colour: boolean;
  readonly bold: Style;
  readonly dim: Style;
  readonly red: Style;
  readonly green: Style;
  readonly cyan: Style;
}

/** The styles of a terminal that shows colours, or of anything else. */
export function palette(colour: boolean): Palette {
  const style = (code: number): Style => (text) =>
    colour && text !== "" ? `\x1b[${code}m${text}\x1b[0m` : text;
  return {
    colour,
    bold: style(1),
    dim: style(2),
    red: style(31),
    green: style(32),
    cyan: style(36),
  };
}
