-- Publishes the rows that volume_days.sql with the same run has inserted. The fingerprint was read before that.
INSERT INTO {database}.volume_rollups (executed_day, rollup_id, fingerprint, version)
SELECT {day:Date} AS executed_day, {run:UInt64} AS rollup_id, {fingerprint:UInt64} AS fingerprint, toUnixTimestamp64Micro(now64(6)) AS version
