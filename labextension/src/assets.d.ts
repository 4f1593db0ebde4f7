declare module '*.svg' {
  const text: string;
  export default text;
}

// Its index has a reader in WebAssembly too, which a strict content security policy refuses: its parts are taken one by one.
declare module 'hyparquet-compressors/src/gzip.js' {
  export function gunzip(input: Uint8Array, output: Uint8Array): Uint8Array;
}

declare module 'hyparquet-compressors/src/lz4.js' {
  export function decompressLz4(input: Uint8Array, size: number): Uint8Array;
  export function decompressLz4Raw(input: Uint8Array, size: number): Uint8Array;
}

declare module 'hyparquet-compressors/src/brotli.js' {
  export function decompressBrotli(input: Uint8Array, size: number): Uint8Array;
}

declare module '*/package.json' {
  const manifest: { version: string };
  export default manifest;
}

declare module '*?url&inline' {
  const url: string;
  export default url;
}
