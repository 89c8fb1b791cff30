-- Not the view events, whose column open takes longer than all others.
SELECT event, state.title AS title, state.category AS category
FROM (SELECT event, argMaxMerge(latest) AS state FROM {database}.event_states GROUP BY event)
