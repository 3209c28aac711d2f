-- To find a value among three constants, SQLite builds a table of them in memory, anew for every row
-- that is added: more work than the rest of a charge. The same rules in comparisons build nothing.
-- They hold for the same rows, so the definitions are replaced in their place instead of copying the
-- longest tables of all.
PRAGMA writable_schema = ON;
UPDATE sqlite_schema
SET sql = replace(sql, 'price_per IN (1, 1000, 1000000)',
    'price_per = 1 OR price_per = 1000 OR price_per = 1000000')
WHERE type = 'table' AND name = 'usage';
UPDATE sqlite_schema
SET sql = replace(sql, 'code IN (1, 2, 3)', 'code <= 3')
WHERE type = 'index' AND name = 'transfer_in';
PRAGMA writable_schema = RESET;
