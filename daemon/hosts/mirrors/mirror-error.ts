// Failure of a mirror, or of its machine. Refusals by the host are HostErrors (hosts/host.ts).

export type MirrorFailure =
  'ADDRESS_REFUSED' | 'DISK_FULL' | 'TOO_MANY_REFS' | 'TIMEOUT' | 'MIRROR_DAMAGED' | 'GIT_FAILED';

export function tooManyRefs(host: string, sizeMax: number): MirrorError {
  return new MirrorError(
    'TOO_MANY_REFS',
    `${host}: the list of branches and tags has more than ${sizeMax} bytes; the repository cannot be mirrored: remove those that ` +
      'nobody needs, or exclude it from the connection',
  );
}

/** The message is for the operator: it names place, limit and next step, and contains no credential. */
export class MirrorError extends Error {
  override readonly name = 'MirrorError';
  readonly code: MirrorFailure;

  constructor(code: MirrorFailure, message: string) {
    super(message);
    this.code = code;
  }
}
