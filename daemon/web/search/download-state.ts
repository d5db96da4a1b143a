// Downloads of results: the worker creates the file, the browser saves it.

import { create } from 'zustand';
import { BASE_PATH } from '../data/base-path.ts';
import { toast } from '../parts/toasts.ts';
import type { DownloadFormat, DownloadRequest, Search } from './messages.ts';
import { failureWords } from './summary-text.ts';
import { hear, post } from './worker-link.ts';

export const useDownload = create<{ readonly isBusy: boolean }>()(() => ({ isBusy: false }));

let lastId = 0;

export function startDownload(
  search: Search,
  format: DownloadFormat,
  narrowing: Pick<DownloadRequest, 'repositories' | 'languages' | 'folders' | 'kinds'>,
): void {
  lastId++;
  useDownload.setState({ isBusy: true });
  const base = BASE_PATH;
  post({ type: 'download', id: lastId, search, base, format, ...narrowing });
}

function save(name: string, file: Blob): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(file);
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}

hear((message) => {
  if (message.type !== 'downloaded' && message.type !== 'download-failed') return;
  useDownload.setState({ isBusy: false });
  if (message.type === 'downloaded') save(message.name, message.file);
  else toast(failureWords(message.failure));
});
