-- Of a period from begins_at to ends_at, by the time up to which a history was read.
if(begins_at IS NULL, NULL, greatest(0., least(1., dateDiff('microsecond', begins_at, ifNull(complete_to, begins_at)) / greatest(1, dateDiff('microsecond', begins_at, least(ends_at, now64(6, 'UTC'))))))) AS observed,
if(begins_at IS NULL, NULL, 0.) AS backfilled,
1 - observed AS missing
