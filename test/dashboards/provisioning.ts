import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';
import { dashboardFolder } from '../../viewer/index.js';

const PROVISIONING = join(dashboardFolder(), 'provisioning');
export const RULES = join(PROVISIONING, 'alerting/chancery.yaml');

const seconds = z.string().regex(/^\d+[smh]$/);
const evaluator = z.strictObject({ type: z.enum(['gt', 'lt']), params: z.tuple([z.number()]) });

/** A query to ClickHouse, then a threshold on its result. */
const queries = z.tuple([
  z.strictObject({
    refId: z.literal('A'),
    relativeTimeRange: z.strictObject({ from: z.int().positive(), to: z.literal(0) }),
    datasourceUid: z.literal('chancery'),
    model: z.strictObject({
      refId: z.literal('A'),
      editorType: z.literal('sql'),
      queryType: z.literal('table'),
      format: z.literal(1),
      rawSql: z.string().min(1),
    }),
  }),
  z.strictObject({
    refId: z.literal('B'),
    datasourceUid: z.literal('__expr__'),
    model: z.strictObject({
      refId: z.literal('B'),
      type: z.literal('threshold'),
      expression: z.literal('A'),
      conditions: z.tuple([z.strictObject({ evaluator })]),
    }),
  }),
]);

/** The part of Grafana's file format of alert rules that ours use. */
const ruleFile = z.strictObject({
  apiVersion: z.literal(1),
  groups: z.array(
    z.strictObject({
      orgId: z.int(),
      name: z.string().min(1),
      folder: z.string().min(1),
      interval: seconds,
      rules: z.array(
        z.strictObject({
          uid: z.string().regex(/^[a-z-]{1,40}$/),
          title: z.string().min(1),
          condition: z.literal('B'),
          for: seconds,
          noDataState: z.enum(['OK', 'Alerting', 'NoData']),
          execErrState: z.enum(['OK', 'Alerting', 'Error']),
          dashboardUid: z.string(),
          panelId: z.int(),
          labels: z.strictObject({ severity: z.enum(['warning', 'critical']) }),
          annotations: z.strictObject({ summary: z.string().min(10), description: z.string().min(20) }),
          data: queries,
        }),
      ),
    }),
  ),
});

export interface Rule {
  readonly uid: string;
  readonly title: string;
  readonly sql: string;
  readonly annotations: Readonly<Record<string, string>>;
  readonly dashboardUid: string;
  readonly panelId: number;
  /** Whether the alert's condition holds for this result. */
  readonly fires: (value: number) => boolean;
}

export function readRules(): Rule[] {
  return ruleFile.parse(readYaml(RULES)).groups.flatMap(({ rules }) =>
    rules.map(({ data: [question, threshold], ...rule }) => {
      const { type, params } = threshold.model.conditions[0].evaluator;
      const fires = (value: number) => (type === 'gt' ? value > params[0] : value < params[0]);
      return { ...rule, sql: question.model.rawSql, fires };
    }),
  );
}

const dataSourceFile = z.strictObject({
  apiVersion: z.literal(1),
  datasources: z.tuple([
    z.strictObject({
      name: z.string(),
      uid: z.string(),
      type: z.literal('grafana-clickhouse-datasource'),
      access: z.literal('proxy'),
      isDefault: z.boolean(),
      editable: z.boolean(),
      jsonData: z.strictObject({
        host: z.string(),
        port: z.string(),
        protocol: z.literal('$CLICKHOUSE_PROTOCOL'),
        username: z.literal('reader'),
        defaultDatabase: z.literal('chancery'),
        dialTimeout: z.string(),
        queryTimeout: z.string().regex(/^\d+$/),
      }),
      secureJsonData: z.strictObject({ password: z.string().startsWith('$') }),
    }),
  ]),
});

export function readDataSource(): { uid: string; queryTimeoutSeconds: number } {
  const [{ uid, jsonData }] = dataSourceFile.parse(
    readYaml(join(PROVISIONING, 'datasources/chancery.yaml')),
  ).datasources;
  return { uid, queryTimeoutSeconds: Number(jsonData.queryTimeout) };
}

const readYaml = (path: string): unknown => parse(readFileSync(path, 'utf8'));
