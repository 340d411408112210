import { assertEquals } from "@std/assert";
import { isPublicAddress } from "../../../tools/web/public_address.ts";

const PUBLIC = [
  "8.8.8.8",
  "9.255.255.255",
  "11.0.0.0",
  "100.63.255.255",
  "172.15.255.255",
  "172.32.0.0",
  "223.255.255.255",
  "2606:4700::1111",
  "64:ff9b::808:808",
];

const NOT_PUBLIC = [
  "0.0.0.0",
  "10.1.2.3",
  "100.64.0.1",
  "127.0.0.1",
  "127.255.255.255",
  "169.254.169.254",
  "172.16.0.1",
  "172.31.255.255",
  "192.168.0.1",
  "198.19.255.255",
  "224.0.0.1",
  "255.255.255.255",
  "::",
  "::1",
  "::127.0.0.1",
  "::ffff:127.0.0.1",
  "::ffff:10.0.0.1",
  "::ffff:8.8.8.8",
  "64:ff9b::7f00:1",
  "64:ff9b::a00:1",
  "64:ff9b:1::808:808",
  "fe80::1",
  "fc00::1",
  "fd12:3456::1",
  "ff02::1",
  "2001::1",
  "2001:db8::1",
  "2002:7f00:1::",
  "localhost",
  "",
];

Deno.test("isPublicAddress() knows what is globally reachable", () => {
  assertEquals(PUBLIC.filter((address) => !isPublicAddress(address)), []);
  assertEquals(NOT_PUBLIC.filter(isPublicAddress), []);
});
