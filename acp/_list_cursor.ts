/** The cursor of `session/list`: a place in the order, so that no change to the list moves it. */
import type { SessionPosition } from "../session/store.ts";
import { invalidParams } from "./errors.ts";

/** The cursor of what comes after a session. */
export function encodeCursor({ listedAt, id }: SessionPosition): string {
  return btoa(`${listedAt} ${id}`);
}

/** The place a cursor stands for. */
export function decodeCursor(cursor: string): SessionPosition {
  const [, listedAt, id] = PLACE.exec(decodeBase64(cursor)) ?? [];
  if (listedAt === undefined || id === undefined) {
    throw invalidParams("cursor", "must be the nextCursor of an earlier page", cursor);
  }
  return { listedAt: Number(listedAt), id };
}

const PLACE = /^(\d{1,15}) ([0-9a-f-]{36})$/i;

function decodeBase64(text: string): string {
  try {
    return atob(text);
  } catch {
    // No base64: nothing that matches a place either.
    return "";
  }
}
