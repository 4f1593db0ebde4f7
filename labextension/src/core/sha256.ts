/** SHA-256 of what comes piece by piece, which the browser's own digest cannot take (FIPS 180-4). */
export class Sha256 {
  update(bytes: Uint8Array): void {
    this.length += bytes.length;
    let at = 0;
    while (at < bytes.length) {
      const piece = bytes.subarray(at, at + BLOCK - this.filled);
      this.block.set(piece, this.filled);
      this.filled += piece.length;
      at += piece.length;
      if (this.filled === BLOCK) {
        this.mix();
        this.filled = 0;
      }
    }
  }

  /** The digest in hexadecimal; nothing can be added afterwards. */
  hex(): string {
    const { length } = this;
    const zeros = (2 * BLOCK - 9 - (length % BLOCK)) % BLOCK;
    const end = new Uint8Array(1 + zeros + 8);
    end[0] = 0x80;
    const view = new DataView(end.buffer);
    view.setUint32(1 + zeros, Math.floor(length / 2 ** 29));
    view.setUint32(5 + zeros, (length * 8) % 2 ** 32);
    this.update(end);
    return [...this.state]
      .map(word => word.toString(16).padStart(8, '0'))
      .join('');
  }

  /** Plainly written: with lists and destructuring it takes ten times as long. */
  private mix(): void {
    const { words, state, view } = this;
    for (let at = 0; at < 16; at += 1) {
      words[at] = view.getUint32(4 * at);
    }
    for (let at = 16; at < 64; at += 1) {
      const near = words[at - 2] ?? 0;
      const far = words[at - 15] ?? 0;
      const low = turned(far, 7) ^ turned(far, 18) ^ (far >>> 3);
      const high = turned(near, 17) ^ turned(near, 19) ^ (near >>> 10);
      words[at] = (words[at - 16] ?? 0) + low + (words[at - 7] ?? 0) + high;
    }
    let [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = state;
    for (let at = 0; at < 64; at += 1) {
      const high = turned(e, 6) ^ turned(e, 11) ^ turned(e, 25);
      const chosen = (e & f) ^ (~e & g);
      const one = (h + high + chosen + (K[at] ?? 0) + (words[at] ?? 0)) | 0;
      const low = turned(a, 2) ^ turned(a, 13) ^ turned(a, 22);
      const most = (a & b) ^ (a & c) ^ (b & c);
      h = g;
      g = f;
      f = e;
      e = (d + one) | 0;
      d = c;
      c = b;
      b = a;
      a = (one + low + most) | 0;
    }
    [a, b, c, d, e, f, g, h].forEach((value, at) => {
      state[at] = (state[at] ?? 0) + value;
    });
  }

  private readonly state = fractions(2, 8);
  private readonly words = new Uint32Array(64);
  private readonly block = new Uint8Array(BLOCK);
  private readonly view = new DataView(this.block.buffer);
  private filled = 0;
  private length = 0;
}

const BLOCK = 64;
const K = fractions(3, 64);

function turned(word: number, by: number): number {
  return (word >>> by) | (word << (32 - by));
}

/** The first 32 bits of the fractions of a root of the first primes. */
function fractions(root: number, count: number): Uint32Array {
  const found = new Uint32Array(count);
  for (let at = 0, number = 2; at < count; number += 1) {
    if (isPrime(number)) {
      found[at] = fractionOf(number, root);
      at += 1;
    }
  }
  return found;
}

function isPrime(number: number): boolean {
  for (let other = 2; other * other <= number; other += 1) {
    if (number % other === 0) {
      return false;
    }
  }
  return true;
}

/** By whole numbers, as the last bits of a floating-point cube root are not sure. */
function fractionOf(number: number, root: number): number {
  const wanted = BigInt(number) << BigInt(32 * root);
  let low = 0n;
  let high = 1n << 40n;
  while (high - low > 1n) {
    const middle = (low + high) / 2n;
    if (middle ** BigInt(root) <= wanted) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return Number(low & 0xffffffffn);
}

/** Of what is in memory as a whole: by the browser itself where it does so, which is only on a secure page. */
export async function sha256Of(
  bytes: Uint8Array<ArrayBuffer>
): Promise<string> {
  const { crypto } = globalThis as { crypto?: Partial<Crypto> };
  if (crypto?.subtle !== undefined) {
    const digest = await crypto.subtle.digest('SHA-256', bytes);
    return [...new Uint8Array(digest)]
      .map(byte => byte.toString(16).padStart(2, '0'))
      .join('');
  }
  const hash = new Sha256();
  hash.update(bytes);
  return hash.hex();
}
