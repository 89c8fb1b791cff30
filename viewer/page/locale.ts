// Where the locale of the system is POSIX, the browser names a language that Intl rejects, and uPlot stops at it.
try {
  Intl.getCanonicalLocales(navigator.language);
} catch {
  Object.defineProperty(navigator, 'language', { value: 'en-US', configurable: true });
}
