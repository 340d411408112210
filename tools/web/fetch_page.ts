/** A page by its URL, as text: bounded in size and time, and only from where it may come. */
import { checkedLookup, refusedLiteral } from "./checked_lookup.ts";
import { get, type Reply } from "./get.ts";

/** Options for {@linkcode fetchPage}. */
export interface FetchPageOptions {
  readonly privateAddresses: boolean;
  readonly signal: AbortSignal;
  readonly resolve?: (host: string) => Promise<readonly string[]>;
}

/** What came of it. */
export type Page =
  /** `url` is where it was in the end. */
  | { readonly type: "page"; readonly url: string; readonly text: string }
  /** It is at another host, which is another question to the user. */
  | { readonly type: "redirect"; readonly from: string; readonly to: string }
  | { readonly type: "failed"; readonly message: string };

const MAX_REDIRECTS = 5;

/** Gets a page. Never rejects. */
export async function fetchPage(url: URL, options: FetchPageOptions): Promise<Page> {
  let at = url;
  for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects++) {
    const refused = refusedLiteral(at, options.privateAddresses);
    if (refused !== undefined) return { type: "failed", message: refused };
    let reply: Reply;
    try {
      reply = await get(at, { signal: options.signal, lookup: checkedLookup(options) });
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      return { type: "failed", message: `${at.href} could not be fetched: ${reason}` };
    }
    const { status, headers, body } = reply;
    const location = headers["location"];
    if (status >= 300 && status < 400 && location !== undefined) {
      const next = URL.parse(location, at.href);
      if (!next || !/^https?:$/.test(next.protocol)) {
        const to = JSON.stringify(location.slice(0, 200));
        return { type: "failed", message: `${at.href} redirects to ${to}, which is no web page` };
      }
      if (next.host !== at.host) return { type: "redirect", from: at.href, to: next.href };
      at = next;
      continue;
    }
    const text = await pageText(at, headers["content-type"], body);
    if (text === undefined) {
      const type = headers["content-type"] ?? "something without a type";
      return { type: "failed", message: `${at.href} is ${type}, which is no text` };
    }
    if (status >= 200 && status < 300) return { type: "page", url: at.href, text };
    const said = text.trim().slice(0, 1_000).toWellFormed();
    return { type: "failed", message: `${at.href} answered ${status}${said && `:\n${said}`}` };
  }
  return { type: "failed", message: `${url.href} redirects more than ${MAX_REDIRECTS} times` };
}

const TEXT =
  /^(?:text\/.*|application\/(?:json|javascript|xml|yaml|toml|ld\+json)|.*\+(?:json|xml|yaml))$/;

/** The body as text, HTML as Markdown; undefined where it is neither. */
async function pageText(
  url: URL,
  contentType: string | undefined,
  body: Uint8Array,
): Promise<string | undefined> {
  if (body.length === 0) return "";
  const type = (contentType ?? "text/plain").split(";", 1)[0]!.trim().toLowerCase();
  const isHtml = type === "text/html" || type === "application/xhtml+xml";
  if (!isHtml && !TEXT.test(type)) return undefined;
  const text = decode(body, /charset\s*=\s*"?([\w-]+)/i.exec(contentType ?? "")?.[1]);
  if (!isHtml) return text;
  const { htmlToMarkdown } = await import("@mdream/js");
  return htmlToMarkdown(text, { origin: url.origin }).trim();
}

function decode(body: Uint8Array, charset = "utf-8"): string {
  try {
    return new TextDecoder(charset).decode(body);
  } catch {
    // A character set nobody knows: what is ASCII in it can still be read.
    return new TextDecoder().decode(body);
  }
}
