import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/**
 * Tells whether a connection to this address is allowed: public unicast only, and with `allowPrivateNetwork` also
 * loopback, private, carrier-grade NAT and unique local addresses. Cloud metadata addresses are never allowed. Every
 * IPv6 form that contains an IPv4 address (compatible, mapped, translated, NAT64, 6to4, Teredo, ISATAP) is always
 * refused, because the network on the way decides which address is reached.
 */
export function isPermittedAddress(address: string, allowPrivateNetwork: boolean): boolean {
  // Accept only spellings that the operating system itself reads: ipaddr.js also accepts octal and hexadecimal
  // spellings. A zone id (`fe80::1%eth0`) names an interface of this machine.
  if (isIP(address) === 0 || address.includes('%')) return false;
  const parsed = ipaddr.parse(address);
  const isMetadata = METADATA_RANGES.some(
    ([network, bits]) => network.kind() === parsed.kind() && parsed.match(network, bits),
  );
  if (isMetadata) return false;
  return isPublic(parsed) || (allowPrivateNetwork && LOCAL_RANGES.has(parsed.range()));
}

const LOCAL_RANGES: ReadonlySet<string> = new Set(['loopback', 'private', 'carrierGradeNat', 'uniqueLocal']);

/**
 * ipaddr.js names every special-purpose range of IANA's registries, and calls all other addresses `unicast`. But IANA
 * has allotted only 2000::/3 as global unicast, so all other addresses of IPv6 are refused (such as `::127.0.0.1`).
 * ISATAP (RFC 5214) marks itself in the interface identifier, under any prefix.
 */
function isPublic(address: Address): boolean {
  if (address.range() !== 'unicast') return false;
  if (address.kind() === 'ipv4') return true;
  const bytes = address.toByteArray();
  const [first = 0] = bytes;
  const isIsatap =
    (bytes[8] === 0x00 || bytes[8] === 0x02) && bytes[9] === 0x00 && bytes[10] === 0x5e && bytes[11] === 0xfe;
  return first >> 5 === 0b001 && !isIsatap;
}

/** Metadata and credential endpoints of clouds, in ranges that would otherwise be allowed. */
const METADATA_RANGES = [
  '168.63.129.16/32', // Azure, in a public range
  '100.100.100.200/32', // Alibaba Cloud
  'fd00:ec2::/32', // AWS: instance metadata, pod identity, DNS, time
  'fd20:ce::254/128', // Google Cloud
  'fd00:c1::a9fe:a9fe/128', // Oracle Cloud
  'fd00:42::42/128', // Scaleway
  'fd00:a9fe:a9fe::1/128', // Akamai
].map((range) => ipaddr.parseCIDR(range));
