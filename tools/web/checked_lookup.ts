/** Name lookups that give only addresses which may be reached. */
import { lookup as systemLookup } from "node:dns/promises";
import { isIP, type LookupFunction } from "node:net";
import { isPublicAddress } from "./public_address.ts";

/** What decides on an address. */
export interface LookupOptions {
  readonly privateAddresses: boolean;
  readonly resolve?: (host: string) => Promise<readonly string[]>;
}

/** Why a URL whose host is an address is not fetched, or undefined. Names are looked up later. */
export function refusedLiteral({ hostname }: URL, privateAddresses: boolean): string | undefined {
  // The URL parser has brought every way to write an IPv4 address into one form.
  const address = hostname.replace(/^\[|\]$/g, "");
  if (privateAddresses || isIP(address) === 0 || isPublicAddress(address)) return undefined;
  return `${hostname} is not an address on the public internet. DSH_WEB_FETCH=any allows it`;
}

/**
 * A lookup for one connection. The connection is made to what it gives, so no second lookup can
 * give something else. A name with any address that may not be reached is refused.
 */
export function checkedLookup(
  { privateAddresses, resolve = systemAddresses }: LookupOptions,
): LookupFunction {
  return (host, options, callback) => {
    resolve(host).then((addresses) => {
      const bad = addresses.find((address) => !privateAddresses && !isPublicAddress(address));
      if (bad !== undefined) {
        throw new Error(
          `${host} is at ${bad}, not on the public internet. DSH_WEB_FETCH=any allows it`,
        );
      }
      const found = addresses.map((address) => ({ address, family: isIP(address) }));
      const [first] = found;
      if (!first) throw new Error(`${host} has no address`);
      if (options.all) callback(null, found);
      else callback(null, first.address, first.family);
    }).catch((error: Error) => callback(error, []));
  };
}

async function systemAddresses(host: string): Promise<string[]> {
  try {
    return (await systemLookup(host, { all: true })).map(({ address }) => address);
  } catch {
    // The system's words for it differ and say no more.
    return [];
  }
}
