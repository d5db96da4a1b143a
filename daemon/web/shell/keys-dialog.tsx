// The keyboard shortcuts, displayed from the table that binds them.

import { useRemembered } from '../data/remembered.ts';
import { IS_MAC, KEYS } from '../parts/keys.ts';
import { Modal } from '../parts/modal.tsx';
import { closeOverlay, showOverlay } from '../parts/overlay.ts';

const NAMES: Readonly<Record<string, string>> = {
  mod: IS_MAC ? 'Cmd' : 'Ctrl',
  alt: IS_MAC ? 'Option' : 'Alt',
  shift: 'Shift',
  arrowdown: '↓',
  arrowup: '↑',
  escape: 'Esc',
};

/** `mod+k` as the keys `Ctrl` and `K`. */
function Chord({ chord }: { readonly chord: string }) {
  return chord
    .split(/[+ ]/)
    .map((key, index) => (
      <kbd key={index}>{NAMES[key] ?? (chord.includes('+') ? key.toUpperCase() : key)}</kbd>
    ));
}

const ENTRIES = Object.values(KEYS);
const CONTEXTS = [...new Set(ENTRIES.map(({ where }) => where))];

export default function KeysDialog() {
  const hasSingleKeys = useRemembered((state) => state.hasSingleKeys);
  return (
    <Modal
      title="Keyboard shortcuts"
      close={closeOverlay}
      other={{ label: 'Query syntax', run: () => showOverlay('syntax') }}
    >
      {!hasSingleKeys && <p className="faint">Single-key shortcuts are off in the settings.</p>}
      <div className="key-tables" tabIndex={0} role="region" aria-label="All shortcuts">
        {CONTEXTS.map((context) => (
          <table key={context} className="key-table">
            <caption>{context}</caption>
            <tbody>
              {ENTRIES.filter(({ where }) => where === context).map(({ chords, does }) => (
                <tr key={does}>
                  <th scope="row">
                    {chords.map((chord) => (
                      <span key={chord} className="key-chord">
                        <Chord chord={chord} />
                      </span>
                    ))}
                  </th>
                  <td>{does}</td>
                </tr>
              ))}
            </tbody>
          </table>
        ))}
      </div>
    </Modal>
  );
}
