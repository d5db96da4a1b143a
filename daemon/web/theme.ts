// Applies the stored theme before the first paint; loaded as a plain script. Without a stored theme, the system
// decides.
try {
  const base = document.querySelector('meta[name="trawl-base"]')?.getAttribute('content') ?? '';
  const theme = localStorage.getItem(`trawl:${base}:theme`);
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset['theme'] = theme;
} catch {
  // No storage: the system's theme applies.
}
