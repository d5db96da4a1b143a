// In place of @neon-rs/load within libsql: names its native package for this machine. That package has Node.js report on the
// whole process to learn the C library, twice in a start: 12 ms. libsql itself corrects musl to glibc, from files.

exports.currentTarget = () => {
  const { platform, arch } = process;
  if (platform === 'win32') return `win32-${arch}-msvc`;
  if (platform !== 'linux') return `${platform}-${arch}`;
  return arch === 'arm' ? 'linux-arm-gnueabihf' : `linux-${arch}-musl`;
};
