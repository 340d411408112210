/** Which addresses are on the public internet. */
import { BlockList, isIP } from "node:net";

/** What the IANA special-purpose registries do not call globally reachable, and multicast. */
const V4: readonly (readonly [string, number])[] = [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.88.99.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 3],
];

/** Inside of 2000::/3, which is all that is public: tunnels that hide another address, and examples. */
const V6: readonly (readonly [string, number])[] = [
  ["2001::", 23],
  ["2001:db8::", 32],
  ["2002::", 16],
  ["3fff::", 20],
];

const special = new BlockList();
for (const [network, bits] of V4) special.addSubnet(network, bits, "ipv4");
for (const [network, bits] of V6) special.addSubnet(network, bits, "ipv6");
const unicast = new BlockList();
unicast.addSubnet("2000::", 3, "ipv6");
const nat64 = new BlockList();
nat64.addSubnet("64:ff9b::", 96, "ipv6");

/** Tells whether an IP address is. What is no address is not. */
export function isPublicAddress(address: string): boolean {
  switch (isIP(address)) {
    case 4:
      return !special.check(address, "ipv4");
    case 6: {
      if (nat64.check(address, "ipv6")) return isPublicAddress(lastFour(address));
      return unicast.check(address, "ipv6") && !special.check(address, "ipv6");
    }
    default:
      return false;
  }
}

/** The IPv4 address in the last 32 bits (RFC 6052). */
function lastFour(address: string): string {
  // The URL parser writes them as two groups, leading zeros left out.
  const groups = new URL(`http://[${address}]/`).hostname.slice(1, -1).split(":");
  const [high = 0, low = 0] = groups.slice(-2).map((group) => parseInt(group || "0", 16));
  return [high >> 8, high & 255, low >> 8, low & 255].join(".");
}
