// How the page looks and searches: settings stored in this browser.

import { type Editor, EDITORS } from '../data/editors.ts';
import { type Theme, useRemembered } from '../data/remembered.ts';
import { Field } from '../parts/field.tsx';

const THEMES: readonly Theme[] = ['system', 'light', 'dark'];

function ThemeChoice() {
  const { theme, setTheme } = useRemembered();
  return (
    <fieldset className="facet">
      <legend>Theme</legend>
      {THEMES.map((one) => (
        <label key={one} className="choice">
          <input type="radio" name="theme" checked={theme === one} onChange={() => setTheme(one)} />
          {one}
        </label>
      ))}
    </fieldset>
  );
}

interface SwitchProps {
  readonly label: string;
  readonly isOn: boolean;
  readonly set: (isOn: boolean) => void;
}

function Switch({ label, isOn, set }: SwitchProps) {
  return (
    <label className="choice">
      <input type="checkbox" checked={isOn} onChange={({ target }) => set(target.checked)} />
      {label}
    </label>
  );
}

interface NumberChoiceProps {
  readonly label: string;
  readonly value: number;
  readonly numbers: readonly number[];
  readonly set: (number: number) => void;
}

function NumberChoice({ label, value, numbers, set }: NumberChoiceProps) {
  return (
    <label className="choice">
      {label}{' '}
      <select
        className="input choice-select"
        value={value}
        onChange={({ target }) => set(Number(target.value))}
      >
        {numbers.map((one) => (
          <option key={one} value={one}>
            {one}
          </option>
        ))}
      </select>
    </label>
  );
}

const EDITOR_NAMES = Object.entries(EDITORS);

function isEditor(value: string): value is Editor {
  return value in EDITORS;
}

/** The editor that opens files. The daemon does not know where the reader's clones are. */
function EditorSettings() {
  const { editor, cloneFolder, editorTemplate, set } = useRemembered();
  const template = editor === 'custom' ? editorTemplate : EDITORS[editor].template;
  return (
    <div className="stack">
      <label className="choice">
        Open files in{' '}
        <select
          className="input choice-select"
          value={editor}
          onChange={({ target: { value } }) => isEditor(value) && set({ editor: value })}
        >
          {EDITOR_NAMES.map(([id, { name }]) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </select>
      </label>
      {editor === 'custom' && (
        <Field
          label="Link that opens a file. Placeholders: {file}, {repo}, {name}, {path}, {line}, {column}"
          placeholder="my-editor://open?file={file}&line={line}"
          value={editorTemplate}
          onChange={({ target }) => set({ editorTemplate: target.value })}
        />
      )}
      {template.includes('{file}') && (
        <Field
          label="Folder of your clones. {repo} stands for the repository, {name} for the last part of its name"
          placeholder="/home/me/src/{name}"
          value={cloneFolder}
          onChange={({ target }) => set({ cloneFolder: target.value })}
        />
      )}
    </div>
  );
}

export function Preferences() {
  const { set, isTypingSearch, hasSingleKeys, contextLines, tabWidth, isWrapped, keymap } =
    useRemembered();
  return (
    <section>
      <h2>Appearance and search</h2>
      <ThemeChoice />
      <Switch
        label="Search while typing"
        isOn={isTypingSearch}
        set={(isOn) => set({ isTypingSearch: isOn })}
      />
      <Switch
        label="Single-key shortcuts, such as j and k in results"
        isOn={hasSingleKeys}
        set={(isOn) => set({ hasSingleKeys: isOn })}
      />
      <NumberChoice
        label="Context lines around a match"
        value={contextLines}
        numbers={[0, 1, 3, 10]}
        set={(lines) => set({ contextLines: lines })}
      />
      <NumberChoice
        label="Tab width"
        value={tabWidth}
        numbers={[2, 4, 8]}
        set={(columns) => set({ tabWidth: columns })}
      />
      <Switch label="Wrap long lines" isOn={isWrapped} set={(isOn) => set({ isWrapped: isOn })} />
      <Switch
        label="Vim keys in files"
        isOn={keymap === 'vim'}
        set={(isOn) => set({ keymap: isOn ? 'vim' : 'default' })}
      />
      <EditorSettings />
    </section>
  );
}
