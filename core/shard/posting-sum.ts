// An order-independent sum of a set of postings: the sum of a 64-bit hash of each (gram key, block
// of its segment). Sets with equal sums are equal except with a chance of one in 2^64. The builder
// sums the grams it extracts, the check after a build what the finished file decodes to.

@inline
export function hashPosting(key: u32, block: u32): u64 {
  const product = ((<u64>key << 13) | block) * 0x9e3779b97f4a7c15;
  return (product ^ (product >> 29)) * 0xbf58476d1ce4e5b9;
}
