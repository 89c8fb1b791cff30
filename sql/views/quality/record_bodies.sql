-- What did the exchange send, byte for byte?
--
--   SELECT received_at, body FROM record_bodies
--   WHERE topic = 'chancery.order-book' AND log = '...' AND partition = 0 AND offset = 1234
--
-- One row per record of the bus: a frame, a page of a poll, or a collector event; a body in pieces has several, to be
-- concatenated in the order of piece. The rows of other views have the position (log, partition, offset) of their record: see ticks.
-- A body is deleted at body_expires_at, its envelope stays.
CREATE OR REPLACE VIEW {database}.record_bodies
(
    `topic` String COMMENT 'Topic',
    `log` String COMMENT 'ID of the topic of the record',
    `partition` UInt32 COMMENT 'Partition of the topic',
    `offset` UInt64 COMMENT 'Offset of the record in its partition',
    `received_at` DateTime64(6, 'UTC') COMMENT 'When the collector received it',
    `session_id` String COMMENT 'Session: UUID of one run of a collector',
    `sequence` UInt64 COMMENT 'Number of the record in its session and topic, from 1',
    `kind` String COMMENT 'Record kind, such as order-book.frame',
    `request` String COMMENT 'The request, JSON; deleted with the body',
    `encoding` String COMMENT 'How body holds the payload: json (verbatim), text (not JSON, verbatim) or base64 (not UTF-8). A piece of a body is a JSON string of a part of that',
    `piece` UInt16 COMMENT 'Number of the piece, from 0',
    `pieces` UInt16 COMMENT 'Number of pieces of the body; 1 when it is not split',
    `body_state` String COMMENT 'stored; expired: deleted at body_expires_at; not-stored: it was written with bodies off',
    `body` String COMMENT 'The payload; empty when it is not stored any more',
    `body_bytes` UInt64 COMMENT 'Length of the body in bytes, also when it is not stored',
    `body_expires_at` DateTime64(6, 'UTC') COMMENT 'When request and body are deleted, or were'
)
AS
SELECT
    `_topic` AS topic,
    `_log` AS log,
    `_partition` AS partition,
    `_offset` AS offset,
    received_at,
    session_id,
    sequence,
    kind,
    request,
    encoding,
    piece,
    pieces,
    multiIf(body != '' OR body_bytes = 0, 'stored', body_expires_at <= now(), 'expired', 'not-stored') AS body_state,
    body,
    body_bytes,
    body_expires_at
FROM {database}.raw_records;
