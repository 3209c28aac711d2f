-- Payments by card can be taken back after their credit was spent. What is missing is a debt: the
-- account `debt` of its owner, whose debits are never below its credits. Codes 9 to 13 move money for
-- payments that are taken back and come in again. The definitions are replaced in their place
-- instead of copying the longest tables of all; they hold for every row that is there.
PRAGMA writable_schema = ON;
UPDATE sqlite_schema
SET sql = replace(sql, 'CHECK (owner IS NULL OR debits + pending <= credits)',
    'CHECK (owner IS NULL OR CASE name WHEN ''debt'' THEN credits <= debits AND pending = 0 '
    || 'ELSE debits + pending <= credits END)')
WHERE type = 'table' AND name = 'account';
UPDATE sqlite_schema
SET sql = replace(sql, 'code BETWEEN 1 AND 8', 'code BETWEEN 1 AND 13')
WHERE type = 'table' AND name = 'transfer';
PRAGMA writable_schema = RESET;
