import { z } from 'zod';

// A dashboard that was exported for sharing externally names its data sources and constants once, at its top.
const inputs = z.object({
  __inputs: z
    .array(
      z.object({
        name: z.string(),
        type: z.string(),
        pluginId: z.string().nullish(),
        value: z.union([z.string(), z.number()]).nullish(),
      }),
    )
    .default([]),
});

/**
 * The JSON of a dashboard with its inputs filled in: `${NAME}` of a data source becomes one of that type, that of a constant
 * its value. References to anything else stay as they are.
 * @param clickhouse the type of the data source that the viewer has
 */
export function withInputs(json: unknown, clickhouse: string): unknown {
  const parsed = inputs.safeParse(json);
  if (!parsed.success || parsed.data.__inputs.length === 0) return json;
  const constants = new Map<string, string>();
  const sources = new Map<string, string>();
  for (const { name, type, pluginId, value } of parsed.data.__inputs) {
    if (type === 'datasource') sources.set(`\${${name}}`, pluginId ?? clickhouse);
    else if (value !== null && value !== undefined) constants.set(name, String(value));
  }
  return filled(json, constants, sources);
}

function filled(json: unknown, constants: ReadonlyMap<string, string>, sources: ReadonlyMap<string, string>): unknown {
  if (typeof json === 'string')
    return json.replace(/\$\{(\w+)\}/g, (whole, name: string) => constants.get(name) ?? whole);
  if (Array.isArray(json)) return json.map((one) => filled(one, constants, sources));
  if (typeof json !== 'object' || json === null) return json;
  return Object.fromEntries(
    Object.entries(json).map(([key, value]) => {
      const source = key === 'datasource' && typeof value === 'string' ? sources.get(value) : undefined;
      return [key, source === undefined ? filled(value, constants, sources) : { type: source }];
    }),
  );
}
