import type { Theme } from '../display/colors.js';

/** What is around every page. */
export interface Shell {
  readonly theme: Theme;
  navigate(href: string): void;
  /** The viewer asks for its token: its sessions end with its process. */
  logIn(): void;
  showSql(title: string, statements: readonly string[], consoleHrefs?: readonly string[]): void;
  /** Returns what closes it. */
  showDialog(title: string, content: readonly HTMLElement[], buttons?: readonly HTMLElement[]): () => void;
  /** Shown in the header; undefined removes it. */
  showProblem(text: string | undefined): void;
}
