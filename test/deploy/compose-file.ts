import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { packageRoot } from '../../core/index.js';

export interface Service {
  readonly image: string;
  readonly build?: { readonly context: string; readonly args?: Readonly<Record<string, string>> };
  readonly command?: readonly string[];
  readonly entrypoint?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly profiles?: readonly string[];
  readonly network_mode?: string;
  readonly restart?: string;
  readonly ports?: readonly string[];
  readonly volumes?: readonly string[];
  readonly tmpfs?: readonly string[];
  readonly read_only?: boolean;
  readonly healthcheck?: { readonly test?: readonly string[]; readonly disable?: boolean };
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
  readonly deploy?: {
    readonly replicas?: number;
    readonly resources?: { readonly limits?: { readonly cpus?: string; readonly memory?: string } };
  };
}

export interface ComposeFile {
  readonly services: Readonly<Record<string, Service>>;
  readonly volumes: Readonly<Record<string, unknown>>;
}

export const composeText = (): string => readFileSync(join(packageRoot(), 'docker-compose.yml'), 'utf8');

/** The file as docker compose reads it, with merged parts but unexpanded `${…}`. */
export const parseCompose = (text: string): ComposeFile => parse(text, { merge: true }) as ComposeFile;

/** Every `${NAME}` of a text, with its suffix: `:-default` or `:?message`. */
export function variablesIn(text: string): { name: string; fallback: string | undefined; required: boolean }[] {
  return [...text.matchAll(/\$\{(\w+)(?::([-?])([^}]*))?\}/g)].map(([, name = '', kind, rest]) => ({
    name,
    fallback: kind === '-' ? rest : undefined,
    required: kind === '?',
  }));
}

/** Expands `${…}` as docker compose does. @throws where a required one is missing or empty */
export function interpolate(text: string, env: Readonly<Record<string, string>>): string {
  return text.replace(/\$\{(\w+)(?::([-?])([^}]*))?\}/g, (_, name: string, kind?: string, rest?: string) => {
    const value = env[name] ?? '';
    if (value !== '') return value;
    if (kind === '-') return rest ?? '';
    throw new Error(`${name} is missing: ${rest ?? 'it has no default'}`);
  });
}

/** The lines `NAME=value` of an env file. */
export function parseEnv(text: string): Record<string, string> {
  return Object.fromEntries([...text.matchAll(/^(\w+)=(.*)$/gm)].map(([, name = '', value = '']) => [name, value]));
}
