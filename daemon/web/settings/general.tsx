// One's own account: who one is, password, look, what this browser remembers, signing out.

import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'wouter';
import type { changePassword, logOut } from '../../http/api/accounts/account-endpoints.ts';
import { call } from '../data/api.ts';
import { BASE_PATH } from '../data/place.ts';
import { tellSignedOut, useRemembered } from '../data/remembered.ts';
import type { Theme } from '../data/remembered.ts';
import { useAccount } from '../data/session.ts';
import { Notice } from '../parts/notice.tsx';
import { CurrentPasswordField, NewPasswordField } from '../sign-in/credential-fields.tsx';
import { counted } from '../parts/words.ts';

function Password() {
  const [currentPassword, setCurrent] = useState('');
  const [newPassword, setNew] = useState('');
  const { mutate, isPending, error, isSuccess } = useMutation({
    mutationFn: () =>
      call<typeof changePassword>('/api/auth/password', {
        base: BASE_PATH,
        method: 'POST',
        body: { currentPassword, newPassword },
      }),
    onSuccess: () => {
      setCurrent('');
      setNew('');
    },
  });
  return (
    <form
      className="stack"
      onSubmit={(event) => {
        event.preventDefault();
        mutate();
      }}
    >
      <h2>Password</h2>
      <CurrentPasswordField label="Password now" value={currentPassword} change={setCurrent} />
      <NewPasswordField label="New password" value={newPassword} change={setNew} />
      {error !== null && <Notice kind="danger" title={error.message} />}
      {isSuccess && <Notice kind="ok" title="Changed. Your other sessions have ended." />}
      <button type="submit" className="button" disabled={isPending}>
        Change the password
      </button>
    </form>
  );
}

const THEMES: readonly Theme[] = ['system', 'light', 'dark'];

function Look() {
  const { theme, setTheme, isTypingSearch, setTypingSearch, contextLines, setContextLines } =
    useRemembered();
  const { hasSingleKeys, set } = useRemembered();
  const { tabWidth, isWrapped, keymap } = useRemembered();
  return (
    <section>
      <h2>Look and search</h2>
      <fieldset className="facet">
        <legend>Theme</legend>
        {THEMES.map((one) => (
          <label key={one} className="choice">
            <input
              type="radio"
              name="theme"
              checked={theme === one}
              onChange={() => setTheme(one)}
            />
            {one}
          </label>
        ))}
      </fieldset>
      <label className="choice">
        <input
          type="checkbox"
          checked={isTypingSearch}
          onChange={(event) => setTypingSearch(event.target.checked)}
        />
        Search while typing
      </label>
      <label className="choice">
        <input
          type="checkbox"
          checked={hasSingleKeys}
          onChange={(event) => set({ hasSingleKeys: event.target.checked })}
        />
        Single keys, such as j and k in results
      </label>
      <label className="choice">
        Lines shown around a match{' '}
        <select
          className="input choice-select"
          value={contextLines}
          onChange={(event) => setContextLines(Number(event.target.value))}
        >
          {[0, 1, 3, 10].map((lines) => (
            <option key={lines} value={lines}>
              {lines}
            </option>
          ))}
        </select>
      </label>
      <label className="choice">
        Columns of a tab{' '}
        <select
          className="input choice-select"
          value={tabWidth}
          onChange={(event) => set({ tabWidth: Number(event.target.value) })}
        >
          {[2, 4, 8].map((columns) => (
            <option key={columns} value={columns}>
              {columns}
            </option>
          ))}
        </select>
      </label>
      <label className="choice">
        <input
          type="checkbox"
          checked={isWrapped}
          onChange={(event) => set({ isWrapped: event.target.checked })}
        />
        Wrap long lines of files
      </label>
      <label className="choice">
        <input
          type="checkbox"
          checked={keymap === 'vim'}
          onChange={(event) => set({ keymap: event.target.checked ? 'vim' : 'default' })}
        />
        Keys of vim in files
      </label>
    </section>
  );
}

export function General() {
  const { data: account } = useAccount();
  const { queries, files, forget } = useRemembered();
  const { mutate, isPending } = useMutation({
    mutationFn: () => call<typeof logOut>('/api/auth/logout', { base: BASE_PATH, method: 'POST' }),
    onSuccess: () => {
      forget();
      tellSignedOut();
      // Anew: nothing that was shown stays in the memory of the page.
      location.assign(`${BASE_PATH}/`);
    },
  });
  const user = account?.user;
  return (
    <>
      {user !== null && user !== undefined ? (
        <section>
          <dl className="facts">
            <dt>Name</dt>
            <dd>{user.name}</dd>
            <dt>E-mail</dt>
            <dd>{user.email}</dd>
            <dt>Role</dt>
            <dd>{user.role === 'OWNER' ? 'Owner' : 'Member'}</dd>
          </dl>
          <div>
            <button type="button" className="button" disabled={isPending} onClick={() => mutate()}>
              Sign out
            </button>
          </div>
        </section>
      ) : (
        <Notice kind="info" title="You are not signed in.">
          <Link href="/login">Sign in</Link>
        </Notice>
      )}
      <Look />
      <section>
        <h2>This browser</h2>
        <div>
          <button type="button" className="button" onClick={forget}>
            Forget what this browser remembers ({counted(queries.length, 'query', 'queries')},{' '}
            {counted(files.length, 'file')})
          </button>
        </div>
      </section>
      {user !== null && user !== undefined && <Password />}
    </>
  );
}
