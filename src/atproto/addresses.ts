/** Which addresses a public program may be sent to by what strangers write into their records and documents (STO-9). */
import { BlockList, isIP } from 'node:net'

export type AddressKind = 'public' | 'loopback' | 'private'

const loopback = new BlockList()
loopback.addSubnet('127.0.0.0', 8, 'ipv4')
loopback.addAddress('::1', 'ipv6')

/** Everything that IANA's registry of special addresses does not call globally reachable, and multicast. */
const special4 = new BlockList()
for (const [net, bits] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 3],
] as const) {
  special4.addSubnet(net, bits, 'ipv4')
}

/** Of IPv6 only global unicast is public: mapped, translated (64:ff9b::/96), unique-local and link-local addresses lie outside it. */
const global6 = new BlockList()
global6.addSubnet('2000::', 3, 'ipv6')
const special6 = new BlockList()
special6.addSubnet('2001::', 23, 'ipv6')
special6.addSubnet('2001:db8::', 32, 'ipv6')
special6.addSubnet('2002::', 16, 'ipv6')
special6.addSubnet('3fff::', 20, 'ipv6')

/** What an IP address, as text, is; an IPv4 address mapped into IPv6 is never public. Anything that is no address counts as private. */
export function addressKind(address: string): AddressKind {
  const family = isIP(address)
  if (family === 4) {
    if (loopback.check(address, 'ipv4')) return 'loopback'
    return special4.check(address, 'ipv4') ? 'private' : 'public'
  }
  if (family === 6) {
    if (loopback.check(address, 'ipv6')) return 'loopback'
    return global6.check(address, 'ipv6') && !special6.check(address, 'ipv6') ? 'public' : 'private'
  }
  return 'private'
}
