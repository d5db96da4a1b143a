// Runs before the first paint, as a plain script: sets the theme that was chosen here before. Without a choice, or without
// storage, the system decides.
try {
  const base = document.querySelector('meta[name="trawl-base"]')?.getAttribute('content') ?? '';
  const theme = localStorage.getItem(`trawl:${base}:theme`);
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset['theme'] = theme;
} catch {
  // No storage: the system's theme it is.
}
