multiIf(
    is_primary IS NOT NULL, if(is_primary, 'YES', 'NO'),
    upper(position) IN ('YES', 'NO'), upper(position),
    position = '' AND upper(token_name) IN ('YES', 'NO'), upper(token_name),
    ''
) AS outcome
